// Every key of the deck, in one table: the help shows it, the hall's window obeys it, and the speaker's window, with its
// two copies of the page, sends here what is pressed there.

import { all, make } from "../pages/kit.js";
import { original } from "./edit.js";
import { toGuess } from "./guess.js";
import { countHands } from "./hall.js";
import { turnTheme } from "./look.js";
import { current, goTo, inside, live } from "./page.js";
import { blackOrVote, openSheet, vote } from "./phones.js";
import { interrupt, restart, say } from "./python.js";
import { runAndStay, runUpToHere } from "./run.js";
import { goBack, goOn } from "./slides.js";
import { openSpeaker } from "./speaker.js";
import { turnCode } from "./steps.js";

const jump = document.querySelector(".jump");
const help = document.querySelector(".help");
const SENT = "deck-key"; // from the speaker's window: what was pressed there, or where it was clicked
let number = ""; // of the slide to go to, as far as it was typed

// keys: as nameOf says them. anywhere: in the overview too; live: where there is a Python.
const KEYS = [
  {
    keys: ["ArrowRight", "ArrowDown", " ", "PageDown"],
    label: "→ ↓ Space PageDown",
    says: "next slide of the plan, once what lies over this one is away",
    does: onwards,
  },
  {
    keys: ["ArrowLeft", "ArrowUp", "Shift+ ", "PageUp"],
    label: "← ↑ PageUp",
    says: "back; the Page keys lead out of fields and code too",
    does: backwards,
  },
  {
    keys: [..."0123456789"],
    label: "a number, Enter",
    says: "jump to that slide, also to one that the plan passes",
    does: addDigit,
    anywhere: true,
  },
  { keys: ["Backspace"], does: () => number && showNumber(number.slice(0, -1)), anywhere: true },
  { keys: ["Enter"], does: arrive, anywhere: true },
  { keys: ["Home"], does: () => goTo(Reveal.getSlides()[0]) },
  { keys: ["End"], does: () => goTo(Reveal.getSlides().at(-1)) },
  {
    keys: ["Escape"],
    label: "Escape",
    says: "out of a board, a guess, a line or a cell; then the overview",
    does: () => (number ? showNumber("") : Reveal.toggleOverview()),
    anywhere: true,
  },
  {
    keys: ["b", "."],
    label: "b or .",
    says: "black screen, and back; with --hall, on a question: v",
    does: blackOrVote,
  },
  {
    keys: ["Shift+Enter"],
    label: "Shift+Enter",
    says: "run the next cell and stay until its output was seen; then go on",
    does: () => runAndStay(true),
    live,
  },
  { keys: ["Ctrl+Enter"], label: "Ctrl+Enter", says: "run the cell and stay", does: () => runAndStay(false), live },
  { keys: ["g"], label: "g", says: "to the guess, or to the line that the hall dictates", does: toGuess },
  { keys: ["h"], label: "h", says: "count the hall's hands: bars of what was answered, and back", does: countHands },
  {
    keys: ["v"],
    label: "v",
    says: "phones vote: open, close, and a second time; → brings the bars. With --hall; off a question, and with Shift, the code",
    does: vote,
  },
  { keys: ["V"], does: openSheet },
  { keys: ["c"], label: "c", says: "the slide's code, and away again", does: () => turnCode() },
  { keys: ["u"], label: "u", says: "run all cells up to here", does: runUpToHere, live },
  { keys: ["i"], label: "i", says: "interrupt Python", does: interrupt, live },
  { keys: ["r"], label: "r", says: "restart Python; what was typed stays", does: restart, live },
  {
    keys: ["o"],
    label: "o",
    says: "this slide's code as in the file, and back to what was typed",
    does: original,
    live,
  },
  { keys: ["d"], label: "d", says: "dark, light", does: turnTheme, anywhere: true },
  { keys: ["s"], label: "s", says: "speaker view in a second window", does: openSpeaker, anywhere: true },
  { keys: ["f"], label: "f", says: "full screen", does: fillScreen, anywhere: true },
  { keys: ["?"], label: "?", says: "these keys", does: () => help.showModal(), anywhere: true },
];
const ON_AND_BACK = ["PageDown", "PageUp", "ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp"]; // they also close what lies over the slide
const OVERVIEW = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };

export function startKeys() {
  window.addEventListener("pointerdown", onPointer, true);
  for (const end of ["pointerup", "pointercancel"]) {
    window.addEventListener(end, () => setTimeout(() => (isPointing = false)), true);
  }
  window.addEventListener("focusin", () => (isPointed &&= isPointing), true);
  if (inside) return sendAll();
  const rows = KEYS.filter(({ label }) => label).map(({ label, says }) =>
    make("tr", {}, make("th", { scope: "row", textContent: label }), make("td", { textContent: says })),
  );
  help.querySelector("table").append(...rows);
  help.querySelector(".close").addEventListener("click", () => help.close());
  window.addEventListener("keydown", onKey, true);
  window.addEventListener("message", receive);
}

// ---------------------------------------------------------------------------------------------- whose a key is

// What was clicked has the focus, and no key: nobody types into it. Who came there by Tab uses it by its keys.
let isPointed = false;
let isPointing = false;

function onPointer({ target }) {
  isPointed = isPointing = true;
  // a finger that drags a number turns no page
  target.closest?.("input, textarea, .cm-editor")?.setAttribute("data-prevent-swipe", "");
}

const FIELD = "input, textarea, select, [contenteditable=true]";
const WORDS = ".story .words"; // which are typed over
const BOARD = ".attn-board, .attn-figure";
const BUTTON = "button, summary, a";

// Whether an element keeps a key that the deck has a use for, as nameOf says it.
function keeps(target, name) {
  const isIn = (parts) => Boolean(target.closest?.(parts));
  if (name.startsWith("Page")) return false;
  if (/^(Shift|Ctrl)\+Enter$/.test(name)) return isIn(".guess") || (isIn(BOARD) && (isIn(FIELD) || !isPointed));
  if (isIn(FIELD)) return true;
  if (isIn(WORDS) && name.length === 1 && name !== " ") return true;
  if (isPointed) return false;
  return isIn(BOARD) || (isIn(BUTTON) && (name === " " || (name === "Enter" && !number)));
}

// "ArrowRight", "h", "V", "Shift+Enter"; "" with another key held, which is the browser's.
function nameOf({ key, shiftKey, ctrlKey, metaKey, altKey }) {
  const isEnter = key === "Enter";
  if (altKey || ((ctrlKey || metaKey) && !isEnter)) return "";
  if (isEnter) return shiftKey ? "Shift+Enter" : ctrlKey || metaKey ? "Ctrl+Enter" : key;
  if (key === " " && shiftKey) return "Shift+ ";
  if (key === "V" && !shiftKey) return "v"; // Caps Lock
  return /^[A-Z]$/.test(key) && key !== "V" ? key.toLowerCase() : key;
}

function onKey(event) {
  const open = document.querySelector("dialog[open]");
  const name = nameOf(event);
  if (open) return inDialog(event, open, name);
  const { target } = event;
  const does = actionOf(target, name);
  if (!does) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const runsCode = name.endsWith("+Enter"); // of the cell with the focus, in which a hand may go on typing
  if (target !== document.body && !runsCode) target.blur?.();
  does(name);
}

// What a key does; undefined if it is not the deck's.
function actionOf(target, name) {
  const isOnSlide = target.closest?.(`${FIELD}, ${BOARD}, ${BUTTON}`);
  if (name === "Escape" && !number && isOnSlide) return () => {}; // out of it
  if (keeps(target, name)) return undefined;
  if (name === "Enter" && !number && !Reveal.isOverview()) return undefined;
  const key = KEYS.find(({ keys }) => keys.includes(name));
  if (!key || key.live === false) return undefined;
  if (!Reveal.isOverview() || key.anywhere) return key.does;
  if (OVERVIEW[name]) return () => Reveal[OVERVIEW[name]]();
  return key.does === onwards || key.does === backwards ? key.does : () => {}; // no slide is in sight that it could be for
}

// Escape closes it, and so does whatever leads on or back: a clicker has no Escape.
function inDialog(event, dialog, name) {
  event.stopPropagation();
  if (!ON_AND_BACK.includes(name) && (event.isTrusted || name !== "Escape")) return;
  event.preventDefault();
  dialog.close();
}

// -------------------------------------------------------------------------------------------- what the keys do

// Takes away what lies over the slide; says whether that was the black screen.
function takeAway() {
  showNumber("");
  const isBlack = Reveal.isPaused();
  if (isBlack) Reveal.togglePause(false);
  return isBlack;
}

function onwards(name) {
  if (takeAway()) return;
  if (name === " " && Reveal.isOverview()) Reveal.toggleOverview(false);
  goOn();
}

function backwards() {
  if (!takeAway()) goBack();
}

function addDigit(digit) {
  showNumber(number + digit);
}

// The number that is typed so far, in a corner of the slide; "" takes it away.
function showNumber(text) {
  number = text;
  jump.hidden = !text;
  jump.textContent = `Slide ${text}`;
}

function arrive() {
  const slide = number ? Reveal.getSlides()[Number(number) - 1] : current();
  if (slide) {
    if (Reveal.isOverview()) Reveal.toggleOverview(false);
    if (number) goTo(slide);
  }
  showNumber("");
}

function fillScreen() {
  if (document.fullscreenElement) return document.exitFullscreen();
  const sayHow = () => say("Full screen: press f in this window, as the browser asks.", { stays: "slide" });
  return document.documentElement.requestFullscreen().catch(sayHow);
}

// ------------------------------------------------------------------------------- from the speaker's window

// A copy of the page does nothing by itself: what is pressed and clicked there is the hall's, whose window opened its own.
function sendAll() {
  const send = (what) => window.parent.opener?.postMessage(JSON.stringify({ namespace: SENT, ...what }), "*");
  document.querySelector("main").inert = true;
  window.addEventListener("click", ({ clientX, clientY }) => {
    const { left, top, width, height } = slidesBox();
    send({ at: [(clientX - left) / width, (clientY - top) / height] });
  });
  window.addEventListener("keydown", (event) => {
    const { key, shiftKey, ctrlKey, metaKey } = event;
    if (!nameOf(event) || /^F\d/.test(key)) return;
    event.preventDefault();
    send({ key, shiftKey, ctrlKey, metaKey });
  });
}

const slidesBox = () => document.querySelector(".slides").getBoundingClientRect();

function receive({ data, source }) {
  if (typeof data !== "string" || !data.includes(SENT)) return;
  const { namespace, at, ...pressed } = JSON.parse(data);
  const isOurs = source?.opener === window || source?.parent?.opener === window;
  if (namespace !== SENT || !isOurs) return;
  if (at) click(at);
  else press(pressed);
}

function click([x, y]) {
  const { left, top, width, height } = slidesBox();
  const target = document.elementFromPoint(left + x * width, top + y * height);
  const focusable = target?.closest(`${FIELD}, ${BUTTON}, [tabindex]`);
  onPointer({ target });
  focusable?.focus();
  isPointing = false;
  target?.click();
}

function press(pressed) {
  const target = document.activeElement ?? document.body;
  const event = new KeyboardEvent("keydown", { ...pressed, bubbles: true, cancelable: true });
  if (target.dispatchEvent(event)) type(target, event);
}

// What a browser does by itself with a key that a hand presses: letters come in a field, Enter presses a button.
function type(target, { key, shiftKey }) {
  if (key === "Tab") return toNextField(target, shiftKey ? -1 : 1);
  const isField = target.matches(FIELD);
  if (isField && key.length === 1) document.execCommand("insertText", false, key);
  else if (target.matches("textarea") && key === "Enter") document.execCommand("insertText", false, "\n");
  else if (isField && key === "Backspace") document.execCommand("delete");
  else if (key !== "Enter" && key !== " ") return;
  else if (target.matches(BUTTON)) target.click();
  else target.form?.querySelector("button:not([type=button])")?.click();
}

function toNextField(target, by) {
  const fields = all(FIELD, current()).filter((field) => field.checkVisibility());
  const here = fields.indexOf(target);
  const next = here < 0 && by < 0 ? fields.at(-1) : fields.at((here + by) % fields.length);
  next?.focus();
  next?.select?.();
}
