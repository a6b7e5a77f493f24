// The page's half of what n12_tiles_operations.py computes.

import { everyLeaf, minusOf, most, number, over, plus, power, times, told } from "../page/arithmetic.js";
import { grid, range, sum } from "../page/numbers.js";
import { like, register } from "../page/operations.js";

// Orders, masks and faults, in the words of n12_tiles_operations.py.
const FORWARDS = "forwards";
const LARGEST_FIRST = "largest first";
const CAUSAL = "causal";
const FIRST_TWO_KEYS = "first two keys";
const CARELESS = "no care for −∞";
const STAND_IN = "−10000 for −∞";
const POWERS = {
  "factor missing on o": [0, 1],
  "factor missing on ℓ": [1, 0],
  "factor missing on both": [0, 0],
  "factor upside down": [-1, -1],
};

/** The powers of the factor on o and on l. */
const powersOf = ({ fault }) => POWERS[fault] ?? [1, 1];

const upTo = (first, size, end) => range(Math.max(0, Math.min(size, end - first))).map((k) => first + k);
const blocks = (size, end) => range(Math.ceil(end / size)).map((k) => k * size);

function isHeardUnder(mask, i, j) {
  if (mask === CAUSAL) return j <= i;
  return mask !== FIRST_TWO_KEYS || j >= 2;
}

/** Where the blocks of keys begin that are read for the block of rows from `first` on, in order; see its Python half. */
function reading(sorting, mask, { rows, keys, order }, first) {
  const queries = upTo(first, rows, mask.length);
  const isHeard = (j) => queries.some((i) => mask[i][j] !== 0);
  const lefts = blocks(keys, range(mask[0].length).findLastIndex(isHeard) + 1);
  if (order === FORWARDS) return lefts;
  if (order !== LARGEST_FIRST) return lefts.reverse();
  const top = (left) => {
    const tile = queries.flatMap((i) => upTo(left, keys, mask[0].length).map((j) => [i, j]));
    return Math.max(...tile.filter(([i, j]) => mask[i][j] !== 0).map(([i, j]) => sorting[i][j]));
  };
  return lefts.sort((one, other) => Number(top(other) > top(one)) - Number(top(other) < top(one)));
}

/** Cells that decide which tiles are read, and when. */
const deciding = (ofSorting, ofMask, { order }, sorting, mask) => [
  ...everyLeaf([ofMask], [mask]),
  ...(order === LARGEST_FIRST ? everyLeaf([ofSorting], [sorting]) : []),
];

const topOf = (query, rows) => Math.floor(query / rows) * rows;

const silentFor = ({ fault }) => (fault === STAND_IN ? -1e4 : Number.NEGATIVE_INFINITY);

/** Of one query, after each of these blocks: keys, scores, m, factor, p, l and o. */
function states(scores, values, mask, query, lefts, options) {
  const { keys, fault } = options;
  const [onO, onL] = powersOf(options);
  const silent = silentFor(options);
  let before = { m: Number.NEGATIVE_INFINITY, l: 0, o: Array.from(values[0], () => 0) };
  return lefts.map((left, place) => {
    const at = upTo(left, keys, scores[query].length);
    const s = at.map((j) => (mask[query][j] === 0 ? silent : scores[query][j]));
    const m = Math.max(before.m, ...s);
    const unit = fault === CARELESS || m > Number.NEGATIVE_INFINITY ? m : 0;
    const p = s.map((x) => Math.exp(x - unit));
    const factor = Math.exp(before.m - unit);
    const [ofL, ofO] = place ? [factor ** onL, factor ** onO] : [1, 1];
    const l = ofL * before.l + sum(p);
    const o = before.o.map((x, c) => ofO * x + sum(p.map((weight, k) => weight * values[at[k]][c])));
    const now = { at, m, unit, l, o, before };
    before = now;
    return now;
  });
}

const film = ([scores, values, mask, sorting], options) =>
  states(
    scores,
    values,
    mask,
    options.query,
    reading(sorting, mask, options, topOf(options.query, options.rows)).slice(0, options.read),
    options,
  );

const finished = ({ l, o }) => Array.from(o, (x) => x / (l === 0 ? 1 : l));

const lastRow = (matrix) => matrix.findLastIndex((row) => !Array.from(row).every(Number.isNaN));

function numbersMoved([tiles, values], { rows }) {
  const [n, m, d] = [tiles.length, tiles[0].length, values[0].length];
  const read = blocks(rows, n).map((first) => sum(Array.from(tiles[first], (place) => Number(!Number.isNaN(place)))));
  return { own: n * 2 * d + n, read: sum(read), d, whole: 4 * n * m + 2 * (n + m) * d };
}

register({
  who_hears: {
    does: ([a], { which }) => like(a, (_, i, j) => Number(isHeardUnder(which, i, j))),
    because: (_leaves, _options, _i, _j, _matrices, value) => told(value ? "may attend" : "masked", number(value)),
    says: () => "Which query may attend to which key.",
  },
  tiles_now: {
    does([scores, mask, sorting], options) {
      const places = like(scores, () => Number.NaN);
      for (const first of blocks(options.rows, scores.length)) {
        reading(sorting, mask, options, first).forEach((left, k) => {
          const place = k < options.read ? k + 1 : 0;
          for (const i of upTo(first, options.rows, scores.length)) {
            for (const j of upTo(left, options.keys, scores[0].length))
              places[i][j] = mask[i][j] === 0 ? Number.NEGATIVE_INFINITY : place;
          }
        });
      }
      return places;
    },
    because([, ofMask, ofSorting], options, _i, _j, [, mask, sorting], value) {
      const words = value ? "read as number" : "not read yet:";
      const isOut = Number.isNaN(value) ? "skipped:" : value < 0 && "masked:";
      const also = deciding(ofSorting, ofMask, options, sorting, mask);
      return told(isOut || words, number(value), ...also);
    },
    says: ([scores]) =>
      `Tiles of ${scores}, with the order in which they are read. 0: not read yet; −∞: masked; empty: skipped.`,
  },
  passing: {
    does(matrices, options) {
      const there = film(matrices, options);
      const all = Math.ceil(matrices[0][0].length / options.keys);
      return grid(all, 2 + matrices[1][0].length, (i, j) =>
        there[i] ? [there[i].m, there[i].l, ...there[i].o][j] : Number.NaN,
      );
    },
    because(leaves, options, i, j, matrices) {
      const [ofScores, ofValues, ofMask, ofSorting] = leaves;
      const [, , mask, sorting] = matrices;
      const passed = film(matrices, options);
      const now = passed[i];
      const [onO, onL] = powersOf(options);
      const also = deciding(ofSorting, ofMask, options, sorting, mask);
      if (!now) return told("not read yet:", number(Number.NaN), ...also);
      for (const key of passed.slice(0, i + 1).flatMap(({ at }) => at)) {
        also.push(ofScores(options.query, key), ...(j > 1 ? [ofValues(key, j - 2)] : []));
      }
      const isHeard = (key) => mask[options.query][key] !== 0;
      const scoreOf = (key) => (isHeard(key) ? ofScores(options.query, key) : number(silentFor(options)));
      const heard = now.at.filter((key) => isHeard(key) || options.fault === STAND_IN);
      if (j === 0) return told("", most([number(now.before.m), ...heard.map(scoreOf)]), ...also);
      if (options.fault === CARELESS && Number.isNaN(now.l)) return told("−∞ − (−∞) is", number(Number.NaN), ...also);
      const weights = heard.map((key) => [power(minusOf(scoreOf(key), number(now.unit))), key]);
      const fresh = weights.map(([p, key]) => (j === 1 ? p : times(p, ofValues(key, j - 2))));
      const [on, old] = j === 1 ? [onL, now.before.l] : [onO, now.before.o[j - 2]];
      const maxima = [number(now.before.m), number(now.unit)];
      const factor = on && power(minusOf(...(on < 0 ? maxima.reverse() : maxima)));
      const kept = i ? [factor ? times(factor, number(old)) : number(old)] : [];
      return told("", plus(kept.length + fresh.length ? [...kept, ...fresh] : [number(0)]), ...also);
    },
    says: ([scores]) => `m, l and o of a row of ${scores}, one line for each block that has been read.`,
  },
  output_so_far: {
    does([matrix]) {
      const [, l, ...o] = Array.from(matrix[lastRow(matrix)] ?? [0, 0, ...Array.from(matrix[0]).slice(2).fill(0)]);
      return [finished({ l, o })];
    },
    because([leaf], _options, _i, j, [matrix]) {
      const row = lastRow(matrix);
      if (row < 0 || matrix[row][1] === 0) return told("all keys were masked, so", number(0));
      return over(leaf(row, j + 2), leaf(row, 1));
    },
    says: () => "o divided by l, for the keys read so far.",
  },
  outputs_in_tiles: {
    does([scores, values, mask, sorting], options) {
      return scores.map((_, query) => {
        const lefts = reading(sorting, mask, options, topOf(query, options.rows));
        const all = states(scores, values, mask, query, lefts, options);
        return all.length ? finished(all.at(-1)) : Array.from(values[0], () => 0);
      });
    },
    because: (leaves, _options, _i, _j, matrices, value) =>
      told("when all tiles were read:", number(value), ...everyLeaf(leaves, matrices)),
    says: () => "o divided by l of each query, after all its tiles were read.",
  },
  bytes_moved: {
    does(matrices, options) {
      const { own, read, d, whole } = numbersMoved(matrices, options);
      return [[2 * (own + read * 2 * d), 2 * whole]];
    },
    because([ofTiles], options, _i, j, matrices) {
      const { own, read, d, whole } = numbersMoved(matrices, options);
      if (j) return told("two bytes for each number that is moved:", times(number(2), number(whole)));
      const moved = plus([number(own), times(number(read), number(2 * d))]);
      return told("two bytes for each number:", times(number(2), moved), ...everyLeaf([ofTiles], [matrices[0]]));
    },
    says: () => "Bytes that all tiles read and write, and those of the whole matrix.",
  },
});
