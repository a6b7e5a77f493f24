// The figure of keys in a plane: two of their numbers as a place, lines of equal score for one query, one key to drag.

import { element, worded } from "./elements.js";
import { gripOf, shortly } from "./grip.js";
import { range, trimmed } from "./numbers.js";

const EVERY = 2; // from one line of equal score to the next
const CLAIM = "Across the lines the score moves; along one it stays.";

export function planeOf(view) {
  const { engine, root, figure } = view;
  const { keys, queries, scores, axes, reach, row, moves, beside } = figure;
  const words = engine.panel[keys].rows;
  const picture = element("svg", { class: "picture", "aria-hidden": "true" });
  const hand = element("span", { class: "hand", "aria-hidden": "true" });
  const stage = element("div", { class: "stage" }, picture, hand);
  const answer = element("span");
  const described = element("p", { class: "unseen" });
  const buttons = element("div", { class: "buttons" });
  const numbered = ["first", "second", "third", "fourth"];
  const place = (j) => axes.map((n) => view.values[keys][j][n]);
  const score = (j) => view.values[scores][row][j];
  const spoken = (x) => `${shortly(x)}. ${scored()}`;
  const grips = axes.map((n, axis) =>
    gripOf(view, {
      at: [keys, moves, n],
      least: reach[axis][0],
      most: reach[axis][1],
      step: figure.step,
      words: [`${numbered[n]} number of `, element("em", {}, words[moves]), `’s ${engine.panel[keys].kind}`],
      spoken,
    }),
  );

  const scored = () => `${words[row]} scores ${words.map((text, j) => `${text} ${trimmed(score(j), 2)}`).join(", ")}.`;

  function tellAnswer() {
    const ahead = score(moves) - score(beside);
    const isMoved = place(moves).some((x, k) => x !== view.start[keys][moves][axes[k]]);
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
    const most = isNarrow ? 74 : 104;
    const unit = Math.min(
      most,
      (width - 24) / (right - left + (isNarrow ? 0.5 : 1.6)),
      (innerHeight * 0.56) / (high - low),
    );
    const x0 = (width - unit * (right - left + (isNarrow ? 0.3 : 1))) / 2 - left * unit;
    const height = Math.round((high - low) * unit + 30);
    geo = { width, height, unit, at: ([x, y]) => [x0 + x * unit, height - 24 + (low - y) * unit] };
    geo.under = ([px, py]) => [(px - x0) / unit, (height - 24 - py) / unit + low];
    stage.style.height = `${height}px`;
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
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

  function drawLine(value, query, isShared) {
    const ends = lineOf(value, query);
    if (ends.length < 2) return [];
    const [[x1, y1], [x2, y2]] = [ends[0], ends.at(-1)].map(geo.at);
    const line = element("line", { class: isShared ? "level shared" : "level", x1, y1, x2, y2 });
    const label = { class: "level", x: x2 + 4, y: y2 + 18 };
    return [line, element("text", label, trimmed(value, 1))];
  }

  function draw() {
    const query = axes.map((n) => view.values[queries][row][n]);
    const [[left, right], [low, high]] = reach;
    const corners = [left, right].flatMap((x) => [low, high].map((y) => x * query[0] + y * query[1]));
    const first = Math.ceil(Math.min(...corners) / EVERY);
    const count = Math.floor(Math.max(...corners) / EVERY) - first + 1;
    const levels = range(Math.max(0, Math.min(40, count))).map((k) => (first + k) * EVERY);
    const at = score(beside);
    const lines = levels
      .filter((value) => Math.abs(value - at) > 1e-9)
      .flatMap((value) => drawLine(value, query, false));
    const origin = geo.at([0, 0]);
    const ray = (name, to) => {
      const [x2, y2] = geo.at(to);
      return element("line", { class: name, x1: origin[0], y1: origin[1], x2, y2 });
    };
    const [tipX, tipY] = geo.at(query);
    const points = words.flatMap((text, j) => {
      const [x, y] = geo.at(place(j));
      const isLeft = place(j)[0] < Math.min(1, query[0]); // of the query's line, which would run through the words
      const where = { x: isLeft ? x - 16 : x + 22, "text-anchor": isLeft ? "end" : "start" };
      const texts = [
        element("text", { class: "word", ...where, y: y - 10 }, text),
        element("text", { class: "score", ...where, y: y + 14 }, `score ${trimmed(score(j), 2)}`),
      ];
      return [
        ray("key", place(j)),
        element("circle", { class: "key", cx: x, cy: y, r: j === moves ? 15 : 8 }),
        ...texts,
      ];
    });
    picture.replaceChildren(
      ...lines,
      ...drawLine(at, query, true),
      ray("query", query),
      element("circle", { class: "query", cx: tipX, cy: tipY, r: 8 }),
      element(
        "text",
        { class: "query", x: tipX + 14, y: tipY - 10 },
        "what ",
        element("tspan", { class: "who" }, words[row]),
        " looks for",
      ),
      ...points,
    );
    const [x, y] = geo.at(place(moves));
    hand.style.transform = `translate(${x - 24}px, ${y - 24}px)`;
  }

  // ---- dragging the key itself; keys and whoever hears it have the two sliders

  let held = 0;
  let dragging = false;
  hand.addEventListener("pointerdown", (event) => {
    held += 1;
    dragging = true;
    hand.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  hand.addEventListener("pointermove", (event) => {
    if (!dragging) return;
    const { left, top } = stage.getBoundingClientRect();
    const found = geo.under([event.clientX - left, event.clientY - top]);
    const to = found.map((x, axis) => Math.max(reach[axis][0], Math.min(reach[axis][1], Math.round(x * 10) / 10)));
    const cells = axes.map((n, axis) => [moves, n, String(to[axis])]);
    engine.edit(keys, cells, `plane ${held}`);
  });
  const drop = () => {
    dragging = false;
  };
  hand.addEventListener("pointerup", drop);
  hand.addEventListener("pointercancel", drop);

  let last = null;
  function update() {
    if (!geo) return;
    tellAnswer();
    draw();
    for (const grip of grips) grip.update();
    if (last && engine.values !== last) view.tell(CLAIM);
    last = engine.values;
  }
  const sliders = element("div", { class: "sliders" }, ...grips.map(({ node }) => node));
  const says = element("div", { class: "says" }, element("p", { class: "answer" }, answer), buttons);
  return { nodes: [stage, sliders, says, described], buttons, layOut, update };
}
