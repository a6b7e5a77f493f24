// The sentence: pieces to choose, a line to type into, and ribbons of one head from the piece that asks.

import { lineOf } from "../story/line.js";
import { fieldOf } from "./field.js";

export function sentenceOf(view) {
  const { engine } = view;
  const { node, field, words, ribbons, showGhost } = lineOf(view, {
    unit: "piece",
    fieldOf,
    own: () => ({
      first: 0, // there is no sign that begins a text
      size: () => engine.spans.length - 1, // the last place
      isLeftwards: () => false,
      chooseSecond: (place) => engine.set({ hears: engine.placeOf("hears") === place ? -1 : place }),
      actWithShift,
      labelOf,
    }),
  });

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
      showGhost();
      if (!engine.isWaiting) ribbons.draw();
    },
  };
}
