// How large a slide's contents are, and whether it is dark.

import { memories, reading, root } from "./page.js";

const SIZES = [1.25, 1.12, 1, 0.94, 0.88, 0.82, 0.76];
const BOARD = [26, 24, 22, 20, 18]; // px of a board's type
const ROWS = [44, 40, 37, 34, 31, 29, 27, 25, 23, 21, 20]; // and of its rows
const DRAWER = [24, 22, 20, 18]; // px of code in its drawer
const NOTES = [30, 28, 26, 24, 22, 21, 20, 19]; // px of what is below a slide on paper
const MARGIN = 6; // px of a drawing above and below all that is drawn, where room is short
const WIDTH = 1110; // px for a line of code, of which a letter takes 12.1

// As large as there is room for, code and what it prints no larger than the longest line allows, words no larger than
// the numbers of a table, and smaller where a long error or a large plot needs it; beyond that a slide scrolls.
export function fit(slide) {
  const body = slide?.querySelector(".body");
  if (!body || reading) return;
  fitBody(slide, body);
  keepRoom(slide, body);
}

// What stands at a slide's foot may be a line of several rows, and grow: the picture ends above it.
function makeRoom(slide, body) {
  const picture = slide.querySelector(":scope > .picture");
  if (!picture?.getClientRects().length || slide.matches(".codes, .boarded, .plotted")) return;
  const drawing = picture.querySelector("svg");
  picture.style.maxHeight = "";
  if (drawing?.dataset.whole) drawing.setAttribute("viewBox", drawing.dataset.whole);
  if (!body.offsetHeight) return;
  const [top, end] = [picture, body].map((part) => part.getBoundingClientRect().top);
  const room = Math.floor((end - top) / Reveal.getScale());
  if (room < picture.offsetHeight && drawing) leaveBlankOut(drawing);
  picture.style.maxHeight = `${room}px`;
}

// Of a drawing, what is above and below all that is drawn.
function leaveBlankOut(drawing) {
  drawing.dataset.whole ??= drawing.getAttribute("viewBox");
  const [left, , width] = drawing.dataset.whole.split(" ");
  const { y, height } = drawing.getBBox();
  drawing.setAttribute("viewBox", [left, y - MARGIN, width, height + 2 * MARGIN].join(" "));
}

const feet = new WeakSet(); // that are watched
function keepRoom(slide, body) {
  makeRoom(slide, body);
  if (feet.has(body)) return;
  feet.add(body);
  new ResizeObserver(() => makeRoom(slide, body)).observe(body);
}

function fitBody(slide, body) {
  body.style.overflowY = "";
  if (slide.matches(".codes")) return fitType(body, "--drawer", DRAWER);
  if (slide.matches(".boarded")) {
    if (watched.has(body) && body.scrollHeight <= body.clientHeight + 1) return; // at rest
    fitBoard(body);
    const frame = () => new Promise(requestAnimationFrame);
    frame()
      .then(frame)
      .then(() => fitBoard(body)); // it lays itself out when it is seen
    keepBoardFit(body);
    return;
  }
  const words = body.querySelector(".outputs table:not(.attn-board *)") ? [25, 24, 23, 22, 21, 20] : [25];
  const unbroken = WIDTH / (12.1 * slide.dataset.longest);
  for (const size of SIZES.slice(slide.matches(".counted, .coded, .pictured.asks") ? SIZES.indexOf(1) : 0)) {
    const code = Math.max(0.9, Math.min(size, unbroken)); // which still can be read from the last row
    const printed = Math.min(size, Math.max(1, unbroken));
    if (printed < size && body.querySelector(".cell img")) continue; // larger words would leave the picture less room
    body.style.zoom = size;
    body.style.setProperty("--size", size);
    body.style.setProperty("--code-size", code / size);
    body.style.setProperty("--printed-size", printed / size);
    for (const px of words) {
      body.style.setProperty("--words", `${px}px`);
      if (body.scrollHeight <= body.clientHeight + 1 && body.scrollWidth <= body.clientWidth + 1) return;
    }
  }
  body.style.overflowY = "auto";
}

// A board that grows later gets smaller type, never larger: so it comes to rest.
const watched = new WeakSet();
function keepBoardFit(body) {
  if (watched.has(body)) return;
  watched.add(body);
  const shrink = () => {
    const next = BOARD.indexOf(Number.parseInt(body.style.getPropertyValue("--board"), 10)) + 1;
    if (body.scrollHeight > body.clientHeight + 1 && next < BOARD.length) fitBoard(body, next);
  };
  for (const board of body.querySelectorAll(".attn-board")) new ResizeObserver(shrink).observe(board);
}

// Its type as large as there is room for, and then its rows.
function fitBoard(body, from = 0) {
  body.style.overflowY = "";
  const fits = (row) => {
    body.style.setProperty("--row", `${row}px`);
    return body.scrollHeight <= body.clientHeight + 1 && body.scrollWidth <= body.clientWidth + 1;
  };
  for (const isShort of [false, true]) {
    body.classList.toggle("short", isShort); // at last without what a board of words may leave out
    for (const px of isShort ? BOARD.slice(-1) : BOARD.slice(from)) {
      body.style.setProperty("--board", `${px}px`);
      const rows = ROWS.filter((high) => high >= 1.1 * px || px === BOARD.at(-1));
      const row = rows[firstFitting(rows, fits)];
      if (row && fits(row)) return;
    }
  }
  body.style.overflowY = "auto";
}

// The place of the first size that fits, where each is smaller than the one before; a look at a large board or at notes
// takes long, and what fits at one size fits at smaller ones, so a few looks find it. -1 where none does.
function firstFitting(sizes, fits) {
  if (fits(sizes[0])) return 0;
  if (!fits(sizes.at(-1))) return -1;
  let [tooLarge, fitting] = [0, sizes.length - 1];
  while (fitting - tooLarge > 1) {
    const between = (tooLarge + fitting) >> 1;
    if (fits(sizes[between])) fitting = between;
    else tooLarge = between;
  }
  return fitting;
}

// The largest of these sizes at which all of it is seen.
function fitType(body, name, sizes) {
  for (const px of sizes) {
    body.style.setProperty(name, `${px}px`);
    if (body.scrollHeight <= body.clientHeight + 1) return;
  }
  body.style.overflowY = "auto";
}

// What stands below a slide on paper, in two columns, as large as its page has room for, and a little to spare: a
// browser may bring a face only when it prints.
export function fitNotes(notes) {
  const put = (px) => notes.style.setProperty("--notes", `${px}px`);
  const first = firstFitting(NOTES, (px) => {
    put(px);
    return notes.scrollWidth <= notes.clientWidth + 1 && notes.scrollHeight <= notes.clientHeight + 1;
  });
  put((first >= 0 && NOTES[first + 1]) || NOTES.at(-1));
}

export const isDark = () => root.classList.contains("dark");
export const setDark = (dark) => root.classList.toggle("dark", dark);
export const startTheme = () => setDark(memories.theme.get() ?? matchMedia("(prefers-color-scheme: dark)").matches);

export function turnTheme() {
  setDark(!isDark());
  memories.theme.set(isDark());
}
