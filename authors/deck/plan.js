// The plan that the lecture follows: how long each slide takes, what next passes, and where the lecturer chooses it.

import { all, make } from "../pages/kit.js";
import { besideSpeaker, current, goTo, inside, memories, reading, settings, storeOf } from "./page.js";

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
  if (besideSpeaker === "current-slide") Reveal.on("ready", offerPlans);
}

// reveal.js' clock reads the seconds off the slides.
function followPlan() {
  for (const slide of all("section[data-cell]")) slide.dataset.timing = planOf(slide).seconds;
  renewNotes();
  const menu = besideSpeaker === "current-slide" && window.parent.document.querySelector(".plan select");
  if (menu) menu.value = planName();
}

// They say other minutes now, and the speaker's window hears it as it hears of a slide.
function renewNotes() {
  for (const notes of all("aside.notes")) notes.innerHTML = notesOf(notes.parentElement);
  if (!inside && Reveal.isReady()) Reveal.dispatchEvent({ type: "resumed" });
}

function offerPlans() {
  const view = window.parent.document;
  const time = view.querySelector(".speaker-controls-time");
  if (!time || view.querySelector(".plan")) return;
  const options = Object.entries(settings.plans).map(([value, label]) => make("option", { value, textContent: label }));
  const menu = make("select", { value: planName(), onchange: () => choose(menu) }, ...options);
  menu.value = planName();
  const own = (event) => event.stopPropagation(); // a click beside it sets the clock back, and keys move the lecture
  time.append(make("label", { className: "plan", onclick: own, onkeydown: own }, "Plan ", menu));
}

function choose(menu) {
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
