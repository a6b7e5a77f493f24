// Connectors along the true dependencies, behind the panels and never through one: what a line seems to come out of is
// what the step is computed from. Lines go forwards: one that ran back would cross others, so it is drawn only where a
// step asks for it and stands beneath what it comes from, or beside it with nothing between: so gradients go back.

import { element, newId } from "./elements.js";

/**
 * Where a panel stands: left, right and y, its middle, are its table's; edge and far, top and bottom its title's too; tip
 * is how far from it lines end that come from the left, and word where the word begins that says what its columns are.
 * @typedef {{ left: number, right: number, edge: number, far: number, top: number, bottom: number, y: number, tip: number, word: number }} Box
 */

const LEVEL = 14; // px: tables whose middles are nearer stand at one height
const TIP = 5; // px from the end of a line to its table
const BEFORE = 8; // px from the end of a line to the words beside a table's rows
const BESIDE = 6; // px from the middle: lines from above and from below arrive beside each other
const APART = 20; // px from the middle, where a line leaves to the left: its tip stands where the others come in
const HEAD = 8; // px: a line that turns into a table goes on so far, or its head would point back
const AWAY = 3; // px from a title
const SHORT = 12; // px: a shorter line is a head without an arrow, and goes around where it can
const AROUND = 8; // px from what a line goes around

export function wiresOf(view, flow) {
  const { engine, panels } = view;
  const id = newId("tip");
  const lines = element("svg", { class: "lines", "aria-hidden": "true" });
  const arrowhead = element("path", { d: "M0,0 L8,4 L0,8 Z" });
  const place = { viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" };
  const tip = element("marker", { id, ...place }, arrowhead);
  flow.prepend(lines);

  function origins(name) {
    // the shown panels that a step depends on, through those that are not shown
    const { role, of, wires, resolved } = engine.panel[name];
    const names = wires ?? (role === "choice" ? [of[resolved.chosen]] : of);
    const through = (from) => (engine.panel[from].does ? origins(from) : []);
    return names.flatMap((from) => (panels[from] && !panels[from].node.hidden ? [from] : through(from)));
  }

  function boxes() {
    // of the panels as they stand
    const shown = Object.entries(panels).filter(([, { node }]) => !node.hidden);
    return Object.fromEntries(shown.map(([name, { node }]) => [name, boxOf(node, flow)]));
  }

  return function draw() {
    const all = boxes();
    const drawn = [];
    const leftBehind = new Set(); // what a line leaves to the left
    for (const { name } of engine.steps.filter((step) => all[step.name])) {
      const to = all[name];
      const from = [...new Set(origins(name))].map((of) => all[of]);
      const others = Object.values(all).filter((box) => box !== to && !from.includes(box));
      const straight = from.some((box) => isBefore(box, to) && Math.abs(box.y - to.y) < LEVEL);
      const isBack = (box) => box.left >= to.right;
      const isNext = (box) => box.top < to.bottom && !standingIn(others, to.right, box.left, to.y, to.y).length;
      const mayComeBack = (box) => engine.panel[name].wires && (box.bottom < to.top || isNext(box));
      for (const box of from.filter((one) => !isBack(one) || mayComeBack(one))) {
        drawn.push({ box, to, others: [...others, ...from.filter((other) => other !== box)], straight });
        if (isBack(box) && box.bottom >= to.top) leftBehind.add(box);
      }
    }
    const paths = new Set(
      drawn.map(({ box, to, others, straight }) =>
        wire(box, to, others, straight, leftBehind.has(to) ? APART : BESIDE),
      ),
    );
    const wires = [...paths].map((d) => element("path", { d, class: "wire", "marker-end": `url(#${id})` }));
    lines.replaceChildren(element("defs", {}, tip), ...wires);
    // how far to the left they reach, and the words above rows
    return Math.min(...Object.values(all).map(({ word }) => word), ...wires.map((line) => line.getBBox().x));
  };
}

function boxOf(node, flow) {
  const { left, top, width } = flow.getBoundingClientRect();
  const zoom = width / flow.offsetWidth || 1;
  const whole = node.getBoundingClientRect();
  const table = node.children[1].getBoundingClientRect(); // or what stands for it
  const word = node.querySelector("td.axis > span")?.getBoundingClientRect(); // it may stick out of its table
  return {
    word: ((word?.width ? Math.min(word.left, table.left) : table.left) - left) / zoom,
    left: (table.left - left) / zoom,
    right: (table.right - left) / zoom,
    edge: (whole.left - left) / zoom,
    far: (whole.right - left) / zoom,
    top: (whole.top - top) / zoom,
    bottom: (whole.bottom - top) / zoom,
    y: ((table.top + table.bottom) / 2 - top) / zoom,
    tip: node.querySelector("tbody th") ? BEFORE : TIP,
  };
}

const isBefore = (from, to) => from.right <= to.left + 2;
const standingIn = (boxes, x0, x1, y0, y1) =>
  boxes.filter((box) => box.left < x1 && box.right > x0 && box.top < y1 && box.bottom > y0);

/** From one box to another, around all others; straight: at the height of the middle, as a line beside it does. */
function wire(from, to, others, straight, apart) {
  if (from.left >= to.right) return wireBack(from, to);
  return isBefore(from, to) ? wireAcross(from, to, others, straight, apart) : wireDown(from, to, others, apart);
}

// To the left at one height; or down between both, beside what comes straight down from the middle.
function wireBack(from, to) {
  const middle = (from.left + to.right) / 2;
  const y = Math.abs(from.y - to.y) < LEVEL ? to.y : from.y;
  if (from.bottom >= to.top) return `M${from.left - AWAY},${y} H${middle} V${to.y} H${to.right + TIP}`;
  const x = (to.left + to.right) / 2;
  return `M${from.left + 12},${from.bottom + 1} V${(from.bottom + to.top) / 2} H${x} V${to.top - TIP}`;
}

function wireAcross(from, to, others, straight, apart) {
  const begin = `M${from.right + 1},${from.y}`;
  const into = `H${to.left - to.tip}`;
  const y = straight ? to.y : to.y + (from.y < to.y ? -apart : apart);
  const isFromAbove = from.y < to.y - LEVEL;
  const half = Math.min(10, ((isFromAbove ? to.word : to.left) - from.right) / 2);
  const near = Math.max(...standingIn(others, from.right, to.left, y, y).map((box) => box.right)); // what stands before it
  const isNarrow = near > to.left - half - 8;
  const late = isNarrow ? (near + to.left) / 2 : to.left - half - 8; // in a gap, however narrow
  const aside = from.far + AWAY; // beside its own title, where there is room
  const hasRoom = aside < (isNarrow ? late : to.left - to.tip - HEAD);
  const early = aside > from.right + half && hasRoom ? aside : from.right + half;
  const onTheWay = standingIn(others, early, to.left, y, y);
  const before = standingIn(others, from.right, late, from.y, from.y);
  if (onTheWay.length && before.length) {
    // around what stands between them: beneath it, or above it where that crosses nothing
    const isTop = (box) =>
      !others.some((other) => other.bottom < box.top && other.left < box.right && other.right > box.left);
    const isOver = Math.abs(from.y - to.y) < LEVEL && onTheWay.every(isTop);
    const floor = isOver
      ? Math.min(...onTheWay.map((box) => box.top)) - AROUND
      : Math.max(...onTheWay.map((box) => box.bottom)) + AROUND;
    const room = to.left - Math.max(from.right, near);
    const turn = isOver && to.word < to.left ? to.word - half : to.left - Math.min(to.tip + HEAD, 0.7 * room);
    return `${begin} H${early} V${floor} H${turn} V${y} ${into}`;
  }
  if (Math.abs(from.y - to.y) < LEVEL) return `M${from.right + 1},${y} ${into}`;
  const [top, bottom] = [Math.min(y, from.y), Math.max(y, from.y)]; // a title may reach further than its table
  const beside = others.filter((box) => box.top < bottom && box.bottom > top);
  const titles = beside.filter((box) => box.edge < early && box.far > early);
  const behind = beside.filter((box) => box.edge < late + 2 && box.far > late);
  const turn = onTheWay.length
    ? Math.min(late, ...behind.map((box) => box.edge - AWAY))
    : Math.max(early, ...titles.map((box) => box.far + AWAY));
  return `${begin} H${turn} V${y} ${into}`;
}

function wireDown(from, to, others, apart) {
  const x = Math.max(to.left + 12, Math.min(to.right - 12, (from.left + from.right) / 2));
  const isDown = to.top > from.bottom;
  const tip = Math.min(TIP, Math.abs(isDown ? to.top - from.bottom : from.top - to.bottom) / 4); // it never turns round
  const [start, end] = isDown ? [from.bottom + 1, to.top - tip] : [from.top - 1, to.bottom + tip];
  const between = standingIn(others, x, x, Math.min(start, end), Math.max(start, end));
  const isWayFree = apart === BESIDE; // around it would meet what leaves to the left
  if (!between.length && (Math.abs(end - start) >= SHORT || !isWayFree)) return `M${x},${start} V${end}`;
  const passed = [from, to, ...between];
  const edge = Math.min(...passed.map((box) => Math.min(box.edge - to.tip - HEAD, box.word - AWAY)));
  const lower = ((from.bottom - from.y) / 2) * Math.sign(to.y - from.y); // not where lines come in
  return `M${from.left - AWAY},${from.y + lower} H${edge} V${to.y} H${to.left - to.tip}`;
}
