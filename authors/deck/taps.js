// A page to scroll, on a phone: a tap on a picture or its heading is a step, as a key is on a slide.

import { all, make } from "../pages/kit.js";
import { uncover } from "./guess.js";
import { slideOf, storeOf } from "./page.js";
import { showStep, turnCode } from "./steps.js";

export function startTaps() {
  for (const slide of all("section[data-cell]")) {
    showStep(slide, 0);
    const next = make("button", { type: "button", className: "next-step", textContent: "Next ▸" });
    if (slide.querySelector(".step")) slide.querySelector(".body").before(next);
    slide.append(wordsOf(slide));
    for (const part of all(":scope > :is(.heading, .picture, .next-step)", slide)) {
      part.addEventListener("click", () => step(slide));
    }
  }
  for (const button of all(".to-code")) button.addEventListener("click", () => turnCode(slideOf(button)));
}

function step(slide) {
  const last = all(".step", slide).length;
  const now = Math.min(last, Number(slide.dataset.step) + 1);
  if (now < last) showStep(slide, now);
  else uncover(slide);
  seeWhatIsNew(slide);
}

// A picture wider than the page is moved to what the step has added.
function seeWhatIsNew(slide) {
  const picture = slide.querySelector(":scope > .picture");
  const fresh = picture?.querySelector(".new")?.getBoundingClientRect();
  if (fresh) picture.scrollBy({ left: fresh.left - picture.clientWidth / 2, behavior: "smooth" });
}

// All that the notebook says there; it comes with the answer, as it has it.
function wordsOf(slide) {
  const words = make("details", { className: "whole" }, make("summary", { textContent: "In the notebook" }));
  words.addEventListener("toggle", () => {
    if (!words.querySelector("div")) words.append(make("div", { innerHTML: storeOf(slide).whole }));
  });
  return words;
}
