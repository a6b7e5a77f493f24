// The picture of a sentence: an arc from the word that asks to each word, as thick as its share; and its output as bars.

import { element } from "../elements.js";
import { fixed, range } from "../numbers.js";
import { arcOf, feetOf } from "./sentence_layout.js";

/** Arcs, words and shares. row: of the word whose number is grabbed, whose arc is drawn as the strongest where it is. */
export function arcsOf({ words, asker, weights, percents }, layout, row) {
  const { base, share, x, thick, isWide, size } = layout;
  const shares = percents();
  const given = weights();
  const feet = feetOf(layout, asker(), given);
  const byWeight = range(words.length).sort((a, b) => given[b] - given[a]);
  const strongest = given[row] > given[byWeight[0]] - 1e-9 ? row : byWeight[0];
  const arcs = byWeight.map((j) =>
    element("path", {
      class: j === strongest ? "arc strongest" : "arc",
      d: arcOf(layout, asker(), j, given[j], feet[j]),
      "stroke-width": given[j] * thick,
      "data-to": words[j],
    }),
  );
  const percent = (j) => `${shares[j] || (given[j] ? "≈0" : 0)} %`;
  const half = Math.max(16, size * 0.2 * words[asker()].length);
  const line = { x1: x[asker()] - half, x2: x[asker()] + half, y1: base + 12, y2: base + 12 };
  return [
    ...arcs,
    element("line", { class: "under", ...line }),
    ...words.map((text, j) =>
      element("text", { class: j === asker() ? "word query" : "word", x: x[j], y: base }, text),
    ),
    ...words.map((_, j) =>
      element("text", { class: "share", x: x[j], y: base + share + (isWide ? 26 : 20) }, percent(j)),
    ),
  ];
}

/** Draws what the word that asks becomes, and behind it, once it has moved, what it became at the start. */
export function drawOutput(svg, { words, asker, outputs, outputsAtStart, isMoved }, layout) {
  const { isWide, base, share, height, isBeside } = layout;
  const wide = svg.clientWidth;
  const high = isWide ? height : isBeside ? 96 : 118;
  const now = outputs();
  const all = [...now, ...outputsAtStart().flat()];
  const [lowest, highest] = [Math.min(0, ...all), Math.max(1, ...all)];
  const foot = isWide ? base + share + 46 : high - 34;
  const unit = (isWide ? Math.min(300, base * 0.76) : high - 44) / (highest - lowest);
  const zero = foot + lowest * unit;
  const area = isWide ? wide : wide * 0.62; // on a phone the words stand beside the bars
  const bar = Math.min(54, (area / now.length) * 0.76);
  const gap = Math.min(16, bar * 0.3);
  const middle = isWide ? wide / 2 : wide - area / 2;
  const left = (c) => middle + (c - now.length / 2) * (bar + gap) + gap / 2;
  const box = (kind, value, c) => {
    const [y, tall] = [zero - Math.max(0, value) * unit, Math.max(2, Math.abs(value) * unit)];
    return element("rect", { class: kind, x: left(c), y, width: bar, height: tall, rx: 3 });
  };
  const label = isWide
    ? { x: middle, y: foot - (highest - lowest) * unit - 24, "text-anchor": "middle" }
    : { x: 0, y: foot };
  const who = element("tspan", { class: "query" }, words[asker()]);
  svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  svg.style.height = `${high}px`;
  svg.replaceChildren(
    element("text", { class: "label", ...label }, who, " becomes"),
    ...now.map((value, c) => box("bar", value, c)),
    ...(isMoved() ? outputsAtStart()[asker()].map((value, c) => box("ghost", value, c)) : []),
    ...now.map((value, c) => element("text", { class: "output", x: left(c) + bar / 2, y: foot + 26 }, fixed(value, 2))),
  );
}
