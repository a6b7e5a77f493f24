// The picture of a turned arrow: the arrows in their plane, and bars of scores and shares.

import { element } from "../elements.js";
import { trimmed } from "../numbers.js";
import { boxAt, labelsOf } from "./labels.js";
import { alongLines, axesOf } from "./plane_geometry.js";

const HEAD = 15; // px of an arrow's head
const ASKS = "asks"; // what stands at the arrow that is turned
const NUMBER = 60; // px for a number beside a bar

/** The arrows from back to front. names: those of the axes. */
export function arrowsOf(reading, geometry, reach, names) {
  const { words } = reading;
  const { at, size, unit } = geometry;
  const [origin, tip] = [[0, 0], reading.query()].map(at);
  const keys = reading.keys().map(at);
  const taken = [...keys, tip].map((end) => boxAt(...end, 2 * HEAD, 2 * HEAD));
  const labels = labelsOf(geometry, taken, alongLines(origin, [...keys, tip]));
  const label = (end, text) => labels.beside(end, HEAD, text.length * size * 0.56, size);
  const asked = label(tip, ASKS);
  const named = keys.map((end, j) => label(end, words[j]));
  const text = (kind, [x, y], said) =>
    element("text", { class: `word ${kind}`, x, y: y + size * 0.3, "text-anchor": "middle" }, said);
  const circle = (kind, [cx, cy], r) => element("circle", { class: kind, cx, cy, r });
  return [
    ...axesOf(geometry, reach, names, true),
    circle("orbit", origin, Math.hypot(...reading.query()) * unit),
    ...keys.flatMap((end) => arrow("key", origin, end)),
    ...arrow("query", origin, tip),
    circle("tip", tip, 13),
    ...named.map((middle, j) => text("key", middle, words[j])),
    text("query", asked, ASKS),
  ];
}

// A shaft and its head: from the origin to the tip, a path each.
function arrow(kind, [x0, y0], [x1, y1]) {
  const long = Math.hypot(x1 - x0, y1 - y0);
  if (long < 1) return [];
  const [ux, uy] = [(x1 - x0) / long, (y1 - y0) / long];
  const head = Math.min(HEAD, long);
  const [bx, by] = [x1 - ux * head, y1 - uy * head];
  const wide = head * 0.5;
  const d = `M${x1} ${y1}L${bx - uy * wide} ${by + ux * wide}L${bx + uy * wide} ${by - ux * wide}Z`;
  return [
    element("line", { class: kind, x1: x0, y1: y0, x2: bx, y2: by }),
    element("path", { class: `head ${kind}`, d }),
  ];
}

/** Draws two blocks of bars: scores on both sides of 0, and shares of 1. */
export function drawBars(bars, { words, keys, query, score, share }, isNarrow) {
  const wide = bars.clientWidth;
  const [line, gap, top] = isNarrow ? [30, 12, 22] : [40, 28, 26];
  const label = Math.max(...words.map((text) => text.length)) * 13 + 14;
  const room = wide - label - 2 * NUMBER;
  const most = Math.max(...keys().map((key) => Math.hypot(...key))) * Math.hypot(...query()) || 1;
  const high = top + line * words.length;
  const scores = { title: "score: query · key", kind: "scores", of: score, written: (x) => trimmed(x, 2) };
  const shares = { title: "share of each word", kind: "weights", of: share, written: (x) => x.toFixed(2) };
  const size = { line, top };
  bars.setAttribute("viewBox", `0 0 ${wide} ${2 * high + gap}`);
  bars.style.height = `${2 * high + gap}px`;
  bars.replaceChildren(
    ...block(words, scores, { ...size, y0: 0, zero: label + NUMBER + room / 2, unit: room / 2 / most }),
    ...block(words, shares, { ...size, y0: high + gap, zero: label, unit: room + NUMBER }),
  );
}

// A bar for each word, from zero on, px of which are 1.
function block(words, { title, kind, of, written }, { y0, line, top, zero, unit }) {
  const end = y0 + top + line * words.length;
  return [
    element("text", { class: "title", x: 0, y: y0 + 14 }, title),
    element("line", { class: "zero", x1: zero, x2: zero, y1: y0 + top, y2: end }),
    ...words.flatMap((text, j) => bar(text, of(j), written(of(j)), kind, { y: y0 + top + line * j, line, zero, unit })),
  ];
}

function bar(text, value, number, kind, { y, line, zero, unit }) {
  const to = zero + value * unit;
  const isLeft = value < 0;
  const at = { x: to + (isLeft ? -7 : 7), y: y + line / 2 + 6, "text-anchor": isLeft ? "end" : "start" };
  const box = {
    x: Math.min(zero, to),
    y: y + line * 0.15,
    width: Math.max(1, Math.abs(to - zero)),
    height: line * 0.7,
  };
  return [
    element("text", { class: "name", x: 0, y: y + line / 2 + 6 }, text),
    element("rect", { class: kind, rx: 2, ...box }),
    element("text", { class: `number ${kind}`, ...at }, number),
  ];
}
