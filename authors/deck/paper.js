// On paper a page for each slide: its last step, the question above what is claimed, and below it all that its cells say.

import { all } from "../pages/kit.js";
import { giveBack } from "./held.js";
import { fit, fitNotes, isDark, setDark } from "./look.js";
import { current, isAsInTheFile, reading, root, storeOf } from "./page.js";
import { notesOf } from "./plan.js";
import { showLast, showStep } from "./steps.js";

const CLASSES = ["printing", "print-pdf"]; // the second keeps reveal.js' own style for paper away

export function startPaper() {
  let dark = false;
  let uncovered = [];
  window.addEventListener("beforeprint", () => {
    dark = isDark();
    setDark(false);
    root.classList.add(...CLASSES);
    uncovered = all(".to-come:not(:empty)").filter((output) => isAsInTheFile(output.parentElement));
    for (const output of uncovered) output.classList.remove("to-come");
    for (const slide of all("section[data-cell]")) putOnPaper(slide);
  });
  window.addEventListener("afterprint", () => {
    root.classList.remove(...CLASSES);
    for (const output of uncovered) output.classList.add("to-come");
    for (const part of all(".on-paper")) part.remove();
    setDark(dark);
    if (reading) return;
    for (const slide of all("section[data-cell]")) showStep(slide);
    fit(current());
  });
}

function putOnPaper(slide) {
  const { ask, claim, whole } = storeOf(slide);
  const part = (className, innerHTML) => Object.assign(document.createElement("div"), { className, innerHTML });
  showLast(slide);
  for (const waiting of all(".waits", slide)) giveBack(waiting);
  if (claim) slide.prepend(part("asked-first on-paper", ask));
  const notesBelow = part("under-slide on-paper", `${whole}<hr>${notesOf(slide)}`);
  for (const fold of all("details", notesBelow)) fold.open = true;
  slide.append(notesBelow);
  fitNotes(notesBelow);
}
