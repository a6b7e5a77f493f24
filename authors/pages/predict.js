// Guesses judged in a page without Python. This file mirrors workbench/predict.py: whoever changes one changes the
// other, and a test compares them.

import { difference } from "./differs.js";
import { read as readAnswer, refusal } from "./reading.js";

/** As reading.js reads it. */
export const read = readAnswer;

// Answers a guess: what is right, how far off that may be, and the known slips. What cannot be read costs no try.
export function judge(question, text) {
  const { form, leaves, within, slips, size, asks, options } = question;
  const problem = refusal(question, text);
  if (problem) return { unread: true, says: problem };
  const mine = read(question, text);
  const guess = mine.flat();
  const key = JSON.stringify(mine);
  const count = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const close = (a, b) =>
    typeof a === "number" && typeof b === "number" ? Math.abs(a - b) <= within + 1e-9 * Math.abs(b) : a === b;
  const same = (others) => others.length === guess.length && guess.every((x, i) => close(x, others[i]));
  const isShaped = form !== "matrix" || mine[0].length === size;
  if (isShaped && same(leaves)) return { right: true, says: "Right.", key };
  const apart = (one) => Math.max(...guess.map((x, i) => Math.abs(x - one.leaves[i]) || 0)); // words: not at all
  const [slip] = isShaped ? slips.filter((one) => same(one.leaves)).sort((a, b) => apart(a) - apart(b)) : [];
  if (slip) return { says: slip.says, key, slip: slip.name };
  if (!isShaped || (size !== null && guess.length !== leaves.length)) {
    // A whole number in words, such as "two", may have been meant as their count:
    if (guess.length === 1 && Number.isInteger(guess[0]) && !/\d/.test(text))
      return { unread: true, says: `It was read as one number, ${guess[0]}. ${asks}` };
    const many =
      form === "matrix"
        ? `${mine.length} × ${mine[0].length} numbers`
        : count(guess.length, options.length ? "word" : "number");
    return { unread: true, says: `It has ${many}. ${asks}` };
  }
  const hundredth = (x, i) => typeof x === "number" && typeof leaves[i] === "number" && close(x / 100, leaves[i]);
  if (
    guess.length === leaves.length &&
    guess.every(hundredth) &&
    Math.max(...guess) > 1 &&
    !leaves.every((x) => close(0, x))
  ) {
    return {
      unread: true,
      says: `Right if you mean per cent, but then write it as "${guess.map((x) => `${x} %`).join(", ")}".`,
    };
  }
  if (form === "set") {
    const extra = guess.filter((x) => !leaves.includes(x)).length;
    const missing = leaves.filter((x) => !guess.includes(x)).length;
    const clauses = [
      extra && `${extra} of yours ${extra === 1 ? "does" : "do"} not belong there`,
      missing && `${missing} of the right ones ${missing === 1 ? "is" : "are"} missing`,
    ];
    return { key, says: `${clauses.filter(Boolean).join(", and ")}.` };
  }
  if (guess.length !== leaves.length)
    return { key, says: `It has ${count(guess.length, "number")}, the answer ${count(leaves.length, "number")}.` };
  return { key, says: difference(guess, leaves, within) };
}
