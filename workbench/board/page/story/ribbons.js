// Ribbons from the chosen word to those that it hears, as wide as their shares; they run between other words.

import { element } from "../elements.js";
import { dashesOf } from "./dashes.js";

const DRAWN = { line: 0.15, several: 0.2 }; // a smaller share is no ribbon, where the text has one line or several
const NAMED = 0.3; // from here on the heard word says which head hears it
const WIDTH = { wide: 7, narrow: 6 }; // px of a ribbon with all of a head
const LABEL = 20; // px below a word, where it says so
const TAKEN = 24; // px that a ribbon goes out of its way for a gap of its own
const SAME_LINE = 4; // px that two words of one line may differ in height
const FAR = 1e5; // px, of a word of another line: after all of the same one

export function ribbonsOf(view, sentence, words) {
  const { engine } = view;
  const { node, row } = sentence;
  const svg = element("svg", { class: "ribbons", "aria-hidden": "true" });

  const shownHeads = () => view.shownHeads?.() ?? [...engine.maps.keys()];
  const nameOf = (head) => engine.nameOf?.(head) ?? head;

  // Who is heard: for each head that is not out the places with their shares.
  function heardNow(least) {
    const { place } = engine;
    const { head: alone } = engine.state.settings;
    const among = view.lit ?? (alone < 0 ? null : alone);
    return shownHeads().flatMap((head) =>
      engine.isOut(head) || place === 0 // the first hears nobody but itself
        ? []
        : Array.from(engine.heard(head, place), (share, to) => ({
            head,
            to,
            share,
            isFaint: among !== null && among !== head,
          })).filter(({ share }) => share >= least),
    );
  }

  // All places are asked for before anything is written: each look after a change costs the page a layout.
  function draw() {
    const isNarrow = view.root.classList.contains("narrow");
    const lines = linesOf(words.nodes());
    const heard = heardNow(lines.length > 1 ? DRAWN.several : DRAWN.line);
    const heads = headsBy(heard, nameOf);
    const chosen = words.node(engine.place);
    if (!chosen || chosen.hidden) {
      words.mark(heads);
      svg.replaceChildren();
      return;
    }
    const isSeveral = isNarrow || node.classList.contains("several");
    const thick = (isSeveral ? WIDTH.narrow : WIDTH.wide) * Math.min(1, 4 / shownHeads().length);
    const rise = Number.parseFloat(getComputedStyle(row).rowGap) || 40;
    const from = words.spot(engine.place);
    const spots = new Map(heard.map(({ to }) => [to, words.spot(to)]));
    const ends = heard.map((one) => ({ ...one, ...spots.get(one.to), width: Math.max(2, one.share * thick) }));
    const size = { width: node.clientWidth, height: node.clientHeight };
    words.mark(heads);
    for (const [side, px] of Object.entries(size)) svg.setAttribute(side, px);
    const toItself = (one) => one.to === engine.place;
    const ribbons = sideBySide(ends, from).flatMap((one) => {
      const label = heads.has(one.to) ? LABEL : 0;
      return ribbon(one, wayOf(one, { top: from.top, rise, label, lines, isLoop: toItself(one) }));
    });
    svg.replaceChildren(...ribbons);
  }
  return { node: svg, draw };
}

// Place → the heads that hear its word; those that are faint do not count.
function headsBy(heard, nameOf) {
  const heads = new Map();
  for (const { head, to, share, isFaint } of heard) {
    if (share >= NAMED && !isFaint) heads.set(to, [...(heads.get(to) ?? []), nameOf(head)]);
  }
  return heads;
}

// The lines of words, the lowest first, with the gaps beside and between their words.
function linesOf(nodes) {
  const lines = new Map();
  for (const node of nodes) {
    const { offsetTop: top, offsetLeft: left, offsetWidth: width } = node;
    if (node.hidden) continue;
    if (!lines.has(top)) lines.set(top, { top, bottom: top + node.offsetHeight, edges: [] });
    lines.get(top).edges.push([left, left + width]);
  }
  return [...lines.values()]
    .map(({ top, bottom, edges }) => ({ top, bottom, gaps: gapsBetween(edges) }))
    .sort((one, other) => other.top - one.top);
}

function gapsBetween(edges) {
  const sorted = edges.sort(([one], [other]) => one - other);
  const inner = sorted.slice(1).map(([left], k) => (left + sorted[k][1]) / 2);
  return [sorted[0][0] - 2, ...inner, sorted.at(-1)[1] + 2].map((x) => ({ x, taken: 0 }));
}

// Feet side by side at the chosen word, the nearest first, so that no ribbon crosses another: a is where each begins,
// b where it ends, beside the others that end there.
function sideBySide(ends, from) {
  const widthOf = (some) => some.reduce((sum, { width }) => sum + width, 0);
  const far = ({ x, top }) => (Math.abs(top - from.top) < SAME_LINE ? Math.abs(from.x - x) : FAR + (from.x - x));
  let foot = from.x - widthOf(ends) / 2;
  const reached = new Map();
  return [...ends]
    .sort((one, other) => far(one) - far(other))
    .map((one) => {
      const { to, x, width } = one;
      const a = foot + width / 2;
      foot += width;
      const done = reached.get(to) ?? 0;
      reached.set(to, done + width);
      const aside = widthOf(ends.filter((other) => other.to === to)) / 2 - done - width / 2;
      return { ...one, a, b: x + (x <= from.x ? aside : -aside) };
    });
}

// From the chosen word to the one that is heard, where its arrow points; on the way up between the words of each line.
function wayOf(one, { top, rise, label, lines, isLoop }) {
  const { a, b, width } = one;
  const tip = 5 + width;
  const isUp = Math.abs(one.top - top) >= SAME_LINE;
  const end = isUp ? one.bottom + label : top;
  const last = end + (isUp ? tip : -tip);
  if (isLoop) {
    return { x: a + 26, last, end, d: `M${a} ${top}c0 ${-rise * 0.55} 26 ${-rise * 0.55} 26 ${-tip}` };
  }
  if (!isUp) {
    const h = Math.min(rise - width, 16 + Math.abs(a - b) * 0.34) / 0.75;
    return { x: b, last, end, d: `M${a} ${top}C${a + (b - a) * 0.06} ${top - h} ${b} ${top - h - tip} ${b} ${last}` };
  }
  const between = lines.filter((line) => line.top > one.top + SAME_LINE && line.top < top - SAME_LINE);
  return { x: b, last, end, d: wayUp([a, top], [b, last], between) };
}

// A path that bends into a gap of each line on its way.
function wayUp([a, top], [b, last], lines) {
  let d = `M${a} ${top}`;
  let at = [a, top];
  const rest = (line) => (line.top - last) / (top - last); // how much of the way is left there
  const to = (x, y) => {
    const middle = (at[1] + y) / 2;
    d += `C${at[0]} ${middle} ${x} ${middle} ${x} ${y}`;
    at = [x, y];
  };
  for (const line of lines) {
    const gap = gapFor(line, b + (a - b) * rest(line));
    to(gap, line.bottom);
    d += `L${gap} ${line.top}`;
    at = [gap, line.top];
  }
  to(b, last);
  return d;
}

// The gap of a line that is nearest to x; one that other ribbons go through counts as farther away.
function gapFor({ gaps }, x) {
  const far = (gap) => Math.abs(gap.x - x) + TAKEN * gap.taken;
  const gap = gaps.reduce((one, other) => (far(other) < far(one) ? other : one));
  const aside = [0, 3, -3][gap.taken % 3];
  gap.taken += 1;
  return gap.x + aside;
}

function ribbon({ isFaint, share, width, head }, { d, x, last, end }) {
  const opacity = (isFaint ? 0.12 : 0.45 + 0.4 * share).toFixed(2);
  const wide = 2.5 + width / 2;
  const dashes = dashesOf(head, width);
  return [
    element("path", { d, opacity, "stroke-width": width.toFixed(1), "stroke-dasharray": dashes }),
    element("path", { d: `M${x - wide} ${last}H${x + wide}L${x} ${end}Z`, class: "tip", opacity }),
  ];
}
