// The picture of keys in a plane: lines of equal score, the query or what it becomes, the keys with their words.

import { element } from "../elements.js";
import { range, trimmed } from "../numbers.js";
import { boxAt, labelsOf } from "./labels.js";
import { alongLines, axesOf, mixed } from "./plane_geometry.js";
import { inBrackets } from "./plane_telling.js";

const EVERY = 2; // from one line of equal score to the next
const MOST = 40; // lines
const LARGE = 15; // px of the key that can be moved
const SMALL = 8; // and of the others
const MIDDLE = { "text-anchor": "middle" };
const WHERE = [0.72, 0.5, 0.86, 0.3, 0.14]; // along a line its score may stand

/** All that is drawn, from back to front. names: those of the axes. */
export function pictureOf(figure, reading, geometry, names) {
  const { outputs, reach, row, moves, beside, places } = figure;
  const { words, score, share } = reading;
  const { at, size } = geometry;
  const query = reading.query();
  const [origin, tip] = [at([0, 0]), at(query)];
  const keys = words.map((_, j) => at(reading.place(j)));
  const ring = outputs ? at(reading.becomes()) : null;
  const marks = places.map(([, ...place]) => at(place));
  const radius = (j) => (j === moves ? LARGE : SMALL);
  const under = (j) => (outputs ? `share ${share(j)}` : `score ${trimmed(score(j), 2)}`);
  // what no words may lie on: the points, then words that stand already; and what they had better not, the lines
  const taken = [
    ...keys.map(([x, y], j) => boxAt(x, y, 2 * radius(j), 2 * radius(j))),
    ...[tip, ...marks].map((mark) => boxAt(...mark, 16, 16)),
    ...(ring ? [boxAt(...ring, 30, 30)] : []),
  ];
  const labels = labelsOf(geometry, taken, alongLines(origin, [...keys, tip]));
  const tells = ring ? inBrackets(reading.becomes()) : `what ${words[row]} looks for`;
  const told = labels.beside(ring ?? tip, ring ? 17 : 10, tells.length * (ring ? 9.4 : 8.2), 22);
  const named = words.map((text, j) => {
    const wide = Math.max(text.length * size * 0.56, under(j).length * 9.6);
    return labels.beside(keys[j], radius(j) + 2, wide, size + 20);
  });
  const marked = places.map(([text], k) => labels.beside(marks[k], 8, text.length * 11, 22));
  const ray = (kind, [x2, y2]) => element("line", { class: kind, x1: origin[0], y1: origin[1], x2, y2 });
  const disc = (kind, [cx, cy], r) => element("circle", { class: kind, cx, cy, r });
  const text = (kind, [x, y], down, ...parts) => element("text", { class: kind, x, y: y + down, ...MIDDLE }, ...parts);

  const asking = () => {
    const parts = ["what ", element("tspan", { class: "who" }, words[row]), " looks for"];
    return [ray("query", tip), disc("query", tip, 8), text("query", told, 5, ...parts)];
  };
  const becoming = () => {
    const [[x1, y1], [x2, y2]] = [keys[row], ring];
    return [
      element("line", { class: "moved", x1, y1, x2, y2 }),
      disc("becomes", ring, 13),
      text("becomes", told, 5, tells),
    ];
  };
  return [
    ...axesOf(geometry, reach, names),
    ...levelsOf(query, score(beside), reach, at, labels),
    ...places.flatMap(([name], k) => [disc("place", marks[k], 7), text("place", marked[k], 6, name)]),
    ...(ring ? [] : asking()),
    ...keys.flatMap((key, j) => [ray("key", key), disc("key", key, radius(j))]),
    ...(ring ? becoming() : []),
    ...named.flatMap((middle, j) => [
      text("word", middle, size * 0.16, words[j]),
      text("score", middle, size / 2 + 8, under(j)),
    ]),
  ];
}

// Lines of equal score: that of the score which two keys share, and one for every so much.
function levelsOf(query, shared, reach, at, labels) {
  const [[left, right], [low, top]] = reach;
  const corners = [left, right].flatMap((x) => [low, top].map((y) => x * query[0] + y * query[1]));
  const first = Math.ceil(Math.min(...corners) / EVERY);
  const count = Math.floor(Math.max(...corners) / EVERY) - first + 1;
  const levels = range(Math.max(0, Math.min(MOST, count))).map((k) => (first + k) * EVERY);
  const others = levels.filter((value) => Math.abs(value - shared) > 1e-9);
  return [shared, ...others].flatMap((value) => {
    const ends = endsOf(value, query, reach);
    if (ends.length < 2) return [];
    return levelAt(value, value === shared, at(ends[0]), at(ends.at(-1)), labels);
  });
}

function levelAt(value, isShared, [x1, y1], [x2, y2], labels) {
  const line = element("line", { class: isShared ? "level shared" : "level", x1, y1, x2, y2 });
  const words = `score ${trimmed(value, 1)}`;
  const isLong = Math.hypot(x2 - x1, y2 - y1) > 60;
  const where = WHERE.map((part) => mixed([x1, y1], [x2, y2], part));
  const free = isLong && labels.firstFree(where, words.length * 8.4, 18);
  if (!free) return [line];
  return [line, element("text", { class: "level", x: free[0], y: free[1] + 6, ...MIDDLE }, words)];
}

// Where query · key = value meets the edges of the plane.
function endsOf(value, [a, b], [[left, right], [low, top]]) {
  const onX = (y) => [(value - b * y) / a, y];
  const onY = (x) => [x, (value - a * x) / b];
  const ends = [...(a ? [onX(low), onX(top)] : []), ...(b ? [onY(left), onY(right)] : [])];
  const isIn = ([x, y]) => x >= left - 1e-9 && x <= right + 1e-9 && y >= low - 1e-9 && y <= top + 1e-9;
  return ends.filter(isIn).sort((p, q) => q[1] - p[1] || p[0] - q[0]);
}
