// The page's half of what n08_stretched_operations.py computes, and the picture of scores by distance.

import { everyLeaf, number, over, told } from "../page/arithmetic.js";
import { element } from "../page/elements.js";
import { range, sum, written } from "../page/numbers.js";
import { register, softmaxOf } from "../page/operations.js";

const OTHER_BASE = "the slow pairs more (another base)"; // in the words of n08_stretched_operations.py
const RULES = ["before", "first"];

function timesSlower(i, pairs, { way, by, alone }) {
  if (i < alone) return 1;
  return by ** (way === OTHER_BASE ? i / (pairs - 1) : 1);
}

function scoresOf([query], degrees, tokens) {
  const angle = (distance, pair) => (distance * degrees[pair][0] * Math.PI) / 180;
  const part = (distance) => (_, pair) =>
    query[2 * pair] * Math.cos(angle(distance, pair)) - query[2 * pair + 1] * Math.sin(angle(distance, pair));
  return [range(tokens).map((distance) => sum(degrees.map(part(distance))))];
}

/** How many answers are right, and of how many: after the eighth token, or after the first of a short text. */
function rightOf(rule, [scores], sentences, w) {
  const n = scores.length;
  const weights = range(n).map((place) => softmaxOf(range(place + 1).map((key) => scores[place - key])));
  const places = range(n).slice(n > 8 ? 8 : 1);
  const answer = (tokens, place) => {
    const logits = w[0].map((_, word) =>
      sum(weights[place].map((weight, key) => weight * w[Math.trunc(tokens[key])][word])),
    );
    return logits.indexOf(Math.max(...logits));
  };
  const wanted = (tokens, place) => Math.trunc(tokens[rule === "first" ? 0 : place - 1]);
  const isRight = (tokens, place) => answer(tokens, place) === wanted(tokens, place);
  const right = sentences.map((tokens) => places.filter((place) => isRight(tokens, place)).length);
  return [sum(right), sentences.length * places.length];
}

register({
  slowed: {
    does: ([learned], options) =>
      learned.map((row, i) => Array.from(row, (x) => x / timesSlower(i, learned.length, options))),
    because: ([ofLearned], options, i, j, [learned]) =>
      over(ofLearned(i, j), number(timesSlower(i, learned.length, options))),
    says: ([learned]) => `Each number of ${learned}, divided by how many times slower its pair turns.`,
  },
  scores_by_distance: {
    does: ([query, degrees], { tokens }) => scoresOf(query, degrees, tokens),
    says: ([query]) => `The scores of ${query} at distance 0, 1 and so on.`,
  },
  shares_right: {
    does: ([before, first, sentences, ...w]) =>
      [before, first].map((scores, i) => {
        const [right, all] = rightOf(RULES[i], scores, sentences, w[i]);
        return [right / all];
      }),
    because(leaves, _options, i, _j, matrices) {
      const [before, first, sentences, ...w] = matrices;
      const counts = rightOf(RULES[i], [before, first][i], sentences, w[i]);
      const read = matrices.map((matrix, k) => ([i, 2, 3 + i].includes(k) ? matrix : [])); // those of its rule
      return told("right answers, divided by all answers:", over(...counts.map(number)), ...everyLeaf(leaves, read));
    },
    says: () => "The share of right answers of each rule on fifty new sentences.",
  },
  curves_by_distance: { does: () => [], picture: curves },
});

// ---------------------------------------------------------------------------------------------------- the picture

const [WIDE, HIGH] = [380, 250];
const EDGE = { left: 40, right: 66, top: 14, bottom: 44 };
const TRAINED = 7; // the largest distance in training
const MARKED = [0, TRAINED, 16, 31];

/** The scores of both rules by distance, over the pale curves that were learned; what was trained is shaded. */
function curves(view, panel) {
  const node = element("svg", { class: "by-distance", viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img" });

  function update() {
    const rows = panel.of.map((name) => view.engine.values[name][0]);
    const scores = rows.flat();
    const [least, most] = [Math.min(...scores), Math.max(...scores)];
    const x = (distance) => EDGE.left + (distance / (rows[0].length - 1)) * (WIDE - EDGE.left - EDGE.right);
    const y = (score) => EDGE.top + ((most - score) / (most - least)) * (HIGH - EDGE.top - EDGE.bottom);
    const line = (row, kind) => {
      const d = row.map((score, k) => `${k ? "L" : "M"}${x(k).toFixed(1)} ${y(score).toFixed(1)}`).join("");
      return element("path", { class: kind, d });
    };
    const name = (row, rule) => element("text", { class: rule, x: x(row.length - 1) + 5, y: y(row.at(-1)) + 5 }, rule);
    const mark = (distance) =>
      element("text", { class: "scale", x: x(distance), y: HIGH - 24, "text-anchor": "middle" }, String(distance));
    const level = (score) =>
      element("text", { class: "scale", x: EDGE.left - 6, y: y(score) + 5, "text-anchor": "end" }, written(score));
    const band = { x: x(0), y: EDGE.top, width: x(TRAINED) - x(0), height: HIGH - EDGE.top - EDGE.bottom };
    const [before, first, beforeLearned, firstLearned] = rows;
    node.replaceChildren(
      element("rect", { class: "trained", ...band }),
      line(beforeLearned, "learned before"),
      line(firstLearned, "learned first"),
      line(before, "now before"),
      line(first, "now first"),
      name(before, RULES[0]),
      name(first, RULES[1]),
      ...MARKED.map(mark),
      ...[-20, 0, 15].filter((score) => score > least && score < most).map(level),
      element("text", { class: "scale", x: x(15.5), y: HIGH - 5, "text-anchor": "middle" }, "distance"),
    );
    const highest = [before, first].map((row, k) => `${RULES[k]} highest at ${row.indexOf(Math.max(...row))}`);
    node.setAttribute("aria-label", `Scores by distance, 0 to ${before.length - 1}: ${highest.join(", ")}.`);
  }
  return { node, update };
}
