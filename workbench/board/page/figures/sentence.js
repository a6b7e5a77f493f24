// The figure of a sentence: whom one word listens to, as arcs; what it becomes, as bars; one number to grab.

import { button, element } from "../elements.js";
import { shortly } from "../numbers.js";
import { gripOf } from "./grip.js";
import { invitationOf } from "./invitation.js";
import { handsAt, layoutOf } from "./sentence_layout.js";
import { arcsOf, drawOutput } from "./sentence_picture.js";
import { readingOf, tellingOf } from "./sentence_telling.js";
import { sumOf } from "./sum.js";

const HIGH = 950; // px of a screen on which the picture may be large

export function sentenceFigure(view) {
  const { engine, root, figure } = view;
  const [gripped, row] = figure.grip;
  const reading = readingOf(view);
  const { words, asker } = reading;
  const telling = tellingOf(view, reading, row);

  const lede = element("p", { class: "lede" });
  const picture = element("svg", { class: "scene", "aria-hidden": "true" });
  const becomes = element("svg", { class: "becomes", "aria-hidden": "true" });
  const described = element("p", { class: "unseen" });
  const answer = element("span");
  const asks = words.map((text, j) => {
    const node = button("", () => ask(j), undefined, text);
    node.className = "asks";
    return node;
  });
  const grip = gripOf(view, {
    at: figure.grip,
    least: figure.least,
    most: figure.most,
    step: figure.step,
    words: ["Drag ", element("em", {}, words[row]), `’s ${engine.panel[gripped].kind}`],
    spoken: (x) => `${shortly(x)}. ${telling.hears()}`,
  });
  const question = { role: "group", "aria-label": "Who asks" };
  const stage = element("div", { class: "stage" }, picture, element("div", question, ...asks), grip.node);
  const why = sumOf(view, asker, words);
  const buttons = element("div", { class: "buttons" }, why.button);
  if (figure.link.length) {
    const [text, href] = figure.link;
    buttons.append(element("a", { class: "first", href }, text));
  }
  const says = element("div", { class: "says" }, element("p", { class: "answer" }, answer), buttons);
  const invitation = invitationOf(view, figure.grip, reading.isMoved, update);
  view.touched = invitation.end;

  function ask(j) {
    view.touched();
    engine.set(figure.asker, engine.control[figure.asker].values[j]);
    view.tell(telling.hears());
  }

  function tell() {
    lede.replaceChildren(...telling.lede());
    described.textContent = telling.described();
    answer.replaceChildren(...telling.answer());
  }

  let layout = null; // as long as nothing is laid out
  function layOut() {
    tell(); // what these words take is not the picture's
    layout = layoutOf({
      width: stage.clientWidth,
      layout: root.dataset.layout,
      room: room(),
      isRoomy: root.dataset.layout === "wide" && innerHeight >= HIGH && view.isFirst,
      count: words.length,
    });
    stage.style.height = `${layout.height}px`;
    picture.setAttribute("viewBox", `0 0 ${layout.width} ${layout.height}`);
    root.style.setProperty("--word", `${layout.size}px`);
    root.style.setProperty("--share", `${layout.share}px`);
    const hands = handsAt(layout, row);
    asks.forEach((node, j) => {
      node.style.cssText = hands.asks[j];
    });
    grip.node.style.cssText = hands.grip;
  }

  // How high the picture may be, so that on a first screen what it says is seen with it.
  function room() {
    if (!view.isFirst) return Math.min(innerHeight * 0.72, 0.56 * root.clientWidth + 190);
    const top = stage.getBoundingClientRect().top + window.scrollY;
    const below = { wide: 16 + says.offsetHeight + 12, beside: 4, narrow: 130 + says.offsetHeight + 16 };
    return innerHeight - top - below[root.dataset.layout];
  }

  let last = null; // the values that were told
  function update() {
    if (!layout) return;
    tell();
    asks.forEach((node, j) => node.setAttribute("aria-pressed", String(j === asker())));
    picture.replaceChildren(...arcsOf(reading, layout, row));
    drawOutput(becomes, reading, layout);
    grip.update();
    why.update();
    if (last && !view.preview && engine.values !== last && reading.isMoved()) view.tell(telling.claim);
    last = engine.values;
  }
  const nodes = [lede, stage, becomes, says, why.node, described];
  return { nodes, buttons, layOut, update, invite: invitation.invite };
}
