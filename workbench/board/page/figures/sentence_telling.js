// What the figure of a sentence tells in words.

import { element, worded } from "../elements.js";
import { inParts, range, sameNumber, signed } from "../numbers.js";

const CLAIM = "What one word gains, the others lose.";
const COUNTS = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight"];

/** What the sentence's board holds, as words and picture read it. */
export function readingOf(view) {
  const { engine, figure } = view;
  const asker = () => engine.number(figure.asker);
  const rowOf = (name, values = view.values) => values[name][asker()];
  return {
    words: engine.panel[figure.keys].rows,
    asker,
    weights: () => rowOf(figure.weights),
    outputs: () => rowOf(figure.outputs),
    outputsAtStart: () => view.start[figure.outputs],
    percents: (values) => inParts(rowOf(figure.weights, values), 100),
    isMoved: () => !rowOf(figure.outputs).every((x, c) => sameNumber(x, rowOf(figure.outputs, view.start)[c])),
  };
}

const word = (text, kind = "") => element("i", { class: kind }, text);
const number = (text) => element("b", { class: "number" }, text);

/** row: of the word whose number is grabbed, which is named first. */
export function tellingOf(view, reading, row) {
  const { words, asker, percents } = reading;

  function hears() {
    const shares = percents();
    return `${words[asker()]} gives ${words.map((text, j) => `${text} ${shares[j]} percent`).join(", ")}.`;
  }

  function gained(gains) {
    const order = [row, ...range(words.length).reverse()].filter((j, at, all) => all.indexOf(j) === at);
    const each = order.flatMap((j, at) => [at ? ", " : "", word(words[j]), " ", number(signed(gains[j]))]);
    return [...each, ": together 0. ", element("strong", {}, CLAIM)];
  }

  function unmoved(shares) {
    const most = shares.indexOf(Math.max(...shares));
    const rest = [" gives ", word(words[most]), ` ${shares[most]} % as before: no share moves by a whole percent.`];
    return [word(words[asker()], "query"), ...rest];
  }

  return {
    claim: CLAIM,
    hears,
    lede() {
      const many = `${COUNTS[words.length] ?? words.length} words. `;
      const rest = [" attends to all of them: ", element("b", {}, "the thicker the arc, the more.")];
      return [many, word(words[asker()], "query"), ...rest];
    },
    described() {
      const outputs = reading.outputs().map((x) => x.toFixed(2));
      return `The sentence ${words.join(" ")}. ${hears()} Its output is ${outputs.join(", ")}.`;
    },
    answer() {
      if (!reading.isMoved()) return worded(view.figure.asks.replaceAll("{asker}", words[asker()]));
      const [shares, before] = [view.values, view.start].map(percents);
      const gains = shares.map((share, j) => share - before[j]);
      return gains.some(Boolean) ? gained(gains) : unmoved(shares);
    },
  };
}
