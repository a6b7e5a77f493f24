// What comes next: bars, each a button that says its piece, dashed what it had with all heads; two words compared; and
// writing on, the likeliest piece each time.

import { button, element, newId } from "../elements.js";
import { barsOf } from "../story/bars.js";

const ROWS = 6;
const WRITES = 16; // pieces at a time

/** A piece as a word: its space in front is not shown, and what has no sign of its own gets one. */
export const nameOf = (piece) => piece.replaceAll("\n", "⏎").trim() || "␣";

export function nextOf(view) {
  const { engine, sentence } = view;
  const title = element("p", { class: "title" });
  const write = button("Write on", () => (left ? stop() : start()), "The likeliest piece, again and again");
  const say = (k) => {
    if (k < ROWS && listed[k]) sentence.say(listed[k].piece);
  };
  const bars = barsOf(ROWS, { choose: say, leave: sentence.focus });
  const pair = pairOf(view);
  const tools = element("span", { class: "word-tools", hidden: engine.isAlone }, write);
  const node = element("div", { class: "next" }, element("div", { class: "over" }, title, tools), bars.list, pair.node);
  view.toList = bars.focus;
  let listed = [];
  let left = 0; // pieces that are still to be written
  let gesture = 0;

  function start() {
    left = WRITES;
    gesture += 1;
    step();
  }
  function stop() {
    left = 0;
    view.update();
  }
  // One piece for each answer.
  function step() {
    const [first] = engine.next;
    const isMore = left > 0 && first && !/^<\|/.test(first.piece) && engine.say(first.piece, `write ${gesture}`);
    left = isMore ? left - 1 : 0;
    view.update();
  }

  let written = null; // the reading after which the last piece was written
  return {
    node,
    stop: () => (left = 0),
    update() {
      if (left && !engine.isWaiting && engine.reading !== written) {
        written = engine.reading;
        queueMicrotask(step);
      }
      const all = engine.next;
      listed = all.slice(0, ROWS);
      const first = all.reduce((one, other) => (other.whole > one.whole ? other : one), all[0]);
      if (first && !listed.includes(first)) listed[ROWS - 1] = first; // what came first with all heads
      const last = engine.word(engine.spans.length - 1);
      title.replaceChildren(...(last ? ["After ", element("em", {}, last)] : ["Type the first word"]));
      bars.list.setAttribute("aria-label", title.textContent);
      write.textContent = left ? "Stop" : "Write on";
      for (let k = 0; k < ROWS; k++) {
        const { piece, share, whole } = listed[k] ?? {};
        const isJoined = piece && /^[\p{L}\p{N}]/u.test(piece);
        const name = piece && `${isJoined ? "…" : ""}${nameOf(piece)}`;
        bars.show(k, piece && { name, share, was: whole, saysBefore: true, isHardly: share < 0.005 });
      }
      pair.update();
    },
  };
}

// Two words, and what the first has of their shares together.
function pairOf(view) {
  const { engine } = view;
  const bar = barsOf(1, { choose() {}, leave: view.sentence.focus });
  const fields = ["one", "other"].map((which) => {
    const id = newId("p");
    const attributes = { id, autocomplete: "off", spellcheck: "false", maxlength: 20, disabled: engine.isAlone };
    const field = element("input", {
      ...attributes,
      "aria-label": `${which === "one" ? "First" : "Second"} of two words`,
      placeholder: which === "one" ? "a word" : "another",
    });
    field.addEventListener("change", change);
    return field;
  });
  const words = element("p", { class: "two-words" }, "Of ", fields[0], " and ", fields[1]);
  const node = element("div", { class: "pair" }, words, bar.list);
  bar.list.querySelector("button").tabIndex = -1;

  function change() {
    const pair = fields.map((field) => field.value.trim());
    if (pair.every(Boolean)) engine.set({ pair, word: "" });
    else if (!pair.some(Boolean)) engine.set({ pair: [], word: "" });
  }
  return {
    node,
    update() {
      const { pair } = engine.state.settings;
      if (!node.contains(document.activeElement)) fields.forEach((field, k) => (field.value = pair[k] ?? ""));
      node.hidden = engine.isAlone && !pair.length;
      const now = engine.isWaiting ? null : engine.pair;
      bar.show(0, now && { name: now.one, share: now.share, was: now.whole, saysBefore: true });
    },
  };
}
