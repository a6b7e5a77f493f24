// What the figure of a plane tells in words: the answer below it, and what is said of it.

import { worded } from "../elements.js";
import { shortly, trimmed } from "../numbers.js";

/** What the plane's board holds, as words and picture read it. */
export function readingOf(view) {
  const { engine, figure } = view;
  const { keys, queries, scores, weights, outputs, axes, row, moves } = figure;
  const words = engine.panel[keys].rows;
  const place = (j) => axes.map((n) => view.values[keys][j][n]);
  return {
    words,
    place,
    query: () => axes.map((n) => view.values[queries][row][n]),
    score: (j) => view.values[scores][row][j],
    share: (j) => view.values[weights][row][j].toFixed(2),
    becomes: () => axes.map((n) => view.values[outputs][row][n]),
    isMoved: () => place(moves).some((x, k) => x !== view.start[keys][moves][axes[k]]),
  };
}

export const inBrackets = (numbers) => `(${numbers.map(shortly).join(", ")})`;

/** `scores` is heard as a number is moved; `answer` stands below the picture, `described` is for whoever sees none. */
export function tellingOf(figure, reading) {
  const { outputs, row, moves, beside } = figure;
  const { words, score, share, becomes, isMoved } = reading;

  function scores() {
    const each = words.map((text, j) => `${text} ${trimmed(score(j), 2)}`).join(", ");
    const end = outputs
      ? ` It gives the ${words[moves]} a share of ${share(moves)}; its new row is ${inBrackets(becomes())}.`
      : "";
    return `${words[row]} has the scores ${each}.${end}`;
  }

  function mixes() {
    return `*${words[row]}* gives its *${words[moves]}* a share of ${share(moves)}. Its new row is ${inBrackets(becomes())}.`;
  }

  function compares() {
    const ahead = score(moves) - score(beside);
    const [[mine, mineScores], [other, otherScores]] = [moves, beside].map((j) => [
      `*${words[j]}*`,
      trimmed(score(j), 2),
    ]);
    const isEven = Math.abs(ahead) <= 1e-9;
    const first = `${ahead > 0 ? mine : other} is ahead by ${trimmed(Math.abs(ahead), 2)}.`;
    const end = isEven ? `on one line again, so *${words[row]}* has the same score with both.` : first;
    return `${mine} has the score ${mineScores}, ${other} ${otherScores}: ${end}`;
  }

  return {
    scores,
    answer() {
      if (!isMoved()) return worded(figure.asks);
      return worded(outputs ? mixes() : compares());
    },
    described() {
      const picture = outputs
        ? `Two words as points, and the new row of ${words[row]}.`
        : `Keys as points, and lines of equal score with ${words[row]}.`;
      return `${picture} ${scores()}`;
    },
  };
}
