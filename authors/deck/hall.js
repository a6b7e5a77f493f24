// The hands of the hall, as the lecturer counts them: bars by value, in their order and with nothing marked. What a
// wrong one mistakes is named with the truth, as the bar without a name would give it away.

import { fit } from "./look.js";
import { all, current, settings, slideOf } from "./page.js";

const hands = new Map(); // cell → value → how many
let present = ""; // how many sit there, once it was said

const make = (name, properties) => Object.assign(document.createElement(name), properties);
const choicesOf = (cell) => all(".choice", cell);

// A key opens the fields, and closes them.
export function countHands() {
  const cell = current().querySelector("[data-question]");
  if (!cell) return;
  const form = cell.querySelector(".guess");
  if (!form.querySelector(".hands")) addFields(cell, form);
  if (form.classList.toggle("counting")) form.querySelector("input:not(.guess:has(.choice) label input)").focus();
  draw(cell);
}

function addFields(cell, form) {
  const line = make("div", { className: "count" });
  const field = (label) => make("input", { className: "hands", inputMode: "numeric", ariaLabel: `Hands for ${label}` });
  if (choicesOf(cell).length) {
    for (const { textContent: value } of choicesOf(cell)) {
      const one = field(value);
      one.addEventListener("input", () => put(cell, value, one.value));
      line.append(one);
    }
    form.append(line);
    return;
  }
  const one = Object.assign(field("this guess"), { placeholder: "hands" });
  const guess = form.querySelector("label input");
  one.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !guess.value.trim()) return;
    event.preventDefault(); // it is counted, not judged
    put(cell, guess.value.trim(), one.value);
    guess.value = one.value = "";
    guess.focus();
  });
  form.querySelector("label").after(one);
}

function put(cell, value, typed) {
  const counted = hands.get(cell) ?? hands.set(cell, new Map()).get(cell);
  const many = Number.parseInt(typed, 10);
  if (many > 0) counted.set(value, many);
  else counted.delete(value);
  draw(cell);
}

// What the speaker's copies are told, and what they make of it.
export function handsOf(cell) {
  const counts = cell.querySelector(".guess").matches(".counting");
  return { hands: [...(hands.get(cell) ?? [])], present, counts };
}

export function putHands(cell, { hands: counted = [], present: there = "", counts = false }) {
  const form = cell.querySelector(".guess");
  if (counts && !form.querySelector(".hands")) addFields(cell, form);
  form.classList.toggle("counting", counts);
  present = there;
  hands.set(cell, new Map(counted));
  draw(cell);
}

function draw(cell) {
  const slide = slideOf(cell);
  const form = cell.querySelector(".guess");
  const counted = hands.get(cell) ?? new Map();
  const most = Math.max(1, ...counted.values());
  if (!choicesOf(cell).length) setTiles(form, counted);
  for (const tile of all(".choice, .vote", form)) {
    const many = counted.get(tile.dataset.value ?? tile.firstChild.data);
    if (many) tile.dataset.hands = many;
    else delete tile.dataset.hands;
    tile.style.setProperty("--hands", `${(100 * (many ?? 0)) / most}%`);
  }
  const isCounted = counted.size > 0 || form.matches(".counting");
  slide.classList.toggle("counted", isCounted);
  sayHowMany(slide, isCounted && [...counted.values()].reduce((one, other) => one + other, 0), form);
  nameSlips(slide);
  fit(slide);
}

// Typed guesses have a tile each, numbers from the smallest on.
function setTiles(form, counted) {
  for (const tile of all(".vote", form)) tile.remove();
  const inOrder = [...counted.keys()].sort((a, b) => Number(a) - Number(b) || a.localeCompare(b));
  for (const value of inOrder) {
    const tile = make("span", { className: "vote", textContent: value });
    tile.dataset.value = value;
    form.insertBefore(tile, form.querySelector(".verdict"));
  }
}

function sayHowMany(slide, many, form) {
  const foot = slide.querySelector(".slide-foot");
  const said = foot.querySelector(".how-many") ?? make("label", { className: "how-many" });
  if (many === false) return said.remove();
  const field = said.querySelector("input") ?? make("input", { inputMode: "numeric", placeholder: "…" });
  if (!said.isConnected) {
    said.append("", field, " answered");
    field.ariaLabel = "How many sit in the hall";
    field.addEventListener("input", () => (present = field.value));
    foot.firstElementChild.after(said);
  }
  said.firstChild.data = `${many}${present || form.matches(".counting") ? " of " : ""}`;
  field.value = present;
  field.hidden = !present && !form.matches(".counting");
}

// With the truth, and away with it.
export function nameSlips(slide) {
  const cell = slide.querySelector("[data-question]");
  for (const name of all(".choice small, .vote small", slide)) name.remove();
  for (const tile of all(".vote", slide)) tile.classList.remove("right");
  if (!cell || !slide.matches(".answered")) return;
  const question = settings.questions[cell.dataset.id];
  for (const tile of all(".choice[data-hands], .vote", slide)) {
    const { right, slip } = attnGuess.judge(question, tile.firstChild.data);
    const label = question.slips.find(({ name }) => name === slip)?.label;
    if (tile.matches(".vote")) tile.classList.toggle("right", Boolean(right));
    if (label && !tile.matches(".right")) tile.append(make("small", { textContent: label }));
  }
}
