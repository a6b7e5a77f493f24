// Brings the boards of a page to life: each stands as its saved tables, with its traits in a script beside them. Of the
// states it is offered a board begins with the first that fits it; it says "moved" with its state after every change.
// place.put sets another state, as one step of undo; place.now is what stands there.
// A button with data-board, the name of a board's cell, makes it ready: its data-now is what differs from the start.

import { LARGEST } from "../../workbench/board/page/numbers.js";
import { widget } from "../../workbench/board/page/page.js";

const isNumber = (x) => typeof x === "number" && Math.abs(x) <= LARGEST;
const isSwitch = (x) => x === 0 || x === 1;
const namesIn = (record) =>
  Object.keys(record ?? {})
    .sort()
    .join();

// Whether one is a list as the other, with entries that may stand there.
function isAlike(one, other, may) {
  if (!Array.isArray(other)) return may(one);
  const isAsLong = Array.isArray(one) && one.length === other.length;
  return isAsLong && one.every((part, i) => isAlike(part, other[i], may));
}

// A state fits a board if it has the same matrices and controls, and in them what could be typed or chosen there.
function fits(state, { start, controls, panels }) {
  const isToggle = (name) => panels.find((panel) => panel.name === name).toggle;
  const inputFits = ([name, matrix]) => isAlike(state.inputs[name], matrix, isToggle(name) ? isSwitch : isNumber);
  return (
    namesIn(state?.inputs) === namesIn(start.inputs) &&
    namesIn(state?.settings) === namesIn(start.settings) &&
    Object.entries(start.inputs).every(inputFits) &&
    controls.every(({ name, values }) => values.includes(state.settings[name]))
  );
}

const bytesOf = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));

function wake(place, ...offered) {
  const traits = JSON.parse(place.querySelector("script").textContent);
  const { spec } = traits;
  const listeners = {};
  traits.frames = Object.fromEntries(Object.entries(traits.frames).map(([name, text]) => [name, bytesOf(text)]));

  function accept({ inputs, settings, answer = null, proof = null, past = [] }) {
    const revision = (traits.state.revision ?? 0) + 1;
    const known = past.filter((one) => fits(one, spec));
    traits.state = { inputs, settings, answer, proof: fits(proof, spec) ? proof : null, past: known, revision };
  }
  const taken = offered.find((state) => state && fits(state, spec));
  if (taken) accept(taken);

  const model = {
    alone: true,
    get: (name) => traits[name],
    set(name, value) {
      traits[name] = value;
    },
    on(event, then) {
      listeners[event] = then;
    },
    off() {},
    save_changes: () => place.dispatchEvent(new CustomEvent("moved", { detail: traits.state })),
  };
  place.start = spec.start;
  place.now = () => traits.state;
  place.put = ({ inputs, settings }) => {
    if (!fits({ inputs, settings }, spec)) return false;
    const { answer, proof, past = [], ...before } = traits.state;
    const steps = [...past, { inputs: before.inputs, settings: before.settings }];
    accept({ inputs, settings, answer, proof, past: steps });
    listeners["change:state"]();
    model.save_changes();
    return true;
  };
  const holder = document.createElement("div");
  place.replaceChildren(holder);
  place.model = model;
  widget().render({ model, el: holder });
  return taken;
}

function wakeAll(within) {
  for (const place of within.querySelectorAll(".saved-board")) if (!place.model) wake(place);
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-board]");
  const place = button && document.querySelector(`[data-id="${button.dataset.board}"] .saved-board`);
  if (!place) return;
  if (!place.model) place.dispatchEvent(new Event("needed"));
  const { inputs, settings } = JSON.parse(button.dataset.now);
  place.put({ inputs: { ...place.start.inputs, ...inputs }, settings: { ...place.start.settings, ...settings } });
  place.dispatchEvent(new Event("prepared", { bubbles: true })); // whoever shows the page brings it into view
});
window.attnBoards = { wake, wakeAll };
