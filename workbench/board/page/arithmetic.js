// The arithmetic of one entry as a tree. Its leaves are the cells that the entry came from: sources, highlighting and
// what is read out all follow from it.

import { range, sum } from "./numbers.js";

/**
 * @typedef {[name: string, row: number, column: number]} Place
 * @typedef {{ value: number, at?: Place }} Leaf a number, and the cell that holds it
 * @typedef {{ op: string, parts: Tree[], text?: string, also?: Leaf[], digits?: number }} Node
 * @typedef {Leaf | Node} Tree
 */

export const number = (value) => ({ value });
export const plus = (parts) => ({ op: "+", parts });
export const minusOf = (...parts) => ({ op: "−", parts });
export const times = (...parts) => ({ op: "·", parts });
export const over = (...parts) => ({ op: "/", parts });
export const power = (exponent) => ({ op: "e^", parts: [exponent] });
export const log = (part) => ({ op: "ln", parts: [part] });
export const most = (parts) => ({ op: "max", parts });
/** Words before a number; also: further cells that it came from. */
export const told = (text, part, ...also) => ({ op: "told", text, parts: [part], also });

/** The number nearest, halves to even, as PyTorch rounds. */
export function halfEven(x) {
  const rounded = Math.round(x);
  return Math.abs(x % 1) === 0.5 && rounded % 2 ? rounded - 1 : rounded;
}

export const roundedTo = (x, digits) => halfEven(x * 10 ** digits) / 10 ** digits;

const VALUES = {
  "+": sum,
  "·": (parts) => parts.reduce((x, y) => x * y),
  "/": ([above, below]) => above / below,
  "−": ([x, y]) => (y === undefined ? -x : x - y),
  "e^": ([exponent]) => Math.exp(exponent),
  ln: ([x]) => Math.log(x),
  max: (parts) => Math.max(...parts),
};

/** The number of a tree, its leaves rounded to so many digits, or exact. */
export function evaluate(node, digits = null) {
  if (!node.op) {
    const isExact = digits === null || !Number.isFinite(node.value);
    return isExact ? node.value : Number(node.value.toFixed(digits));
  }
  const parts = node.parts.map((part) => evaluate(part, digits));
  if (node.op !== "told") return VALUES[node.op](parts);
  return node.digits === undefined ? parts[0] : roundedTo(parts[0], node.digits);
}

/** The cells that a tree holds. */
export function sources(node) {
  const own = node.at ? [node.at] : [];
  const further = (node.also ?? []).map((leaf) => leaf.at);
  return [...own, ...(node.parts ?? []).flatMap(sources), ...further];
}

/** The leaves of one row. */
export const rowOf = (leaf, matrix, i) => range(matrix[0].length).map((j) => leaf(i, j));

/** All leaves of these matrices. */
export const everyLeaf = (leaves, matrices) =>
  leaves.flatMap((leaf, k) => matrices[k].flatMap((row, i) => Array.from(row, (_, j) => leaf(i, j))));
