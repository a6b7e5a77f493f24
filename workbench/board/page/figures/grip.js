// One thing to grab: a slider that the browser knows, so that keys, touch and whoever hears it come with it.

import { element, newId } from "../elements.js";
import { shortly } from "../numbers.js";

/**
 * A number to grab: a native slider whose thumb carries it. spoken: what its value is called. at: where it stands, or
 * held: how it is read from values and put, where it is none of the board's own; shown: how it is written.
 */
export function gripOf(view, { at, held = cellAt(view, at), least, most, step, words, spoken, shown = shortly }) {
  const { engine } = view;
  const id = newId("g");
  const input = element("input", { id, type: "range", min: least, max: most, step });
  const thumb = element("span", { class: "thumb", "aria-hidden": "true" });
  const share = (x) => Math.max(0, Math.min(1, (x - least) / (most - least)));
  const tick = element("i", { style: `--at: ${share(held.of(view.start))}` });
  const node = element(
    "div",
    { class: "grab" },
    element("label", { for: id }, ...words),
    element("div", { class: "rail" }, input, tick, thumb),
  );
  const gesture = newId("grip");
  let takes = 0; // how often a hand took it: each is one step of undo
  const take = (event) => {
    if (!event.repeat) takes += 1;
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
    held.put(Number(input.value), `${gesture} ${takes}`);
  });
  return {
    node,
    update() {
      const x = held.of(view.values);
      input.value = String(x);
      input.setAttribute("aria-valuetext", spoken(x));
      thumb.textContent = shown(x);
      thumb.style.setProperty("--at", share(x));
      node.classList.toggle("yours", Boolean(at) && engine.isPinned(...at));
    },
  };
}

/** What a hand drags on a stage: move([x, y], take) in the stage's own pixels; each take is one step of undo. */
export function dragOn(stage, hand, move) {
  let takes = 0;
  let isHeld = false;
  hand.addEventListener("pointerdown", (event) => {
    takes += 1;
    isHeld = true;
    hand.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  hand.addEventListener("pointermove", (event) => {
    if (!isHeld) return;
    const { left, top, width } = stage.getBoundingClientRect();
    const scale = width / stage.clientWidth; // of a slide
    move([(event.clientX - left) / scale, (event.clientY - top) / scale], takes);
  });
  const drop = () => {
    isHeld = false;
  };
  hand.addEventListener("pointerup", drop);
  hand.addEventListener("pointercancel", drop);
}

const cellAt = ({ engine }, at) => ({
  of: (values) => values[at[0]][at[1]][at[2]],
  put: (x, gesture) => engine.put(...at, x, gesture),
});
