// The deck: slides by reveal.js, keys for a lecturer, guesses, and cells that run where there is a Python.

import { makeEditable } from "./edit.js";
import { answerInPage, startGuesses } from "./guess.js";
import { startKeys } from "./keys.js";
import { startLines } from "./lines.js";
import { startTheme } from "./look.js";
import { startMirror } from "./mirror.js";
import { cells, inside, lacks, live, reading } from "./page.js";
import { startPaper } from "./paper.js";
import { startPhones } from "./phones.js";
import { startPlan } from "./plan.js";
import { endWithPage, enqueue, say, start } from "./python.js";
import { answerInPython } from "./run.js";
import { followBoards, startSlides } from "./slides.js";
import { startSteps } from "./steps.js";
import { startTaps } from "./taps.js";

startTheme();
startGuesses(live ? answerInPython : answerInPage);
startLines();
attnBoards.wakeAll(document);
followBoards();
if (live) cells.forEach(makeEditable);
startMirror();
if (reading) {
  document.body.classList.add("reading");
  startTaps();
} else {
  startKeys();
  startSteps();
  startSlides();
}
startPlan();
startPaper();
startPhones();
if (lacks.length && !inside) say(lacks.join(" "), { stays: "slide" });
if (live) {
  endWithPage();
  enqueue(start); // what a key asks for meanwhile has to wait
}
