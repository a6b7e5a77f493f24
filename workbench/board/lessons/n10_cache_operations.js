// The page's half of what n10_cache_operations.py computes.

import { everyLeaf, minusOf, number, over, plus, power, rowOf, times, told } from "../page/arithmetic.js";
import { grid, range, sum } from "../page/numbers.js";
import { dot, register, softmaxOf, turned, turnedBecause } from "../page/operations.js";

// Faults of a cache, in the words of Fault in n10_cache_operations.py.
const TOP_LEFT_MASK = "top-left mask";
const NO_MASK = "no mask once there is a cache";
const POSITIONS_AGAIN = "positions start again";
const HEADS_AS_LIST = "heads repeated as a list";
const WINDOW_SHORT = "window one too short";

const firstKept = (end, { window, fault }) => Math.max(0, end - window + 1 + Number(fault === WINDOW_SHORT));
const isKept = (i, options) => i >= firstKept(options.read, options) && i < options.read;
const positionOf = ({ chunk, fault }) => (fault === POSITIONS_AGAIN ? (i) => i % chunk : (i) => i);

// The stored head that a head reads.
function storedFor({ heads, stored, fault }, head) {
  return fault === HEADS_AS_LIST ? head % stored : Math.floor((head * stored) / heads);
}

// Of one query of one head: [key, score] where the mask is open.
function scoresOf([queries, keys], mask, options, head, i) {
  const width = queries[0].length / options.heads;
  const partOf = (row, which) => Array.from(row).slice(which * width, (which + 1) * width);
  const query = partOf(queries[i], head);
  const stored = storedFor(options, head);
  const open = range(keys.length).filter((j) => mask[i][j] !== 0);
  return open.map((j) => [j, dot(query, partOf(keys[j], stored)) / Math.sqrt(width)]);
}

// How many keys of the window wait for the next token, and whether the first one waits beside them.
function keptForNext(mask, { window, stays }) {
  const inWindow = Math.min(mask.length, window - 1);
  return [inWindow, Number(Boolean(stays) && inWindow < mask.length)];
}

const shares = (scores) => softmaxOf(scores.map(([, score]) => score));

register({
  rotate_in_chunks: {
    does: ([a], options) => turned(a, options.angle, positionOf(options)),
    because: ([a], options, i, j) => turnedBecause(a, options.angle, positionOf(options)(i), i, j),
    says: ([a]) => `Each pair of features of ${a}, turned by its position.`,
  },
  cache_mask: {
    does(_, options) {
      const { tokens, read, chunk, window, fault } = options;
      return grid(tokens, tokens, (i, j) => {
        const begin = Math.floor(i / chunk) * chunk;
        const first = firstKept(begin, options);
        if (i >= read || j < first || j >= Math.min(begin + chunk, read)) return 0;
        if (fault === NO_MASK && begin > 0) return 1;
        const distance = fault === TOP_LEFT_MASK ? i - begin - (j - first) : i - j;
        return Number(distance >= 0 && distance < window);
      });
    },
    because: (_leaves, _options, _i, _j, _matrices, value) =>
      told(value ? "attended to" : "not attended to", number(value)),
    says: (_, { chunk, window }) => `Who attends to whom: chunks of ${chunk}, and a window of ${window}.`,
  },
  with_first: {
    does: ([mask], { stays }) => mask.map((row) => row.map((open, j) => (stays && j === 0 ? 1 : open))),
    because: ([leaf], { stays }, i, j) => (stays && j === 0 ? told("stays:", number(1), leaf(i, j)) : leaf(i, j)),
    says: ([mask]) => `${mask}, and the first key if it stays.`,
  },
  keys_for_the_next: {
    does: ([mask], options) => [[sum(keptForNext(mask, options))]],
    because: (_leaves, options, _i, _j, [mask]) => plus(keptForNext(mask, options).map(number)),
    says: () => "How many keys the cache holds for the next token: those of the window, and the first if it stays.",
  },
  kept_rows: {
    does: ([a], options) => a.map((row, i) => (isKept(i, options) ? row : row.map(() => NaN))),
    because: ([a], options, i, j) => (isKept(i, options) ? a(i, j) : told("not kept:", number(NaN))),
    says: ([a]) => `The rows of ${a} that are kept.`,
  },
  shared_outputs: {
    does([queries, keys, values, mask], options) {
      const width = values[0].length / options.stored;
      const output = (i, head) => {
        const scores = scoresOf([queries, keys], mask, options, head, i);
        const weights = shares(scores);
        const column = (c) => scores.map(([key]) => values[key][storedFor(options, head) * width + c]);
        return range(width).map((c) => dot(weights, column(c)));
      };
      return queries.map((_, i) => range(options.heads).flatMap((head) => output(i, head)));
    },
    because(leaves, options, i, j, [queries, keys, values, mask]) {
      const width = values[0].length / options.stored;
      const head = Math.floor(j / width);
      const scores = scoresOf([queries, keys], mask, options, head, i);
      const weights = shares(scores);
      const also = everyLeaf(leaves, [queries, keys, [], mask]);
      if (!scores.length) return told("it attends to nobody, so", number(0), ...also);
      const column = storedFor(options, head) * width + (j % width);
      const parts = scores.map(([key], place) => times(number(weights[place]), leaves[2](key, column)));
      return told("", plus(parts), ...also);
    },
    says: ([, , values]) => `Of each head: weights times its rows of ${values}, added up.`,
  },
  shared_weights: {
    does([queries, keys, mask], options) {
      return range(options.heads).map((head) => {
        const scores = scoresOf([queries, keys], mask, options, head, options.of);
        const weights = new Map(shares(scores).map((weight, place) => [scores[place][0], weight]));
        return keys.map((_, key) => (options.of < options.read ? (weights.get(key) ?? 0) : NaN));
      });
    },
    because(leaves, options, head, j, [queries, keys, mask]) {
      const scores = scoresOf([queries, keys], mask, options, head, options.of);
      const own = scores.find(([key]) => key === j);
      const also = everyLeaf(leaves, [queries, keys, mask]);
      if (!own) return told("not attended to, so", number(0), ...also);
      const powers = scores.map(([, score]) => power(number(score)));
      return told("", over(power(number(own[1])), plus(powers)), ...also);
    },
    says([queries, keys]) {
      const parts = `its part of ${queries} against the stored part of ${keys} that the head shares`;
      return `Weights of one token in each head: ${parts}.`;
    },
  },
  max_difference: {
    does([a, b], { read }) {
      const largest = (row, i) => Math.max(...Array.from(row, (x, j) => Math.abs(x - b[i][j])));
      return a.map((row, i) => [i < read ? largest(row, i) : NaN]);
    },
    because([leafA, leafB], _, i, _j, [a, b], value) {
      const at = range(a[0].length).find((j) => Math.abs(a[i][j] - b[i][j]) === value) ?? 0;
      const pair = [leafA(i, at), leafB(i, at)].sort((one, other) => other.value - one.value);
      return told("at its largest:", minusOf(...pair), ...rowOf(leafA, a, i), ...rowOf(leafB, b, i));
    },
    says: ([a, b]) => `The largest difference between ${a} and ${b} in each row.`,
  },
  count: {
    does: ([a, b]) => [[[a, b].flat(2).filter(Number.isFinite).length]],
    because(_leaves, _options, _i, _j, matrices) {
      return plus(matrices.map((matrix) => number(matrix.flat().filter(Number.isFinite).length)));
    },
    says: ([a, b]) => `How many numbers ${a} and ${b} hold.`,
  },
});
