// The arithmetic of one cell in words and numbers, beside it.

import { evaluate, sources } from "./arithmetic.js";
import { element } from "./elements.js";
import { fixed, range, trimmed, written } from "./numbers.js";

const LONG = 8; // parts of a sum that are written out
const PREFIXES = { "e^": "e^", ln: "ln " };
const SIGNS = { "+": " + ", "·": "·", "/": " / ", "−": " − ", max: ", " };

/** A tree as pieces of text and of cells, { at, text }, its numbers with so many digits. */
function spell(node, digits, inside = false) {
  if (!node.op) return [spellLeaf(node, digits, inside)];
  const isBracketed = inside && (node.op === "+" || node.op === "−") && node.parts.length > 1;
  const isInside = (k) => k > 0 || node.op === "e^" || (inside && !isBracketed);
  const parts = node.parts.map((part, k) => spell(part, digits, isInside(k)));
  if (node.op === "told") return [node.text && `${node.text} `, ...parts[0]];
  if (PREFIXES[node.op]) return [PREFIXES[node.op], ...parts[0]];
  if (node.op === "−" && parts.length === 1) return ["−(", ...spell(node.parts[0], digits), ")"];
  const line = joined(parts, SIGNS[node.op]);
  if (node.op === "max") return ["max(", ...line, ")"];
  return isBracketed ? ["(", ...line, ")"] : line;
}

function spellLeaf({ value, at }, digits, inside) {
  const text = Number.isFinite(value) ? trimmed(value, digits) : written(value);
  const shown = inside && text.startsWith("−") ? `(${text})` : text;
  return at ? { at, text: shown } : shown;
}

function joined(parts, sign) {
  const shown = parts.length > LONG ? [...parts.slice(0, LONG - 1), ["…"]] : parts;
  return shown.flatMap((part, k) => (k ? [sign, ...part] : part));
}

/** As few digits as make the line true as it is written: whoever adds it up gets the rounded result. */
export function spelledOut(node, value) {
  if (!Number.isFinite(value)) return [...spell(node, 4), " = ", written(value)];
  const decimals = Math.min(10, Math.max(2, 1 - Math.floor(Math.log10(Math.abs(value) || 1))));
  const result = Number(value.toFixed(decimals));
  const isNear = (digits) => Number(evaluate(node, digits).toFixed(decimals)) === result;
  const digits = range(13)
    .map((k) => k + 2)
    .find(isNear);
  const isSame = Math.abs(evaluate(node, digits ?? 14) - result) < 1e-12 * Math.max(1, Math.abs(result));
  const end = isSame ? [" = ", trimmed(value, decimals)] : [" ≈ ", fixed(value, decimals)];
  return [...spell(node, digits ?? 14), ...end];
}

export const plainText = (pieces) => pieces.map((piece) => piece.text ?? piece).join("");

/** These cells, and for those that are not shown the cells that they came from. */
export function inSight(view, cells) {
  const { engine } = view;
  const origins = (at) => inSight(view, sources(engine.arithmetic(...at) ?? {}));
  return cells.flatMap((at) => (view.shows(engine.panel[at[0]]) ? [at] : origins(at)));
}

/** What stands beside the cell: its words, its arithmetic with the operands in their colours, each a way back. */
export function explained(view, name, i, j) {
  const { engine } = view;
  const node = engine.arithmetic(name, i, j);
  if (!node) return null;
  const pieces = spelledOut(node, engine.values[name][i][j]);
  const line = pieces.slice(0, -1).map((piece) => (typeof piece === "string" ? piece : leafOf(view, piece)));
  const parts = [...partsOf(line), element("strong", { class: "sum" }, pieces.at(-1))];
  return { words: engine.label(name, i, j), parts, text: plainText(pieces), sources: inSight(view, sources(node)) };
}

// A line is broken after a sign between its parts, and not within one; what follows e^ is raised.
function partsOf(line) {
  const parts = [[]];
  let raised = null;
  let depth = 0;
  for (const piece of line) {
    (raised ?? parts.at(-1)).push(typeof piece === "string" ? piece.replace(/e\^$/, "e") : piece);
    if (raised) {
      depth += Number(piece === "(") - Number(piece === ")");
      if (depth > 0) continue;
      parts.at(-1).push(element("sup", {}, ...raised));
      raised = null;
    } else if (/e\^$/.test(piece)) raised = [];
    else if (/ [+/−=≈] $/.test(piece)) parts.push([]);
  }
  return parts.map((part) => element("span", { class: "part" }, ...part));
}

function leafOf(view, piece) {
  const { engine } = view;
  const [at] = inSight(view, [piece.at]);
  if (!at) return piece.text; // of what is never shown, as a preset
  const attributes = { class: `leaf tone ${engine.panel[at[0]].kind}`, title: engine.label(...at) };
  const leaf = element("button", { type: "button", tabindex: "-1", ...attributes }, piece.text);
  leaf.addEventListener("click", () => view.go(...at));
  leaf.at = at;
  return leaf;
}

/** How many cells of which shown panels these are, in words; without those that say how far others moved. */
export function counted({ engine, panels, shows }, cells) {
  const isShown = (name) => panels[name] && shows(engine.panel[name]) && !engine.panel[name].zero;
  const titles = cells.filter(([name]) => isShown(name)).map(([name]) => engine.title(name));
  const called = (title) => (title.includes(",") ? `“${title}”` : title);
  const countOf = (title) => titles.filter((other) => other === title).length;
  return [...new Set(titles)].map((title) => `${countOf(title)} of ${called(title)}`).join(", ");
}

/** Of panels that have a word for 0, what each row does: "1st keeps, 2nd moved by 1.41." */
export function keptOrMoved({ engine, shows }) {
  const worded = engine.panels.filter((panel) => panel.zero && shows(panel));
  const row = (panel, i, x) => `${panel.rows[i]} ${x ? `${panel.title} ${written(x)}` : panel.zero}`;
  const rows = worded.flatMap((panel) => engine.values[panel.name].map(([x], i) => row(panel, i, x)));
  return rows.length ? `${rows.join(", ")}.` : "";
}

/** What a change did, for whoever does not see it: the number that moved most, of the weights where they moved. */
export function effectOf(view, before) {
  const { engine } = view;
  const results = engine.steps.filter((step) => view.shows(step) && step.role !== "stored");
  const entriesOf = ({ name, kind }, row, i) =>
    Array.from(row, (x, j) => ({ name, kind, i, j, x, was: before[name]?.[i]?.[j] }));
  const entries = results.flatMap((step) => engine.values[step.name].flatMap((row, i) => entriesOf(step, row, i)));
  const moves = entries.filter(({ x, was }) => was !== undefined && written(x) !== written(was));
  const weights = moves.filter(({ kind }) => kind === "weights");
  const last = moves.at(-1)?.name;
  const among = weights.length ? weights : moves.filter(({ name }) => name === last);
  if (!among.length) return "";
  const size = ({ x, was }) => Math.abs(x - was) || Infinity;
  const { name, i, j, x, was } = among.reduce((a, b) => (size(b) > size(a) ? b : a));
  return `${engine.label(name, i, j)}: ${written(was)} → ${written(x)}`;
}
