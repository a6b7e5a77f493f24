// The hall's guesses: what waits for them, and how they are answered where no Python runs.

import { entryOf, triesOf, verdictOf } from "../../workbench/questions/entry.js";
import { all } from "../pages/kit.js";
import { phonesVoteOn, sayPhonesVote } from "./hall.js";
import { giveBack, hold } from "./held.js";
import { asText, judge } from "./judge.js";
import { fit } from "./look.js";
import { cells, current, reading, settings, slideOf, storeOf } from "./page.js";
import { showLast } from "./steps.js";

const tries = new Map(); // cell → its guesses so far

// Numbers and lists as they are; all else in quotes, where predict reads 47 % and ∞ too.
const NUMBER = /[+-]?(0|[1-9]\d*|(?=\.\d))(\.\d*)?(e[+-]?\d+)?/.source;
const LIST = `[[(][[(\\s]*${NUMBER}([\\])\\s]*,[[(\\s]*${NUMBER})*[\\])\\s]*[\\])]`;
const PYTHON = new RegExp(`^(True|False|None|\\.\\.\\.|"[^"]*"|'[^']*'|${NUMBER}|${LIST})$`);

export function asPython(text) {
  const plain = text.trim().replaceAll("−", "-");
  return PYTHON.test(plain) ? plain : JSON.stringify(text.trim());
}

export const guessOf = (cell) => cell.querySelector(".guess label input")?.value.trim();

export function answerInPage(cell, text, judgement = attnGuess.judge(settings.questions[cell.dataset.id], text)) {
  const verdict = cell.querySelector(".verdict");
  if (!tries.has(cell)) tries.set(cell, triesOf());
  const guesses = tries.get(cell);
  guesses.take(judgement);
  const { isKnown } = guesses;
  const { html, kind } = verdictOf(judgement, isKnown);
  verdict.innerHTML = html;
  verdict.className = `verdict ${kind}${kind === "wrong" && !isKnown ? " again" : ""}`;
  verdict.classList.toggle("long", verdict.offsetHeight > 40); // above choices the picture makes room
  if (isKnown) reveal(cell);
  else if (cell.contains(document.activeElement)) document.activeElement.select?.(); // the next guess takes its place
  fit(slideOf(cell));
}

// Shows what waited for the guess: the slide's last step.
export function reveal(cell) {
  const slide = slideOf(cell);
  if (reading) return uncover(slide);
  while (slide === current() && slide.querySelector(".step:not(.visible)") && Reveal.nextFragment());
  if (cell.contains(document.activeElement)) document.activeElement.blur(); // the next key is the lecture's
}

// On a page to scroll: all of it.
export function uncover(slide) {
  for (const part of all(".waits", slide)) {
    part.classList.remove("waits");
    giveBack(part);
  }
  showLast(slide);
}

export function toGuess() {
  const guess = current().querySelector(".guess label input");
  if (!guess) return toLine();
  if (phonesVoteOn(guess.closest(".cell"))) return sayPhonesVote(); // bars come there
  guess.form.classList.add("typed");
  guess.select();
}

// The line that the hall dictates: in its cell where there is a Python, or else in the slide's own field.
function toLine() {
  const cell = current().querySelector(".cell.blank");
  if (cell?.toBlank) return cell.toBlank();
  const field = current().querySelector(".own-line textarea");
  field?.setSelectionRange(field.value.length, field.value.length);
  field?.focus();
}

// The word of a choice will do, also where a number is asked for: what no slip says of a wrong one is a plain no.
function answerOrChoose(cell, text, answer) {
  const question = settings.questions[cell.dataset.id];
  const plain = (words) => words.trim().toLowerCase();
  const choice = all(".choice", cell).find(({ dataset }) => plain(dataset.value) === plain(text));
  if (!choice) return answer(cell, text);
  const isRight = all(".choice", cell).indexOf(choice) === storeOf(slideOf(cell)).right;
  if (isRight) return answer(cell, asText(question, question.leaves));
  const { slip } = judge(question, choice.dataset.value);
  const leads = question.slips.find(({ name }) => name === slip);
  if (leads) return answer(cell, asText(question, leads.leaves));
  answerInPage(cell, text, { says: "No.", key: plain(text) });
}

export function startGuesses(answer) {
  for (const output of all(".plotted .outputs.saved")) {
    const { plots } = storeOf(slideOf(output));
    const plot = plots[output.parentElement.dataset.id];
    if (plot) hold(output, plot, output.innerHTML);
  }
  for (const cell of cells.filter((one) => "question" in one.dataset)) {
    entryOf({
      fields: [cell.querySelector(".guess label input")],
      button: cell.querySelector("form.guess > button:not(.choice)"),
      send: (text) => answerOrChoose(cell, text, answer),
      refuse: () => {}, // a key too many puts no words on the wall
    });
    for (const choice of all(".choice", cell)) choice.addEventListener("click", () => choose(cell, choice, answer));
    const output = cell.querySelector(".outputs.saved");
    output.classList.add("waits");
    hold(output, settings.questions[cell.dataset.id].answer);
    for (let next = cell.nextElementSibling; next; next = next.nextElementSibling) {
      next.classList.add("waits");
      const below = next.querySelector(".outputs.saved");
      if (below && !below.querySelector(".saved-board")) hold(below);
    }
  }
}

// What most hands are for stays marked, and is judged as if it were typed, unless phones are asked.
function choose(cell, choice, answer) {
  for (const one of all(".choice", cell)) one.setAttribute("aria-pressed", one === choice);
  if (slideOf(cell).matches(".answered") || phonesVoteOn(cell)) return;
  answerOrChoose(cell, choice.dataset.value, answer);
  if (reading) reveal(cell);
}
