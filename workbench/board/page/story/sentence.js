// The sentence: words to choose, one line to type into, which stands behind the last word or in place of another, and
// ribbons from the chosen word to those that it hears.

import { element } from "../elements.js";
import { fieldOf } from "./field.js";
import { ribbonsOf } from "./ribbons.js";
import { typeOf } from "./type.js";
import { wordsOf } from "./words.js";

const LEFTWARDS = /^\P{L}*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * What field, words and ribbons of one sentence share.
 * @typedef {Object} Sentence
 * @property {HTMLElement} node all of it
 * @property {HTMLElement} row the words and the field
 * @property {number | null} replaced the place whose word the field stands for
 * @property {() => number} size how many words there are
 * @property {() => boolean} isAtEnd whether the field stands behind the last word
 * @property {() => number} before how many words stand before the field
 * @property {() => boolean} isLeftwards whether the words run to the left
 */

export function sentenceOf(view) {
  const { engine } = view;
  const row = element("div", { class: "words", role: "group", "aria-label": "The text, word by word" });
  const node = element("div", { class: "sentence" });
  /** @type {Sentence} */
  const sentence = {
    node,
    row,
    replaced: null,
    size: () => engine.words.length,
    isAtEnd: () => view.at === null,
    before: () => view.at ?? engine.words.length,
    isLeftwards: () => getComputedStyle(row).direction === "rtl",
  };
  const field = fieldOf(view, sentence, (place) => words.focus(place));
  const words = wordsOf(view, sentence, field);
  const ribbons = ribbonsOf(view, sentence, words);
  const fitType = typeOf(view, sentence, words, field.node);
  node.append(ribbons.node, row);

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
      field.showGhost(fitType);
      ribbons.draw();
    },
  };
}
