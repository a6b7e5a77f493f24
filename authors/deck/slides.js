// Slides by reveal.js: steps, what comes next, and where a page goes on when it is loaded again.

import { all } from "../pages/kit.js";
import { fit } from "./look.js";
import { current, goTo, inside, isAsInTheFile, live, memories, reading, slideOf } from "./page.js";
import { closeBeforeTruth } from "./phones.js";
import { passOn } from "./plan.js";
import { leaveSlide, say } from "./python.js";
import { notes, startSpeaker } from "./speaker.js";
import { showStep } from "./steps.js";

const OPTIONS = {
  width: 1280,
  height: 720,
  margin: 0,
  minScale: 0.1,
  maxScale: 4,
  display: "flex",
  center: false,
  hash: true,
  transition: "none",
  backgroundTransition: "none",
  navigationMode: "linear",
  controls: false,
  slideNumber: false, // it stands at each slide's foot
  defaultTiming: 60,
  help: false,
  keyboard: false, // keys.js has them all
  controlsTutorial: false,
  jumpToSlide: false,
  scrollActivationWidth: null,
};

const LECTURE = 3 * 60 * 60 * 1000; // ms

export function startSlides() {
  startSpeaker();
  const place = memories.place.get(); // the address may lag behind: a reload goes by what was noted at once
  const swipes = { id: "saved", init: (deck) => Object.assign(deck, { next: goOn, prev: goBack }) }; // for its own swipes
  Reveal.initialize({ ...OPTIONS, plugins: [notes, swipes] });
  Reveal.on("ready", () => {
    const isReload = performance.getEntriesByType("navigation")[0]?.type === "reload";
    if (place && !inside && isReload) Reveal.slide(place.h, place.v, place.f);
    else if (live) sayWhereItWas();
    fit(current());
  });
  for (const change of ["slidechanged", "fragmentshown", "fragmenthidden"]) {
    Reveal.on(change, () => {
      if (inside) return;
      memories.place.set(Reveal.getIndices());
      memories.last.set({ number: Number(current().dataset.number), at: Date.now() });
    });
  }
  keepSteps();
  Reveal.on("slidechanged", ({ currentSlide }) => {
    // next leads to a chapter's first slide, not to where one was
    for (const chapter of all("section.stack")) chapter.removeAttribute("data-previous-indexv");
    leaveSlide();
    startTabAt(currentSlide);
    fit(currentSlide);
  });
  for (const change of ["fragmentshown", "fragmenthidden"]) {
    Reveal.on(change, () => {
      leaveSlide(); // what was said of the step before may be untrue now
      fit(current());
    });
  }
}

// A deck that is opened anew begins at its first slide; within a lecture it says where that was.
function sayWhereItWas() {
  const { number, at } = memories.last.get() ?? {};
  const isHere = Number(current().dataset.number) === number;
  if (!isHere && Date.now() - at < LECTURE)
    say(`The lecture was at slide ${number}: ${number}, Enter.`, { stays: "slide" });
}

// reveal.js shows everything of a slide that was jumped over: what waits stays so until somebody shows it on purpose.
function keepSteps() {
  const visible = new Set();
  Reveal.on("fragmentshown", ({ fragments }) => {
    for (const part of fragments) visible.add(part);
  });
  Reveal.on("fragmenthidden", ({ fragments }) => {
    for (const part of fragments) visible.delete(part);
  });
  Reveal.on("slidechanged", () => {
    for (const part of all(".waits.fragment.visible, .blank ~ .fragment.visible")) {
      if (!visible.has(part)) part.classList.remove("visible", "current-fragment");
    }
    showStep(current());
  });
}

function startTabAt(slide) {
  document.activeElement.blur?.();
  if (inside) return;
  slide.tabIndex = -1;
  slide.focus({ preventScroll: true });
  slide.blur();
}

// For a lecturer with a clicker, next shows what is not run as it was saved, unless the code is another by now.
export const goOn = () => showSaved() || closeBeforeTruth() || passOn(1, Reveal.next);
export const goBack = () => passOn(-1, Reveal.prev);

function showSaved() {
  if (!live || Reveal.isOverview()) return false;
  const isDue = (cell) => cell.matches(".visible, :not(.fragment)") && isAsInTheFile(cell);
  const inSight = all(".to-come:not(:empty)", current()).filter((output) => output.checkVisibility()); // the drawer is open
  const due = inSight.filter((output) => isDue(output.parentElement));
  for (const output of due) output.classList.remove("to-come");
  return due.length > 0;
}

// A sentence that made a board ready leads to it.
export function followBoards() {
  document.addEventListener("prepared", ({ target }) => {
    if (reading) target.scrollIntoView();
    else goTo(slideOf(target));
  });
}
