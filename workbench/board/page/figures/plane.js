// The figure of keys in a plane: two of their numbers as a place, lines of equal score for one query, one key to drag.
// Where the figure names outputs, a ring shows what the query's word becomes of what it hears.

import { element } from "../elements.js";
import { shortly } from "../numbers.js";
import { dragOn, gripOf } from "./grip.js";
import { geometryOf, sizeTo } from "./plane_geometry.js";
import { pictureOf } from "./plane_picture.js";
import { readingOf, tellingOf } from "./plane_telling.js";

const CLAIM = "Across the lines the score moves; along one it stays.";
const BETWEEN = "What it becomes lies between the two.";
const ORDINALS = ["first", "second", "third", "fourth"];
const LEAST = 218; // px of height: lower, and words would lie on each other

export function planeFigure(view) {
  const { engine, root, figure } = view;
  const { keys, outputs, axes, reach, moves } = figure;
  const { rows: words, columns, kind } = engine.panel[keys];
  const reading = readingOf(view);
  const telling = tellingOf(figure, reading);
  const picture = element("svg", { class: "scene", "aria-hidden": "true" });
  const hand = element("span", { class: "hand", "aria-hidden": "true" });
  const stage = element("div", { class: "stage" }, picture, hand);
  const answer = element("span");
  const described = element("p", { class: "unseen" });
  const buttons = element("div", { class: "buttons" });
  const names = axes.map((n) => columns[n] || `${ORDINALS[n]} number of a ${kind}`);
  const grips = axes.map((n, axis) =>
    gripOf(view, {
      at: [keys, moves, n],
      least: reach[axis][0],
      most: reach[axis][1],
      step: figure.step,
      words: columns.length
        ? [`${columns[n]} of the `, element("em", {}, words[moves])]
        : [`${ORDINALS[n]} number of `, element("em", {}, words[moves]), `’s ${kind}`],
      spoken: (x) => `${shortly(x)}. ${telling.scores()}`,
    }),
  );

  let geometry = null; // as long as nothing is laid out
  function layOut() {
    const isNarrow = root.dataset.layout === "narrow";
    geometry = geometryOf({
      width: stage.clientWidth,
      reach,
      most: isNarrow ? 74 : 104,
      high: Math.max(innerHeight * 0.52, LEAST),
      sizeOf: (unit) => (isNarrow || unit < 80 ? 26 : 34),
    });
    sizeTo(geometry, stage, picture, root);
  }

  // By the key itself; keys and whoever hears it have the two sliders.
  dragOn(stage, hand, (px, take) => {
    const place = geometry.under(px);
    const to = place.map((x, axis) => Math.max(reach[axis][0], Math.min(reach[axis][1], Math.round(x * 10) / 10)));
    const cells = axes.map((n, axis) => [moves, n, String(to[axis])]);
    engine.edit(keys, cells, `plane ${take}`);
  });

  let last = null; // the values that were shown last
  function update() {
    if (!geometry) return;
    answer.replaceChildren(...telling.answer());
    described.textContent = telling.described();
    picture.replaceChildren(...pictureOf(figure, reading, geometry, names));
    const [x, y] = geometry.at(reading.place(moves));
    hand.style.transform = `translate(${x - 24}px, ${y - 24}px)`;
    for (const grip of grips) grip.update();
    if (last && engine.values !== last) view.tell(outputs ? BETWEEN : CLAIM);
    last = engine.values;
  }
  const sliders = element("div", { class: "sliders" }, ...grips.map(({ node }) => node));
  const says = element("div", { class: "says" }, element("p", { class: "answer" }, answer), buttons);
  return { nodes: [stage, sliders, says, described], buttons, layOut, update };
}
