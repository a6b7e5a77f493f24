// Brings the boards of a page to life: each stands as its saved tables, with its traits in a script beside them. Of the
// states it is offered a board begins with the first that fits it; it says "moved" with its state after every change.
// place.put sets another state, as one step of undo; place.now is what stands there.
// A button with data-board, the name of a board's cell, makes it ready: its data-now is what differs from the start.

// A state fits a board if it has the same matrices and controls, and in them what could be typed or chosen there.
function fits(now, { start, controls, panels }) {
  const alike = (one, other, may) =>
    Array.isArray(other)
      ? Array.isArray(one) && one.length === other.length && one.every((x, i) => alike(x, other[i], may))
      : may(one);
  const isNumber = (x) => typeof x === "number" && Math.abs(x) <= LARGEST;
  const isSwitch = (x) => x === 0 || x === 1;
  const may = (name) => (panels.find((panel) => panel.name === name).toggle ? isSwitch : isNumber);
  const names = (thing) =>
    Object.keys(thing ?? {})
      .sort()
      .join();
  return (
    names(now?.inputs) === names(start.inputs) &&
    names(now?.settings) === names(start.settings) &&
    Object.entries(start.inputs).every(([name, matrix]) => alike(now.inputs[name], matrix, may(name))) &&
    controls.every(({ name, values }) => values.includes(now.settings[name]))
  );
}

function wake(place, ...offered) {
  const traits = JSON.parse(place.querySelector("script").textContent);
  const heard = {};
  const { spec } = traits;
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  traits.films = Object.fromEntries(Object.entries(traits.films).map(([name, text]) => [name, bytes(text)]));
  const accept = ({ inputs, settings, answer = null, proof = null, past = [] }) => {
    const revision = (traits.now.revision ?? 0) + 1;
    const known = past.filter((one) => fits(one, spec));
    traits.now = { inputs, settings, answer, proof: fits(proof, spec) ? proof : null, past: known, revision };
  };
  const taken = offered.find((now) => now && fits(now, spec));
  if (taken) accept(taken);
  const model = {
    alone: true,
    get: (name) => traits[name],
    set: (name, value) => (traits[name] = value),
    on: (event, then) => (heard[event] = then),
    off() {},
    save_changes: () => place.dispatchEvent(new CustomEvent("moved", { detail: traits.now })),
  };
  place.start = spec.start;
  place.now = () => traits.now;
  place.put = ({ inputs, settings }) => {
    if (!fits({ inputs, settings }, spec)) return false;
    const { answer, proof, past = [], ...before } = traits.now;
    accept({ inputs, settings, answer, proof, past: [...past, { inputs: before.inputs, settings: before.settings }] });
    heard["change:now"]();
    model.save_changes();
    return true;
  };
  const holder = document.createElement("div");
  place.replaceChildren(holder);
  place.model = model;
  widget().render({ model, el: holder });
  return taken;
}
const wakeAll = (within) => within.querySelectorAll(".saved-board").forEach((place) => place.model || wake(place));
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
