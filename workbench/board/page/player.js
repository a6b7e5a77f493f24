// The steps, one after the other: a film of a few seconds, a scrubber, and numbers that fly to where they are used.

import { button, element, icon, used } from "./elements.js";
import { OPERATIONS } from "./operations.js";

const FILM = 6000; // ms for all steps together
const FLIGHT = 350; // ms in which a number flies
const BETWEEN = 40; // ms from one number to the next
const SHORT = 800; // ms: in a shorter step no number flies
const PICTURES = {
  back: ["M12 5 7 10l5 5"],
  next: ["M8 5l5 5-5 5"],
  play: ["M6 4l10 6-10 6Z"],
  pause: ["M7 5v10", "M13 5v10"],
};

const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export function player(view) {
  const { engine } = view;
  let at = null; // the step that is shown, null for all of them
  let clock = null;
  const isPlayed = (step) => view.shows(step) && step.role !== "stored" && engine.values[step.name].length;
  const steps = () => engine.steps.filter(isPlayed);

  function go(to) {
    pause();
    show(to, Infinity);
  }
  const back = button(icon(PICTURES.back), () => go((at ?? steps().length) - 1), "Step back", "Step back");
  const play = button("", () => (clock ? pause() : start()), "Play the steps");
  const next = button(icon(PICTURES.next), () => go(at === null ? 0 : at + 1), "Step on", "Step on");
  play.classList.add("play");
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

  function playing(isPlaying) {
    play.replaceChildren(
      icon(isPlaying ? PICTURES.pause : PICTURES.play),
      element("span", {}, isPlaying ? "Pause" : "Play"),
    );
    play.setAttribute("aria-label", isPlaying ? "Pause" : "Play the steps");
  }

  function pause() {
    clearInterval(clock);
    clock = null;
    playing(false);
  }

  function start() {
    const from = at === null || at >= steps().length - 1 ? 0 : at + 1;
    const time = FILM / steps().length;
    clock = setInterval(() => (at >= steps().length - 1 ? pause() : show(at + 1, time)), time);
    playing(true);
    show(from, time);
  }

  function show(to, time) {
    const all = steps();
    at = Math.max(0, Math.min(all.length - 1, to));
    const step = all[at];
    const names = step.of.map((name) => engine.title(name));
    view.veiled = new Set(all.slice(at + 1).map(({ name }) => name));
    view.played = step;
    engine.error = null;
    view.update();
    view.look(step.name, 0, 0, true);
    const behavior = isStill() ? "auto" : "smooth";
    if (view.root.classList.contains("folded"))
      view.panel(step.name).node.scrollIntoView({ block: "nearest", behavior });
    view.say(`${engine.title(step.name)}: ${OPERATIONS[step.does].says(names, step.resolved)}`);
    if (!isStill()) fly(view, step, time);
  }

  view.rest = () => {
    // all steps are shown, none is the present one
    pause();
    at = null;
    view.veiled = new Set();
    view.played = null;
  };
  playing(false);

  return {
    node,
    update() {
      const all = steps();
      node.hidden = all.length < 3;
      view.root.classList.toggle("playing", Boolean(view.played));
      bar.max = String(all.length - 1);
      bar.value = String(at ?? all.length - 1);
      const name = all[at ?? all.length - 1]?.name ?? engine.panels[0].name;
      bar.setAttribute("aria-valuetext", engine.title(name));
      count.textContent = at === null ? "" : `${at + 1}/${all.length}`;
    },
    stop: pause,
  };
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
function fly(view, step, time) {
  const panel = view.panel(step.name);
  const [rows, columns] = panel.size();
  const leaves = time < SHORT ? [] : view.why.querySelectorAll(".leaf");
  leaves.forEach((leaf, k) => {
    const from = view.panel(leaf.at[0]).spot(leaf.at[1], leaf.at[2]);
    if (from) comeFrom(leaf, from, 0.3, { delay: Math.min(k, 4) * BETWEEN, easing: "ease-in-out" });
  });
  const sum = leaves.length ? view.why.querySelector(".sum") : null;
  const cell = panel.spot(0, 0);
  if (!cell) return;
  const wait = sum ? FLIGHT : 0;
  appear(sum, 100, wait);
  if (sum) comeFrom(cell, sum, 0, { duration: 250, delay: wait + 50, easing: "ease-in" });
  for (let place = sum ? 1 : 0; place < rows * columns; place++) {
    appear(panel.spot(Math.floor(place / columns), place % columns), 150, wait + (250 * place) / (rows * columns));
  }
}
