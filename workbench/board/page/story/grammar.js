// Whether a text, as far as it goes, is a story of the language: its templates are laid over the words; what was drawn
// is read off where it stands first, and everything else must follow from it.

/**
 * @typedef {Object} Grammar as grammar.py makes it
 * @property {string[][][]} sentences each with its forms; a part with a capital is a slot
 * @property {Record<string, string[]>} may what may stand in a slot
 * @property {Record<string, { of: string[], table: Record<string, string> }>} follows a slot from others
 * @property {string[][]} apart slots that may not be alike
 */
const isSlot = (part) => part[0] !== part[0].toLowerCase();
const areAlike = (one, other) => one === other || one === `${other}s` || `${one}s` === other;

/** Of the words so far: faults, each with its place and what would be right; or where they leave every template. */
export function verdictOn(words, grammar) {
  const fits = (part, word) => (isSlot(part) ? grammar.may[part.toUpperCase()].includes(word) : part === word);
  const templates = []; // that fit
  let furthest = 0;

  function lay(sentence, template) {
    const isAtEnd = sentence === grammar.sentences.length && template.length === words.length;
    if (template.length >= words.length) templates.push({ template, isWhole: isAtEnd });
    for (const form of (template.length < words.length && grammar.sentences[sentence]) || []) {
      const isFit = form.every((part, k) => {
        const at = template.length + k;
        if (at >= words.length) return true;
        if (fits(part, words[at])) furthest = Math.max(furthest, at + 1);
        return fits(part, words[at]);
      });
      if (isFit) lay(sentence + 1, [...template, ...form]);
    }
  }
  lay(0, []);
  if (!templates.length) return { left: furthest, faults: [], isWhole: false };
  const all = templates.map(({ template, isWhole }) => ({ faults: faultsIn(grammar, template, words), isWhole }));
  const [best] = all.sort((one, other) => one.faults.length - other.faults.length);
  return { left: null, ...best };
}

function faultsIn({ follows, apart }, template, words) {
  const drawn = {};
  const slots = words.map((_, at) => (isSlot(template[at]) ? template[at].toUpperCase() : ""));
  slots.forEach((slot, at) => {
    if (slot && !(slot in drawn)) drawn[slot] = words[at];
  });
  const due = (slot) => {
    if (!follows[slot]) return drawn[slot];
    const { of, table } = follows[slot];
    return table[of.map((one) => drawn[one]).join(" ")]; // undefined as long as one has not been drawn
  };
  const faults = apart
    .filter(([one, other]) => drawn[one] && drawn[other] && areAlike(drawn[one], drawn[other]))
    .map((pair) => pair.map((slot) => slots.indexOf(slot)).sort((a, b) => a - b))
    .map(([first, at]) => ({ at, alike: words[first] }));
  slots.forEach((slot, at) => {
    const right = slot && due(slot);
    if (right && right !== words[at]) faults.push({ at, right });
  });
  return faults.sort((one, other) => one.at - other.at);
}
