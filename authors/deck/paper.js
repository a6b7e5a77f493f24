// On paper a page for each slide, and at the end one more for each that asks: with the answer and what waited for it.

import { fit, isDark, setDark } from "./look.js";
import { all, current, isAsInTheFile, reading, root } from "./page.js";

const CLASSES = ["printing", "print-pdf"]; // the second keeps reveal.js' own style for paper away

export function startPaper() {
  const answers = Object.assign(document.createElement("section"), { className: "answers" });
  let dark = false;
  let uncovered = [];
  window.addEventListener("beforeprint", () => {
    dark = isDark();
    setDark(false);
    root.classList.add(...CLASSES);
    uncovered = all(".to-come:not(:empty)").filter((saved) => isAsInTheFile(saved.parentElement));
    for (const saved of uncovered) saved.classList.remove("to-come");
    answers.replaceChildren(...all("section section:has(.waits)").map(answered));
    document.querySelector(".slides").append(answers);
    if (!reading) [...Reveal.getSlides(), ...answers.children].forEach(fit);
  });
  window.addEventListener("afterprint", () => {
    root.classList.remove(...CLASSES);
    for (const saved of uncovered) saved.classList.add("to-come");
    answers.remove();
    setDark(dark);
    fit(current());
  });
}

function answered(slide) {
  const copy = slide.cloneNode(true);
  const drawn = all("canvas", slide);
  for (const part of all(".waits", copy)) part.classList.remove("waits");
  for (const [i, canvas] of all("canvas", copy).entries()) canvas.getContext("2d").drawImage(drawn[i], 0, 0);
  copy.dataset.number = `${slide.dataset.number}, answered`;
  return copy;
}
