// The figure of an arrow that is turned: what a word asks with, beside the keys that it is held against. Bars answer,
// what each key scores and which share of it is heard. It only turns: it stays as long as it is.

import { element, worded } from "../elements.js";
import { range, shortly, trimmed } from "../numbers.js";
import { dragOn, gripOf } from "./grip.js";
import { boxAt, mixed, placed } from "./plane.js";

const EDGE = 26; // px around the plane: beside it its numbers, under it their name
const NAME = 24; // px for an axis's name
const HEAD = 15; // px of an arrow's head
const DEGREES = 180 / Math.PI;
const CLAIM = "The nearer it points to a key, the higher that key scores.";

export function turnOf(view) {
  const { engine, root, figure } = view;
  const { keys, queries, scores, weights, reach, row } = figure;
  const [asker, words, columns] = [
    engine.panel[queries].rows[row],
    engine.panel[keys].rows,
    engine.panel[keys].columns,
  ];
  const picture = element("svg", { class: "scene", "aria-hidden": "true" });
  const hand = element("span", { class: "hand", "aria-hidden": "true" });
  const stage = element("div", { class: "stage" }, picture, hand);
  const bars = element("svg", { class: "bars", "aria-hidden": "true" });
  const answer = element("span");
  const described = element("p", { class: "unseen" });
  const buttons = element("div", { class: "buttons" });
  const queryIn = (values) => values[queries][row];
  const query = () => queryIn(view.values);
  const score = (j) => view.values[scores][row][j];
  const share = (j) => view.values[weights][row][j];
  const named = (j) => (words[j] === asker ? "itself" : words[j]);

  // ---- how far it is turned: in degrees to the right, as a clock's hand

  const angleOf = ([x, y]) => Math.atan2(y, x) * DEGREES;
  const turned = (degrees) => ((((degrees + 180) % 360) + 360) % 360) - 180;
  const from = queryIn(view.start);
  const turnIn = (values) => turned(angleOf(from) - angleOf(queryIn(values)));
  function turn(degrees, gesture) {
    const [now, first] = [query(), from].map((xy) => Math.hypot(...xy));
    const long = now && Math.abs(now - first) > 0.01 ? now : first; // what was rounded does not add up
    const angle = (angleOf(from) - degrees) / DEGREES;
    const isBack = long === first && Math.abs(degrees) < 1e-9;
    const to = isBack ? from : [Math.cos(angle), Math.sin(angle)].map((part) => part * long);
    const cells = to.map((x, n) => [row, n, String(+x.toFixed(3))]);
    engine.edit(queries, cells, gesture);
  }
  const grip = gripOf(view, {
    held: { of: turnIn, put: turn },
    least: -180,
    most: 180,
    step: figure.step,
    words: ["Turn what ", element("em", {}, asker), " asks with"],
    spoken: (x) => `${Math.round(x)} degrees. ${told()}`,
    shown: (x) => `${trimmed(x, 0)}°`,
  });

  const told = () =>
    `${asker} scores ${words.map((_, j) => `${named(j)} ${trimmed(score(j), 2)}`).join(", ")}; ${heard()}`;
  const heard = () => `it hears ${words.map((_, j) => `${named(j)} with ${share(j).toFixed(2)}`).join(", ")}.`;

  function tellAnswer() {
    const isMoved = query().some((x, n) => x !== from[n]);
    const asks = `*${asker[0].toUpperCase()}${asker.slice(1)}* asks with (${query().map(shortly).join(", ")}): `;
    const most = range(words.length).reduce((one, j) => (share(j) > share(one) ? j : one), 0);
    const hears = `${share(most).toFixed(2)} of what it hears is *${words[most]}*.`;
    answer.replaceChildren(...worded(isMoved ? asks + hears : figure.asks));
    const arrows = words.map((text, j) => `${text} (${view.values[keys][j].map(shortly).join(", ")})`).join(", ");
    described.textContent = `Arrows: the keys ${arrows}, and ${plain(asks)}${told()}`;
  }

  // ---- the picture

  let geo = null;
  function layOut() {
    const isNarrow = root.dataset.layout === "narrow";
    const width = stage.clientWidth;
    const [[left, right], [low, high]] = reach;
    const unit = Math.min(isNarrow ? 52 : 84, (width - EDGE - 14) / (right - left), room(isNarrow) / (high - low));
    const x0 = (width + EDGE - unit * (right - left)) / 2 - left * unit;
    const foot = NAME + (high - low) * unit;
    const height = Math.round(foot + EDGE + NAME);
    geo = { width, height, foot, unit, size: isNarrow || unit < 62 ? 22 : 30 };
    geo.at = ([x, y]) => [x0 + x * unit, foot + (low - y) * unit];
    [geo.x0] = geo.at([left, low]);
    stage.style.height = `${height}px`;
    root.style.setProperty("--word", `${geo.size}px`);
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  }

  // How high the plane may be; on a slide as high as with its sentence it fits there.
  function room(isNarrow) {
    const slide = root.closest(".slides .body");
    if (isNarrow) return innerHeight * 0.34;
    return slide ? slide.clientHeight * 0.62 : innerHeight * 0.46;
  }

  function axesOf() {
    const [[left, right], [low, high]] = reach;
    const [[x0, y0], [x1, y1], [zeroX, zeroY]] = [
      [left, low],
      [right, high],
      [0, 0],
    ].map(geo.at);
    const text = (said, x, y, anchor) => element("text", { class: "axis", x, y, "text-anchor": anchor }, said);
    const whole = (least, most) => range(Math.floor(most) - Math.ceil(least) + 1).map((k) => Math.ceil(least) + k);
    return [
      element("path", { class: "axis", d: `M${x0} ${y1}V${y0}H${x1}` }),
      element("path", { class: "zero", d: `M${zeroX} ${y1}V${y0}M${x0} ${zeroY}H${x1}` }),
      ...whole(left, right).map((x) => text(trimmed(x, 0), geo.at([x, low])[0], y0 + 20, "middle")),
      ...whole(low, high).map((y) => text(trimmed(y, 0), x0 - 8, geo.at([left, y])[1] + 5, "end")),
      text(columns[0], x1, y0 + 20 + NAME, "end"),
      text(columns[1], Math.max(0, x0 - EDGE), y1 - 12, "start"),
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

  function draw() {
    const [origin, tip] = [[0, 0], query()].map(geo.at);
    const spots = view.values[keys].map(geo.at);
    const taken = [...spots, tip].map((at) => boxAt(...at, 2 * HEAD, 2 * HEAD));
    const along = [...spots, tip].flatMap((end) => range(20).map((k) => mixed(origin, end, (k + 1) / 20)));
    const wide = (text, size) => text.length * size * 0.56;
    const asks = "asks";
    const label = (at, text) => placed(geo, at, HEAD, wide(text, geo.size), geo.size, taken, along);
    const asked = label(tip, asks);
    const labels = spots.map((at, j) => label(at, words[j]));
    const text = (kind, [x, y], said) =>
      element("text", { class: `word ${kind}`, x, y: y + geo.size * 0.3, "text-anchor": "middle" }, said);
    const radius = Math.hypot(...query()) * geo.unit;
    picture.replaceChildren(
      ...axesOf(),
      element("circle", { class: "orbit", cx: origin[0], cy: origin[1], r: radius }),
      ...spots.flatMap((at) => arrow("key", origin, at)),
      ...arrow("query", origin, tip),
      element("circle", { class: "tip", cx: tip[0], cy: tip[1], r: 13 }),
      ...labels.map((at, j) => text("key", at, words[j])),
      text("query", asked, asks),
    );
    hand.style.transform = `translate(${tip[0] - 26}px, ${tip[1] - 26}px)`;
  }

  // Two blocks of bars, scores on both sides of 0 and shares of 1.
  function drawBars() {
    const isNarrow = root.dataset.layout === "narrow";
    const wide = bars.clientWidth;
    const [line, gap, top] = isNarrow ? [30, 12, 22] : [40, 28, 26];
    const label = Math.max(...words.map((text) => text.length)) * 13 + 14;
    const number = 60;
    const room = wide - label - 2 * number;
    const most = Math.max(...view.values[keys].map((key) => Math.hypot(...key))) * Math.hypot(...query()) || 1;
    const block = (title, y0, kind, of, written, zero, unit) => [
      element("text", { class: "title", x: 0, y: y0 + 14 }, title),
      element("line", { class: "zero", x1: zero, x2: zero, y1: y0 + top, y2: y0 + top + line * words.length }),
      ...words.flatMap((text, j) => {
        const y = y0 + top + line * j;
        const [x, to] = [zero, zero + of(j) * unit];
        const isLeft = of(j) < 0;
        const at = { x: to + (isLeft ? -7 : 7), y: y + line / 2 + 6, "text-anchor": isLeft ? "end" : "start" };
        const box = {
          x: Math.min(x, to),
          y: y + line * 0.15,
          width: Math.max(1, Math.abs(to - x)),
          height: line * 0.7,
        };
        return [
          element("text", { class: "name", x: 0, y: y + line / 2 + 6 }, text),
          element("rect", { class: kind, rx: 2, ...box }),
          element("text", { class: `number ${kind}`, ...at }, written(of(j))),
        ];
      }),
    ];
    const high = top + line * words.length;
    const middle = label + number + room / 2;
    bars.setAttribute("viewBox", `0 0 ${wide} ${2 * high + gap}`);
    bars.style.height = `${2 * high + gap}px`;
    bars.replaceChildren(
      ...block("score: query · key", 0, "scores", score, (x) => trimmed(x, 2), middle, room / 2 / most),
      ...block("share of what is heard", high + gap, "weights", share, (x) => x.toFixed(2), label, room + number),
    );
  }

  // ---- turning by the tip; keys and whoever hears it have the slider

  dragOn(stage, hand, ([left, top], take) => {
    const [x, y] = geo.at([0, 0]);
    const to = [left - x, y - top];
    if (Math.hypot(...to) > 4) turn(Math.round(turned(angleOf(from) - angleOf(to))), `turn ${take}`);
  });

  let last = null;
  function update() {
    if (!geo) return;
    tellAnswer();
    draw();
    drawBars();
    grip.update();
    if (last && engine.values !== last) view.tell(CLAIM);
    last = engine.values;
  }
  const sliders = element("div", { class: "sliders" }, grip.node);
  const says = element("div", { class: "says" }, element("p", { class: "answer" }, answer), buttons);
  return { nodes: [stage, bars, sliders, says, described], buttons, layOut, update };
}

const plain = (text) => text.replaceAll("*", "");
