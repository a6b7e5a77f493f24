// The page's half of what n14_state_operations.py computes, and the picture of pairs as lines.

import { everyLeaf, minusOf, number, plus, times, told } from "../page/arithmetic.js";
import { element } from "../page/elements.js";
import { exact, minus, range, written } from "../page/numbers.js";
import { register } from "../page/operations.js";

// What is written, in the words of n14_state_operations.py.
const RATES = { "half the error": 0.5, "the error (delta rule)": 1 };

const dot = (one, other) => one.reduce((total, x, k) => total + x * other[k], 0);

/** The states after 0, 1, … writes. */
function pathOf(keys, numbers, { writes, pairs, rule, gate }) {
  const path = [keys[0].map(() => 0)];
  for (const k of range(writes)) {
    const key = keys[k % pairs];
    const faded = path[k].map((x) => gate * x);
    const n = numbers[k % pairs][0];
    const amount = rule in RATES ? RATES[rule] * (n - dot(key, faded)) : n;
    path.push(faded.map((x, c) => x + key[c] * amount));
  }
  return path;
}

register({
  state_after: {
    does: ([keys, numbers], options) => [pathOf(keys, numbers, options).at(-1)],
    because([ofKeys, ofNumbers], options, _i, j, [keys, numbers]) {
      const path = pathOf(keys, numbers, options);
      if (!options.writes) return told("nothing written yet:", number(0));
      const now = (options.writes - 1) % options.pairs;
      const before = path.at(-2).map((x) => number(x));
      const fade = (x) => (options.gate === 1 ? x : times(number(options.gate), x));
      const earlier = everyLeaf([ofKeys, ofNumbers], [keys, numbers]);
      const value = ofNumbers(now, 0);
      const read = plus(before.map((x, c) => times(ofKeys(now, c), fade(x))));
      const error = options.rule in RATES ? minusOf(value, read) : value;
      const amount = RATES[options.rule] === 0.5 ? [number(0.5), error] : [error];
      return told("", plus([fade(before[j]), times(ofKeys(now, j), ...amount)]), ...earlier);
    },
    says: ([keys, numbers]) => `The state: each row of ${keys} is written with its number of ${numbers}.`,
  },
  read_by_each: {
    does: ([keys, [state]], { pairs }) => keys.map((key, i) => [i < pairs ? dot(key, state) : Number.NaN]),
    because([ofKeys, ofState], { pairs }, i, _j, [keys]) {
      if (i >= pairs) return told("not written:", number(Number.NaN));
      return plus(range(keys[0].length).map((c) => times(ofKeys(i, c), ofState(0, c))));
    },
    says: ([keys, state]) => `Each row of ${keys} times ${state}: what it reads.`,
  },
  lines_and_path: { does: () => [], picture: plane },
});

// ---------------------------------------------------------------------------------------------------- the picture

const SIZE = 340;
const EDGE = 42;
const LEFT = 20; // more room there, for numbers of four digits
const REACHES = [10, 20, 50, 100, 1000, 1e4, 1e5, 1e6, 1e9];

/** Of each pair the line of all states from which its key reads its number; the states one after the other. */
function plane(view, panel) {
  const { engine } = view;
  const svg = element("svg", { class: "crossing", viewBox: `${-LEFT} 0 ${SIZE + LEFT} ${SIZE}`, role: "img" });
  const node = element("div", {}, svg);
  let takes = 0;
  let scale = null;
  let isHeld = false; // while a line is, the scale stays

  // A line is dragged to another number of its pair, in halves.
  function drag(event, i) {
    event.preventDefault();
    takes += 1;
    isHeld = true;
    const take = takes;
    const key = engine.values[panel.of[0]][i];
    const move = (moved) => {
      const box = svg.getBoundingClientRect();
      const unit = (SIZE + LEFT) / box.width; // of a pixel
      const [x, y] = [(moved.clientX - box.left) * unit - LEFT, (moved.clientY - box.top) * unit];
      const to = Math.round(2 * dot(key, scale.under(x, y))) / 2;
      engine.edit(panel.of[1], [[i, 0, String(to)]], `line ${take}`);
    };
    const drop = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", drop);
      removeEventListener("pointercancel", drop);
      isHeld = false;
      update();
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", drop);
    addEventListener("pointercancel", drop);
  }

  function update() {
    const { resolved } = engine.steps.find((step) => step.name === panel.name);
    const [keys, numbers] = panel.of.map((name) => engine.values[name]); // and the state, where the way ends
    const names = engine.panel[panel.of[0]].rows;
    const path = pathOf(keys, numbers, resolved);
    if (!isHeld) scale = scaleOf(path, keys, numbers, resolved.pairs);
    const newest = resolved.writes ? (resolved.writes - 1) % resolved.pairs : -1;
    const lines = range(resolved.pairs).map((i) => ({ ends: endsOf(keys[i], numbers[i][0], scale), i }));
    const drawn = lines
      .filter(({ ends }) => ends)
      .flatMap(({ ends, i }) => lineOf(ends, names[i], i === newest, scale, (event) => drag(event, i)));
    svg.replaceChildren(...gridOf(scale), ...drawn, ...wayOf(path, scale));
    const point = path.at(-1).map((x) => minus(exact(Number(x.toFixed(3)))));
    const told = lines.map(({ i }) => `${names[i]} ${written(numbers[i][0])}`).join(", ");
    svg.setAttribute("aria-label", `Lines of the pairs ${told}. The state is the point (${point.join(", ")}).`);
  }
  return { node, update };
}

/** The part of the plane that is seen: from 0 on, or around 0 where something is below. */
function scaleOf(path, keys, numbers, pairs) {
  const far = path.flat().filter(Number.isFinite);
  for (const i of range(pairs)) {
    const long = Math.hypot(...keys[i]);
    if (long > 0) far.push(numbers[i][0] / long);
  }
  const reach = REACHES.find((one) => Math.max(...far.map(Math.abs)) <= one) ?? REACHES.at(-1);
  const least = path.flat().some((x) => x < -reach / 10) ? -reach : -reach / 10;
  const unit = (SIZE - 2 * EDGE) / (reach - least);
  return {
    least,
    reach,
    step: least < -reach / 5 ? reach / 2 : reach / 5,
    x: (value) => EDGE + (value - least) * unit,
    y: (value) => SIZE - EDGE - (value - least) * unit,
    under: (x, y) => [least + (x - EDGE) / unit, least + (SIZE - EDGE - y) / unit],
  };
}

function gridOf({ least, reach, step, x, y }) {
  const marks = range(2 * 5 + 1)
    .map((k) => (k - 5) * step)
    .filter((value) => value >= least && value <= reach);
  return marks.flatMap((value) => [
    element("line", { class: value ? "grid" : "axis", x1: x(value), x2: x(value), y1: y(least), y2: y(reach) }),
    element("line", { class: value ? "grid" : "axis", x1: x(least), x2: x(reach), y1: y(value), y2: y(value) }),
    element("text", { class: "scale", x: x(value), y: y(least) + 20, "text-anchor": "middle" }, written(value)),
    ...(value === 0
      ? []
      : [element("text", { class: "scale", x: x(least) - 5, y: y(value) + 5, "text-anchor": "end" }, written(value))]),
  ]);
}

/** Where the line a · x + b · y = n leaves the square, or null if it misses it. */
function endsOf([a, b], n, { least, reach }) {
  const isInside = ([x, y]) => Math.min(x, y) > least - 1e-9 && Math.max(x, y) < reach + 1e-9;
  const across = b ? [least, reach].map((x) => [x, (n - a * x) / b]) : [];
  const up = a ? [least, reach].map((y) => [(n - b * y) / a, y]) : [];
  const ends = [...across, ...up].filter(isInside).sort(([x, y], [u, v]) => x - u || y - v);
  const [first, last] = [ends[0], ends.at(-1)];
  return first && Math.hypot(first[0] - last[0], first[1] - last[1]) > 1e-9 ? [first, last] : null;
}

function lineOf([from, to], name, isNewest, { x, y }, grab) {
  const place = { x1: x(from[0]), y1: y(from[1]), x2: x(to[0]), y2: y(to[1]) };
  const hand = element("line", { class: "hand", ...place });
  hand.addEventListener("pointerdown", grab);
  const isUpright = Math.abs(to[0] - from[0]) < 0.05 * Math.abs(to[1] - from[1]);
  const at = (k) => 0.2 * from[k] + 0.8 * to[k]; // near its right end
  const label = isUpright
    ? element("text", { class: "name", x: x(to[0]), y: y(to[1]) - 6, "text-anchor": "middle" }, name)
    : element("text", { class: "name", x: x(at(0)) + 6, y: y(at(1)) - 6 }, name);
  return [element("line", { class: isNewest ? "pair newest" : "pair", ...place }), hand, label];
}

function wayOf(path, { x, y }) {
  const places = path.filter((point) => point.every(Number.isFinite)).map((point) => [x(point[0]), y(point[1])]);
  const d = places.map((place, k) => `${k ? "L" : "M"}${place.map((px) => px.toFixed(1)).join(" ")}`).join("");
  const dots = places.map(([cx, cy], k) =>
    element("circle", {
      class: k === places.length - 1 ? "state" : "was",
      cx,
      cy,
      r: k === places.length - 1 ? 8 : 3.5,
    }),
  );
  return [element("path", { class: "way", d }), ...dots];
}
