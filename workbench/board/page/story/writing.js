// Writing on: the model goes on with the text by lots that a seed decides, at a temperature, from so many words.

import { button, element, newId } from "../elements.js";
import { backOf } from "./back.js";
import { COLDEST, HOTTEST } from "./engine.js";

const PACE = 90; // ms a word
const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export function writingOf(view) {
  const { engine } = view;
  const write = button("Write on", () => (timer ? stop() : start()), "Let the model go on with the text");
  write.className = "first";
  const another = button("Another", onceMore, "Another ending, with the next seed");
  const temperature = slider("temperature", { min: COLDEST, max: HOTTEST, step: 0.1 }, (x) => x.toFixed(1));
  const count = engine.vocabulary.length;
  const tops = [1, 2, 3, 5, 8, 12, 20, 40].filter((top) => top < count).concat(0);
  const top = slider(
    "top",
    { min: 0, max: tops.length - 1, step: 1 },
    (k) => (tops[k] ? `top ${tops[k]}` : "all"),
    tops,
  );
  const seed = element("span", { class: "seed" });
  const node = element("div", { class: "write", role: "toolbar", "aria-label": "Writing on" });
  const go = element("span", { class: "go" }, write, another);
  node.append(go, temperature.node, top.node, seed);
  const back = backOf(engine);
  let timer = null;
  let written = null; // the text after the last word that was written
  let isWriting = false; // while a word is added
  let gestures = 0;
  let tried = false; // whether another ending can be asked for

  function slider(name, range, words, values) {
    const id = newId("s");
    const input = element("input", { id, type: "range", ...range });
    const output = element("output", { for: id });
    const title = { temperature: "Temperature", top: "Drawn from" }[name];
    const read = () => (values ? values[input.value] : Number(input.value));
    input.addEventListener("input", () => engine.set(name, read(), "", `slide ${name}`));
    const node = element("span", { class: "dial" }, element("label", { for: id }, title), input, output);
    return {
      node,
      update() {
        const now = engine.state.settings[name];
        const value = values ? Math.max(0, values.indexOf(now)) : now;
        input.value = String(value);
        output.textContent = words(value);
        input.setAttribute("aria-valuetext", words(value));
      },
    };
  }

  function start() {
    gestures += 1;
    tried = true;
    const gesture = `write ${gestures}`;
    if (isStill()) {
      while (engine.writeWord(gesture));
      showLast();
      return;
    }
    const step = () => {
      timer = setTimeout(step, PACE);
      isWriting = true;
      const isMore = engine.writeWord(gesture);
      isWriting = false;
      showLast();
      written = engine.words;
      if (!isMore) stop();
    };
    step();
  }
  /** On a phone the button may stand a screen away from the words. */
  function showLast() {
    if (!view.root.classList.contains("narrow")) return;
    view.sentence.node.querySelector(".word:last-of-type")?.scrollIntoView({ block: "nearest", behavior: "instant" });
  }
  function halt() {
    clearTimeout(timer);
    timer = null;
  }
  function stop() {
    halt();
    view.update();
  }
  function onceMore() {
    halt();
    engine.another();
    start();
  }
  return {
    node,
    back: back.node,
    stop: halt,
    isBusy: () => timer !== null,
    update() {
      if (timer && !isWriting && engine.words !== written) halt(); // the text is another one: by Undo, Reset, a phrase
      write.textContent = timer ? "Stop" : "Write on";
      another.disabled = !tried && engine.yours >= engine.words.length;
      back.update();
      seed.textContent = `seed ${engine.state.settings.seed}`;
      temperature.update();
      top.update();
    },
  };
}
