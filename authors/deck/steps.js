// The steps of a slide: its picture, and its question as heading until the last of them brings what is claimed.
// What a step shows comes into the page with it, and goes with it.

import { all, make } from "../pages/kit.js";
import { nameSlips } from "./hall.js";
import { holdOrGive } from "./held.js";
import { fit } from "./look.js";
import { current, reading, storeOf } from "./page.js";
import { notesOf } from "./plan.js";

const stepsOf = (slide) => all(".step", slide);
const shownOf = (slide) => stepsOf(slide).filter((step) => step.classList.contains("visible")).length;

export function startSteps() {
  for (const change of ["fragmentshown", "fragmenthidden", "slidechanged", "ready"]) {
    Reveal.on(change, () => showStep(current()));
  }
  document.addEventListener("click", ({ target }) => target.closest(".to-code") && turnCode());
}

// The step that the slide has come to, or the one that is asked for.
export function showStep(slide, step = shownOf(slide)) {
  if (!slide) return;
  const { ask, claim, narrow, right, pictures: wide } = storeOf(slide);
  const pictures = reading && narrow.length ? narrow : wide;
  const last = step === stepsOf(slide).length;
  const heading = slide.querySelector(".heading");
  heading.innerHTML = last && claim ? claim : ask;
  heading.classList.toggle("ask", !(last && claim));
  const picture = slide.querySelector(":scope > .picture");
  if (picture && picture.dataset.step !== String(step)) {
    picture.classList.toggle("narrow", pictures === narrow);
    picture.innerHTML = pictures[Math.min(step, pictures.length - 1)];
    picture.dataset.step = step;
  }
  for (const [i, dot] of all(".dots i", slide).entries()) dot.classList.toggle("on", i <= step);
  for (const [i, choice] of all(".choice", slide).entries()) choice.classList.toggle("right", last && i === right);
  slide.dataset.step = step;
  slide.classList.toggle("answered", last);
  if (last) slide.querySelector(".counting")?.classList.remove("counting"); // names come in the fields' place
  nameSlips(slide);
  holdOrGive(slide);
  showOnBoard(slide, last);
}

// The board as the claim speaks of it; back from there as it was, unless a hand has been at it since.
const before = new WeakMap();
function showOnBoard(slide, isClaimed) {
  const { board } = storeOf(slide);
  const place = board && slide.querySelector(".saved-board");
  if (!place?.model || isClaimed === before.has(place)) return;
  const point = (detail) => place.querySelector(".attn-board")?.dispatchEvent(new CustomEvent("pointed", { detail }));
  const isThere = () => ["inputs", "settings"].every((part) => sameJson(place.now()[part], board[part]));
  if (isClaimed) {
    before.set(place, place.now());
    place.put(board);
    point(board.mark);
    fit(slide); // a task that is done asks why, and a long text takes more lines
    return;
  }
  point(null);
  if (isThere()) place.put(before.get(place));
  before.delete(place);
}

const sameJson = (one, other) => JSON.stringify(one) === JSON.stringify(other);

// As far as it goes: on a page to scroll and on paper.
export const showLast = (slide) => showStep(slide, stepsOf(slide).length);

export function turnCode(slide = current(), open = !slide.matches(".codes")) {
  const button = slide.querySelector(".to-code");
  if (!button) return;
  slide.classList.toggle("codes", open);
  button.setAttribute("aria-expanded", open);
  fit(slide);
}

// The speaker's notes have the answers: they are in the page from when somebody speaks from them.
export function withNotes() {
  for (const slide of all("section[data-cell]")) {
    const notes = slide.querySelector("aside.notes") ?? slide.appendChild(make("aside", { className: "notes" }));
    notes.innerHTML ||= notesOf(slide);
  }
}
