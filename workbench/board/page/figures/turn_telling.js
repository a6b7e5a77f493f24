// What the figure of a turned arrow tells in words.

import { worded } from "../elements.js";
import { range, shortly, trimmed } from "../numbers.js";

const plain = (text) => text.replaceAll("*", "");

/** What the turn's board holds, as words and picture read it. */
export function readingOf(view) {
  const { engine, figure } = view;
  const { keys, queries, scores, weights, row } = figure;
  const queryIn = (values) => values[queries][row];
  return {
    asker: engine.panel[queries].rows[row],
    words: engine.panel[keys].rows,
    keys: () => view.values[keys],
    queryIn,
    query: () => queryIn(view.values),
    score: (j) => view.values[scores][row][j],
    share: (j) => view.values[weights][row][j],
  };
}

/** `scores` is heard as the arrow turns; `answer` stands below, `described` is for whoever sees no picture. */
export function tellingOf(view, { asker, words, keys, queryIn, query, score, share }) {
  const named = (j) => (words[j] === asker ? "itself" : words[j]);
  const inBrackets = (numbers) => `(${numbers.map(shortly).join(", ")})`;
  const shares = () => words.map((_, j) => `${named(j)} ${share(j).toFixed(2)}`).join(", ");
  const each = () => words.map((_, j) => `${named(j)} ${trimmed(score(j), 2)}`).join(", ");
  const scores = () => `${asker} has the scores ${each()}; its shares are ${shares()}.`;
  const asks = () => `*${asker[0].toUpperCase()}${asker.slice(1)}* asks with ${inBrackets(query())}: `;
  return {
    scores,
    answer() {
      const from = queryIn(view.start);
      if (!query().some((x, n) => x !== from[n])) return worded(view.figure.asks);
      const most = range(words.length).reduce((one, j) => (share(j) > share(one) ? j : one), 0);
      return worded(`${asks()}its largest share is ${share(most).toFixed(2)}, for *${words[most]}*.`);
    },
    described() {
      const arrows = words.map((text, j) => `${text} ${inBrackets(keys()[j])}`).join(", ");
      return `Arrows: the keys ${arrows}, and ${plain(asks())}${scores()}`;
    },
  };
}
