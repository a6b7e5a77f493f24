// The speaker's clock, which reveal.js counts from when its window was opened: here from when the lecture began, so
// that a window that is opened late, or closed and opened again, has the lecture's time.

import { current, memories, settings } from "./page.js";
import { planOf } from "./plan.js";

const TITLE = 0; // the slide that stands before the lecture begins
export const CLICKED = "clock-clicked";
const LECTURE = 3 * 60 * 60 * 1000; // ms after which another one is given

export const isAtTitle = (slide) => Reveal.getSlides().indexOf(slide) === TITLE;

export const startClock = () => Reveal.on("slidechanged", begin);

// When the lecture began, in ms, and whether a click on the clock said so; {} for one that was given before.
function beginning() {
  const { at, clicked, lecture } = memories.begun.get() ?? {};
  return lecture === settings.server?.began && Date.now() - at < LECTURE ? { at, clicked } : {};
}

const keep = (at, clicked) => memories.begun.set({ at, clicked, lecture: settings.server?.began });

// Without a click a lecture begins on time, with the slide that follows the title.
function begin({ previousSlide }) {
  const { at, clicked } = beginning();
  if (isAtTitle(current()) || clicked || (at && !isAtTitle(previousSlide))) return;
  const slides = Reveal.getSlides();
  const before = slides.slice(0, slides.indexOf(current()));
  keep(Date.now() - 1000 * before.reduce((sum, slide) => sum + planOf(slide).seconds, 0), false);
}

// In a speaker's window that has come. A click sets its clock to the time that the slide is planned for, and tells it.
export function setClock(view) {
  const clock = view.querySelector(".speaker-controls-time");
  clock.addEventListener("reset", ({ detail }) => {
    keep(detail, true);
    window.dispatchEvent(new Event(CLICKED));
  });
  const { at } = beginning();
  if (at) clock.dispatchEvent(new CustomEvent("began", { detail: at }));
}
