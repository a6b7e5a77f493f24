// The steps, one after the other: a scrubber, and numbers that fly to where they are used.

import { button, element, used } from "./elements.js";
import { OPERATIONS } from "./operations.js";

const SHOWN = 2600; // ms for which a step is shown
const FLIGHT = 450; // ms in which a number flies
const BETWEEN = 90; // ms from one number to the next

const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export function player(view) {
  const { engine } = view;
  let at = null; // the step that is shown, null for all of them
  let clock = null;
  const isPlayed = (step) => view.shows(step) && step.role !== "stored" && engine.values[step.name].length;
  const steps = () => engine.steps.filter(isPlayed);

  function go(to) {
    pause();
    show(to);
  }
  const back = button("◂", () => go((at ?? steps().length) - 1), "Step back", "Step back");
  const play = button("▸ Play", () => (clock ? pause() : start()), "Play the steps", "Play the steps");
  const next = button("▸", () => go(at === null ? 0 : at + 1), "Step on", "Step on");
  const bar = element("input", { type: "range", min: "0", step: "1", "aria-label": "Steps" });
  const count = element("output");
  bar.addEventListener("input", () => go(Number(bar.value)));
  const attributes = { class: "player", role: "group", "aria-label": "Steps" };
  const node = element("div", attributes, back, play, next, bar, count);
  node.addEventListener("keydown", (event) => {
    const by = { PageDown: 1, PageUp: -1 }[event.key]; // what a clicker sends; at the ends it turns the page
    const to = (at ?? (by > 0 ? -1 : steps().length)) + by;
    if (!by || to < 0 || to >= steps().length) return;
    used(event);
    go(to);
  });

  function pause() {
    clearInterval(clock);
    clock = null;
    play.textContent = "▸ Play";
    play.setAttribute("aria-label", "Play the steps");
  }

  function start() {
    const from = at === null || at >= steps().length - 1 ? 0 : at + 1;
    clock = setInterval(() => (at >= steps().length - 1 ? pause() : show(at + 1)), SHOWN);
    play.textContent = "❙❙ Pause";
    play.setAttribute("aria-label", "Pause");
    show(from);
  }

  function show(to) {
    const all = steps();
    at = Math.max(0, Math.min(all.length - 1, to));
    const step = all[at];
    const names = step.of.map((name) => engine.title(name));
    view.veiled = new Set(all.slice(at + 1).map(({ name }) => name));
    view.update();
    view.look(step.name, 0, 0, true);
    engine.said = `${engine.title(step.name)}: ${OPERATIONS[step.does].says(names, step.resolved)}`;
    view.speak();
    if (!isStill()) fly(view, step);
  }

  view.rest = () => {
    // all steps are shown, none is the present one
    pause();
    at = null;
    view.veiled = new Set();
  };
  beginsByItself(view, node, start);

  return {
    node,
    update() {
      const all = steps();
      node.hidden = all.length < 3;
      bar.max = String(all.length - 1);
      bar.value = String(at ?? all.length - 1);
      const name = all[at ?? all.length - 1]?.name ?? engine.panels[0].name;
      bar.setAttribute("aria-valuetext", engine.title(name));
      count.textContent = at === null ? "" : `${at + 1}/${all.length}`;
    },
    stop: pause,
  };
}

// A page may let a board begin by itself: silently, and until anybody touches or presses anything.
function beginsByItself(view, player, start) {
  const { engine, root } = view;
  const spoken = [view.said, view.spoken];

  function end() {
    for (const flight of root.getAnimations({ subtree: true })) flight.cancel();
    view.rest();
    view.unlook();
    engine.said = "";
    view.update();
  }
  root.addEventListener("begin", () => {
    const touched = new AbortController();
    const onTouch = ({ target }) => {
      touched.abort();
      for (const words of spoken) words.removeAttribute("aria-live");
      if (!player.contains(target)) end(); // its buttons know what to do
    };
    for (const kind of ["pointerdown", "keydown", "focusin"]) {
      window.addEventListener(kind, onTouch, { signal: touched.signal, capture: true });
    }
    for (const words of spoken) words.setAttribute("aria-live", "off");
    start();
  });
}

const centreOf = (node) => {
  const { left, top, width, height } = node.getBoundingClientRect();
  return [left + width / 2, top + height / 2];
};

// Lets a node come from where another stands.
function comeFrom(node, origin, opacity, timing) {
  const [x0, y0] = centreOf(origin);
  const [x1, y1] = centreOf(node);
  const there = { transform: `translate(${x0 - x1}px, ${y0 - y1}px)`, opacity };
  node.animate([there, { transform: "none", opacity: 1 }], { duration: FLIGHT, fill: "backwards", ...timing });
}

function appear(node, duration, delay) {
  node?.animate?.([{ opacity: 0 }, { opacity: 1 }], { duration, delay, fill: "backwards" });
}

// A row and a column meet: their numbers fly into the line, the sum drops into its cell, and the others follow.
function fly(view, step) {
  const panel = view.panel(step.name);
  const leaves = view.why.querySelectorAll(".leaf");
  leaves.forEach((leaf, k) => {
    const from = view.panel(leaf.at[0]).spot(leaf.at[1], leaf.at[2]);
    if (from) comeFrom(leaf, from, 0.3, { delay: Math.min(k, 8) * BETWEEN, easing: "ease-in-out" });
  });
  const sum = view.why.querySelector(".sum");
  const cell = panel.spot(0, 0);
  if (!sum || !cell) return;
  const wait = FLIGHT + Math.min(leaves.length, 9) * BETWEEN;
  appear(sum, 200, wait);
  comeFrom(cell, sum, 0, { delay: wait + 200, easing: "ease-in" });
  const [rows, columns] = panel.size();
  for (let place = 1; place < rows * columns; place++) {
    appear(panel.spot(Math.floor(place / columns), place % columns), 150, wait + 600 + 40 * place);
  }
}
