// Words beside points of a picture, where they lie on nothing that has its place already.

import { isOutside } from "./plane_geometry.js";

export const boxAt = (x, y, wide, high) => ({
  left: x - wide / 2,
  right: x + wide / 2,
  top: y - high / 2,
  bottom: y + high / 2,
});
const areOver = (one, other) =>
  one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top;
const isOn =
  (box) =>
  ([x, y]) =>
    x > box.left && x < box.right && y > box.top && y < box.bottom;

// To which side of a point words may stand, in units of their own size, the dearest first.
const SIDES = [
  [1, 0],
  [-1, 0],
  [0, -1],
  [0, 1],
  [1, -1],
  [-1, -1],
  [1, 1],
  [-1, 1],
  [0.5, -1],
  [-0.5, -1],
  [0.5, 1],
  [-0.5, 1],
];
const DISTANCES = [1, 1.8, 2.6, 3.4]; // from the nearest to the farthest

/** taken: boxes in which nothing else may stand; lines: points that words had better not lie on. */
export function labelsOf(geometry, taken, lines) {
  const isTaken = (box) => taken.some((other) => areOver(box, other));

  /** The middle of words beside a point, so far away, if there is room, else where they are least in the way. */
  function beside([x, y], away, wide, high) {
    const [across, down] = [away + wide / 2 + 5, away + high / 2 + 3];
    const boxes = DISTANCES.flatMap((far) =>
      SIDES.map(([right, below]) => boxAt(x + right * across * (1 + far) * 0.5, y + below * down * far, wide, high)),
    );
    const cost = (box) =>
      10000 * isOutside(geometry, box) +
      1000 * taken.filter((other) => areOver(box, other)).length +
      lines.filter(isOn(box)).length;
    const best = boxes.reduce((one, other) => (cost(other) < cost(one) ? other : one));
    taken.push(best);
    return [(best.left + best.right) / 2, (best.top + best.bottom) / 2];
  }

  /** The first of these places that is free for words of this size; undefined if none is. */
  function firstFree(places, wide, high) {
    const isFree = (box) => !isOutside(geometry, box) && !isTaken(box) && !lines.some(isOn(box));
    const free = places.find((at) => isFree(boxAt(...at, wide, high)));
    if (free) taken.push(boxAt(...free, wide, high));
    return free;
  }
  return { beside, firstFree };
}
