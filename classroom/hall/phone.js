// What a phone asks and sends. The server says all that there is each time; what was sent and what was guessed is
// kept here, so that nothing is lost when the network, or the page, goes away.

import { all, make, memory, remembers } from "../../authors/pages/kit.js";
import { refusal } from "../../authors/pages/reading.js";
import { EMPTY } from "../../workbench/questions/entry.js";

const one = (id) => document.getElementById(id);
const heading = document.querySelector("h1");
const store = memory("localStorage", `hall:${location.pathname}:me`);
const fresh = () => ({ token: "", guesses: [], sent: null });
let me = store.get() ?? fresh(); // sent: {round, text}, the last vote that was counted
let state = null;
let waiting = null; // a vote that is not there yet
let late = 0; // the round that a vote came too late for
let events;
let poll;
let clock;
let door; // the clock of who waits for a place
let ticket; // which says at the next try who it was
let isComingBack = false;
let misses = 0;
let showsGuesses = false;

const keep = () => store.set(me);
const soon = () => 300 + 2000 * Math.random(); // not all phones at the same moment

// ------------------------------------------------------------------------------------------------ the line

// Given up after a while; browsers of some years ago have no AbortSignal.timeout.
function ask(path, options) {
  const control = new AbortController();
  const patience = setTimeout(() => control.abort(), 8000);
  return fetch(path, { ...options, signal: control.signal }).finally(() => clearTimeout(patience));
}

async function send(path, sent) {
  const reply = await ask(path, { method: "POST", body: JSON.stringify(sent) });
  return { status: reply.status, ...(await reply.json().catch(() => ({}))) };
}

// With a code, or to the place that was given away meanwhile.
async function join(code, back) {
  clearTimeout(door);
  if (!back && !ticket) say("");
  try {
    const reply = await send("join", { code, ticket, token: me.token });
    ticket = reply.ticket;
    if (ticket) door = setTimeout(() => join(code, back), 2000 + soon());
    if (back && reply.status === 404) return leave();
    if (!reply.token) return say(reply.says, true);
    if (back) {
      isComingBack = false;
      me.token = reply.token;
      keep();
      return listen();
    }
    if (Date.now() - (me.at ?? 0) > 6e7) me = fresh(); // another lecture
    Object.assign(me, { token: reply.token, code, sent: null, at: Date.now() });
    keep();
    show(reply.state);
    listen();
  } catch {
    if (ticket || back) door = setTimeout(() => join(code, back), 2000 + soon());
    else say("No connection. Try again.", true);
  }
}

// A place from which nothing was heard for a while may be another's by now.
function comeBack() {
  if (isComingBack) return;
  isComingBack = true;
  events?.close();
  clearInterval(poll);
  clearTimeout(clock);
  poll = 0;
  return join(me.code, true);
}

function listen() {
  events?.close();
  events = new EventSource(`events?token=${me.token}`);
  events.onmessage = ({ data }) => {
    misses = 0;
    clearInterval(poll);
    poll = 0;
    one("lost").hidden = true;
    const now = JSON.parse(data);
    if (now.phase === "gone") return leave();
    show(now);
    if (waiting) deliver();
  };
  events.onerror = () => {
    events.close();
    misses += 1;
    if (misses > 1 && !poll) poll = setInterval(look, 2000); // events may not come through here at all
    clearTimeout(clock);
    clock = setTimeout(
      misses > 2 ? () => look().then(() => isComingBack || listen()) : listen,
      soon() * Math.min(misses, 8),
    );
    if (misses === 2) look();
  };
}

async function look() {
  try {
    const reply = await ask(`state?token=${me.token}`);
    one("lost").hidden = true;
    if (reply.status === 403) return comeBack();
    show(await reply.json());
    if (waiting) deliver();
  } catch {
    one("lost").hidden = state?.phase === "end"; // and it is tried again
  }
}

function leave() {
  events?.close();
  clearInterval(poll);
  clearTimeout(clock);
  poll = 0;
  isComingBack = false;
  me.token = "";
  waiting = null;
  keep();
  show({ phase: "gone" });
}

function vote(text) {
  waiting = { round: state.round, text };
  say("Sending …");
  deliver();
}

async function deliver() {
  const mine = waiting;
  clearTimeout(deliver.clock);
  if (mine.under) return;
  mine.under = true;
  try {
    const reply = await send("vote", { token: me.token, round: mine.round, text: mine.text });
    if (waiting !== mine) return waiting && deliver();
    if (reply.status === 429 && reply.says === "Too fast.") throw reply;
    if (reply.status === 403) return comeBack();
    waiting = null;
    if (reply.status === 200) noteVote(mine);
    else if (reply.status === 409) sayLate(mine.round);
    else say(reply.says, true);
  } catch (error) {
    if (waiting !== mine) return waiting && deliver();
    if (!error.status) say("Not sent yet: no connection. It goes as soon as there is one.", true);
    deliver.clock = setTimeout(deliver, error.status ? 300 : 2000 + soon());
  } finally {
    mine.under = false;
  }
}
addEventListener("online", () => {
  if (waiting) deliver();
  if (me.token && events?.readyState === 2) listen();
});

function noteVote({ round, text }) {
  const { question, again } = state;
  me.sent = { round, text };
  const guess = me.guesses.find(({ id }) => id === question.id) ?? { ...question, said: [] };
  if (!me.guesses.includes(guess)) me.guesses.push(guess);
  guess.said[again ? 1 : 0] = text;
  keep();
  show(state);
}

// The same phone in another tab has sent something, has gone, or is in again.
addEventListener("storage", ({ key }) => {
  if (key !== store.name) return;
  const { token, sent } = me;
  me = store.get() ?? fresh();
  if (JSON.stringify(sent) !== JSON.stringify(me.sent)) one("ask").replaceChildren();
  if (me.token && me.token !== token) listen();
  show(state);
});

// ------------------------------------------------------------------------------------------------ what is seen

// Members by their names; no more commas where they are decimal.
const readable = (text, { kind, options, first }) => {
  const words = kind === "set" ? text.replace(/\d+/g, (i) => options[i - first]) : text;
  return words.includes(",") ? words : words.replaceAll("; ", ", ");
};

function sayLate(round) {
  late = round;
  say("Too late: that vote was closed.", true);
}

function say(text, bad) {
  one("said").textContent = text;
  one("said").className = bad ? "bad" : "";
}

function show(now) {
  const before = state;
  state = now;
  const { phase, question, round, again } = state;
  const asks = phase === "open" && !showsGuesses;
  const isIn = Boolean(me.token);
  one("join").hidden = isIn || showsGuesses;
  one("ask").hidden = !asks;
  if (phase === "end" && before?.phase !== "end" && me.guesses.length) showsGuesses = true;
  one("kept").hidden = !showsGuesses;
  one("mine").hidden = !me.guesses.length;
  one("mine").textContent = showsGuesses ? "Back" : `What you guessed (${me.guesses.length})`;
  if (showsGuesses) return showGuesses();
  const saysTooLate = before?.phase === "open" && late === before.round; // too late, before this was known
  if (phase === "open" && late === round) late = 0; // it goes on
  const mine = me.sent && me.sent.round === round ? readable(me.sent.text, question) : "";
  one("long").hidden = phase === "open";
  if (!isIn) head(phase === "gone" ? "The code has changed: it is on the screen." : "The hall answers by phone");
  else if (phase === "wait") head("You are in. The next question comes here by itself.");
  else if (phase === "end") head("The lecture is over.");
  else head(again ? `Once more: ${question.ask}` : question.ask);
  if (asks && (before?.round !== round || before.phase !== "open" || !one("ask").childElementCount)) askFor(question);
  if (phase === "closed" && late === round) sayLate(round);
  else if (phase === "closed") say(mine ? `Closed. You said: ${mine}` : "Closed.");
  else if (phase === "end") say("You can close this page.");
  else if (mine && !waiting) say(`You said: ${mine}. You can still change it.`);
  else if (!saysTooLate && (before?.round !== round || before?.phase !== phase)) say("");
}

function head(text) {
  if (heading.textContent !== text) heading.textContent = text;
}

const button = (text, onclick, properties) =>
  make("button", { type: "button", textContent: text, onclick, ...properties });
const press = (node, on) => node.setAttribute("aria-pressed", on);
const isPressed = (node) => node.getAttribute("aria-pressed") === "true";
const HINTS = {
  numbers: ({ size, whole }) =>
    `${size}${whole ? " whole" : ""} number${size > 1 ? "s, in the order of the slide" : ""}.`,
  each: () => "One for each, in the order of the slide.",
};
const sentBefore = () => (me.sent && me.sent.round === state.round ? me.sent.text.split("; ") : []);
const KINDS = { one: oneOf, each, numbers, shape: numbers, set };

function askFor(question) {
  one("ask").onsubmit = (event) => event.preventDefault();
  const hint = HINTS[question.kind]?.(question);
  one("ask").replaceChildren(...(hint ? [make("p", { textContent: hint })] : []), ...KINDS[question.kind](question));
}

// One of several words is sent as it is tapped.
function oneOf({ options }) {
  const [mine] = sentBefore();
  const buttons = options.map((option) =>
    button(option, ({ currentTarget }) => {
      for (const other of buttons) press(other, other === currentTarget);
      vote(option);
    }),
  );
  for (const node of buttons) press(node, node.textContent === mine);
  return [make("div", { className: "list" }, ...buttons)];
}

// why: what keeps a text from being sent, in words, or "".
function sender(text, why = () => "") {
  return button(
    "Send",
    () => {
      const answer = text();
      const problem = answer ? why(answer) : EMPTY;
      if (problem) say(problem, true);
      else vote(answer);
    },
    { className: "send wide" },
  );
}

// A word for each of several.
function each({ options, size, rows: names = [] }) {
  const chosen = Array.from({ length: size }, (_, row) => sentBefore()[row] ?? "");
  const rows = chosen.map((_, row) => {
    const name = names[row] ?? row + 1;
    const buttons = options.map((option) =>
      button(
        option,
        ({ currentTarget }) => {
          chosen[row] = option;
          for (const other of buttons) press(other, other === currentTarget);
        },
        { "aria-label": `${name}: ${option}`, "aria-pressed": chosen[row] === option },
      ),
    );
    return make("div", { className: "rows" }, make("span", { textContent: name }), ...buttons);
  });
  return [...rows, sender(() => chosen.every(Boolean) && chosen.join("; "))];
}

// Some of several, or none.
function set({ options }) {
  const first = state.question.first ?? 0;
  const buttons = options.map((option, i) =>
    button(
      option,
      ({ currentTarget: it }) => {
        press(it, !isPressed(it));
        press(none, false);
      },
      { "aria-pressed": sentBefore().includes(`${i + first}`) },
    ),
  );
  const none = button(
    "none of them",
    () => {
      for (const other of buttons) press(other, false);
      press(none, true);
    },
    { "aria-pressed": sentBefore()[0] === "none", className: "wide" },
  );
  const chosen = () => buttons.flatMap((node, i) => (isPressed(node) ? [i + first] : []));
  const text = () => (isPressed(none) ? "none" : chosen().join("; "));
  return [make("div", { className: "chips" }, ...buttons), none, make("p"), sender(text)];
}

// Boxes for numbers with a pad of our own: phones' own have no minus, or no point. A shape has as many as one likes.
function numbers({ kind, size, reads }) {
  const line = make("div", { className: "boxes" });
  const boxes = () => all("input", line);
  let at;
  const take = (box) => {
    at = box;
  };
  const add = () => {
    const box = make("input", { inputMode: "none", autocomplete: "off", maxLength: 20, onfocus: () => take(box) });
    line.append(box);
    for (const [i, node] of boxes().entries())
      node.setAttribute("aria-label", `${kind === "shape" ? "Size" : "Number"} ${i + 1} of ${boxes().length}`);
    return box;
  };
  const before = sentBefore();
  for (let i = 0; i < (size ?? (before.length || 2)); i++) add().value = before[i] ?? "";
  at = boxes()[0];
  const type = (text) => {
    at.setRangeText(text, at.selectionStart, at.selectionEnd, "end");
    at.focus();
  };
  const back = () => {
    if (at.selectionStart === at.selectionEnd && at.selectionStart) at.selectionStart -= 1;
    type("");
  };
  const next = () => {
    const row = boxes();
    at = row[(row.indexOf(at) + 1) % row.length];
    at.focus();
  };
  const key = (text, label, act = () => type(text)) =>
    button(text, act, { "aria-label": label ?? text, onpointerdown: (event) => event.preventDefault() });
  const digits = (three) => [...three].map((digit) => key(digit));
  const text = () => {
    const sizes = boxes().map(({ value }) => value.trim());
    return sizes.every(Boolean) && sizes.join("; ");
  };
  const go = sender(text, (answer) => reads && refusal({ names: {}, options: [], skip: "", ...reads }, answer));
  go.className = "send two";
  const many = (size ?? 2) > 1;
  const pad = make(
    "div",
    { className: "pad" },
    ...digits("789"),
    key("−", "minus"),
    key("⌫", "delete", back),
    ...digits("456"),
    key("/", "divided by"),
    key("%", "per cent"),
    ...digits("123"),
    key("∞", "infinity"),
    key("nan", "not a number"),
    key("0"),
    key(".", "point"),
    key("→", "next box", next),
    go,
  );
  pad.children[17].disabled = !many;
  line.onkeydown = (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    go.click();
  };
  if (kind !== "shape") return [line, pad];
  const more = make(
    "div",
    { className: "rows sizes" },
    key("+ size", "one size more", () => boxes().length < 6 && add().focus()),
    key("− size", "one size less", () => {
      if (boxes().length > 1) line.lastChild.remove();
      if (!at.isConnected) at = line.lastChild;
      at.focus();
    }),
  );
  return [line, more, pad];
}

// ------------------------------------------------------------------------------------------- what you guessed

const inWords = ({ said, ...question }) =>
  said
    .filter(Boolean)
    .map((text) => readable(text, question))
    .join(", then ");

function showGuesses() {
  head("What you guessed");
  say("");
  const panel = one("kept");
  const list = make(
    "ol",
    {},
    ...me.guesses.map((guess) => make("li", {}, `${guess.ask} `, make("b", { textContent: inWords(guess) }))),
  );
  const forget = button(
    "Forget it",
    () => {
      if (forget.textContent !== "Forget all?") {
        forget.textContent = "Forget all?";
        return;
      }
      me.guesses = [];
      keep();
      showsGuesses = false;
      show(state);
    },
    { className: "wide" },
  );
  const record = state.record;
  const keeper = record
    ? make("p", {}, make("a", { href: `${record}#${inLink()}`, textContent: "Keep it, and see what to read again" }))
    : button("Save it as a file", save, { className: "wide" });
  panel.replaceChildren(list, keeper, make("p", {}), forget);
}

// What follows the # of a link is sent to no server.
function inLink() {
  const guesses = new URLSearchParams({ on: new Date(me.at).toLocaleDateString("sv") });
  for (const { id, said } of me.guesses) for (const text of said) guesses.append(id, text ?? "");
  return guesses;
}

function save() {
  const lines = me.guesses.map((guess) => `${guess.id}: ${guess.ask}\n    ${inWords(guess)}\n`);
  const file = new Blob([`What I guessed, ${new Date(me.at).toLocaleDateString("sv")}\n\n${lines.join("\n")}`], {
    type: "text/plain",
  });
  make("a", { href: URL.createObjectURL(file), download: "what-i-guessed.txt" }).click();
}

one("mine").onclick = () => {
  showsGuesses = !showsGuesses;
  one("said").textContent = "";
  show(state ?? { phase: "wait" });
};
one("join").onsubmit = (event) => {
  event.preventDefault();
  join(one("code").value);
};
if (!remembers()) one("forgets").textContent = "is forgotten with this page";
const codeInAddress = location.hash.slice(1);
one("code").value = codeInAddress;
show({ phase: me.token ? "wait" : "out" });
if (codeInAddress && codeInAddress !== me.code) join(codeInAddress);
else if (me.token) listen();
else if (codeInAddress) join(codeInAddress);
