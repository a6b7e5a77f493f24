// The page of a board: bar, task, the drawn flow, the arithmetic beside a cell, the line that is read out.

import { barOf } from "./controls.js";
import { element, newId, used } from "./elements.js";
import { Engine } from "./engine.js";
import { effectOf } from "./explain.js";
import { lookingAt } from "./looking.js";
import { panelOf } from "./panels.js";
import { player } from "./player.js";
import { stripOf } from "./strip.js";
import { taskOf, triesOf } from "./task.js";
import { wiresOf } from "./wires.js";

const NARROW = 600; // px: a narrower page is read as on a phone
const WIDE = 1000; // px: on a narrower page lines of words are short
const LEAST = 11; // px of the smallest type
const LEAST_LARGE = 14; // px of the smallest large type
const NOWHERE = { go: () => false, spot: () => null, size: () => [0, 0] }; // of a panel that is never shown

function render(engine, el) {
  const view = viewOf(engine);
  const { root } = view;
  const flow = flowOf(view);
  view.stage = element("div", { class: "stage" }, flow, view.why, view.complaint);
  view.strip = stripOf(view);
  const fitting = fitsInto(view, flow, el, wiresOf(view, flow));
  const bar = barOf(view, fitting.fit);
  const task = taskOf(view);
  const tries = triesOf(view);
  const steps = player(view);
  const told = element("span", { class: "told" }, view.said, " ", view.hint);
  const foot = element("div", { class: "foot" }, steps.node, element("p", { class: "line" }, told));
  root.append(bar.node, task.node, tries.node, view.stage, foot, view.strip.node, view.spoken, view.effect);
  lookingAt(view);
  updates(view, [bar, task, tries, steps, view.strip], fitting);

  const forget = keysOf(view);
  root.classList.toggle("narrow", el.clientWidth > 0 && el.clientWidth < NARROW); // before there is much to lay out
  el.append(root);
  engine.views.add(view.update);
  view.update();
  return () => {
    engine.views.delete(view.update);
    forget();
    steps.stop();
  };
}

// What the parts of one page share.
function viewOf(engine) {
  const size = engine.large ? " large" : "";
  const root = element("div", { class: `attn-board${size}`, role: "group", "aria-label": engine.heading });
  for (const [name, colour] of Object.entries(engine.colours)) root.style.setProperty(`--${name}`, colour);
  const view = {
    engine,
    root,
    halves: {}, // panel → the number that has half of the strongest colour
    veiled: new Set(), // steps that have not been played yet
    said: element("span", { class: "said", role: "status" }),
    hint: element("span", { class: "hint" }),
    spoken: element("span", { class: "spoken", role: "status", "aria-live": "polite" }),
    effect: element("span", { class: "effect", role: "status" }),
    why: element("div", { class: "why", hidden: true }),
    complaint: element("p", { class: "complaint", id: newId("x") }),
    shows: (panel) => engine.shows(panel),
    blank: (name) => view.veiled.has(name),
    isNothing: (name, x) => Number.isNaN(x) && Boolean(engine.panel[name].sparse),
    panel: (name) => view.panels[name] ?? NOWHERE,
    go: (name, i, j) => view.panel(name).go(i, j),
    colour(kind) {
      const code = engine.colours[kind] ?? "#333333";
      return [1, 3, 5].map((k) => Number.parseInt(code.slice(k, k + 2), 16));
    },
  };
  const drawn = engine.panels.filter((panel) => !panel.hidden);
  view.panels = Object.fromEntries(drawn.map((panel) => [panel.name, panelOf(view, panel)]));
  return view;
}

// Fits a board to its page: side by side, with less room between where it must be, else as on a phone.
function fitsInto(view, flow, el, connect) {
  const { root, stage, strip, why } = view;
  let seen = null; // the width it was fitted to: every look at a size costs the page a layout

  function fits() {
    // type as large as there is room for; in two steps, as the smallest type does not shrink with it
    root.style.fontSize = "";
    for (let k = 0; k < 2; k++) {
      const size = Number.parseFloat(getComputedStyle(root).fontSize);
      const share = stage.clientWidth / (flow.offsetWidth + 2);
      if (size * share < LEAST - 1) return false; // not even in the smallest type: there is no need to lay it out
      root.style.fontSize = `${Math.max(LEAST, size * Math.min(1, share))}px`;
    }
    return flow.offsetWidth <= stage.clientWidth + 1;
  }

  function fitsTight() {
    root.classList.add("tight");
    return fits();
  }

  function isNarrow(width) {
    if (width < NARROW) return true;
    root.classList.remove("narrow", "tight");
    return !fits() && !fitsTight();
  }

  function fitHeight() {
    const size = Number.parseFloat(root.style.fontSize);
    const seenWhole = (size * (innerHeight - 100)) / root.offsetHeight;
    root.style.fontSize = `${Math.min(size, Math.max(LEAST_LARGE, seenWhole))}px`;
  }

  function fit() {
    const width = el.clientWidth;
    seen = width;
    if (!width) return;
    const narrow = isNarrow(width);
    root.classList.toggle("narrow", narrow);
    root.classList.toggle("short", width < WIDE);
    (narrow ? strip.node : stage).append(why);
    if (narrow) root.style.fontSize = "";
    else if (root.classList.contains("large")) fitHeight();
    strip.update();
    if (!narrow) connect();
  }

  new ResizeObserver(() => el.clientWidth !== seen && fit()).observe(el);
  return { fit };
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
  view.update = () => {
    const { error } = engine;
    for (const panel of panels) panel.update();
    for (const panel of panels) panel.complain(error?.name === panel.panel.name ? error : null);
    view.complaint.textContent = error?.complaint ?? "";
    for (const part of parts) part.update();
    view.speak();
    if (engine.values !== before) view.effect.textContent = effectOf(view, before);
    before = engine.values;
    const shown = panels.map(({ node, size }) => `${node.hidden} ${node.hidden ? "" : size()}`).join();
    if (shown !== fitted && root.isConnected) fit();
    fitted = shown;
    view.mark();
    placeComplaint(view);
  };
}

// Above the refused cell: below it Enter goes on.
function placeComplaint({ engine, complaint, stage, panel }) {
  const { name, row, column } = engine.error ?? {};
  const cell = name && panel(name).spot(row, column)?.getBoundingClientRect();
  complaint.hidden = !cell;
  if (!cell) return;
  const { left, top, width } = stage.getBoundingClientRect();
  const above = cell.top - complaint.offsetHeight - 3;
  const aside = Math.max(0, Math.min(width - complaint.offsetWidth, cell.left - left));
  complaint.style.transform = `translate(${aside}px, ${(above < 0 ? cell.bottom + 3 : above) - top}px)`;
}

// The panels in the places of a grid, in the order of the flow, also for whoever hears it.
function flowOf({ panels }) {
  const places = new Map();
  for (const { node, panel } of Object.values(panels)) {
    const [column, row = 1, rows = 1] = panel.at.length ? panel.at : [1];
    const area = `${row} / ${column} / span ${rows}`;
    if (!places.has(area)) {
      places.set(area, { at: [column, row], node: element("div", { class: "place", style: `grid-area: ${area}` }) });
    }
    places.get(area).node.append(node);
  }
  const inOrder = [...places.values()].sort((one, other) => one.at[0] - other.at[0] || one.at[1] - other.at[1]);
  return element("div", { class: "flow" }, ...inOrder.map(({ node }) => node));
}

// Keys: what the board uses is its own, all others belong to JupyterLab or the slides.
function keysOf({ engine, root }) {
  const isCombined = (event) => event.ctrlKey || event.metaKey;
  const undoes = (event) => isCombined(event) && "zy".includes(event.key.toLowerCase());
  root.addEventListener("keydown", (event) => {
    if (!undoes(event) || event.altKey || event.defaultPrevented) return;
    used(event);
    if (event.shiftKey || event.key.toLowerCase() === "y") engine.redo();
    else engine.undo();
  });
  function guard(event) {
    // before JupyterLab sees it: a plain letter would be a command to the notebook
    if (!root.contains(event.target)) return;
    const runs = event.key === "Enter" && event.shiftKey && !event.target.matches("input");
    const onwards = event.key === " " && event.target.matches("td"); // to the next slide
    const isOthers = /^(F\d+|Escape|Page.*)$/.test(event.key);
    const passes = (isCombined(event) && !undoes(event)) || runs || onwards || isOthers;
    event.target.toggleAttribute("data-lm-suppress-shortcuts", !passes);
  }
  window.addEventListener("keydown", guard, true);
  return () => window.removeEventListener("keydown", guard, true);
}

/** One engine for each model, one page for each place where it is shown. */
export function widget() {
  let engine = null;
  return {
    initialize({ model }) {
      engine = new Engine(model);
    },
    render({ model, el }) {
      engine ??= new Engine(model);
      return render(engine, el);
    },
  };
}

export default widget;
