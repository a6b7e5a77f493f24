// The plan that the lecture follows: how long each slide takes, what next passes, and where the lecturer chooses it.

import { all, make } from "../pages/kit.js";
import { current, goTo, inside, memories, reading, settings, storeOf } from "./page.js";

let menu = null; // in the speaker's window, where there is one
const SHORT = Object.keys(settings.plans)[0];

// What was chosen holds for the lecture that was begun with it; the command says with which it begins.
export function planName() {
  const { name, began } = memories.plan.get() ?? {};
  return began === settings.server?.began && name in settings.plans ? name : (settings.server?.plan ?? SHORT);
}

export const planOf = (slide) => storeOf(slide).plans[planName()];
export const notesOf = (slide) => `<p>${planOf(slide).note}</p>${storeOf(slide).notes}`;

export function startPlan() {
  if (reading) return;
  followPlan();
  window.addEventListener("storage", ({ key }) => key === memories.plan.name && followPlan());
}

// reveal.js' clock reads the seconds off the slides.
function followPlan() {
  for (const slide of all("section[data-cell]")) slide.dataset.timing = planOf(slide).seconds;
  renewNotes();
  if (menu) menu.value = planName();
}

// They say other minutes now, and the speaker's window hears it as it hears of a slide.
function renewNotes() {
  for (const notes of all("aside.notes")) notes.innerHTML = notesOf(notes.parentElement);
  if (!inside && Reveal.isReady()) Reveal.dispatchEvent({ type: "resumed" });
}

// In a speaker's window that has come. The deck's own window puts it there: in a file's, no copy reaches what is around it.
export function offerPlans(view) {
  const time = view.querySelector(".speaker-controls-time");
  const options = Object.entries(settings.plans).map(([value, label]) => make("option", { value, textContent: label }));
  menu = make("select", { onchange: choose }, ...options);
  menu.value = planName();
  const own = (event) => event.stopPropagation(); // a click beside it sets the clock back, and keys move the lecture
  time.append(make("label", { className: "plan", onclick: own, onkeydown: own }, "Plan ", menu));
}

function choose() {
  menu.blur(); // the next key is the lecture's
  memories.plan.set({ name: menu.value, began: settings.server?.began });
  followPlan(); // the other copies hear of it
}

// Next and back go past what the plan passes; who is there by its number reads on.
function neighbour(by) {
  const slides = Reveal.getSlides();
  const here = slides.indexOf(current());
  if (Reveal.isOverview() || planOf(slides[here]).passes) return undefined;
  let there = here + by;
  while (slides[there] && planOf(slides[there]).passes) there += by;
  return there === here + by ? undefined : slides[there];
}

export function passOn(by, move) {
  const hasMore = Reveal.availableFragments()[by > 0 ? "next" : "prev"];
  const slide = hasMore ? undefined : neighbour(by);
  if (slide) goTo(slide);
  else move();
}
