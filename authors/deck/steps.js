// The steps of a slide: its picture, and its question as heading until the last of them brings what is claimed.
// What a step shows comes into the page with it, and goes with it.

import { all, make } from "../pages/kit.js";
import { nameSlips } from "./hall.js";
import { holdOrGive } from "./held.js";
import { fit } from "./look.js";
import { current, inside, reading, storeOf } from "./page.js";
import { notesOf } from "./plan.js";

const stepsOf = (slide) => all(".step", slide);
const shownOf = (slide) => stepsOf(slide).filter((step) => step.classList.contains("visible")).length;

export function startSteps() {
  for (const change of ["fragmentshown", "fragmenthidden", "slidechanged", "ready"]) {
    Reveal.on(change, () => showStep(current()));
  }
  document.addEventListener("click", ({ target }) => target.closest(".to-code") && turnCode());
  for (const event of ["keydown", "message"]) window.addEventListener(event, speakFrom, true);
}

// The step that the slide has come to, or the one that is asked for.
export function showStep(slide, step = shownOf(slide)) {
  if (!slide?.matches(".drawn")) {
    if (slide) holdOrGive(slide);
    return;
  }
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
}

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
function speakFrom({ key, type, data }) {
  const asks = type === "message" ? String(data).includes("reveal-notes") : key === "s" || key === "S";
  if (asks && !inside && !reading) withNotes();
}

export function withNotes() {
  for (const slide of all("section[data-cell]")) {
    const notes = slide.querySelector("aside.notes") ?? slide.appendChild(make("aside", { className: "notes" }));
    notes.innerHTML ||= notesOf(slide);
  }
}
