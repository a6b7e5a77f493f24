// Phrases of the lesson that set a board: buttons, or sentences whose number is dragged or moved with the arrow keys.
// A sentence's number is a range input, which keys and screen readers know; a hand drags the number that lies over it.

import { button, element, plainWords, worded } from "./elements.js";

const ROOM = 160; // px of the way from the first value to the last
const NARROWEST = 5; // px from one value to the next
const NUMBER = ".attn-number";

const records = new WeakMap();
let gestures = 0;

/** What stands on a number: its values as words, and what each of them sets. */
export function recordOf(node) {
  if (!records.has(node)) records.set(node, JSON.parse(node.dataset.number));
  return records.get(node);
}

/** A phrase with its number, as boards_in_pages.py writes it too. */
function sentenceOf({ number }) {
  const { before, after, values, at } = number;
  const label = plainWords(`${before}…${after}`);
  const last = String(values.length - 1);
  const input = element("input", { type: "range", min: "0", max: last, value: String(at), "aria-label": label });
  const node = element("span", { class: "attn-number" }, element("b", { "aria-hidden": "true" }), input);
  records.set(node, number);
  write(node, at);
  return { node: element("span", { class: "sentence" }, ...worded(before), node, ...worded(after)), number: node };
}

function write(node, at) {
  const { values } = recordOf(node);
  const input = node.querySelector("input");
  input.value = String(at);
  input.setAttribute("aria-valuetext", values[at]);
  node.querySelector("b").textContent = values[at];
}

/** A number that was moved says what stands on its board; it is filled as long as that is what it says. */
export function follow(node, state) {
  const isThere = (part) => (sets) =>
    Object.entries(sets[part]).every(([name, value]) => JSON.stringify(state[part][name]) === JSON.stringify(value));
  const at = recordOf(node).sets.findIndex((sets) => isThere("inputs")(sets) && isThere("settings")(sets));
  if (at >= 0 && "moved" in node.dataset) write(node, at);
  node.classList.toggle("set", at === Number(node.querySelector("input").value));
}

/** Hears the numbers within; set(node, at, gesture) is called for each value, left(node) at the end of a gesture. */
export function listen(within, kind, set, left = () => {}) {
  let held = null; // where a hand took hold
  const of = (event) => event.target.closest?.(NUMBER + kind);
  const now = (node) => Number(node.querySelector("input").value);
  function go(node, at, gesture) {
    node.dataset.moved = "";
    write(node, at);
    set(node, at, gesture);
  }
  within.addEventListener("pointerdown", (event) => {
    const node = of(event);
    if (!node || event.button) return;
    event.preventDefault(); // no text is selected
    node.setPointerCapture(event.pointerId);
    node.querySelector("input").focus({ preventScroll: true });
    gestures += 1;
    held = { node, x: event.clientX, at: now(node), gesture: `drag ${gestures}`, isSet: false };
    if (event.pointerType === "mouse") begin(); // a finger may be on its way to scroll the page
  });
  function begin() {
    held.isSet = true;
    go(held.node, held.at, held.gesture);
  }
  within.addEventListener("pointermove", ({ clientX }) => {
    if (!held) return;
    const last = recordOf(held.node).values.length - 1;
    const at = held.at + Math.round((clientX - held.x) / Math.max(NARROWEST, Math.min(28, ROOM / last)));
    const inside = Math.max(0, Math.min(last, at));
    if (inside === now(held.node)) return;
    held.isSet = true;
    go(held.node, inside, held.gesture);
  });
  within.addEventListener("pointerup", () => {
    if (held && !held.isSet) begin(); // a tap
    if (held) left(held.node);
    held = null;
  });
  within.addEventListener("pointercancel", () => {
    if (held?.isSet) left(held.node);
    held = null;
  });
  within.addEventListener("input", (event) => {
    const node = of(event);
    if (node) go(node, now(node), `keys of ${recordOf(node).before}`);
  });
  const onKey = (event) => {
    const node = of(event);
    if (!node || !["Enter", " "].includes(event.key) || event.shiftKey) return;
    event.preventDefault();
    gestures += 1;
    go(node, now(node), `drag ${gestures}`);
    left(node);
  };
  within.addEventListener("keydown", onKey, true); // slides keep keys from whoever listens later
}

/** The phrases, where no page has them or always; those that do the task come last, once it is done. */
export function triesOf({ engine }) {
  const shown = engine.model.alone ? [] : (engine.tries ?? []); // a page has them in its sentences
  const inOrder = [...shown].sort((one, other) => one.answers - other.answers);
  const phrases = inOrder.map((one) => ({ ...phraseOf(engine, one), isLater: () => one.answers && !engine.reached }));
  const nodes = phrases.map(({ node }) => node);
  const node = element("p", { class: "tries", hidden: !phrases.length }, "Try: ", ...nodes);
  listen(node, ":not([data-board])", (number, at, gesture) => {
    const { before, after, values, sets } = recordOf(number);
    engine.drag(sets[at], plainWords(`${before}${values[at]}${after}.`), gesture);
  });
  return {
    node,
    update() {
      for (const one of phrases) {
        one.node.classList.toggle("later", one.isLater());
        if (one.number) follow(one.number, engine.state);
      }
      node.classList.toggle(
        "later",
        phrases.every((one) => one.isLater()),
      );
    },
  };
}

function phraseOf(engine, one) {
  if (one.number) return sentenceOf(one);
  const node = button("", () => engine.prepare(one.sets, `${plainWords(one.said)}.`));
  node.replaceChildren(...worded(one.said));
  return { node };
}
