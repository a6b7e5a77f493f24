// Where the parts of the figure of a sentence stand: its words on a line, their shares below, arcs above.

import { range } from "../numbers.js";

const LEGS = 10; // px between the legs of an arc

/**
 * @typedef {Object} Layout in px
 * @property {number} width
 * @property {number} height
 * @property {boolean} isWide
 * @property {boolean} isBeside whether the words stand beside it
 * @property {number} size of the words' type
 * @property {number} share of the shares' type
 * @property {number} base the line that the words stand on
 * @property {number} top the foot of the arcs
 * @property {number[]} x the middle of each word
 * @property {number} thick of all arcs together
 */

/**
 * As large as the picture fits. layout: wide, beside or narrow; room: how high it may be; isRoomy: on a high first
 * screen; count: of words.
 * @returns {Layout}
 */
export function layoutOf({ width, layout, room, isRoomy, count }) {
  const [isWide, isBeside] = ["wide", "beside"].map((one) => layout === one);
  const size = isWide
    ? Math.min(isRoomy ? 120 : 96, width * 0.122, innerHeight * 0.13)
    : Math.min(isBeside ? 46 : 50, width * 0.14);
  const share = isWide ? 28 : 21;
  const under = share + (isWide ? 118 : 106); // the shares, the grip and its label
  const tallest = size * 0.8 + (isRoomy ? 420 : isWide ? 300 : 236);
  const shortest = size * 0.8 + (isWide ? 112 : 84);
  const base = Math.round(Math.max(shortest, Math.min(room - under, tallest)));
  const thick = isWide ? size * 0.77 : 46;
  const edge = Math.max(width * 0.15, thick * 1.5 + LEGS); // the first word's arc to itself has room, however thick
  const between = width - edge - Math.min(width * 0.16, edge);
  const x = range(count).map((j) => edge + (between * j) / Math.max(1, count - 1));
  return { width, isWide, isBeside, size, share, base, top: base - size * 0.86, x, thick, height: base + under };
}

/** Styles of what a hand reaches: a button on each word, and the grip below the word of that row. */
export function handsAt({ width, isWide, size, share, base, x }, row) {
  const wide = isWide ? 190 : Math.min(110, width * 0.3);
  const high = Math.max(50, size);
  const top = base - size * 0.3 - high / 2;
  const grabbed = isWide ? Math.min(320, width * 0.6) : width;
  const left = isWide ? Math.min(x[row] - grabbed / 2, width - grabbed + 24) : 0;
  return {
    asks: x.map((at) => `left: ${at - wide / 2}px; top: ${top}px; width: ${wide}px; height: ${high}px`),
    grip: `left: ${left}px; top: ${base + share + (isWide ? 40 : 28)}px; width: ${grabbed}px`,
  };
}

/**
 * Where arcs stand at the word that asks: side by side, so that together they are as wide whatever the weights are.
 * Those to the left come first, the nearest outermost, then its own, then those to the right, the farthest first.
 */
export function feetOf({ x, thick, isWide }, asker, weights) {
  const others = range(weights.length);
  const left = others.filter((j) => j < asker).reverse();
  const right = others.filter((j) => j > asker).reverse();
  const order = asker ? [...left, asker, ...right] : [asker, ...right];
  const isInside = asker > 0 && asker < weights.length - 1;
  let at = x[asker] - thick / 2 + (isInside ? spanOf(weights[asker], thick, isWide) / 2 : 0);
  const feet = [];
  for (const j of order) {
    feet[j] = at + (weights[j] * thick) / 2;
    at += weights[j] * thick;
  }
  return feet;
}

const spanOf = (weight, thick, isWide) => (isWide ? 44 : 26) + weight * thick * 1.15; // of the arc of a word to itself

/** The path of the arc from the word that asks to word j. */
export function arcOf({ x, top, thick, isWide, width }, asker, j, weight, foot) {
  const y = top + 2;
  if (j === asker) {
    const side = asker && asker === x.length - 1 ? 1 : -1;
    const half = (weight * thick) / 2;
    const wanted = foot + side * spanOf(weight, thick, isWide);
    const end = Math.min(width - half, Math.max(half, wanted));
    const high = y - (isWide ? 70 : 46) - weight * thick * 1.5;
    return `M${foot} ${y}C${foot} ${high} ${end} ${high} ${end} ${y}`;
  }
  const tallest = (top - thick / 2 - 6) / 0.75; // a curve reaches three quarters of what draws it up
  const far = x.length > 2 ? (Math.abs(asker - j) - 1) / (x.length - 2) : 0;
  const high = y - tallest * (0.62 + 0.38 * far);
  const bend = (x[j] - foot) * 0.06;
  return `M${foot} ${y}C${foot + bend} ${high} ${x[j] - bend} ${high} ${x[j]} ${y}`;
}
