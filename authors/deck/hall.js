// The hands of the hall, as the lecturer counts them: bars by value, in their order and with nothing marked. What a
// wrong one mistakes is named with the truth, as the bar without a name would give it away. What phones sent comes into
// the same bars, with the truth and not before.

import { all, make } from "../pages/kit.js";
import { judge, labelOf } from "./judge.js";
import { fit } from "./look.js";
import { current, settings, slideOf } from "./page.js";
import { say } from "./python.js";

export const OTHERS = "other answers";
const WHOLE_HALL = "How many sit in the hall";

const hands = new Map(); // cell → value → how many
const phones = new Map(); // cell → what putVotes took of phones.js
let present = ""; // how many sit there, once it was said

const choicesOf = (cell) => all(".choice", cell);

// A key opens the fields, and closes them.
export function countHands() {
  const cell = current().querySelector("[data-question]");
  if (!cell) return;
  if (phonesVoteOn(cell)) return sayPhonesVote();
  const form = cell.querySelector(".guess");
  if (!form.querySelector(".hands")) addFields(cell, form);
  if (form.classList.toggle("counting")) form.querySelector(choicesOf(cell).length ? "input.hands" : "input").select();
  draw(cell);
}

function addFields(cell, form) {
  const line = make("div", { className: "count" });
  const field = (label) =>
    make("input", { className: "hands", inputMode: "numeric", "aria-label": `Hands for ${label}` });
  if (choicesOf(cell).length) {
    for (const { dataset } of choicesOf(cell)) {
      const { value } = dataset;
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
  const votes = hands.get(cell) ?? hands.set(cell, new Map()).get(cell);
  const many = Number.parseInt(typed, 10);
  if (many > 0) votes.set(value, many);
  else votes.delete(value);
  draw(cell);
}

// What the speaker's copies are told, and what they make of it.
export function handsOf(cell) {
  const counts = cell.querySelector(".guess").matches(".counting");
  return { hands: [...(hands.get(cell) ?? [])], present, counts };
}

export function putHands(cell, { hands: newHands = [], present: there = "", counts = false }) {
  const form = cell.querySelector(".guess");
  if (counts && !form.querySelector(".hands")) addFields(cell, form);
  form.classList.toggle("counting", counts);
  present = there;
  hands.set(cell, new Map(newHands));
  draw(cell);
}

// What phones sent, instead of hands: saysHowMany, whether phones.js says it itself; bars and before, as `hands`; name,
// what a value is called. Without any, hands again.
export function putVotes(cell, votes) {
  if (votes) phones.set(cell, votes);
  else phones.delete(cell);
  const form = cell.querySelector(".guess");
  form.classList.toggle("by-phone", Boolean(votes));
  if (votes) form.classList.remove("counting", "typed");
  draw(cell);
}

export const phonesVoteOn = (cell) => phones.has(cell);
export const sayPhonesVote = () =>
  say("Phones answer this question. Shift+V takes their votes away.", { stays: "slide" });

function draw(cell) {
  const slide = slideOf(cell);
  const form = cell.querySelector(".guess");
  const { saysHowMany, bars, before = new Map(), name } = phones.get(cell) ?? {};
  const votes = bars ?? hands.get(cell) ?? new Map();
  const most = Math.max(1, ...votes.values(), ...before.values());
  if (!choicesOf(cell).length) setTiles(form, new Map([...before, ...votes]), name);
  for (const tile of all(".choice, .vote", form)) {
    const value = tile.dataset.value;
    const [many, earlier] = [votes.get(value) ?? 0, before.get(value) ?? 0];
    if (before.size) tile.dataset.hands = `${earlier} → ${many}`;
    else if (many || bars?.size) tile.dataset.hands = many;
    else delete tile.dataset.hands;
    tile.style.setProperty("--hands", `${(100 * many) / most}%`);
    tile.querySelector(".before")?.remove();
    if (before.size) tile.append(make("i", { className: "before", style: `width: ${(100 * earlier) / most}%` }));
  }
  const isCounted = votes.size > 0 || form.matches(".counting");
  slide.classList.toggle("counted", isCounted);
  sayHowMany(slide, isCounted && !saysHowMany && [...votes.values()].reduce((one, other) => one + other, 0), form);
  fitTiles(form);
  nameSlips(slide);
  fit(slide);
}

// As large as they fit beside each other, at last with how many below what.
function fitTiles(form) {
  for (const name of all(":is(.choice, .vote) small", form)) name.remove();
  for (const size of ["", "small", "small lines"]) {
    form.dataset.tiles = size;
    const isTooWide = (node) => node.scrollWidth > node.clientWidth;
    if (![form, ...all(".choice, .vote", form)].some(isTooWide)) return;
  }
}

// Typed guesses have a tile each, numbers from the smallest on.
function setTiles(form, votes, name = (value) => value) {
  for (const tile of all(".vote", form)) tile.remove();
  const isLast = (value) => value === OTHERS;
  const inOrder = [...votes.keys()].sort(
    (a, b) => isLast(a) - isLast(b) || Number(a) - Number(b) || a.localeCompare(b),
  );
  const names = inOrder.map(name);
  for (const [i, value] of inOrder.entries()) {
    const isAlone = names.filter((other) => other === names[i]).length === 1;
    const tile = make("span", { className: "vote", textContent: isAlone ? names[i] : value });
    tile.dataset.value = value;
    form.insertBefore(tile, form.querySelector(".verdict"));
  }
}

function sayHowMany(slide, many, form) {
  const foot = slide.querySelector(".slide-foot");
  const label = foot.querySelector(".how-many") ?? make("label", { className: "how-many" });
  if (many === false) return label.remove();
  const field =
    label.querySelector("input") ?? make("input", { inputMode: "numeric", placeholder: "…", "aria-label": WHOLE_HALL });
  if (!label.isConnected) {
    label.append("", field, " answered");
    field.addEventListener("input", () => (present = field.value));
    foot.firstElementChild.after(label);
  }
  label.firstChild.data = `${many}${present || form.matches(".counting") ? " of " : ""}`;
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
    const { right } = judge(question, tile.dataset.value);
    const label = labelOf(question, tile.dataset.value);
    if (tile.matches(".vote")) tile.classList.toggle("right", Boolean(right));
    if (label && !tile.matches(".right")) tile.append(make("small", { textContent: label }));
  }
}
