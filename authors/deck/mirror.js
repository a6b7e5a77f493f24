// What the speaker's copies of the page show of this one: guesses and lines as they are typed, boards as they are
// moved, and whether it is dark.

import { all } from "../pages/kit.js";
import { handsOf, putHands } from "./hall.js";
import { startTheme } from "./look.js";
import { besideSpeaker, cells, inside, memories } from "./page.js";

const lineOf = (cell) => cell.querySelector(".guess label input, .own-line textarea");
const placeOf = (cell) => cell.querySelector(".saved-board");

export function startMirror() {
  if (inside) {
    document.documentElement.dataset.beside = besideSpeaker;
    window.addEventListener("storage", () => show(memories.mirror.get()));
    window.addEventListener("storage", showLines);
    window.addEventListener("storage", startTheme);
    showLines();
  } else
    for (const event of ["input", "click", "submit", "keydown", "moved"]) window.addEventListener(event, tell, true);
}

function tell() {
  setTimeout(() => memories.mirror.set(Object.fromEntries(cells.flatMap((cell) => stateIn(cell)))));
}

function stateIn(cell) {
  const place = placeOf(cell);
  if (place?.model) {
    const { inputs, settings } = place.now();
    return [[cell.dataset.id, { inputs, settings }]];
  }
  if (!lineOf(cell)) return [];
  const verdict = cell.querySelector(".verdict");
  const chosen = all(".choice", cell).findIndex((choice) => choice.getAttribute("aria-pressed") === "true");
  const says = { typed: lineOf(cell).value, says: verdict.innerHTML, looks: verdict.className, chosen };
  return [[cell.dataset.id, { ...says, ...(cell.querySelector(".guess") && handsOf(cell)) }]];
}

function show(states) {
  for (const cell of cells) {
    const { typed, says, looks, chosen, hands, present, counts, ...state } = states?.[cell.dataset.id] ?? {};
    const place = placeOf(cell);
    if (place?.model && state.inputs && JSON.stringify(state) !== JSON.stringify(stateOf(place))) place.put(state);
    if (typed === undefined || !lineOf(cell)) continue;
    lineOf(cell).value = typed;
    Object.assign(cell.querySelector(".verdict"), { innerHTML: says, className: looks });
    for (const [i, choice] of all(".choice", cell).entries()) choice.setAttribute("aria-pressed", i === chosen);
    if (cell.querySelector(".guess")) putHands(cell, { hands, present, counts });
  }
}

// Code that was changed, as the deck's own window has it, and as in the file where it was changed back.
const inFile = new Map();
function showLines() {
  const typed = memories.typed.get() ?? {};
  for (const cell of cells) {
    const place = cell.querySelector(".source pre");
    const text = typed[cell.dataset.id];
    if (!place || (text === undefined && !inFile.has(cell))) continue;
    if (!inFile.has(cell)) inFile.set(cell, place.innerHTML);
    if (text === undefined) place.innerHTML = inFile.get(cell);
    else place.replaceChildren(...text.split("\n").map(lineOfCode));
  }
}

function lineOfCode(text) {
  return Object.assign(document.createElement("span"), { className: "line", textContent: `${text}\n` });
}

function stateOf(place) {
  const { inputs, settings } = place.now();
  return { inputs, settings };
}
