// The page of a board: task and tools, the drawn flow, and below it the steps and the line that is read out.

import { controlsOf, toolsOf } from "./controls.js";
import { element, newId } from "./elements.js";
import { Engine } from "./engine.js";
import { effectOf } from "./explain.js";
import { figureOf } from "./figures/figure.js";
import { fitsInto, isPhone } from "./fitting.js";
import { keysOf } from "./keys.js";
import { lookingAt } from "./looking.js";
import { panelOf } from "./panels.js";
import { player } from "./player.js";
import { stripOf } from "./strip.js";
import { reminderOf, taskOf } from "./task.js";
import { triesOf } from "./tries.js";
import { widgetFor } from "./widget.js";
import { wiresOf } from "./wires.js";

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
