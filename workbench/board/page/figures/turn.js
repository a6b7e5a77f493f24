// The figure of an arrow that is turned: what a word asks with, beside the keys that it is held against. Bars answer,
// what each key scores and which share of it is heard. It only turns: it stays as long as it is.

import { element } from "../elements.js";
import { trimmed } from "../numbers.js";
import { dragOn, gripOf } from "./grip.js";
import { geometryOf, sizeTo } from "./plane_geometry.js";
import { arrowsOf, drawBars } from "./turn_picture.js";
import { readingOf, tellingOf } from "./turn_telling.js";

const DEGREES = 180 / Math.PI;
const CLAIM = "The nearer it points to a key, the higher that key scores.";

const angleOf = ([x, y]) => Math.atan2(y, x) * DEGREES;
const within180 = (degrees) => ((((degrees + 180) % 360) + 360) % 360) - 180;

export function turnFigure(view) {
  const { engine, root, figure } = view;
  const { keys, queries, reach, row } = figure;
  const reading = readingOf(view);
  const telling = tellingOf(view, reading);
  const picture = element("svg", { class: "scene", "aria-hidden": "true" });
  const hand = element("span", { class: "hand", "aria-hidden": "true" });
  const stage = element("div", { class: "stage" }, picture, hand);
  const bars = element("svg", { class: "bars", "aria-hidden": "true" });
  const answer = element("span");
  const described = element("p", { class: "unseen" });
  const buttons = element("div", { class: "buttons" });

  // ---- how far it is turned: in degrees to the right, as a clock's hand

  const from = reading.queryIn(view.start);
  const turnIn = (values) => within180(angleOf(from) - angleOf(reading.queryIn(values)));
  function turn(degrees, gesture) {
    const [now, first] = [reading.query(), from].map((xy) => Math.hypot(...xy));
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
    words: ["Turn what ", element("em", {}, reading.asker), " asks with"],
    spoken: (x) => `${Math.round(x)} degrees. ${telling.scores()}`,
    shown: (x) => `${trimmed(x, 0)}°`,
  });
  // By the tip; keys and whoever hears it have the slider.
  dragOn(stage, hand, ([left, top], take) => {
    const [x, y] = geometry.at([0, 0]);
    const to = [left - x, y - top];
    if (Math.hypot(...to) > 4) turn(Math.round(within180(angleOf(from) - angleOf(to))), `turn ${take}`);
  });

  // ---- what is seen

  let geometry = null; // as long as nothing is laid out
  const isNarrow = () => root.dataset.layout === "narrow";
  function layOut() {
    geometry = geometryOf({
      width: stage.clientWidth,
      reach,
      most: isNarrow() ? 52 : 84,
      high: room(),
      sizeOf: (unit) => (isNarrow() || unit < 62 ? 22 : 30),
    });
    sizeTo(geometry, stage, picture, root);
  }

  // How high the plane may be; on a slide as high as with its sentence it fits there.
  function room() {
    const slide = root.closest(".slides .body");
    if (isNarrow()) return innerHeight * 0.34;
    return slide ? slide.clientHeight * 0.62 : innerHeight * 0.46;
  }

  let last = null; // the values that were shown last
  function update() {
    if (!geometry) return;
    answer.replaceChildren(...telling.answer());
    described.textContent = telling.described();
    picture.replaceChildren(...arrowsOf(reading, geometry, reach, engine.panel[keys].columns));
    const [x, y] = geometry.at(reading.query());
    hand.style.transform = `translate(${x - 26}px, ${y - 26}px)`;
    drawBars(bars, reading, isNarrow());
    grip.update();
    if (last && engine.values !== last) view.tell(CLAIM);
    last = engine.values;
  }
  const sliders = element("div", { class: "sliders" }, grip.node);
  const says = element("div", { class: "says" }, element("p", { class: "answer" }, answer), buttons);
  return { nodes: [stage, bars, sliders, says, described], buttons, layOut, update };
}
