// A sentence as a line of words or pieces: the row, the field to type into, the ribbons behind it.

import { element } from "../elements.js";
import { ribbonsOf } from "./ribbons.js";
import { typeOf } from "./type.js";
import { wordsOf } from "./words.js";

/**
 * What field, words and ribbons of one sentence share; a board of its own kind adds to it.
 * @typedef {Object} Sentence
 * @property {HTMLElement} node all of it
 * @property {HTMLElement} row the words and the field
 * @property {number | null} replaced the place whose word the field stands for
 * @property {() => number} size how many words there are
 * @property {() => boolean} isAtEnd whether the field stands behind the last word
 * @property {() => number} before how many words stand before the field
 * @property {() => boolean} isLeftwards whether the words run to the left
 */

export function lineOf(view, { unit, fieldOf, own }) {
  const row = element("div", { class: "words", role: "group", "aria-label": `The text, ${unit} by ${unit}` });
  const node = element("div", { class: "sentence" });
  /** @type {Sentence} */
  const sentence = { node, row, replaced: null, ...own(row) };
  const field = fieldOf(view, sentence, (place) => words.focus(place));
  const words = wordsOf(view, sentence, field);
  const ribbons = ribbonsOf(view, sentence, words);
  const fitType = typeOf(view, sentence, words, field.node);
  node.append(ribbons.node, row);
  return { sentence, node, row, field, words, ribbons, showGhost: () => field.showGhost(fitType) };
}
