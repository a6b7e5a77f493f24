// The vocabulary of boards, under the names of operations.py, each with its other half for the page. What only one
// lesson needs stands beside it, as lessons/n10_cache_operations.js, and is registered from there.

import { log, minusOf, most, number, over, plus, power, roundedTo, rowOf, times, told } from "./arithmetic.js";
import { grid, range, sum, trimmed, written } from "./numbers.js";

/**
 * @typedef {import("./numbers.js").Matrix} Matrix
 * @typedef {import("./arithmetic.js").Tree} Tree
 * @typedef {(i: number, j: number) => Tree} LeafAt the leaf of one entry of a matrix
 * @typedef {(of: LeafAt[], options: Object, i: number, j: number, matrices: Matrix[], value: number) => Tree} Because
 *
 * @typedef {Object} Operation
 * @property {(matrices: Matrix[], options: Object) => Matrix} does
 * @property {Because} [because] the arithmetic of one entry; without it nobody can ask
 * @property {(names: string[], options: Object) => string} [says] one sentence for the whole step, as it is played
 * @property {Function} [picture] draws it where it has no numbers: (view, panel) → its node and how it is updated
 */

export const like = (matrix, entry) => matrix.map((row, i) => Array.from(row, (x, j) => entry(x, i, j)));
export const flip = (matrix) => (matrix.length ? Array.from(matrix[0], (_, j) => matrix.map((row) => row[j])) : []);
export const dot = (row, column) => row.reduce((total, x, k) => total + x * column[k], 0);

export function softmaxOf(row) {
  const top = Math.max(...row); // nothing but −∞: nan, as in PyTorch
  const powers = Array.from(row, (x) => Math.exp(x - top));
  const whole = sum(powers);
  return powers.map((x) => x / whole);
}

// ---- kinds of operations

const acrossOne = (size, k) => (size === 1 ? 0 : k); // a single row or column is used for all
const across = (leaf, matrix) => (i, j) => leaf(acrossOne(matrix.length, i), acrossOne(matrix[0].length, j));

function entries([left, right], entry) {
  const rows = left.length && right.length ? Math.max(left.length, right.length) : 0;
  const columns = Math.max(left[0]?.length ?? 0, right[0]?.length ?? 0);
  const at = (matrix, i, j) => matrix[acrossOne(matrix.length, i)][acrossOne(matrix[0].length, j)];
  return grid(rows, columns, (i, j) => entry(at(left, i, j), at(right, i, j)));
}

/** Of two matrices, entry by entry. */
const entrywise = (entry, node, says) => ({
  does: (matrices) => entries(matrices, entry),
  because: ([left, right], _, i, j, [first, second]) => node(across(left, first)(i, j), across(right, second)(i, j)),
  says: ([left, right]) => `${left} ${says} ${right}, entry by entry.`,
});

/** Entries only move: origin says from which matrix, row and column. */
const copied = (does, origin, says) => ({
  does,
  says,
  because(leaves, options, i, j, matrices) {
    const [which, row, column] = origin(options, i, j, matrices);
    return leaves[which](row, column);
  },
});

const columnOf = (leaf, matrix, j) => range(matrix.length).map((i) => leaf(i, j));
const isOpen = (x) => x !== 0;
/** Cosine and sine of a position times an angle in degrees; a right angle is exact. */
export const turnOf = (angle, position) =>
  [Math.cos, Math.sin].map((wave) => Number(wave((position * angle * Math.PI) / 180).toFixed(15)));

/** Each pair of features turned by the position of its row. */
export function turned(matrix, angle, position) {
  return matrix.map((row, i) => {
    const [cos, sin] = turnOf(angle, position(i));
    return row.map((x, j) => (j % 2 ? row[j - 1] * sin + x * cos : x * cos - row[j + 1] * sin));
  });
}

export function turnedBecause(leaf, angle, position, i, j) {
  const [cos, sin] = turnOf(angle, position).map(number);
  if (j % 2) return plus([times(leaf(i, j - 1), sin), times(leaf(i, j), cos)]);
  return minusOf(times(leaf(i, j), cos), times(leaf(i, j + 1), sin));
}

export const product = {
  does([left, right], { transpose }) {
    const rows = transpose === "a" ? flip(left) : left;
    const columns = transpose === "b" ? right : flip(right);
    return rows.map((row) => columns.map((column) => dot(row, column)));
  },
  because([left, right], { transpose }, i, j, [first]) {
    const ofLeft = (k) => (transpose === "a" ? left(k, i) : left(i, k));
    const ofRight = (k) => (transpose === "b" ? right(j, k) : right(k, j));
    const length = transpose === "a" ? first.length : first[0].length;
    return plus(range(length).map((k) => times(ofLeft(k), ofRight(k))));
  },
  says([left, right], { transpose }) {
    const each = transpose === "a" ? "column" : "row";
    const meets = transpose === "b" ? "row" : "column";
    const how = `each ${each} of ${left} meets each ${meets} of ${right}; multiply entry by entry and add up`;
    return `${left} times ${right}: ${how}.`;
  },
};

/** @type {Record<string, Operation>} */
export const OPERATIONS = {
  product,
  scale: {
    does: ([a], { by, powers }) => like(a, (x) => x * by * powers),
    because: ([a], { by, powers }, i, j) => times(a(i, j), number(by * powers)),
    says: ([a], { by, powers }) => `Every entry of ${a} times ${trimmed(by * powers, 4)}.`,
  },
  add: entrywise(
    (x, y) => x + y,
    (x, y) => plus([x, y]),
    "plus",
  ),
  subtract: entrywise((x, y) => x - y, minusOf, "minus"),
  multiply: entrywise((x, y) => x * y, times, "times"),
  divide: entrywise((x, y) => x / y, over, "divided by"),
  exp: {
    does: ([a]) => like(a, Math.exp),
    because: ([a], _, i, j) => power(a(i, j)),
    says: ([a]) => `e to the power of each entry of ${a}.`,
  },
  weighted_rows: {
    does: ([weights, values]) => like(values, (x, i) => weights[0][i] * x),
    because: ([weights, values], _, i, j) => times(weights(0, i), values(i, j)),
    says: ([weights, values]) => `Each row of ${values} times its entry of ${weights}.`,
  },
  total: {
    does: ([a], { over }) => (over === "row" ? a.map((row) => [sum(Array.from(row))]) : [flip(a).map(sum)]),
    because: ([leaf], { over }, i, j, [a]) => plus(over === "row" ? rowOf(leaf, a, i) : columnOf(leaf, a, j)),
    says: ([a], { over }) => `The sum of each ${over} of ${a}.`,
  },
  largest: {
    does: ([a]) => a.map((row) => [Math.max(...row)]),
    because: ([leaf], _, i, _j, [a]) => most(rowOf(leaf, a, i)),
    says: ([a]) => `The largest entry of each row of ${a}.`,
  },
  apart: {
    does: ([a, b]) => a.map((row, i) => [Math.max(...Array.from(row, (x, j) => Math.abs(x - b[i][j])))]),
    because([first, second], _, i, _j, [a, b]) {
      const parts = (k) => [first(i, k), second(i, k)];
      return most(range(a[i].length).map((k) => minusOf(...(a[i][k] < b[i][k] ? parts(k).reverse() : parts(k)))));
    },
    says: ([a, b]) => `The largest difference of each row of ${a} from that of ${b}.`,
  },
  running_maximum: {
    does: ([a]) => a.map((row) => range(row.length).map((j) => Math.max(...row.slice(0, j + 1)))),
    because: ([leaf], _, i, j) => most(range(j + 1).map((k) => leaf(i, k))),
    says: ([a]) => `The largest entry of each row of ${a} so far, from left to right.`,
  },
  rounded: {
    does: ([a], { digits }) => like(a, (x) => roundedTo(x, digits)),
    because: ([leaf], { digits }, i, j) => ({ ...told("rounded:", leaf(i, j)), digits }),
    says: ([a], { digits }) => `${a}, rounded to ${digits} digit${digits === 1 ? "" : "s"}.`,
  },
  mask_preset: {
    does(_, { which, queries, keys, length }) {
      const isText = (j) => which % 2 === 0 || j < length;
      const isPast = (i, j) => which < 2 || j <= i + keys - queries;
      return grid(queries, keys, (i, j) => Number(isText(j) && isPast(i, j)));
    },
    because: (_leaves, _options, _i, _j, _matrices, value) => told(value ? "open" : "closed", number(value)),
    says: () => "A mask that is made, not computed.",
  },
  both: {
    does: ([a, b]) => like(a, (x, i, j) => Number(isOpen(x) && isOpen(b[i][j]))),
    because: ([a, b], _, i, j) => times(a(i, j), b(i, j)),
    says: ([a, b]) => `Open where ${a} and ${b} are both open.`,
  },
  any_open: {
    does: ([mask]) => mask.map((row) => [Number(row.some(isOpen))]),
    because: ([leaf], _, i, _j, [mask]) => most(rowOf(leaf, mask, i)),
    says: ([mask]) => `Whether a row of ${mask} has anything open.`,
  },
  fill: {
    does: (matrices, { value }) => entries(matrices, (x, open) => (isOpen(open) ? x : value)),
    because([a, maskLeaf], { value }, i, j, [, mask]) {
      const open = across(maskLeaf, mask)(i, j);
      if (isOpen(open.value)) return told("may attend, it stays:", a(i, j), open);
      return told("may not attend:", number(value), open);
    },
    says: ([a, mask], { value }) => `${a} where ${mask} is open, elsewhere ${written(value)}.`,
  },
  softmax: {
    does: ([a], { over }) => (over === "row" ? a.map(softmaxOf) : flip(flip(a).map(softmaxOf))),
    because([leaf], { over: along }, i, j, [a]) {
      const line = along === "row" ? rowOf(leaf, a, i) : columnOf(leaf, a, j);
      return over(power(leaf(i, j)), plus(line.map(power)));
    },
    says([a], { over }) {
      const how = "e to the power of each entry, divided by their sum; shares that sum to 1";
      return `Softmax of each ${over} of ${a}: ${how}.`;
    },
  },
  masked: {
    does([a, mask]) {
      const opened = (row, i) => row.map((x, j) => (isOpen(mask[i][j]) ? x : -Infinity));
      return a.map((row, i) => (mask[i].some(isOpen) ? softmaxOf(opened(row, i)) : row.map(() => 0)));
    },
    because([leaf, maskLeaf], _, i, j, [a, mask]) {
      const open = range(a[0].length).filter((k) => isOpen(mask[i][k]));
      const also = rowOf(maskLeaf, mask, i);
      if (!open.length) return told("nothing to attend to, so", number(0), ...also);
      if (!open.includes(j)) return told("may not attend, so", number(0), ...also);
      return told("", over(power(leaf(i, j)), plus(open.map((k) => power(leaf(i, k))))), ...also);
    },
    says: ([, mask]) => `Softmax over the keys that ${mask} leaves open; a row with none gets zeros.`,
  },
  entropy: {
    does([a]) {
      const part = (x) => (x < 0 ? -Infinity : -x * Math.log(x));
      return a.map((row) => [sum(Array.from(row, (x) => (x === 0 ? 0 : part(x))))]);
    },
    because([leaf], _, i, _j, [a]) {
      const [some, none] = parted(rowOf(leaf, a, i), ({ value }) => value > 1e-12);
      return told("", minusOf(plus(some.map((share) => times(share, log(share))))), ...none);
    },
    says: ([a]) => `How spread each row of ${a} is.`,
  },
  cross_entropy: {
    does([wish, weights]) {
      const part = (x, weight) => (x === 0 ? 0 : x * Math.log(weight));
      return wish.map((row, i) => [-sum(row.map((x, j) => part(x, weights[i][j])))]);
    },
    because([wishLeaf, weightsLeaf], _, i, _j, [wish]) {
      const pairs = range(wish[0].length).map((k) => [wishLeaf(i, k), weightsLeaf(i, k)]);
      const [some, none] = parted(pairs, ([x]) => x.value !== 0);
      const also = none.flat();
      if (!some.length) return told("nothing is wished for, so", number(0), ...also);
      return told("", minusOf(plus(some.map(([x, weight]) => times(x, log(weight))))), ...also);
    },
    says([wish, weights]) {
      const how = "wished shares times the logarithm of the weights, added up, with the sign turned";
      return `How far each row of ${weights} is from ${wish}: ${how}.`;
    },
  },
  choose: copied(
    (matrices, { chosen }) => matrices[chosen],
    ({ chosen }, i, j) => [chosen, i, j],
    (names, { chosen }) => `${names[chosen]}, as chosen.`,
  ),
  row: copied(
    ([a], { chosen }) => [Array.from(a[chosen])],
    ({ chosen }, _i, j) => [0, chosen, j],
    ([a]) => `One row of ${a}.`,
  ),
  film: {
    does: ([frames], { chosen }) => frames[chosen],
    because: (_leaves, _options, _i, _j, _matrices, value) => told("", number(value)),
  },
  cut: copied(
    ([a], { at, part }) => a.map((row) => (part ? row.slice(at) : row.slice(0, at))),
    ({ at, part }, i, j) => [0, i, j + (part ? at : 0)],
    ([a]) => `A part of the features of ${a}.`,
  ),
  columns: copied(
    ([a], { first, step }) => a.map((row) => row.filter((_, j) => j >= first && (j - first) % step === 0)),
    ({ first, step }, i, j) => [0, i, first + j * step],
    ([a], { step }) => `One of every ${step} columns of ${a}.`,
  ),
  head: copied(
    ([a], { heads, which }) => {
      const width = a[0].length / heads;
      return which < heads ? a.map((row) => row.slice(which * width, (which + 1) * width)) : [];
    },
    ({ heads, which }, i, j, [a]) => [0, i, j + (which * a[0].length) / heads],
    ([a], { which }) => `Head ${which}: its share of the features of ${a}, of every token.`,
  ),
  view_alone: copied(
    ([a], { heads, which }) => {
      const width = a[0].length / heads;
      const all = a.flat();
      return which < heads ? grid(a.length, width, (i, j) => all[(which * a.length + i) * width + j]) : [];
    },
    ({ heads, which }, i, j, [a]) => {
      const at = (which * a.length + i) * (a[0].length / heads) + j;
      return [0, Math.floor(at / a[0].length), at % a[0].length];
    },
    ([a], { which }) => `Head ${which} by view alone: the numbers of ${a} in their order.`,
  ),
  transposed: copied(
    ([a]) => flip(a),
    (_, i, j) => [0, j, i],
    ([a]) => `Rows of ${a} become columns.`,
  ),
  beside: copied(
    ([a, b]) => a.map((row, i) => [...row, ...b[i]]),
    (_, i, j, [a]) => (j < a[0].length ? [0, i, j] : [1, i, j - a[0].length]),
    ([a, b]) => `The features of ${a}, then those of ${b}.`,
  ),
  numbered: {
    does: (_, { tokens, features }) => grid(tokens, features, (i, j) => 10 * i + j),
    because: (_leaves, _options, i, j) => told("", plus([times(number(10), number(i)), number(j)])),
    says: () => "Each entry is 10 · token + feature.",
  },
  rotate: {
    does: ([a], { angle, start }) => turned(a, angle, (i) => i + start),
    because: ([a], { angle, start }, i, j) => turnedBecause(a, angle, i + start, i, j),
    says: ([a]) => `Each pair of features of ${a}, turned by its position.`,
  },
  arcs: { does: () => [] },
  bars: { does: () => [] },
};

/** Adds operations that only one lesson needs. Throws for a name that is taken.
 * @param {Record<string, Operation>} operations
 */
export function register(operations) {
  for (const name of Object.keys(operations)) {
    if (name in OPERATIONS) throw new Error(`there is an operation ${name} already`);
  }
  Object.assign(OPERATIONS, operations);
}

function parted(list, test) {
  return [list.filter(test), list.filter((one) => !test(one))];
}
