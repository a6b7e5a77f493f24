// Brings the boards of a page to life: each stands as its saved tables, with its traits in a script beside them. A page
// that gets boards later, as a deck does when a cell runs, calls attnBoards.wake for what is new. A board begins with the
// state in its data-now if that fits it, says "moved" with its state after every change, and place.put sets another.
// A button with data-board, the name of a board's cell, makes it ready: its data-now is what differs from the start.

// A state fits a board if it has the same matrices and controls, and nothing in it that is no number or no choice.
function alike(one, other) {
  if (!Array.isArray(other)) return Number.isFinite(one);
  return Array.isArray(one) && one.length === other.length && one.every((x, i) => alike(x, other[i]));
}
function fits(now, { start, controls }) {
  const names = (thing) => Object.keys(thing ?? {}).sort().join();
  return names(now?.inputs) === names(start.inputs) && names(now?.settings) === names(start.settings)
    && Object.entries(start.inputs).every(([name, matrix]) => alike(now.inputs[name], matrix))
    && controls.every(({ name, values }) => values.includes(now.settings[name]));
}
function wake(within) {
  for (const place of within.querySelectorAll(".saved-board")) {
    if (place.model) continue;
    const traits = JSON.parse(place.querySelector("script").textContent), heard = {};
    const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    traits.films = Object.fromEntries(Object.entries(traits.films).map(([name, text]) => [name, bytes(text)]));
    const accept = (now) => fits(now, traits.spec) && (traits.now = { ...now, revision: (traits.now.revision ?? 0) + 1 });
    if (place.dataset.now) accept(JSON.parse(place.dataset.now));
    const model = {
      alone: true,
      get: (name) => traits[name],
      set: (name, value) => (traits[name] = value),
      on: (event, then) => (heard[event] = then),
      off() {},
      save_changes: () => place.dispatchEvent(new CustomEvent("moved", { detail: traits.now })),
    };
    place.start = traits.spec.start;
    place.put = (now) => accept(now) && (heard["change:now"](), model.save_changes());
    const holder = document.createElement("div");
    place.replaceChildren(holder);
    place.model = model;
    widget().render({ model, el: holder });
  }
}
document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-board]");
  const place = button && document.querySelector(`[data-id="${button.dataset.board}"] .saved-board`);
  if (!place) return;
  const { inputs, settings } = JSON.parse(button.dataset.now);
  place.put({ inputs: { ...place.start.inputs, ...inputs }, settings: { ...place.start.settings, ...settings } });
  place.dispatchEvent(new Event("prepared", { bubbles: true })); // whoever shows the page brings it into view
});
window.attnBoards = { wake };
wake(document);
