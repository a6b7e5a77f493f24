// What a guess or a choice means, in the words that bars, phones and verdicts share.

// Numbers as they are read again, with no more digits than are compared.
export function asText({ form, size }, leaves) {
  const short = leaves.map((x) => (typeof x === "number" ? Number(x.toPrecision(4)) : x));
  if (form === "matrix") {
    const rows = Array.from({ length: leaves.length / size }, (_, i) => short.slice(i * size, (i + 1) * size));
    return `[${rows.map((row) => `[${row.join(", ")}]`).join(", ")}]`;
  }
  return form === "shape" ? `(${short.join(", ")})` : short.join(", ") || "none";
}

// A guess, or a choice, whose record says which slip it is where it is no answer in the question's form.
export function judge(question, text) {
  const slip = question.slips.find(({ name }) => name === question.mistakes[text]);
  return attnGuess.judge(question, slip ? asText(question, slip.leaves) : text);
}

// What a wrong one mistakes, in a few words; "" where no slip says it, or would say the bar's own word again.
export function labelOf(question, text, { slip } = judge(question, text)) {
  const label = question.slips.find(({ name }) => name === slip)?.label ?? "";
  return label === text ? "" : label;
}
