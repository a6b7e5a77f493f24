// How large the sentence's type is.

const SHORT = 0.36; // of the type's size: no text is narrower for each of its signs
const TYPES = [44, 38, 33, 28, 25]; // px, in which a text may stand in one line
const SEVERAL = { short: [27, 25, 23], long: [23, 22, 24], wide: [28, 26, 30] }; // px, where it takes several
const NARROW = 700; // px of a page on which a text has several lines
const FEW = 20; // words that are a short text

/** fitType(): the largest type in which the text stands in one line; else one in which the field is not left alone. */
export function typeOf(view, sentence, words, field) {
  const { engine } = view;
  const { node, size } = sentence;
  let fitted = ""; // what the type was chosen for

  function set(type, isSeveral) {
    const px = `${type}px`;
    if (node.style.getPropertyValue("--size") !== px) node.style.setProperty("--size", px);
    node.classList.toggle("several", isSeveral);
  }
  const foot = (one) => one.offsetTop + one.offsetHeight;
  const isBelow = (one, other) => foot(one) > foot(other) + 20;
  const last = () => words.node(size()) ?? field;
  function isOneLine(type) {
    set(type, false);
    const first = words.node(0) ?? field;
    return !isBelow(last(), first) && !isBelow(field, first);
  }
  function isWhole(type) {
    set(type, true);
    return !isBelow(field, last());
  }

  return () => {
    const shape = [engine.words, field.placeholder, view.width, sentence.replaced, view.at].join();
    if (shape === fitted || !node.clientWidth) return;
    fitted = shape;
    const isNarrow = view.width < NARROW;
    const signs = engine.words.reduce((sum, word) => sum + [...word].length + 1, 4);
    const types = TYPES.filter((type) => !isNarrow && signs * SHORT * type < view.width);
    if (types.some(isOneLine)) return;
    const several = SEVERAL[isNarrow ? (size() < FEW ? "short" : "long") : "wide"];
    if (!several.some(isWhole)) set(several[0], true);
  };
}
