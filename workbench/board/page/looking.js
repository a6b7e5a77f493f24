// What is looked at, marked, with its arithmetic in the line below; of an input, what it will move.

import { element } from "./elements.js";
import { counted, explained, keptOrMoved } from "./explain.js";

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
    if (root.contains(event.relatedTarget) && !choosesInstead(event.relatedTarget)) return;
    pin = null;
    show(null);
  });
  // a page points at a cell, or at none any more: no film runs on, and nothing stands of what was done before
  root.addEventListener("pointed", ({ detail }) => {
    view.rest();
    view.say("");
    view.update();
    pin = detail;
    show(detail);
  });
  why.addEventListener("pointerdown", (event) => event.preventDefault()); // the cell keeps the focus

  function show(asked) {
    view.asked = asked;
    view.mark();
  }

  function put(kind, cells) {
    const nodes = cells.map(([name, i, j]) => view.panel(name).spot(i, j)).filter(Boolean);
    for (const node of nodes) node.classList.add(kind);
    marked.push(...nodes);
  }

  view.mark = () => {
    for (const node of marked) node.classList.remove("asked", "lit", "moved");
    marked = [];
    const [name, i, j] = view.asked ?? [];
    const x = engine.values[name]?.[i]?.[j];
    const isShown = x !== undefined && !view.isNothing(name, i, x);
    const arithmetic = isShown ? explained(view, name, i, j) : null;
    why.hidden = !arithmetic;
    root.classList.toggle("explained", Boolean(arithmetic));
    view.step();
    hint.textContent = x === undefined ? afterChoosing() || idle : "";
    heard = hint.textContent;
    if (x === undefined) return;
    put("asked", [view.asked]);
    if (arithmetic) {
      const words = element("span", { class: "words" }, arithmetic.words);
      why.replaceChildren(words, ...arithmetic.parts);
      put("lit", arithmetic.sources);
      heard = `${arithmetic.words}: ${arithmetic.text}`;
    }
    if (!arithmetic?.sources.length) markMoves(name, i, j, arithmetic);
  };

  // From an input, of which is said what it moves, to a menu or a button: what is said next is of that.
  function choosesInstead(node) {
    return pin && !engine.panel[pin[0]].does && node.closest(".choices, .tries, .tools");
  }

  function afterChoosing() {
    const isChosen = engine.controls.some(({ title }) => view.said.textContent.startsWith(`${title} is now `));
    return isChosen ? keptOrMoved(view) : "";
  }

  function markMoves(name, i, j, arithmetic) {
    // of an input, or of what was made from nothing
    const moves = engine.moves(name, i, j);
    put("moved", moves);
    if (!engine.panel[name].editable) return;
    const label = engine.label(name, i, j);
    const effect = ` moves ${counted(view, moves) || "nothing, as things stand"}.`;
    const isNamed = view.said.textContent.startsWith(`${label} is now `);
    hint.textContent = `${isNamed ? "It" : label}${effect}`;
    if (!arithmetic) heard = `${label}${effect}`;
  }
}

function idleWords({ panels }) {
  const isTouched = matchMedia("(hover: none) and (pointer: coarse)").matches; // a phone: neither keys nor a pointer
  const canChange = panels.some((panel) => panel.editable && !panel.toggle);
  const canPaint = panels.some((panel) => panel.toggle);
  const paint = `Paint ✓ and ✕: drag over them${isTouched ? "" : ", or Shift and an arrow"}. `;
  const first = canPaint ? paint : "";
  if (isTouched) return `${first}Tap a${canChange ? " number to change it, a" : ""} result to see where it comes from.`;
  const change = `${first}${canChange ? "Change a number: type, or press ↑ ↓. " : ""}`;
  return `${change}Point at a result to see where it comes from.`;
}
