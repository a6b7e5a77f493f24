// What stands for a matrix where there are too many numbers for cells: a canvas, a row of small heads to choose from,
// curves between words.

import { element, used } from "./elements.js";
import { range, sum, trimmed } from "./numbers.js";
import { walk } from "./walk.js";

const clamped = (x, least, most) => Math.max(least, Math.min(most, x));

/** Paints a matrix on a canvas, again when the page turns dark or light: each share as strong as it is. */
function painter(canvas) {
  let matrix = null;
  const again = () => matrix && paint(canvas, matrix);
  canvas.addEventListener("transitionend", again);
  new ResizeObserver(again).observe(canvas);
  return (now) => {
    matrix = now;
    again();
  };
}

function paint(canvas, matrix) {
  const colour = getComputedStyle(canvas).color.match(/\d+/g);
  if (!colour) return; // it is not on a page yet
  const [red, green, blue] = colour.map(Number);
  const rows = matrix.length;
  const columns = matrix[0].length;
  const context = canvas.getContext("2d");
  const pixels = context.createImageData(columns, rows);
  let at = 0;
  for (const row of matrix) {
    for (const share of row) {
      pixels.data[at] = red;
      pixels.data[at + 1] = green;
      pixels.data[at + 2] = blue;
      pixels.data[at + 3] = 25 + 230 * clamped(share, 0, 1);
      at += 4;
    }
  }
  context.putImageData(pixels, 0, 0);
}

export function canvasOf(view, panel, first) {
  const rows = first.length;
  const columns = first[0].length;
  const { name } = panel;
  const canvas = element("canvas", { width: columns, height: rows });
  const cross = element("div", { class: "cross" });
  const label = `${panel.title}, ${rows} × ${columns}: arrow keys walk`;
  const attributes = { class: "many", tabindex: "0", role: "application", "aria-label": label };
  const node = element("div", attributes, canvas, cross);
  let at = [0, 0];

  function mark([i, j]) {
    const place = { left: `${(100 * j) / columns}%`, top: `${(100 * i) / rows}%` };
    Object.assign(cross.style, { ...place, width: `${100 / columns}%`, height: `${100 / rows}%` });
  }
  function under(event) {
    const box = canvas.getBoundingClientRect();
    const i = Math.floor(((event.clientY - box.top) / box.height) * rows);
    const j = Math.floor(((event.clientX - box.left) / box.width) * columns);
    return [clamped(i, 0, rows - 1), clamped(j, 0, columns - 1)];
  }
  function look(to, pinned) {
    at = to;
    mark(at);
    view.look(name, ...to, pinned);
  }
  node.addEventListener("mousemove", (event) => look(under(event)));
  node.addEventListener("mouseleave", () => view.unlook());
  node.addEventListener("click", (event) => {
    node.focus();
    look(under(event), true);
  });
  node.addEventListener("focus", () => look(at, true));
  node.addEventListener("keydown", (event) => walk(view, name, ...at, event));
  return {
    node,
    update: painter(canvas),
    go(i, j) {
      if (!(i >= 0 && j >= 0 && i < rows && j < columns)) return false;
      at = [i, j];
      if (document.activeElement === node) look(at, true);
      else node.focus();
      return true;
    },
    spot(i, j) {
      mark([i, j]);
      return cross;
    },
  };
}

/** All frames of a film, small; a click chooses one. */
export function gallery(view, panel) {
  const { engine } = view;
  const frames = engine.values[panel.name];
  const step = engine.steps.find((one) => one.role === "stored" && one.of[0] === panel.name);
  const control = engine.control[step?.options.chosen];
  const valueAt = (frame) => control?.values[control.numbers.indexOf(frame)];

  function onKey(event, frame) {
    const to = { ArrowLeft: frame - 1, ArrowRight: frame + 1, Home: 0, End: frames.length - 1 }[event.key];
    if (!buttons[to]) return;
    used(event);
    buttons[to].focus();
    buttons[to].click();
  }
  const buttons = frames.map((frame, place) => {
    const canvas = element("canvas", { width: frame[0].length, height: frame.length });
    painter(canvas)(frame);
    const value = valueAt(place);
    const attributes = { type: "button", class: "small-head", tabindex: place ? "-1" : "0" };
    const button = element("button", attributes, canvas, element("span", {}, String(value ?? place)));
    button.addEventListener("click", () => control && engine.set(control.name, value));
    button.addEventListener("keydown", (event) => onKey(event, place));
    return button;
  });
  return {
    node: element("div", { class: "gallery", role: "group", "aria-label": panel.title }, ...buttons),
    update() {
      const chosen = step ? step.resolved.chosen : -1;
      buttons.forEach((button, place) => {
        button.setAttribute("aria-pressed", String(place === chosen));
        button.tabIndex = place === chosen ? 0 : -1;
      });
    },
  };
}

/** Words above, words below, and a curve from each query to the keys that it listens to. */
export function arcs(view, panel) {
  const WIDE = 62; // from one word to the next
  const node = element("svg", { class: "arcs tone weights", role: "img" });
  const [of] = panel.of;
  const { rows, columns } = view.engine.panel[of];
  const middle = (k) => WIDE * (k + 0.5);
  const words = (names, count, y) =>
    range(count).map((k) => element("text", { x: middle(k), y, "text-anchor": "middle" }, names[k] ?? String(k)));

  function curve(share, i, j) {
    const d = `M${middle(i)},24 C${middle(i)},80 ${middle(j)},70 ${middle(j)},126`;
    return element("path", {
      d,
      "stroke-width": (1 + 6 * share).toFixed(1),
      opacity: (0.15 + 0.85 * share).toFixed(2),
    });
  }
  return {
    node,
    update() {
      const matrix = view.engine.values[of];
      const keys = matrix[0].length;
      const seen = (row, i) => Array.from(row, (share, j) => share > 0.02 && curve(share, i, j)).filter(Boolean);
      const curves = matrix.flatMap(seen);
      node.setAttribute("viewBox", `0 0 ${WIDE * Math.max(matrix.length, keys)} 150`);
      node.replaceChildren(...curves, ...words(rows, matrix.length, 16), ...words(columns, keys, 142));
      const heard = (row) => row.indexOf(Math.max(...row));
      const most = matrix.map((row, i) => `${rows[i] ?? i} most to ${columns[heard(row)] ?? heard(row)}`);
      node.setAttribute("aria-label", `Who attends to whom: ${most.join(", ")}.`);
    },
  };
}

/** Each row as a bar of its numbers, one after the other; the longest bar fills the width and is the strongest. */
export function bars(view, panel) {
  const [WIDE, LINE, NAMES] = [158, 44, 108]; // in all no wider than a phone, so that its letters stay as large
  const node = element("svg", { class: "row-bars tone scores", role: "img" });
  const [of] = panel.of;
  const { rows, columns } = view.engine.panel[of];

  function bar(row, i, most) {
    const y = i * LINE + 6;
    const whole = sum(row);
    let x = NAMES;
    const parts = row.map((part, j) => {
      const width = (part / most) * WIDE;
      const rect = element("rect", { x, y, width, height: LINE - 16, class: `part-${j}` });
      x += width;
      return rect;
    });
    const isLongest = whole === most;
    const name = element("text", { x: NAMES - 10, y: y + 20, "text-anchor": "end" }, rows[i]);
    const number = element("text", { x: x + 8, y: y + 20, class: "whole" }, trimmed(whole, 2));
    return element("g", { class: isLongest ? "longest" : "" }, name, ...parts, number);
  }
  return {
    node,
    update() {
      const matrix = view.engine.values[of].map((row) => Array.from(row));
      const most = Math.max(...matrix.map(sum));
      const high = matrix.length * LINE;
      const key = columns.map((word, j) => [
        element("rect", { x: NAMES + j * 130, y: high + 6, width: 14, height: 14, class: `part-${j}` }),
        element("text", { x: NAMES + j * 130 + 22, y: high + 18 }, word),
      ]);
      node.setAttribute("viewBox", `0 0 ${NAMES + WIDE + 70} ${high + 26}`);
      node.replaceChildren(...matrix.map((row, i) => bar(row, i, most)), ...key.flat());
      const said = matrix.map((row, i) => `${rows[i]} ${trimmed(sum(row), 2)}`);
      node.setAttribute("aria-label", `${said.join(", ")}.`);
    },
  };
}
