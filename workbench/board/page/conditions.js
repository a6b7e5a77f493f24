// What a task asks for, as CONDITIONS of parts.py.

import { sum } from "./numbers.js";

/** What stands on the board: step → matrix, control → number, and the inputs as they were at the start.
 * @typedef {{ values: Record<string, number[][]>, numbers: Record<string, number>, start: Record<string, number[][]> }
 *   } There
 */

const every = (one, other, test) => one.every((row, i) => row.every((x, j) => test(x, other[i][j])));
const difference = (x, y) => Math.abs(x - y);
const sizeOf = (matrix) => String(matrix.map((row) => row.length));
const largest = (row) => row.reduce((x, y) => Math.max(x, y), -Infinity);

/** Kind of a condition → whether it holds there.
 * @type {Record<string, (there: There, ...rest: any[]) => boolean>}
 */
export const CONDITIONS = {
  above: ({ values }, name, i, j, least) => values[name][i][j] > least,
  below: ({ values }, name, i, j, most) => values[name][i][j] < most,
  changed({ values, start }, counts) {
    const moved = (name, matrix) => sum(matrix.flat().map((x, k) => Number(x !== values[name].flat()[k])));
    return Object.entries(start).every(([name, matrix]) => moved(name, matrix) === (counts[name] ?? 0));
  },
  set: ({ numbers }, control, wanted) => numbers[control] === wanted,
  at_least: ({ numbers }, control, least) => numbers[control] >= least,
  has_nan: ({ values }, name) => values[name].some((row) => row.some(Number.isNaN)),
  equal({ values }, one, other, within = 1e-9) {
    const isAlike = sizeOf(values[one]) === sizeOf(values[other]);
    return isAlike && every(values[one], values[other], (x, y) => difference(x, y) < within);
  },
  differ: ({ values }, one, other, least) => !every(values[one], values[other], (x, y) => !(difference(x, y) > least)),
  most_even({ values, numbers }, film, frame, row) {
    let least = Infinity;
    for (const head of values[film]) for (const weights of head) least = Math.min(least, largest(weights));
    return largest(values[film][numbers[frame]][numbers[row]]) - least < 1e-4;
  },
};
