// Guesses answered in a page, as attn_lib.predict answers them in a notebook; a test holds the two together.

const attnGuess = (() => {
// A word as attn_lib.predict compares it: lower case, without signs, articles and plural.
function word(text) {
  const parts = text.toLowerCase().replaceAll("-", "−").replace(/[^\p{L}\p{N}_~.√∞+−]+/gu, " ").replace(/^[ .]+|[ .]+$/g, "").split(/\s+/)
    .filter((part) => !["the", "a", "an"].includes(part))
    .map((part) => (part.length > 3 && /[^s]s$/.test(part) ? part.slice(0, -1) : part));
  const whole = parts.join(" ");
  return ["y", "true", "yeah", "ja"].includes(whole) ? "yes" : ["n", "false", "nope", "nein"].includes(whole) ? "no" : whole;
}

// A number, 1/3 and 47 % among them; nan and infinity as words; undefined if it is none.
function numberIn(text) {
  let bare = text.replaceAll(/[−–]/g, "-").replaceAll("∞", "inf").replace(/\s/g, "");
  if (/^[+-]?(nan|inf(inity)?)$/i.test(bare)) return word(bare.replace(/inf(inity)?/i, "∞").replace("+", ""));
  if (/^[+-]?\d+,\d+%?$/.test(bare)) bare = bare.replace(",", ".");
  const found = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:\/(\d+))?(%?)$/i.exec(bare);
  return found ? Number(found[1]) / Number(found[2] ?? 1) / (found[3] ? 100 : 1) : undefined;
}

// Answers a guess in the page with the question's own data: what is right, how far off that may be, and the known slips.
function judge({ leaves, alone, within, slips }, text) {
  const bare = text.replace(/torch\.size|[[\](){}]/gi, " ").replace(/(\d)\s*x\s*(?=\d)/g, "$1,").replaceAll("×", ",").trim().replace(/^,|,$/g, "");
  const isNumbers = leaves.every((leaf) => typeof leaf === "number" || ["nan", "∞", "−∞"].includes(leaf));
  const parts = alone ? [isNumbers ? bare : text] : bare.split(/[,;\s]+/).filter(Boolean);
  const guess = isNumbers ? parts.map(numberIn) : parts.map(word);
  if (guess.includes(undefined)) return { unread: true, says: "That could not be read as numbers." };
  const close = (a, b) => (typeof a === "number" && typeof b === "number" ? Math.abs(a - b) <= within + 1e-9 * Math.abs(b) : a === b);
  const same = (others) => others.length === guess.length && guess.every((x, i) => close(x, others[i]));
  if (same(leaves)) return { right: true, says: "Right." };
  const apart = (known) => Math.max(...guess.map((x, i) => Math.abs(x - known.leaves[i]) || 0)); // words: not at all
  const [slip] = slips.filter((known) => same(known.leaves)).sort((a, b) => apart(a) - apart(b));
  if (slip) return { says: slip.says };
  const count = (n) => `${n} number${n === 1 ? "" : "s"}`;
  if (!isNumbers) return { says: "That is not what happens. Can you say why?" };
  if (guess.length !== leaves.length) return { says: `It has ${count(guess.length)}, the answer ${count(leaves.length)}.` };
  if (alone) return { says: guess[0] > leaves[0] ? "That is too large." : guess[0] < leaves[0] ? "That is too small." : "It is not a number that comes out." };
  const off = guess.filter((x, i) => !close(x, leaves[i])).length;
  return { says: `${off} of ${leaves.length} numbers ${off === 1 ? "is" : "are"} not right yet.` };
}

return { word, judge };
})();
