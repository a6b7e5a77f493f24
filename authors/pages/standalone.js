// Brings the boards of a page to life: each stands as its saved tables, with its traits in a script beside them. Of the
// states it is offered a board begins with the first that fits it. model.js says what its place then has.
// An element with data-numbers, a board's id, has its matrices too where the board itself is shown as a figure.
// A button with data-board, the name of a board's cell, makes it ready: its data-now is what differs from the start.

import { LARGEST } from "../../workbench/board/page/numbers.js";
import { widget as matrices } from "../../workbench/board/page/page.js";
import { fits as fitsPieces } from "../../workbench/board/page/real/engine.js";
import { widget as pieces } from "../../workbench/board/page/real/page.js";
import { fits as fitsWords } from "../../workbench/board/page/story/engine.js";
import { widget as words } from "../../workbench/board/page/story/page.js";
import { follow, listen, recordOf } from "../../workbench/board/page/tries.js";
import { modelOf } from "./model.js";
import { looksOlder } from "./older.js";

const isNumber = (x) => typeof x === "number" && Math.abs(x) <= LARGEST;
const isSwitch = (x) => x === 0 || x === 1;
const isPin = (x) => x === null || isNumber(x);
const namesIn = (record) =>
  Object.keys(record ?? {})
    .sort()
    .join();

// A state's own matrices, and what is written over results.
function parted(inputs, panels) {
  const isPinned = (name) => panels.some((panel) => panel.name === name && panel.pin);
  const names = Object.keys(inputs ?? {});
  const own = names.filter((name) => !isPinned(name)).map((name) => [name, inputs[name]]);
  return { own: Object.fromEntries(own), pins: names.filter(isPinned).map((name) => inputs[name]) };
}

// Whether one is a list as the other, with entries that may stand there.
function isAlike(one, other, may) {
  if (!Array.isArray(other)) return may(one);
  const isAsLong = Array.isArray(one) && one.length === other.length;
  return isAsLong && one.every((part, i) => isAlike(part, other[i], may));
}

// A state fits a board if it has the same matrices and controls, and in them what could be typed or chosen there; and
// numbers over results that may be written over.
function fitsMatrices(state, { start, controls, panels }) {
  const { own, pins } = parted(state?.inputs, panels);
  const isToggle = (name) => panels.find((panel) => panel.name === name).toggle;
  const inputFits = ([name, matrix]) => isAlike(state.inputs[name], matrix, isToggle(name) ? isSwitch : isNumber);
  return (
    namesIn(own) === namesIn(start.inputs) &&
    pins.every((rows) => Array.isArray(rows) && rows.every((row) => Array.isArray(row) && row.every(isPin))) &&
    namesIn(state?.settings) === namesIn(start.settings) &&
    Object.entries(start.inputs).every(inputFits) &&
    controls.every(({ name, values }) => values.includes(state.settings[name]))
  );
}

const KINDS = { story: { widget: words, fits: fitsWords }, real: { widget: pieces, fits: fitsPieces } };
const MATRICES = { widget: matrices, fits: fitsMatrices };

function wake(place, ...offered) {
  if (!place.model) modelOf(place);
  const { model, engine } = place; // an engine, if it was drawn while the page came
  const { widget, fits } = KINDS[model.get("spec").kind] ?? MATRICES;
  Object.assign(place, { fits, isAwake: true });
  model.more = place.more ?? [];
  const hasMoved = Boolean(engine?.past.length);
  const accepted = hasMoved ? undefined : place.resume(...offered); // what a hand has done since is newer
  place.addEventListener("moved", () => followAll(place));
  const board = widget(engine);
  if (!engine) board.render({ model, el: place.holder });
  const numbers = place.id && document.querySelector(`[data-numbers="${place.id}"]`);
  if (numbers) board.render({ model, el: numbers });
  if (hasMoved) model.save_changes();
  return accepted;
}

function wakeAll(within) {
  for (const place of within.querySelectorAll(".saved-board")) if (!place.isAwake) wake(place);
}

// The board that a phrase sets, awake.
function boardOf({ dataset }) {
  const place = document.querySelector(`[data-id="${dataset.board}"] .saved-board`);
  if (place && !place.isAwake) place.dispatchEvent(new Event("needed"));
  return place;
}
// Whoever shows the page brings it into view.
const show = (place) => place.dispatchEvent(new Event("prepared", { bubbles: true }));

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-board]");
  const place = button && boardOf(button);
  if (!place) return;
  const { inputs, settings } = JSON.parse(button.dataset.now);
  place.put({ inputs: { ...place.start.inputs, ...inputs }, settings: { ...place.start.settings, ...settings } });
  show(place);
});

// A number of a sentence sets its board while it is dragged; the board is gone to afterwards if nothing of it is seen.
function set(number, at, gesture) {
  const place = boardOf(number);
  const { inputs, settings } = place.now();
  const one = recordOf(number).sets[at];
  place.put({ inputs: { ...inputs, ...one.inputs }, settings: { ...settings, ...one.settings } }, gesture);
}
function letGo(number) {
  const place = boardOf(number);
  const { top, bottom } = place.getBoundingClientRect();
  if (bottom < 80 || top > innerHeight - 80) show(place);
}
listen(document, "[data-board]", set, letGo);
function followAll(place) {
  const id = place.closest("[data-id]")?.dataset.id;
  for (const number of document.querySelectorAll(`.attn-number[data-board="${id}"]`)) follow(number, place.now());
}

window.attnBoards = { wake, wakeAll, looksOlder };
