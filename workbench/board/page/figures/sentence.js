// The figure of a sentence: whom one word listens to, as arcs; what it becomes, as bars; one number to grab.

import { button, element, worded } from "../elements.js";
import { fixed, inParts, range, sameNumber, shortly, signed } from "../numbers.js";
import { gripOf } from "./grip.js";
import { sumOf } from "./sum.js";

const CLAIM = "What one word gains, the others lose.";
const COUNTS = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight"];
const WAIT = 900; // ms until the number moves once by itself, as an invitation
const MOVES = 2400; // ms that it takes
const BY = 0.8; // and how far it goes
const LEGS = 10; // px between the legs of an arc

const percents = (shares) => inParts(shares, 100);
const word = (text, kind = "") => element("i", { class: kind }, text);

export function sentenceOf(view) {
  const { engine, root, figure } = view;
  const [gripped, row] = figure.grip;
  const words = engine.panel[figure.keys].rows;
  const asker = () => engine.number(figure.asker);
  const rowOf = (name, values = view.values) => values[name][asker()];
  const moved = () => !rowOf(figure.outputs).every((x, c) => sameNumber(x, rowOf(figure.outputs, view.start)[c]));

  const lede = element("p", { class: "lede" });
  const picture = element("svg", { class: "scene", "aria-hidden": "true" });
  const becomes = element("svg", { class: "becomes", "aria-hidden": "true" });
  const described = element("p", { class: "unseen" });
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
    spoken: (x) => `${shortly(x)}. ${heard()}`,
  });
  const question = { role: "group", "aria-label": "Who asks" };
  const stage = element("div", { class: "stage" }, picture, element("div", question, ...asks), grip.node);
  const answer = element("span");
  const why = sumOf(view, asker, words);
  const buttons = element("div", { class: "buttons" }, why.button);
  if (figure.link.length) {
    const [said, href] = figure.link;
    buttons.append(element("a", { class: "first", href }, said));
  }
  const says = element("div", { class: "says" }, element("p", { class: "answer" }, answer), buttons);

  function ask(j) {
    view.touched();
    engine.set(figure.asker, engine.control[figure.asker].values[j]);
    view.tell(heard());
  }

  function heard() {
    const shares = percents(rowOf(figure.weights));
    return `${words[asker()]} gives ${words.map((text, j) => `${text} ${shares[j]} percent`).join(", ")}.`;
  }

  // ---- the words that stand there

  function tellLede() {
    const many = `${COUNTS[words.length] ?? words.length} words. `;
    const rest = [" listens to all of them: ", element("b", {}, "the thicker the arc, the more.")];
    lede.replaceChildren(many, word(words[asker()], "query"), ...rest);
    const outputs = rowOf(figure.outputs).map((x) => x.toFixed(2));
    const sentence = `The sentence ${words.join(" ")}.`;
    described.textContent = `${sentence} ${heard()} Its output is ${outputs.join(", ")}.`;
  }

  function tellAnswer() {
    const [shares, before] = [view.values, view.start].map((values) => percents(rowOf(figure.weights, values)));
    const gains = shares.map((share, j) => share - before[j]);
    if (!moved()) {
      answer.replaceChildren(...worded(figure.asks.replaceAll("{asker}", words[asker()])));
    } else if (gains.some(Boolean)) {
      const order = [row, ...range(words.length).reverse()].filter((j, at, all) => all.indexOf(j) === at);
      const gained = order.flatMap((j, at) => [at ? ", " : "", word(words[j]), " ", number(signed(gains[j]))]);
      answer.replaceChildren(...gained, ": together 0. ", element("strong", {}, CLAIM));
    } else {
      const most = shares.indexOf(Math.max(...shares));
      const rest = [" gives ", word(words[most]), ` ${shares[most]} % as before: no share moves by a whole percent.`];
      answer.replaceChildren(word(words[asker()], "query"), ...rest);
    }
  }

  const number = (text) => element("b", { class: "number" }, text);

  // ---- the picture

  let geo = null;

  function layOut() {
    tellLede(); // what these words take is not the picture's
    tellAnswer();
    const width = stage.clientWidth;
    const isWide = root.dataset.layout === "wide";
    const isRoomy = isWide && innerHeight >= 950 && view.isFirst;
    const size = isWide
      ? Math.min(isRoomy ? 120 : 96, width * 0.122, innerHeight * 0.13)
      : Math.min(root.dataset.layout === "beside" ? 46 : 50, width * 0.14);
    const share = isWide ? 28 : 21;
    const under = share + (isWide ? 118 : 106); // the shares, the grip and its label
    const tallest = size * 0.8 + (isRoomy ? 420 : isWide ? 300 : 236);
    const shortest = size * 0.8 + (isWide ? 112 : 84);
    const base = Math.round(Math.max(shortest, Math.min(room() - under, tallest)));
    const thick = isWide ? size * 0.77 : 46;
    const edge = Math.max(width * 0.15, thick * 1.5 + LEGS); // the first word's arc to itself has room, however thick
    const x = words.map(
      (_, j) => edge + ((width - edge - Math.min(width * 0.16, edge)) * j) / Math.max(1, words.length - 1),
    );
    const top = base - size * 0.86;
    geo = { width, isWide, size, share, base, top, x, thick, height: base + under };
    stage.style.height = `${geo.height}px`;
    picture.setAttribute("viewBox", `0 0 ${width} ${geo.height}`);
    root.style.setProperty("--word", `${size}px`);
    root.style.setProperty("--share", `${share}px`);
    placeHands();
  }

  // How high the picture may be, so that on a first screen what it says is seen with it.
  function room() {
    if (!view.isFirst) return Math.min(innerHeight * 0.72, 0.56 * root.clientWidth + 190);
    const top = stage.getBoundingClientRect().top + window.scrollY;
    const below = { wide: 16 + says.offsetHeight + 12, beside: 4, narrow: 130 + says.offsetHeight + 16 };
    return innerHeight - top - below[root.dataset.layout];
  }

  function placeHands() {
    const { width, isWide, size, share, base, x } = geo;
    const wide = isWide ? 190 : Math.min(110, width * 0.3);
    const high = Math.max(50, size);
    asks.forEach((node, j) => {
      node.style.cssText = `left: ${x[j] - wide / 2}px; top: ${base - size * 0.3 - high / 2}px; width: ${wide}px; height: ${high}px`;
    });
    const grabbed = isWide ? Math.min(320, width * 0.6) : width;
    const left = isWide ? Math.min(x[row] - grabbed / 2, width - grabbed + 24) : 0;
    grip.node.style.cssText = `left: ${left}px; top: ${base + share + (isWide ? 40 : 28)}px; width: ${grabbed}px`;
  }

  function draw() {
    const { base, share, x, thick, isWide, size } = geo;
    const weights = rowOf(figure.weights);
    const shares = percents(weights);
    const feet = feetOf(geo, asker(), weights);
    const byWeight = range(words.length).sort((a, b) => weights[b] - weights[a]);
    const strongest = weights[row] > weights[byWeight[0]] - 1e-9 ? row : byWeight[0];
    const arcs = byWeight.map((j) =>
      element("path", {
        class: j === strongest ? "arc strongest" : "arc",
        d: arcOf(geo, asker(), j, weights[j], feet[j]),
        "stroke-width": weights[j] * thick,
        "data-to": words[j],
      }),
    );
    const shown = (j) => `${shares[j] || (weights[j] ? "≈0" : 0)} %`;
    const half = Math.max(16, size * 0.2 * words[asker()].length);
    const line = { x1: x[asker()] - half, x2: x[asker()] + half, y1: base + 12, y2: base + 12 };
    picture.replaceChildren(
      ...arcs,
      element("line", { class: "under", ...line }),
      ...words.map((text, j) =>
        element("text", { class: j === asker() ? "word query" : "word", x: x[j], y: base }, text),
      ),
      ...words.map((_, j) =>
        element("text", { class: "share", x: x[j], y: base + share + (isWide ? 26 : 20) }, shown(j)),
      ),
    );
  }

  function drawOutput() {
    const { isWide, base, share, height } = geo;
    const wide = becomes.clientWidth;
    const high = isWide ? height : root.dataset.layout === "beside" ? 96 : 118;
    const [now, before] = [view.values, view.start].map((values) => rowOf(figure.outputs, values));
    const all = [...now, ...view.start[figure.outputs].flat()];
    const [lowest, highest] = [Math.min(0, ...all), Math.max(1, ...all)];
    const foot = isWide ? base + share + 46 : high - 34;
    const unit = (isWide ? Math.min(300, base * 0.76) : high - 44) / (highest - lowest);
    const zero = foot + lowest * unit;
    const area = isWide ? wide : wide * 0.62; // on a phone the words stand beside the bars
    const bar = Math.min(54, (area / now.length) * 0.76);
    const gap = Math.min(16, bar * 0.3);
    const middle = isWide ? wide / 2 : wide - area / 2;
    const left = (c) => middle + (c - now.length / 2) * (bar + gap) + gap / 2;
    const box = (name, value, c) => {
      const y = zero - Math.max(0, value) * unit;
      return element("rect", {
        class: name,
        x: left(c),
        y,
        width: bar,
        height: Math.max(2, Math.abs(value) * unit),
        rx: 3,
      });
    };
    const label = isWide
      ? { x: middle, y: foot - (highest - lowest) * unit - 24, "text-anchor": "middle" }
      : { x: 0, y: foot };
    const who = element("tspan", { class: "query" }, words[asker()]);
    becomes.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    becomes.style.height = `${high}px`;
    becomes.replaceChildren(
      element("text", { class: "label", ...label }, who, " becomes"),
      ...now.map((value, c) => box("bar", value, c)),
      ...(moved() ? before.map((value, c) => box("ghost", value, c)) : []),
      ...now.map((value, c) =>
        element("text", { class: "output", x: left(c) + bar / 2, y: foot + 26 }, fixed(value, 2)),
      ),
    );
  }

  // ---- an invitation, once: the number goes up and comes back, and stops where a hand comes near

  let inviting = null;
  function invite() {
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!view.isFirst || moved()) return;
    root.classList.add("invites");
    if (isStill) return;
    const began = performance.now() + WAIT;
    const from = view.start[gripped][row][figure.grip[2]];
    const step = (now) => {
      const gone = (now - began) / MOVES;
      const to = from + BY * Math.sin(Math.PI * Math.max(0, gone));
      const pins = gone < 1 ? engine.withPins(gripped, [[row, figure.grip[2], Math.round(to * 10) / 10]]) : null;
      if (moved() && !view.preview) return; // somebody else has changed it
      view.preview = pins && gone > 0 ? engine.valuesOf(pins)[0] : null;
      if (gone > 0) update();
      inviting = gone < 1 ? requestAnimationFrame(step) : null;
    };
    inviting = requestAnimationFrame(step);
  }
  view.touched = () => {
    root.classList.remove("invites");
    if (inviting === null) return;
    cancelAnimationFrame(inviting);
    inviting = null;
    view.preview = null;
    update();
  };

  let last = null; // the values that were told
  function update() {
    if (!geo) return;
    tellLede();
    tellAnswer();
    asks.forEach((node, j) => node.setAttribute("aria-pressed", String(j === asker())));
    draw();
    drawOutput();
    grip.update();
    why.update();
    if (last && !view.preview && engine.values !== last && moved()) view.tell(CLAIM);
    last = engine.values;
  }
  return { nodes: [lede, stage, becomes, says, why.node, described], buttons, layOut, update, invite };
}

// Where arcs stand at the word that asks: side by side, so that together they are as wide whatever the weights are.
// Those to the left come first, the nearest outermost, then its own, then those to the right, the farthest first.
function feetOf({ x, thick, isWide }, asker, weights) {
  const others = range(weights.length);
  const left = others.filter((j) => j < asker).reverse();
  const right = others.filter((j) => j > asker).reverse();
  const order = asker ? [...left, asker, ...right] : [asker, ...right];
  const isInside = asker > 0 && asker < weights.length - 1;
  let at = x[asker] - thick / 2 + (isInside ? spanOf(weights[asker], thick, isWide) / 2 : 0);
  const feet = [];
  for (const j of order) {
    feet[j] = at + (weights[j] * thick) / 2;
    at += weights[j] * thick;
  }
  return feet;
}

const spanOf = (weight, thick, isWide) => (isWide ? 44 : 26) + weight * thick * 1.15; // of the arc of a word to itself

function arcOf({ x, top, thick, isWide, width }, asker, j, weight, foot) {
  const y = top + 2;
  if (j === asker) {
    const side = asker && asker === x.length - 1 ? 1 : -1;
    const half = (weight * thick) / 2;
    const wanted = foot + side * spanOf(weight, thick, isWide);
    const end = Math.min(width - half, Math.max(half, wanted));
    const high = y - (isWide ? 70 : 46) - weight * thick * 1.5;
    return `M${foot} ${y}C${foot} ${high} ${end} ${high} ${end} ${y}`;
  }
  const tallest = (top - thick / 2 - 6) / 0.75; // a curve reaches three quarters of what draws it up
  const far = x.length > 2 ? (Math.abs(asker - j) - 1) / (x.length - 2) : 0;
  const high = y - tallest * (0.62 + 0.38 * far);
  const bend = (x[j] - foot) * 0.06;
  return `M${foot} ${y}C${foot + bend} ${high} ${x[j] - bend} ${high} ${x[j]} ${y}`;
}
