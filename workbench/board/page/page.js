// The page of a board: task and tools, the drawn flow, and below it the steps and the line that is read out.

import { controlsOf, toolsOf } from "./controls.js";
import { element, newId } from "./elements.js";
import { Engine } from "./engine.js";
import { effectOf } from "./explain.js";
import { figureOf } from "./figures/figure.js";
import { keysOf } from "./keys.js";
import { lookingAt } from "./looking.js";
import { panelOf } from "./panels.js";
import { player } from "./player.js";
import { stripOf } from "./strip.js";
import { reminderOf, taskOf } from "./task.js";
import { triesOf } from "./tries.js";
import { widgetFor } from "./widget.js";
import { wiresOf } from "./wires.js";

const NARROW = 600; // px: a narrower page is read as on a phone
const WIDE = 1000; // px: on a narrower page lines of words are short
const LEAST = 15; // px of the smallest type
const LOW = 480; // px: a lower screen that is touched is a phone that lies on its side
const ORDINARY = 17; // px: larger type is so on purpose, on a wide screen, a slide or for a hall
const TOUCHED = matchMedia("(pointer: coarse)");
const LYING = matchMedia(`(pointer: coarse) and (max-height: ${LOW - 1}px)`); // innerHeight grows with what a page is wide
const NOWHERE = { go: () => false, spot: () => null, size: () => [0, 0] }; // of a panel that is never shown

/** A board's figure, if it has one, else its matrices; in a page the place itself may ask for them. */
function render(engine, el) {
  return engine.figure && el.dataset.numbers === undefined ? figureOf(engine, el, matrices) : matrices(engine, el);
}

function matrices(engine, el) {
  const view = viewOf(engine);
  const { root } = view;
  const flow = flowOf(view);
  view.stage = element("div", { class: "stage" }, flow);
  const fitting = fitsInto(view, flow, el, wiresOf(view, flow));
  const tools = toolsOf(view, fitting.fit);
  const task = taskOf(view);
  const controls = controlsOf(view);
  const tries = triesOf(view);
  const steps = player(view);
  const strip = stripOf(view);
  const told = element("p", { class: "told" }, view.said, " ", view.hint);
  const foot = element("div", { class: "foot" }, steps.node, element("div", { class: "line" }, told, view.why));
  const reminder = reminderOf(view, task.node);
  foot.append(strip.stepper, strip.mini, reminder.node);
  const room = element("div", { class: "room" }); // of the foot where it is a strip, so that nothing moves as it grows
  const top = element("div", { class: "top" }, task.node, tools.node);
  root.append(top, controls.node, tries.node, view.stage, foot, room, view.spoken, view.effect);
  lookingAt(view);
  updates(view, [tools, task, reminder, controls, tries, steps, strip], fitting);

  const forget = keysOf(view);
  root.classList.toggle("narrow", el.clientWidth > 0 && isPhone(el.clientWidth)); // before there is much to lay out
  el.append(root);
  engine.views.add(view.update);
  view.update();
  return () => {
    engine.views.delete(view.update);
    forget();
    steps.stop();
    strip.stop();
    reminder.stop();
    fitting.stop();
  };
}

// What the parts of one page share.
function viewOf(engine) {
  const size = engine.large ? " large" : "";
  const root = element("div", { class: `attn-board matrices${size}`, role: "group", "aria-label": engine.heading });
  const view = {
    engine,
    root,
    halves: {}, // panel → the number whose colour is half as strong as the strongest, which fixes the panel's scale
    veiled: new Set(), // steps that have not been played yet
    played: null, // the step that is played
    said: element("span", { class: "said", role: "status", id: newId("s") }),
    hint: element("span", { class: "hint" }),
    spoken: element("span", { class: "spoken", role: "status", "aria-live": "polite" }),
    effect: element("span", { class: "effect", role: "status" }),
    why: element("p", { class: "why", hidden: true }),
    shows: (panel) => engine.shows(panel),
    isNothing(name, i, x) {
      const { sparse } = engine.panel[name];
      return Number.isNaN(x) && Boolean(sparse) && (sparse !== "rows" || engine.values[name][i].every(Number.isNaN));
    },
    panel: (name) => view.panels[name] ?? NOWHERE,
    go: (name, i, j) => view.panel(name).go(i, j),
    say(words) {
      engine.said = words;
      view.speak();
    },
  };
  const drawn = engine.panels.filter((panel) => !panel.hidden);
  view.panels = Object.fromEntries(drawn.map((panel) => [panel.name, panelOf(view, panel)]));
  return view;
}

// Fits a board to its page: side by side, with less room between where it must be, else folded, one after the other.
function fitsInto(view, flow, el, connect) {
  const { root, stage } = view;
  let seen = null; // the width it was fitted to: every look at a size costs the page a layout

  function fits() {
    // type as large as there is room for; in two steps, as the smallest type does not shrink with it
    root.style.fontSize = "";
    for (let k = 0; k < 2; k++) {
      const wide = flow.offsetWidth;
      if (wide <= stage.clientWidth) return true;
      const size = Number.parseFloat(getComputedStyle(root).fontSize);
      const smaller = (size * stage.clientWidth) / (wide + 2);
      if (smaller < LEAST - 0.5) return false; // not even in the smallest type: there is no need to lay it out
      root.style.fontSize = `${Math.max(LEAST, smaller)}px`;
    }
    return flow.offsetWidth <= stage.clientWidth;
  }

  function isFolded(width) {
    if (isPhone(width)) return true;
    root.classList.remove("narrow", "folded", "tight", "terse");
    const fitsWithLines = () => {
      flow.style.paddingLeft = "";
      return fits() && makeRoom();
    };
    if (fitsWithLines()) return false;
    if (TOUCHED.matches) return true; // nothing may become smaller than a fingertip
    root.classList.add("tight");
    if (fitsWithLines()) return false;
    root.classList.add("terse"); // titles in several lines
    return !fitsWithLines();
  }

  function fitHeight() {
    const size = Number.parseFloat(getComputedStyle(root).fontSize);
    const seenWhole = (size * (innerHeight - 100)) / root.offsetHeight;
    root.style.fontSize = `${Math.min(size, Math.max(LEAST, seenWhole))}px`;
  }

  // What an edit changes and its arithmetic are to be seen together: where the board is higher than what it is seen in,
  // its rows come nearer to each other.
  function lower() {
    if (root.offsetHeight <= heightAround(el)) return;
    if (Number.parseFloat(getComputedStyle(root).fontSize) > ORDINARY) return;
    root.classList.add("low");
    root.style.fontSize = `${LEAST}px`;
  }

  // A row that is taken out of a matrix stands under the columns that it belongs to.
  function align() {
    for (const { name, of } of view.engine.steps.filter((step) => step.does === "row")) {
      const [own, from] = [view.panel(name), view.panel(of[0])].map((panel) => panel.spot(0, 0));
      if (!own || !from) continue;
      const { style } = own.closest(".panel");
      style.marginLeft = "";
      const zoom = flow.getBoundingClientRect().width / flow.offsetWidth || 1;
      const aside = (from.getBoundingClientRect().left - own.getBoundingClientRect().left) / zoom;
      if (aside > 0 && !root.classList.contains("folded")) style.marginLeft = `${aside}px`;
    }
  }

  // Lines may go by to the left of all tables: where the board begins there, it moves on, in smaller type if it has to.
  function makeRoom() {
    const left = connect();
    if (flow.offsetLeft + left >= 0) return true;
    const { paddingLeft } = flow.style;
    const { fontSize } = root.style;
    flow.style.paddingLeft = `${(Number.parseFloat(paddingLeft) || 0) - left}px`;
    const hasRoom = flow.offsetWidth <= stage.clientWidth || fits();
    if (!hasRoom) {
      flow.style.paddingLeft = paddingLeft;
      root.style.fontSize = fontSize;
    }
    connect();
    return hasRoom;
  }

  function fit() {
    const width = el.clientWidth;
    seen = width;
    if (!width) return;
    letFootStick(el);
    root.classList.toggle("short", width < WIDE);
    root.classList.remove("low");
    const folded = isFolded(width);
    root.classList.toggle("narrow", isPhone(width));
    root.classList.toggle("lying", isPhone(width) && width >= NARROW);
    root.classList.toggle("touched", TOUCHED.matches);
    root.classList.toggle("folded", folded);
    if (folded) root.style.fontSize = flow.style.paddingLeft = "";
    if (!isPhone(width) && !TOUCHED.matches) {
      if (root.classList.contains("large") && !folded) fitHeight();
      lower();
    }
    align();
    if (!folded) makeRoom();
    view.step?.();
  }

  new ResizeObserver(() => el.clientWidth !== seen && fit()).observe(el);
  // a slide lowers rows
  new ResizeObserver(() => {
    if (!seen || root.classList.contains("folded")) return;
    align();
    connect();
  }).observe(flow);
  LYING.addEventListener("change", fit);
  return { fit, stop: () => LYING.removeEventListener("change", fit) };
}

const isPhone = (width) => width < NARROW || LYING.matches;
const notebookAround = (el) => el.closest(".jp-WindowedPanel-outer"); // in JupyterLab, what scrolls
const heightAround = (el) => notebookAround(el)?.clientHeight || innerHeight;

// JupyterLab's boxes around an output could scroll, and never do: a foot would stick to them, and not to what is seen.
function letFootStick(el) {
  const outer = notebookAround(el);
  for (let node = el.parentElement; outer && node !== outer; node = node.parentElement) {
    if (getComputedStyle(node).overflowY !== "visible") node.classList.add("attn-around");
  }
}

// view.update, after every change, and view.speak.
function updates(view, parts, { fit }) {
  const { engine, root } = view;
  const panels = Object.values(view.panels);
  let fitted = ""; // which panels were shown, and how large
  let before = engine.values;

  view.speak = () => {
    // the last thing said, unless Python was not told, which is worse
    const problem = engine.untold || engine.problem;
    view.said.textContent = problem || engine.said;
    view.said.classList.toggle("problem", Boolean(problem || engine.error));
  };
  const heard = [view.said, view.effect];
  view.update = () => {
    const { error } = engine;
    const isElsewhere = Boolean(document.activeElement?.closest(".attn-figure")); // where it is said in words
    for (const node of heard) node.setAttribute("aria-live", isElsewhere ? "off" : "polite");
    for (const panel of panels) panel.update();
    for (const place of view.places) place.hidden = [...place.children].every((node) => node.hidden);
    for (const panel of panels) panel.complain(error?.name === panel.panel.name ? error : null);
    for (const part of parts) part.update();
    view.speak();
    if (engine.values !== before) view.effect.textContent = effectOf(view, before);
    before = engine.values;
    const shown = panels.map(({ node, size }) => `${node.hidden} ${node.hidden ? "" : size()}`).join();
    if (shown !== fitted && root.isConnected) fit();
    fitted = shown;
    view.mark();
  };
}

// The panels in the places of a grid, in the order of the flow, also for whoever hears it.
function flowOf(view) {
  const { engine, panels } = view;
  const places = new Map();
  for (const { node, panel } of Object.values(panels)) {
    const [column, row = 1, rows = 1] = panel.at.length ? panel.at : [1];
    const area = `${row} / ${column} / span ${rows}`;
    if (!places.has(area)) {
      const place = element("div", { class: "place", style: `grid-area: ${area}` });
      places.set(area, { at: [column, row], node: place, names: [] });
    }
    places.get(area).node.append(node);
    places.get(area).names.push(panel.name);
  }
  const byPlace = [...places.values()].sort((one, other) => one.at[0] - other.at[0] || one.at[1] - other.at[1]);
  view.places = asComputed(engine, byPlace).map(({ node }) => node);
  return element("div", { class: "flow" }, ...view.places);
}

// From left to right, but nothing before what it is computed from: so it is read where it is folded, and heard.
function asComputed(engine, places) {
  const below = new Map(); // name → all that it is computed from
  for (const { name, of } of engine.steps)
    below.set(name, new Set(of.flatMap((from) => [from, ...(below.get(from) ?? [])])));
  const waitsFor = (one, other) =>
    one !== other && one.names.some((name) => other.names.some((of) => below.get(name)?.has(of)));
  const inOrder = [];
  for (let left = places; left.length; left = left.filter((place) => !inOrder.includes(place))) {
    inOrder.push(left.find((place) => !left.some((other) => waitsFor(place, other))) ?? left[0]);
  }
  return inOrder;
}

export const widget = (engine = null) => widgetFor(Engine, render, engine);

export default widget;
