// What a cell of a lesson is, read off what copies.py has written there; knows nothing of JupyterLab's widgets.

const AGAIN = "on a second reading"; // as in first_way.py
/** The first line that copies.py gives folded code, for pages that only fold it: which key runs it. */
export const TOLD_HOW = /^# .*\(Shift\+Enter\)/;
const ROOM = 72; // signs of code in a column of words

/** Of each cell its kind, its section's heading, and the second reading that it stands in; cells are { id, type, source, metadata }. */
export function described(cells) {
  let section = null;
  let second = null;
  let isFirst = true;
  return cells.map((cell) => {
    const [, signs, title] = (cell.type === "markdown" && /^(#+) (.+)/m.exec(cell.source)) || [];
    if (signs && cell.source.startsWith(signs)) {
      if (!second || signs.length <= second.level) {
        second = title.toLowerCase().includes(AGAIN) ? { level: signs.length, id: cell.id } : null;
      }
      if (signs.length === 2) section = { id: cell.id, title: plain(title), second: Boolean(second) };
    }
    const kind = kindOf(cell, isFirst);
    if (cell.type === "code") isFirst = false;
    const isLong = cell.type === "code" && cell.source.split("\n").some((line) => line.length > ROOM);
    return {
      id: cell.id,
      kind,
      section,
      isLong,
      second: second?.id ?? null,
      question: kind && questionIn(cell.source),
    };
  });
}

function kindOf({ type, source, metadata }, isFirst) {
  const tags = metadata.tags ?? [];
  if (type !== "code")
    return tags.includes("answer") || /^<details>\s*<summary>(More a|A)fter/.test(source) ? "told" : null;
  if (tags.includes("predict")) return "question";
  if (tags.includes("blank")) return "line";
  if (tags.includes("filled")) return "filled";
  if (tags.includes("exercise")) return "exercise";
  if (metadata.check) return "check";
  if (metadata.hint) return "hint";
  if (tags.includes("answer")) return "answer";
  if (isFirst && /^(import|from) /m.test(source)) return "imports";
  return "code";
}

/** What runs only when it is asked for by itself; texts never do. */
export const ALONE = new Set([null, "told", "check", "hint"]);

const questionIn = (source) => /^(?:\w+ = )?(?:predict|blank)\("([\w.-]+)"/m.exec(source)?.[1] ?? null;

/** The names that code gives to functions and values, at the beginning of a line. */
export const namesIn = (source) =>
  [...source.matchAll(/^(?:def (\w+)|(\w+(?:, *\w+)*) *=(?!=))/gm)].flatMap(([, one, more]) =>
    (one ?? more).split(/, */),
  );

/** What the comment behind `guess = ...` says of its form, as a sentence. */
export function exampleIn(source) {
  const [, words] = /^guess = .*\.\.\..*? {2}# (.+)/m.exec(source) ?? [];
  return words ? `${words[0].toUpperCase()}${words.slice(1)}.` : "";
}

const plain = (title) =>
  title
    .replace(/<[^>]+>/g, "")
    .replace(/[*`]/g, "")
    .replace(/\$([^$]*)\$/g, "$1");
