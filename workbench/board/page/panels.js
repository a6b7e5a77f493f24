// What stands for a matrix on the page: a table whose cells are the heatmap and the editor, or one of the pictures.

import { numberCell, resultCell, switchCell } from "./cells.js";
import { element, worded } from "./elements.js";
import { range, sum } from "./numbers.js";
import { OPERATIONS } from "./operations.js";
import { arcs, bars, canvasOf, gallery } from "./pictures.js";
import { letGoOf, pinCell } from "./pins.js";

const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const POINTS = matchMedia("(hover: hover)"); // on a phone a finger that scrolls points at nothing

const CELLS = 600; // more than so many are drawn on a canvas
const MOST = 0.5; // of the numbers of a matrix that may be marked as changed
const PICTURES = { arcs, bars };
const PAIRS = ["scores", "weights", "gradient"]; // kinds with a number for each query and key

export function panelOf(view, panel) {
  const { engine } = view;
  const node = element("div", { class: `panel tone ${panel.kind}`, "data-name": panel.name });
  const head = element("div", { class: "head" }, element("b", {}, ...worded(panel.title)));
  const note = element("span", { class: "note" }, panel.note);
  if (panel.note) head.append(note);
  const letGo = panel.pin ? letGoOf(view, panel, note) : null;
  if (letGo) head.append(letGo.node);
  node.append(head);
  const picture = panel.shape?.length === 3 ? gallery : (PICTURES[panel.does] ?? OPERATIONS[panel.does]?.picture);
  let drawn = null;
  let shape = "";
  const size = () => {
    const matrix = engine.values[panel.name];
    return [matrix.length, matrix[0]?.length ?? 0];
  };
  return {
    node,
    panel,
    size,
    update() {
      const matrix = engine.values[panel.name];
      const [rows, columns] = size();
      node.hidden = !view.shows(panel) || (!picture && rows * columns === 0);
      if (node.hidden) return;
      node.classList.toggle("veiled", view.veiled.has(panel.name));
      const shapeNow = `${rows} ${columns} ${engine.gap(panel)}`;
      if (shapeNow !== shape) {
        shape = shapeNow;
        drawn?.node.remove();
        const draw = picture ?? (rows * columns > CELLS ? canvasOf : tableOf);
        drawn = draw(view, panel, matrix);
        node.append(drawn.node);
      }
      drawn.update(matrix);
      letGo?.update();
    },
    go: (i, j) => !node.hidden && Boolean(drawn?.go?.(i, j)),
    spot: (i, j) => (node.hidden ? null : drawn?.spot?.(i, j)),
    complain: (error) => drawn?.complain?.(error),
  };
}

function tableOf(view, panel, first) {
  const { name } = panel;
  const cellOf = panel.editable ? numberCell : panel.pin ? pinCell : resultCell;
  const cells = first.map((row, i) =>
    Array.from(row, (_, j) => Object.assign((panel.toggle ? switchCell : cellOf)(view, panel, i, j), { at: [i, j] })),
  );
  const starts = range(first[0].length).filter((j) => isStart(view, panel, j));
  const table = element("table", { role: "grid", "aria-label": panel.title });
  table.append(...headsOf(panel, first[0].length, starts), bodyOf(view, panel, cells, starts));
  const sizes = first.flatMap((row) => Array.from(row, Math.abs)).filter((x) => x < 1e8);
  view.halves[name] ??= Math.max(...sizes, 1e-9) / 2 || 1;
  oneTabStop(view, name, cells, table.tBodies[0]);
  return {
    node: table,
    update(matrix) {
      const isYours = yoursIn(view, panel, matrix);
      drawTiles(view, panel, cells);
      for (const [i, row] of matrix.entries()) {
        for (const [j, x] of row.entries()) updateCell(view, panel, cells[i][j], x, isYours(i, j));
      }
    },
    go(i, j) {
      if (!cells[i]?.[j]) return false;
      cells[i][j].target.focus();
      return true;
    },
    spot: (i, j) => cells[i]?.[j]?.node,
    complain(error) {
      for (const [i, row] of cells.entries()) {
        for (const [j, cell] of row.entries()) cell.complain?.(error?.row === i && error.column === j);
      }
    },
  };
}

// A line above and on the left of each tile.
function drawTiles({ engine }, { tiles }, cells) {
  if (!tiles?.length) return;
  const [rows, columns] = tiles.map((control) => engine.numbers[control]);
  for (const [i, row] of cells.entries()) {
    for (const [j, { node }] of row.entries()) {
      node.classList.toggle("tile-below", i > 0 && i % rows === 0);
      node.classList.toggle("tile-right", j > 0 && j % columns === 0);
    }
  }
}

// Whether a part between gaps begins with this column.
const isStart = ({ engine }, panel, j) => !j || engine.part(panel, j) !== engine.part(panel, j - 1);

// Where the same words stand on both sides, those above are said to be keys; so those beside are queries.
function headsOf({ kind, rows, columns, parts }, width, starts) {
  const isPairs = PAIRS.includes(kind) && columns.length && String(rows) === String(columns);
  const said = isPairs ? [element("span", { "aria-hidden": "true" }, "keys", element("i", {}, " →"))] : [];
  const corner = () => (rows.length ? [element("td", { class: "axis" }, ...said.splice(0))] : []);
  const head = (cells) => element("thead", {}, element("tr", {}, ...corner(), ...cells));
  const heads = [];
  if (columns.length) {
    heads.push(head(range(width).map((j) => element("th", { scope: "col" }, columns[j] ?? String(j)))));
  }
  if (parts.length) {
    const wide = (k) => (starts[k + 1] ?? width) - starts[k];
    heads.push(head(starts.map((_, k) => element("th", { scope: "colgroup", colspan: wide(k) }, parts[k]))));
  }
  return heads;
}

function bodyOf(view, { name, rows }, cells, starts) {
  const body = element("tbody");
  cells.forEach((row, i) => {
    const line = element("tr");
    if (rows.length) line.append(element("th", { scope: "row" }, rows[i] ?? String(i)));
    row.forEach(({ node }, j) => {
      if (j && starts.includes(j)) node.classList.add("after-gap");
      node.addEventListener("mouseenter", () => POINTS.matches && view.look(name, i, j));
      node.addEventListener("mouseleave", () => POINTS.matches && view.unlook());
      line.append(node);
    });
    body.append(line);
  });
  return body;
}

// Tab comes to a panel once, to the cell that had the focus last.
function oneTabStop(view, name, cells, body) {
  let current = cells[0][0].target;
  current.tabIndex = 0;
  const all = cells.flatMap((row, i) => row.map(({ node }, j) => [node, i, j]));
  body.addEventListener("focusin", (event) => {
    const reached = all.find(([node]) => node === event.target.closest("td"));
    if (!reached) return;
    current.tabIndex = -1;
    current = event.target;
    current.tabIndex = 0;
    view.look(name, reached[1], reached[2], true);
  });
}

// The numbers that a hand has changed; where most are new, as at random, it is another example and none is.
function yoursIn({ engine }, { name, editable }, matrix) {
  if (!editable) return (i, j) => engine.isPinned(name, i, j);
  const start = engine.start.inputs[name];
  const isNew = (i, j) => matrix[i][j] !== start[i][j];
  const count = sum(start.flatMap((row, i) => row.map((_, j) => Number(isNew(i, j)))));
  return count > matrix.length * matrix[0].length * MOST ? () => false : isNew;
}

function updateCell(view, panel, cell, x, isYours) {
  const isNothing = view.isNothing(panel.name, cell.at[0], x);
  const isSame = cell.isNothing === isNothing && cell.isYours === isYours;
  if (cell.shown !== undefined && Object.is(cell.shown, x) && isSame) return;
  if (panel.blinks && cell.shown !== undefined && !Object.is(cell.shown, x) && !STILL.matches) blink(cell.node);
  cell.shown = x;
  cell.isNothing = isNothing;
  cell.isYours = isYours;
  cell.node.classList.toggle("yours", isYours);
  cell.update(x, isNothing);
  const isShare = panel.kind === "weights" && !panel.toggle;
  const painted = isNothing ? 0 : paintedOf(panel, x, isShare, view.halves[panel.name]);
  cell.node.style.setProperty("--share", `${(Math.abs(painted) * 100).toFixed(1)}%`);
  cell.node.classList.toggle("below", painted < 0);
  cell.node.classList.toggle("broken", Number.isNaN(x) && !isNothing);
}

const blink = (node) =>
  node.animate([{ boxShadow: "inset 0 0 0 4em var(--tone)" }, {}], { duration: 700, easing: "ease-out" });

// How much of a cell's colour a number has, −1 to 1: a share as much as it is, any other number its place on the
// panel's scale, which is fixed by the first numbers, half of it reached at `half`, and never jumps.
function paintedOf(panel, x, isShare, half) {
  if (isShare) return Math.max(0, Math.min(1, x || 0));
  if (panel.toggle) return x * 0.6;
  if (Number.isFinite(x)) return Math.sign(x) * (1 - 2 ** (-Math.abs(x) / half));
  return Number.isNaN(x) ? 0 : Math.sign(x);
}
