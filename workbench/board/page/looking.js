// What is looked at, marked, with its arithmetic beside it; of an input, what it will move.

import { element } from "./elements.js";
import { counted, explained } from "./explain.js";
import { sum } from "./numbers.js";

const GAP = 2; // px between a panel and the arithmetic beside it
// What it costs to stand somewhere, in cells that are hidden: for each that it speaks of, and for what lies around.
const COSTS = { spokenOf: 20, overTask: 5, unseen: 900, overWords: 300 };

export function lookingAt(view) {
  const { engine, root, why, hint } = view;
  const idle = idleWords(engine);
  let pin = null; // the cell that has the focus
  let marked = [];
  let heard = ""; // for whoever does not see it

  view.look = (name, i, j, pinned = false) => {
    if (!pinned && pin?.[0] === name && !engine.panel[name].editable) return; // on the way to the line
    if (pinned) pin = [name, i, j];
    show([name, i, j]);
    if (pinned) view.spoken.textContent = heard;
  };
  view.unlook = () => {
    if (!root.contains(document.activeElement) || !document.activeElement.closest(".panel")) pin = null;
    show(pin);
  };
  root.addEventListener("focusout", (event) => {
    if (root.contains(event.relatedTarget)) return;
    pin = null;
    show(null);
  });
  why.addEventListener("pointerdown", (event) => event.preventDefault()); // the cell keeps the focus

  function show(asked) {
    view.asked = asked;
    view.mark();
    if (!why.hidden) stand(view, marked);
  }

  function put(kind, cells) {
    const nodes = cells.map(([name, i, j]) => view.panel(name).spot(i, j)).filter(Boolean);
    for (const node of nodes) node.classList.add(kind);
    marked.push(...nodes);
  }

  view.mark = () => {
    for (const node of marked) node.classList.remove("asked", "lit", "moved");
    marked = [];
    view.strip.step();
    const [name, i, j] = view.asked ?? [];
    const x = engine.values[name]?.[i]?.[j];
    const isShown = x !== undefined && !view.blank(name) && !view.isNothing(name, x);
    const found = isShown ? explained(view, name, i, j) : null;
    why.hidden = !found;
    hint.textContent = x === undefined ? idle : "";
    heard = hint.textContent;
    if (x === undefined) return;
    put("asked", [view.asked]);
    if (found) {
      const words = element("span", { class: "words" }, found.words);
      why.replaceChildren(words, element("span", { class: "sumline" }, ...found.line));
      put("lit", found.sources);
      heard = `${found.words}: ${found.text}`;
    }
    if (!found?.sources.length) markMoves(name, i, j, found);
  };

  function markMoves(name, i, j, found) {
    // of an input, or of what was made from nothing
    const moves = engine.moves(name, i, j);
    put("moved", moves);
    if (!engine.panel[name].editable) return;
    const label = engine.label(name, i, j);
    const effect = ` moves ${counted(view, moves) || "nothing, as things stand"}.`;
    const isNamed = view.said.textContent.startsWith(`${label} is now `);
    hint.textContent = `${isNamed ? "It" : label}${effect}`;
    if (!found) heard = `${label}${effect}`;
  }
}

function idleWords({ panels }) {
  const isTouched = matchMedia("(hover: none)").matches; // a phone: neither keys nor a pointer
  const change = isTouched ? "Tap a number and change it with − and +. " : "Change a number: type, or press ↑ ↓. ";
  const canChange = panels.some((panel) => panel.editable && !panel.toggle);
  return `${canChange ? change : ""}${isTouched ? "Tap" : "Point at"} a result to see where it comes from.`;
}

// Beside its panel where it hides least, first of all below; on a phone it is a sheet at the bottom.
function stand(view, marked) {
  const { why } = view;
  if (view.root.classList.contains("narrow")) {
    why.removeAttribute("style");
    return;
  }
  const stage = view.stage.getBoundingClientRect();
  const [name, i, j] = view.asked;
  const panel = view.panel(name);
  const cell = panel.spot(i, j).getBoundingClientRect();
  const around = panel.node.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = why;

  const spokenOf = marked.map((node) => node.getBoundingClientRect());
  const filled = Object.values(view.panels).filter(({ node, panel }) => !node.hidden && !view.blank(panel.name));
  const panels = filled.map(({ node }) => node.getBoundingClientRect());
  const covered = (box, [left, top]) => {
    const wide = Math.min(box.right, left + width) - Math.max(box.left, left);
    const high = Math.min(box.bottom, top + height) - Math.max(box.top, top);
    return Math.max(0, wide) * Math.max(0, high);
  };
  const cost = (place) => {
    const [, top] = place;
    const hidden = spokenOf.filter((box) => covered(box, place) > 0).length;
    // In cells: the next step may read them.
    const others = sum(panels.map((box) => covered(box, place))) / (cell.width * cell.height);
    const aboveTask = top < stage.top ? COSTS.overTask : 0;
    const unseen = top < 0 || top + height > innerHeight ? COSTS.unseen : 0;
    const overWords = top + height > stage.bottom ? COSTS.overWords : 0;
    return COSTS.spokenOf * hidden + others + aboveTask + unseen + overWords;
  };

  const within = (left) => Math.max(stage.left, Math.min(stage.right - width, left));
  const lefts = [cell.left + cell.width / 2 - width / 2, around.left, around.right - width].map(within);
  const middle = cell.top + cell.height / 2 - height / 2;
  const places = [
    ...lefts.map((left) => [left, around.bottom + GAP]),
    ...lefts.map((left) => [left, around.top - height - GAP]),
    [within(around.right + GAP), middle],
    [within(around.left - width - GAP), middle],
  ];
  const costs = places.map(cost);
  const [left, top] = places[costs.indexOf(Math.min(...costs))];
  // Without a layout, and as wide wherever it stood before:
  why.style.transform = `translate(${left - stage.left}px, ${top - stage.top}px)`;
}
