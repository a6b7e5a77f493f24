// One thing to grab: a slider that the browser knows, so that keys, touch and whoever hears it come with it.

import { element, newId } from "./elements.js";

/** A number to grab: a native slider whose thumb carries it. spoken: what its value is called. */
export function gripOf(view, { at, least, most, step, words, spoken }) {
  const { engine } = view;
  const [name, i, j] = at;
  const id = newId("g");
  const input = element("input", { id, type: "range", min: least, max: most, step });
  const thumb = element("span", { class: "thumb", "aria-hidden": "true" });
  const share = (x) => Math.max(0, Math.min(1, (x - least) / (most - least)));
  const tick = element("i", { style: `--at: ${share(view.start[name][i][j])}` });
  const node = element(
    "div",
    { class: "grab" },
    element("label", { for: id }, ...words),
    element("div", { class: "rail" }, input, tick, thumb),
  );
  let held = 0; // how often a hand took it: each is one step of undo
  const take = (event) => {
    if (!event.repeat) held += 1;
    view.touched();
  };
  let before = 0; // changes, as a finger came down
  input.addEventListener("pointerdown", (event) => {
    before = engine.past.length;
    take(event);
  });
  input.addEventListener("pointercancel", () => {
    if (engine.past.length > before) engine.undo(); // it was on its way to scroll the page
  });
  input.addEventListener("keydown", take);
  input.addEventListener("input", () => {
    view.touched();
    engine.put(name, i, j, Number(input.value), `grip ${at} ${held}`);
  });
  return {
    node,
    update() {
      const x = view.values[name][i][j];
      input.value = String(x);
      input.setAttribute("aria-valuetext", spoken(x));
      thumb.textContent = shortly(x);
      thumb.style.setProperty("--at", share(x));
      node.classList.toggle("yours", engine.isPinned(...at));
    },
  };
}

/** A number with one digit behind the point, or two where it has them. */
export const shortly = (x) => x.toFixed(Math.abs(x * 10 - Math.round(x * 10)) < 1e-9 ? 1 : 2).replace("-", "−");
