// A plane of two numbers on a stage: where a place lies in px, its axes, and arrows and words on it.

import { element } from "../elements.js";
import { range, trimmed } from "../numbers.js";

const EDGE = 26; // px around the plane: under it numbers and their name, beside it numbers
const NAME = 24; // px for an axis's name

/**
 * @typedef {Object} Geometry
 * @property {number} width of the stage, in px
 * @property {number} height of the stage
 * @property {number} foot where the plane ends below
 * @property {number} unit px of 1
 * @property {number} size px of words' type
 * @property {number} x0 where the plane ends on its left
 * @property {(place: number[]) => number[]} at px of a place
 * @property {(px: number[]) => number[]} under the place that lies there
 */

/**
 * The plane as large as it fits. reach: the least and most number of each axis; most: px that 1 takes at most; high: px
 * that the plane may be high; sizeOf: px of the words' type, by what 1 takes.
 * @returns {Geometry}
 */
export function geometryOf({ width, reach, most, high, sizeOf }) {
  const [[left, right], [low, top]] = reach;
  const unit = Math.min(most, (width - EDGE - 14) / (right - left), high / (top - low));
  const zero = (width + EDGE - unit * (right - left)) / 2 - left * unit;
  const foot = NAME + (top - low) * unit;
  return {
    width,
    height: Math.round(foot + EDGE + NAME),
    foot,
    unit,
    size: sizeOf(unit),
    x0: zero + left * unit,
    at: ([x, y]) => [zero + x * unit, foot + (low - y) * unit],
    under: ([px, py]) => [(px - zero) / unit, (foot - py) / unit + low],
  };
}

/** Gives a stage, its picture and the figure's words this size. */
export function sizeTo({ width, height, size }, stage, picture, root) {
  stage.style.height = `${height}px`;
  root.style.setProperty("--word", `${size}px`);
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
}

/** Lines, whole numbers and names of both axes, below and to the left; crossing: lines through 0 as well. */
export function axesOf({ at }, reach, names, crossing = false) {
  const [[left, right], [low, top]] = reach;
  const [[x0, y0], [x1, y1], [zeroX, zeroY]] = [
    [left, low],
    [right, top],
    [0, 0],
  ].map(at);
  const text = (words, x, y, anchor) => element("text", { class: "axis", x, y, "text-anchor": anchor }, words);
  return [
    element("path", { class: "axis", d: `M${x0} ${y1}V${y0}H${x1}` }),
    ...(crossing ? [element("path", { class: "zero", d: `M${zeroX} ${y1}V${y0}M${x0} ${zeroY}H${x1}` })] : []),
    ...wholeBetween(left, right).map((x) => text(trimmed(x, 0), at([x, low])[0], y0 + 20, "middle")),
    ...wholeBetween(low, top).map((y) => text(trimmed(y, 0), x0 - 8, at([left, y])[1] + 5, "end")),
    text(names[0], x1, y0 + 20 + NAME, "end"),
    text(names[1], Math.max(0, x0 - EDGE), y1 - 12, "start"),
  ];
}

const wholeBetween = (least, most) => range(Math.floor(most) - Math.ceil(least) + 1).map((k) => Math.ceil(least) + k);

export const mixed = ([x0, y0], [x1, y1], part) => [x0 + (x1 - x0) * part, y0 + (y1 - y0) * part];

/** Points along lines from one place to others, on which words had better not lie. */
export const alongLines = (from, ends) => ends.flatMap((end) => range(20).map((k) => mixed(from, end, (k + 1) / 20)));

export const isOutside = ({ x0, width, foot }, { left, right, top, bottom }) =>
  left < x0 || right > width || top < NAME - 5 || bottom > foot;
