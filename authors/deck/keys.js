// A lecturer's keys, and a finger's.

import { original } from "./edit.js";
import { toGuess } from "./guess.js";
import { countHands } from "./hall.js";
import { turnTheme } from "./look.js";
import { goTo, live } from "./page.js";
import { openSheet, vote } from "./phones.js";
import { interrupt, restart } from "./python.js";
import { runAndStay, runUpToHere } from "./run.js";
import { goBack, goOn } from "./slides.js";
import { turnCode } from "./steps.js";

const jump = document.querySelector(".jump");
const help = document.querySelector(".help");
const COMMANDS = {
  c: () => turnCode(),
  "?": () => help.showModal(),
  d: turnTheme,
  g: toGuess,
  h: countHands,
  v: vote,
  V: openSheet,
};
const LIVE = { i: interrupt, r: restart, u: runUpToHere, o: original };
const TYPED_INTO = "input, textarea, select, [contenteditable=true], .attn-board, button, summary";
let number = ""; // of the slide that is jumped to, as far as it was typed

// A dialog's button keeps the focus until the next frame.
const isTypedInto = ({ target }) => !target.closest?.("dialog") && target.closest?.(TYPED_INTO);

export function startKeys() {
  help.querySelector(".close").addEventListener("click", () => help.close());
  window.addEventListener("keydown", onKey, true);
  // reveal.js hears nothing of what is typed, and a finger that drags a number turns no page
  document.body.addEventListener("keydown", (event) => isTypedInto(event) && event.stopPropagation());
  const keepPage = ({ target }) => target.closest?.("input, .cm-editor")?.setAttribute("data-prevent-swipe", "");
  window.addEventListener("pointerdown", keepPage, true);
}

function onKey(event) {
  const open = document.querySelector("dialog[open]");
  if (open) {
    event.stopPropagation(); // Escape closes it, and does nothing else
    if (event.key === "PageDown" || event.key === "PageUp") open.close(); // a clicker has no Escape
    return;
  }
  const action = actionOf(event);
  if (!action) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  action();
}

// What a key does; undefined if it is not the deck's.
function actionOf(event) {
  const { key, target } = event;
  const isHeld = event.ctrlKey || event.metaKey || event.altKey;
  const typedInto = isTypedInto(event);
  const leavingFor = (move) => () => {
    if (typedInto) target.blur();
    move();
  };
  if (key === "PageUp") return leavingFor(goBack);
  if (key === "PageDown") return leavingFor(goOn);
  if (live && isToRun(event)) return () => runAndStay(event.shiftKey);
  if (key === "Escape" && number) return () => jumpTo("");
  if (key === "Escape" && typedInto) return () => target.blur();
  if ((typedInto && !target.closest(".choice")) || isHeld) return undefined; // a choice hears Enter and Space alone
  if (/^\d$/.test(key)) return () => jumpTo(number + key);
  if (key === "Backspace" && number) return () => jumpTo(number.slice(0, -1));
  if (key === "Enter" && number) return arrive;
  if (key === "Enter" && Reveal.isOverview()) return () => Reveal.toggleOverview(false);
  if (Reveal.isOverview() && !"?d".includes(key)) return undefined; // no slide is in sight that a key could be for
  return COMMANDS[key] ?? (live ? LIVE[key] : undefined);
}

function isToRun({ key, shiftKey, ctrlKey, metaKey, target }) {
  return key === "Enter" && (shiftKey || ctrlKey || metaKey) && !target.closest?.(".attn-board, .guess");
}

function jumpTo(text) {
  number = text;
  jump.hidden = !text;
  jump.textContent = `Slide ${text}`;
}

function arrive() {
  const slide = Reveal.getSlides()[Number(number) - 1];
  if (slide) {
    if (Reveal.isOverview()) Reveal.toggleOverview(false);
    goTo(slide);
  }
  jumpTo("");
}
