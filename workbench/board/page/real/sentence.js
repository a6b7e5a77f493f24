// The sentence: pieces to choose, a line to type into, and ribbons of one head from the piece that asks.

import { element } from "../elements.js";
import { ribbonsOf } from "../story/ribbons.js";
import { typeOf } from "../story/type.js";
import { wordsOf } from "../story/words.js";
import { fieldOf } from "./field.js";

export function sentenceOf(view) {
  const { engine } = view;
  const row = element("div", { class: "words", role: "group", "aria-label": "The text, piece by piece" });
  const node = element("div", { class: "sentence" });
  const sentence = {
    node,
    row,
    first: 0, // there is no sign that begins a text
    replaced: null,
    size: () => engine.spans.length - 1, // the last place
    isLeftwards: () => false,
    chooseSecond: (place) => engine.set({ hears: engine.placeOf("hears") === place ? -1 : place }),
    actWithShift,
    labelOf,
  };
  const field = fieldOf(view, sentence, (place) => words.focus(place));
  const words = wordsOf(view, sentence, field);
  const ribbons = ribbonsOf(view, sentence, words);
  const fitType = typeOf(view, sentence, words, field.node);
  node.append(ribbons.node, row);

  // With Shift the arrow keys move the piece that is heard.
  function actWithShift(key, forth) {
    const step = { ArrowLeft: -forth, ArrowRight: forth }[key];
    if (!step) return undefined;
    const at = engine.placeOf("hears") < 0 ? engine.place : engine.placeOf("hears");
    return () => engine.set({ hears: Math.max(0, Math.min(engine.place, at + step)) }, "", "hears");
  }

  function labelOf(place) {
    const asks = place === engine.place ? ", asks" : "";
    const hears = place === engine.placeOf("hears") ? ", is attended to" : "";
    const joined = engine.isJoined(place) ? ", goes on with the word before it" : "";
    return `${engine.word(place)}, piece ${place + 1}${joined}${asks}${hears}`;
  }

  return {
    node,
    draw: () => engine.isWaiting || ribbons.draw(),
    focus: () => field.node.focus(),
    say: field.say,
    update() {
      field.forgetOthers();
      field.stayFocused(words.update);
      const hears = engine.placeOf("hears");
      words.nodes().forEach((one, place) => {
        one.classList.toggle("joined", engine.isJoined(place));
        one.classList.toggle("heard", place === hears);
      });
      field.showGhost(fitType);
      if (!engine.isWaiting) ribbons.draw();
    },
  };
}
