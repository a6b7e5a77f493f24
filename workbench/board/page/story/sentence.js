// The sentence: words to choose, one line to type into, which stands behind the last word or in place of another, and
// ribbons from the chosen word to those that it hears.

import { fieldOf } from "./field.js";
import { lineOf } from "./line.js";

const LEFTWARDS = /^\P{L}*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

export function sentenceOf(view) {
  const { engine } = view;
  const { sentence, node, row, field, words, ribbons, showGhost } = lineOf(view, {
    unit: "word",
    fieldOf,
    own: (row) => ({
      size: () => engine.words.length,
      isAtEnd: () => view.at === null,
      before: () => view.at ?? engine.words.length,
      isLeftwards: () => getComputedStyle(row).direction === "rtl",
    }),
  });

  function direct() {
    const text = sentence.size() ? engine.words : engine.vocabulary.slice(1);
    row.dir = LEFTWARDS.test(text.join(" ")) ? "rtl" : "ltr";
  }

  return {
    node,
    choose: field.choose,
    open: field.open,
    draw: ribbons.draw,
    focus: () => field.node.focus(),
    arrow: () => (row.dir === "rtl" ? "←" : "→"), // forth, as the text runs
    isReplacing: () => sentence.replaced,
    /** The place whose next word is asked for. */
    place: () => (sentence.isAtEnd() ? engine.place : view.at),
    update() {
      field.forgetOthers();
      words.update();
      direct();
      showGhost();
      ribbons.draw();
    },
  };
}
