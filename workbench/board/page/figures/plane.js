// The figure of keys in a plane: two of their numbers as a place, lines of equal score for one query, one key to drag.
// Where the figure names outputs, a ring shows what the query's word becomes of what it hears.

import { element, worded } from "../elements.js";
import { range, shortly, trimmed } from "../numbers.js";
import { dragOn, gripOf } from "./grip.js";

const EVERY = 2; // from one line of equal score to the next
const EDGE = 26; // px around the plane: under it numbers and their name, beside it numbers
const NAME = 24; // px for an axis's name
const CLAIM = "Across the lines the score moves; along one it stays.";
const BETWEEN = "What it becomes lies between the two.";

export function planeOf(view) {
  const { engine, root, figure } = view;
  const { keys, queries, scores, weights, outputs, axes, reach, row, moves, beside } = figure;
  const { rows: words, columns, kind: kindOfKey } = engine.panel[keys];
  const picture = element("svg", { class: "scene", "aria-hidden": "true" });
  const hand = element("span", { class: "hand", "aria-hidden": "true" });
  const stage = element("div", { class: "stage" }, picture, hand);
  const answer = element("span");
  const described = element("p", { class: "unseen" });
  const buttons = element("div", { class: "buttons" });
  const numbered = ["first", "second", "third", "fourth"];
  const place = (j) => axes.map((n) => view.values[keys][j][n]);
  const score = (j) => view.values[scores][row][j];
  const share = (j) => view.values[weights][row][j].toFixed(2);
  const becomes = () => axes.map((n) => view.values[outputs][row][n]);
  const becomesIn = () => `(${becomes().map(shortly).join(", ")})`;
  const under = (j) => (outputs ? `share ${share(j)}` : `score ${trimmed(score(j), 2)}`);
  const spoken = (x) => `${shortly(x)}. ${scored()}`;
  const grips = axes.map((n, axis) =>
    gripOf(view, {
      at: [keys, moves, n],
      least: reach[axis][0],
      most: reach[axis][1],
      step: figure.step,
      words: columns.length
        ? [`${columns[n]} of the `, element("em", {}, words[moves])]
        : [`${numbered[n]} number of `, element("em", {}, words[moves]), `’s ${kindOfKey}`],
      spoken,
    }),
  );

  const scored = () => {
    const each = words.map((text, j) => `${text} ${trimmed(score(j), 2)}`).join(", ");
    const end = outputs ? ` It hears ${share(moves)} of the ${words[moves]} and becomes ${becomesIn()}.` : "";
    return `${words[row]} scores ${each}.${end}`;
  };

  function tellAnswer() {
    const ahead = score(moves) - score(beside);
    const isMoved = place(moves).some((x, k) => x !== view.start[keys][moves][axes[k]]);
    if (outputs) {
      const heard = `*${words[row]}* hears ${share(moves)} of its *${words[moves]}* and becomes ${becomesIn()}.`;
      answer.replaceChildren(...worded(isMoved ? heard : figure.asks));
      described.textContent = `Two words as points, and what ${words[row]} becomes. ${scored()}`;
      return;
    }
    const [mine, other] = [moves, beside].map((j) => [`*${words[j]}*`, trimmed(score(j), 2)]);
    const far = trimmed(Math.abs(ahead), 2);
    const told = `${mine[0]} scores ${mine[1]}, ${other[0]} ${other[1]}: `;
    let ends = `on one line again, *${words[row]}* cannot tell them apart.`;
    if (Math.abs(ahead) > 1e-9) ends = `${ahead > 0 ? mine[0] : other[0]} is ahead by ${far}.`;
    answer.replaceChildren(...worded(isMoved ? `${told}${ends}` : figure.asks));
    described.textContent = `Keys as points, lines on which ${words[row]} scores all alike. ${scored()}`;
  }

  // ---- the picture

  let geo = null;
  function layOut() {
    const width = stage.clientWidth;
    const [[left, right], [low, high]] = reach;
    const isNarrow = root.dataset.layout === "narrow";
    const unit = Math.min(
      isNarrow ? 74 : 104,
      (width - EDGE - 14) / (right - left),
      Math.max(innerHeight * 0.52, 218) / (high - low), // lower, and words would lie on each other
    );
    const x0 = (width + EDGE - unit * (right - left)) / 2 - left * unit;
    const foot = NAME + (high - low) * unit;
    const height = Math.round(foot + EDGE + NAME);
    geo = {
      width,
      height,
      foot,
      unit,
      size: isNarrow || unit < 80 ? 26 : 34,
      at: ([x, y]) => [x0 + x * unit, foot + (low - y) * unit],
    };
    geo.under = ([px, py]) => [(px - x0) / unit, (foot - py) / unit + low];
    [geo.x0] = geo.at([left, low]);
    stage.style.height = `${height}px`;
    root.style.setProperty("--word", `${geo.size}px`);
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  }

  function axesOf() {
    // below and to the left of the plane, with the numbers of a key that they stand for
    const [[left, right], [low, high]] = reach;
    const [x0, y0] = geo.at([left, low]);
    const [x1, y1] = geo.at([right, high]);
    const text = (words, x, y, anchor) => element("text", { class: "axis", x, y, "text-anchor": anchor }, words);
    const whole = (from, to) => range(to - from + 1).map((k) => from + k);
    const named = (n) => columns[n] || `${numbered[n]} number of a ${kindOfKey}`;
    return [
      element("path", { class: "axis", d: `M${x0} ${y1}V${y0}H${x1}` }),
      ...whole(left, right).map((x) => text(trimmed(x, 0), geo.at([x, low])[0], y0 + 20, "middle")),
      ...whole(low, high).map((y) => text(trimmed(y, 0), x0 - 8, geo.at([left, y])[1] + 5, "end")),
      text(named(axes[0]), x1, y0 + 20 + NAME, "end"),
      text(named(axes[1]), Math.max(0, x0 - EDGE), y1 - 12, "start"),
    ];
  }

  function lineOf(value, query) {
    // where query · key = value, from edge to edge of the plane
    const [[left, right], [low, high]] = reach;
    const [a, b] = query;
    const onX = (y) => [(value - b * y) / a, y];
    const onY = (x) => [x, (value - a * x) / b];
    const ends = [...(a ? [onX(low), onX(high)] : []), ...(b ? [onY(left), onY(right)] : [])];
    const isIn = ([x, y]) => x >= left - 1e-9 && x <= right + 1e-9 && y >= low - 1e-9 && y <= high + 1e-9;
    return ends.filter(isIn).sort((p, q) => q[1] - p[1] || p[0] - q[0]);
  }

  function drawLine(value, query, isShared, taken, along) {
    const ends = lineOf(value, query);
    if (ends.length < 2) return [];
    const [[x1, y1], [x2, y2]] = [ends[0], ends.at(-1)].map(geo.at);
    const line = element("line", { class: isShared ? "level shared" : "level", x1, y1, x2, y2 });
    const said = `score ${trimmed(value, 1)}`;
    const long = Math.hypot(x2 - x1, y2 - y1);
    const wide = said.length * 8.4;
    const places = [0.72, 0.5, 0.86, 0.3, 0.14].map((part) => mixed([x1, y1], [x2, y2], part));
    const isFree = (box) => !isOut(geo, box) && !taken.some((other) => overlap(box, other)) && !along.some(isOn(box));
    const free = places.find((at) => long > 60 && isFree(boxAt(...at, wide, 18)));
    if (!free) return [line];
    taken.push(boxAt(...free, wide, 18));
    return [line, element("text", { class: "level", x: free[0], y: free[1] + 6, "text-anchor": "middle" }, said)];
  }

  function draw() {
    const query = axes.map((n) => view.values[queries][row][n]);
    const [[left, right], [low, high]] = reach;
    const corners = [left, right].flatMap((x) => [low, high].map((y) => x * query[0] + y * query[1]));
    const first = Math.ceil(Math.min(...corners) / EVERY);
    const count = Math.floor(Math.max(...corners) / EVERY) - first + 1;
    const levels = range(Math.max(0, Math.min(40, count))).map((k) => (first + k) * EVERY);
    const shared = score(beside);
    const [origin, tip] = [geo.at([0, 0]), geo.at(query)];
    const spots = words.map((_, j) => geo.at(place(j)));
    const radius = (j) => (j === moves ? 15 : 8);
    const ring = outputs ? geo.at(becomes()) : null;
    const ray = (name, [x2, y2]) => element("line", { class: name, x1: origin[0], y1: origin[1], x2, y2 });
    // what no words may lie on: the points, then words that stand already; and what they had better not, the lines
    const marks = figure.places.map(([, ...at]) => geo.at(at));
    const taken = [
      ...spots.map(([x, y], j) => boxAt(x, y, 2 * radius(j), 2 * radius(j))),
      ...[tip, ...marks].map((at) => boxAt(...at, 16, 16)),
      ...(ring ? [boxAt(...ring, 30, 30)] : []),
    ];
    const along = [...spots, tip].flatMap((end) => range(20).map((k) => mixed(origin, end, (k + 1) / 20)));
    const tells = ring ? becomesIn() : `what ${words[row]} looks for`;
    const asked = placed(geo, ring ?? tip, ring ? 17 : 10, tells.length * (ring ? 9.4 : 8.2), 22, taken, along);
    const labels = words.map((text, j) => {
      const wide = Math.max(text.length * geo.size * 0.56, under(j).length * 9.6);
      return placed(geo, spots[j], radius(j) + 2, wide, geo.size + 20, taken, along);
    });
    const named = figure.places.map(([text], k) => placed(geo, marks[k], 8, text.length * 11, 22, taken, along));
    const lines = [
      ...drawLine(shared, query, true, taken, along),
      ...levels
        .filter((value) => Math.abs(value - shared) > 1e-9)
        .flatMap((value) => drawLine(value, query, false, taken, along)),
    ];
    const middle = { "text-anchor": "middle" };
    const asking = () => [
      ray("query", tip),
      element("circle", { class: "query", cx: tip[0], cy: tip[1], r: 8 }),
      element(
        "text",
        { class: "query", x: asked[0], y: asked[1] + 5, ...middle },
        "what ",
        element("tspan", { class: "who" }, words[row]),
        " looks for",
      ),
    ];
    const becoming = () => [
      element("line", { class: "moved", x1: spots[row][0], y1: spots[row][1], x2: ring[0], y2: ring[1] }),
      element("circle", { class: "becomes", cx: ring[0], cy: ring[1], r: 13 }),
      element("text", { class: "becomes", x: asked[0], y: asked[1] + 5, ...middle }, tells),
    ];
    picture.replaceChildren(
      ...axesOf(),
      ...lines,
      ...figure.places.flatMap(([text], k) => [
        element("circle", { class: "place", cx: marks[k][0], cy: marks[k][1], r: 7 }),
        element("text", { class: "place", x: named[k][0], y: named[k][1] + 6, ...middle }, text),
      ]),
      ...(ring ? [] : asking()),
      ...spots.flatMap((spot, j) => [
        ray("key", spot),
        element("circle", { class: "key", cx: spot[0], cy: spot[1], r: radius(j) }),
      ]),
      ...(ring ? becoming() : []),
      ...labels.flatMap(([x, y], j) => [
        element("text", { class: "word", x, y: y + geo.size * 0.16, ...middle }, words[j]),
        element("text", { class: "score", x, y: y + geo.size / 2 + 8, ...middle }, under(j)),
      ]),
    );
    const [x, y] = spots[moves];
    hand.style.transform = `translate(${x - 24}px, ${y - 24}px)`;
  }

  // ---- dragging the key itself; keys and whoever hears it have the two sliders

  dragOn(stage, hand, (at, take) => {
    const found = geo.under(at);
    const to = found.map((x, axis) => Math.max(reach[axis][0], Math.min(reach[axis][1], Math.round(x * 10) / 10)));
    const cells = axes.map((n, axis) => [moves, n, String(to[axis])]);
    engine.edit(keys, cells, `plane ${take}`);
  });

  let last = null;
  function update() {
    if (!geo) return;
    tellAnswer();
    draw();
    for (const grip of grips) grip.update();
    if (last && engine.values !== last) view.tell(outputs ? BETWEEN : CLAIM);
    last = engine.values;
  }
  const sliders = element("div", { class: "sliders" }, ...grips.map(({ node }) => node));
  const says = element("div", { class: "says" }, element("p", { class: "answer" }, answer), buttons);
  return { nodes: [stage, sliders, says, described], buttons, layOut, update };
}

export const mixed = ([x0, y0], [x1, y1], part) => [x0 + (x1 - x0) * part, y0 + (y1 - y0) * part];
export const boxAt = (x, y, wide, high) => ({
  left: x - wide / 2,
  right: x + wide / 2,
  top: y - high / 2,
  bottom: y + high / 2,
});
const overlap = (one, other) =>
  one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top;

const isOut = ({ x0, width, foot }, { left, right, top, bottom }) =>
  left < x0 || right > width || top < NAME - 5 || bottom > foot;
const isOn =
  (box) =>
  ([x, y]) =>
    x > box.left && x < box.right && y > box.top && y < box.bottom;

// The middle of words beside a point where they lie on nothing that has its place, if there is room, and on few lines.
export function placed(geo, [x, y], away, wide, high, taken, along) {
  const [across, down] = [away + wide / 2 + 5, away + high / 2 + 3];
  const around = [
    ...[
      [across, 0],
      [-across, 0],
      [0, -down],
      [0, down],
    ],
    ...[
      [across, -down],
      [-across, -down],
      [across, down],
      [-across, down],
    ],
    ...[
      [across / 2, -down],
      [-across / 2, -down],
      [across / 2, down],
      [-across / 2, down],
    ],
  ];
  const places = [1, 1.8, 2.6, 3.4].flatMap((far) =>
    around.map(([right, below]) => boxAt(x + right * (1 + far) * 0.5, y + below * far, wide, high)),
  );
  const cost = (box) =>
    10000 * isOut(geo, box) +
    1000 * taken.filter((other) => overlap(box, other)).length +
    along.filter(isOn(box)).length;
  const best = places.reduce((one, other) => (cost(other) < cost(one) ? other : one));
  taken.push(best);
  return [(best.left + best.right) / 2, (best.top + best.bottom) / 2];
}
