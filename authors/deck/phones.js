// Votes by phone: V opens the question of the slide, closes it, opens it a second time. Until the truth is there the
// hall sees how many have answered and nothing that leans; the speaker sees at once what they mistake, and what
// evidence says of such a vote. The server that phones reach knows no truth: what was sent is judged here.

import { all, make } from "../pages/kit.js";
import { OTHERS, putVotes } from "./hall.js";
import { asText, judge, labelOf } from "./judge.js";
import { besideSpeaker, cells, current, inside, memories, reading, settings, slideOf, storeOf } from "./page.js";
import { say } from "./python.js";
import { minutesOf, saveLecture, startTiming } from "./record.js";

const hasHall = Boolean(settings.server?.hall);
const FEW = 0.35; // of a first vote right: below, talk does not help
const FIRST_LIMIT = 8; // phones from one address, until the lecturer lets in more
const MANY = 0.7; // and above, none is needed; Crouch & Mazur 2001
let now = { votes: {}, trouble: "", address: "", code: "", qr: "" }; // until the vote server says more

const place = () => `${settings.server.baseUrl}hall?token=${settings.server.token}`;
const order = (what) => fetch(place(), { method: "POST", body: JSON.stringify(what), keepalive: true });
const questionOf = (cell) => settings.questions[cell.dataset.id];
const questionCell = (slide = current()) => slide?.querySelector("[data-question]");
const roundsOf = (cell) => now.votes[questionOf(cell).id] ?? [];
const choicesOf = (cell) => all(".choice", cell).map((choice) => choice.dataset.value);
const percent = (share) => `${Math.round(100 * share)} %`;

export function startPhones() {
  if (!hasHall || reading) return;
  if (inside) {
    window.addEventListener("storage", () => hear(memories.hall.get()));
    hear(memories.hall.get());
  } else {
    new EventSource(place()).onmessage = ({ data }) => {
      const news = JSON.parse(data);
      memories.hall.set({ ...news, qr: "" });
      hear(news);
    };
  }
  startTiming(order);
  for (const change of ["slidechanged", "fragmentshown", "fragmenthidden", "ready"]) {
    Reveal.on(change, () => {
      if (!inside) closeWhatIsLeft();
      showVotes();
    });
  }
}

function hear(news) {
  if (!news) return;
  const trouble = now.trouble;
  now = news;
  if (now.trouble !== trouble && !inside) say(now.trouble, { trouble: Boolean(now.trouble) });
  if (sheet.open) fillSheet();
  showVotes();
}

// ---------------------------------------------------------------------------------------------------- the lecturer

// The key: open, close, and once more; where nothing is to be guessed, how to come in.
export function vote() {
  if (Reveal.isOverview()) return; // no slide is in sight that it could be for
  if (!hasHall) return say("Phones vote where the deck is started with --hall; h counts hands.", { stays: "slide" });
  const cell = questionCell();
  if (!cell || current().matches(".answered")) return openSheet();
  const rounds = roundsOf(cell).filter(({ answered, open }) => answered || open); // one that nobody answered is none
  const last = rounds.at(-1);
  if (last?.open) return order({ do: "close" });
  if (last?.told) return say(`The answer was shown: this vote is over. ${ANEW}`, { stays: "slide" });
  if (rounds.length > 1 && !last.cut) return say(`Both votes are in; → shows them. ${ANEW}`, { stays: "slide" });
  order({ do: "open", question: forPhones(cell), again: rounds.length > 0 });
}

// A clicker has a button for the black screen, and none for V.
export function blackOrVote() {
  const waits = hasHall && questionCell() && !current().matches(".answered") && !Reveal.isPaused();
  return waits ? vote() : Reveal.togglePause();
}

const ANEW = "Shift+V can ask anew.";
const isOpen = (cell) => Boolean(cell && roundsOf(cell).at(-1)?.open);

// Nothing stays open behind the lecturer's back, and whose truth was seen is not asked again.
function closeWhatIsLeft() {
  const open = cells.find((cell) => cell.dataset.question && isOpen(cell));
  if (open && slideOf(open) !== current()) order({ do: "close", cut: true });
  else if (open && slideOf(open).matches(".answered")) order({ do: "close" });
  const cell = questionCell();
  const last = cell && current().matches(".answered") && roundsOf(cell).at(-1);
  if (last && !last.told) {
    last.told = true; // at once: a key may come before the news
    order({ do: "told", question: questionOf(cell).id });
  }
}

// Before next brings the truth it closes the vote: a clicker pressed too early gives nothing away.
export function closeBeforeTruth() {
  const isNear = all(".step:not(.visible)", current()).length === 1;
  if (!hasHall || besideSpeaker === "upcoming-slide" || !isNear || !isOpen(questionCell())) return false;
  order({ do: "close", cut: true });
  return true;
}

// What a phone has to know to ask. What an answer is not, as what it is, stays here.
function forPhones(cell) {
  const { id, form, size, whole, options, members, range, rows, asks, refuses } = questionOf(cell);
  const words = document.createElement("p");
  words.innerHTML = storeOf(slideOf(cell)).ask;
  for (const index of all("sub", words)) index.prepend("_"); // there it is text
  const question = { id, ask: words.textContent };
  const choices = choicesOf(cell).length ? choicesOf(cell) : form === "matrix" ? possible(questionOf(cell)) : options;
  if (form === "set" && !choicesOf(cell).length)
    return { ...question, kind: "set", options: members.map(withoutDigits), first: range[0] };
  if (form === "words") return { ...question, kind: "each", options, size, rows };
  if (choices.length) return { ...question, kind: "one", options: choices };
  const reads = { form, size, whole, range, asks, refuses };
  return form === "shape"
    ? { ...question, kind: "shape", reads }
    : { ...question, kind: "numbers", size, whole, reads };
}

// The truth and what slips make of it, in an order that says nothing.
const possible = (question) =>
  [...new Set([question, ...question.slips].map(({ leaves }) => asText(question, leaves)))].sort();

// As a slide has it: names of a set's members, and no digits that nobody reads from the last row.
function asOnSlide({ form, members, range }, value) {
  if (value === OTHERS || value === "none") return value;
  if (form === "set") return value.replace(/\d+/g, (i) => withoutDigits(members[i - range[0]] ?? i));
  return value.replace(/-?\d+\.\d+(e[+-]?\d+)?/g, (x) => Number(Number(x).toFixed(2)) || "≈0");
}

const withoutDigits = (member) => member.replace(/^\d+ /, ""); // if it has a name, as its slide says it

// Where commas are decimal, others would mislead.
const withoutSemicolons = (text) => (text.includes(",") ? text : text.replaceAll("; ", ", "));

// ----------------------------------------------------------------------------------------------------- what they mean

// Bars: what the slide has choices for, or else the right answer, each known slip, and the others.
function barsOf(cell, votes) {
  const question = questionOf(cell);
  const choices = choicesOf(cell);
  const there = choices.length ? choices : [asText(question, question.leaves)];
  const bars = new Map(there.map((value) => [value, 0]));
  for (const [text, many] of Object.entries(votes)) {
    const value = barOf(cell, text);
    bars.set(value, (bars.get(value) ?? 0) + many);
  }
  return bars;
}

// A choice is a bar of its own; what was written goes to the bar of what it means.
const barOf = (cell, text) => (choicesOf(cell).includes(text) ? text : meaning(questionOf(cell), text));

// What the same text means is asked ten times a second while a hall votes, in each copy of the page.
const judgements = new Map();
function judgementOf(question, text) {
  const name = `${question.id} ${text}`;
  if (!judgements.has(name)) judgements.set(name, judge(question, text));
  return judgements.get(name);
}

const nameOfSlip = (cell, value) => labelOf(questionOf(cell), value, judgementOf(questionOf(cell), value));

function meaning(question, text) {
  const { right, slip } = judgementOf(question, text);
  const leads = right ? question : question.slips.find(({ name }) => name === slip);
  return leads ? asText(question, leads.leaves) : OTHERS;
}

const isRight = (cell, value) =>
  choicesOf(cell).length
    ? choicesOf(cell).indexOf(value) === storeOf(slideOf(cell)).right
    : judgementOf(questionOf(cell), value).right === true;

function shareRight(cell, bars) {
  const whole = [...bars.values()].reduce((one, other) => one + other, 0);
  const right = [...bars].filter(([value]) => isRight(cell, value)).reduce((sum, [, many]) => sum + many, 0);
  return whole ? right / whole : 0;
}

// ------------------------------------------------------------------------------------------------------ what is seen

function showVotes() {
  if (!Reveal.isReady()) return;
  const slide = current();
  const cell = questionCell(slide);
  const rounds = cell ? roundsOf(cell) : [];
  sayWhoWaits(slide);
  if (cell) {
    const isAnswered = slide.matches(".answered");
    const [bars, before] = isAnswered ? rounds.map(({ votes }) => barsOf(cell, votes)).reverse() : [];
    const name = (value) => asOnSlide(questionOf(cell), value);
    putVotes(
      cell,
      rounds.length ? { saysHowMany: true, name, ...(isAnswered ? { bars, before } : { bars: new Map() }) } : null,
    );
    sayHowMany(slide, rounds);
    slide.querySelector(".commonest")?.remove();
    if (isAnswered && rounds.length) sayCommonest(cell, rounds.at(-1).votes);
  }
  if (besideSpeaker === "current-slide") tellSpeaker(cell, rounds);
}

// "217 of 231 answered", and while it is open how a latecomer gets in.
function sayHowMany(slide, rounds) {
  const foot = slide.querySelector(".slide-foot");
  foot.querySelector(".phones")?.remove();
  const last = rounds.at(-1);
  if (!last) return;
  const which = last.again ? "second vote: " : "";
  const many = `${which}${last.answered} of ${Math.max(last.phones, last.answered)} answered`;
  const line = make("span", { className: "phones", role: "status" }, make("b", { textContent: last.open ? "●" : "" }));
  line.append(` ${many}${last.open ? "" : slide.matches(".answered") ? "" : ", closed"}`);
  foot.firstElementChild.after(line);
  if (last.open) line.append(make("span", { className: "way-in", textContent: `${shortAddress()}  ${now.code}` }));
}

// Who finds no place is said wherever the deck is, at the foot of the slide.
function sayWhoWaits(slide) {
  const foot = slide.querySelector(".slide-foot");
  foot?.querySelector(".refused")?.remove();
  if (!now.refused || !foot) return;
  foot.append(make("span", { className: "refused", role: "status", textContent: `${whoWaits()}: Shift+V` }));
}

const shortAddress = () => now.address.replace(/^https?:\/\/|\/$/g, "");

// What most of the wrong ones sent, through the verdict that one guess gets.
function sayCommonest(cell, votes) {
  const wrong = Object.entries(votes).filter(([text]) => !isRight(cell, text));
  const same = new Map(); // by what they mean, whose first text speaks for them
  for (const [text, many] of wrong) {
    const { key, unread } = judgementOf(questionOf(cell), text);
    if (!unread) same.set(key, { text, many: (same.get(key)?.many ?? 0) + many });
  }
  const [most] = [...same.values()].sort((one, other) => other.many - one.many);
  if (!most) return;
  const { slip, says } = judgementOf(questionOf(cell), most.text);
  const bar = barOf(cell, most.text);
  const label = choicesOf(cell).includes(bar) ? bar : asOnSlide(questionOf(cell), bar); // as it stands on its bar
  const line = make("p", { className: "commonest", innerHTML: says });
  line.prepend(`${most.many} ${most.many === 1 ? "phone says" : "phones say"} “${withoutSemicolons(label)}”. `);
  if (!slip) return;
  slideOf(cell).querySelector(".heading").after(line);
  line.classList.toggle("long", line.offsetHeight > 40); // the picture makes room
}

// In the speaker's window: names at once, and which way evidence suggests.
function tellSpeaker(cell, rounds) {
  const view = window.parent.document;
  const panel = view.querySelector(".hall-votes") ?? view.createElement("div");
  panel.className = "hall-votes";
  if (!panel.isConnected) view.querySelector(".speaker-controls-notes").before(panel);
  if (!rounds.length && !now.refused) return panel.remove();
  const line = (text) => Object.assign(view.createElement("b"), { textContent: text, style: "grid-column: 1 / -1" });
  panel.style =
    "display: grid; grid-template-columns: auto auto 1fr; gap: 2px 16px; padding: 8px 18px; font-size: 18px";
  const door = now.refused ? [line(noPlace())] : [];
  if (!rounds.length) return panel.replaceChildren(...door);
  const bars = rounds.map(({ votes }) => barsOf(cell, votes));
  const place = (value) => (value === OTHERS ? 2 : isRight(cell, value) ? 0 : 1);
  const values = [...new Set(bars.flatMap((one) => [...one.keys()]))].sort((one, other) => place(one) - place(other));
  const unlisted = Object.entries(rounds.at(-1).votes).filter(([text]) => meaning(questionOf(cell), text) === OTHERS);
  const often = unlisted.sort(([, one], [, other]) => other - one).slice(0, 4);
  const others = often
    .map(([text, many]) => `${withoutSemicolons(asOnSlide(questionOf(cell), text))} (${many})`)
    .join("; ");
  const cellOf = (text, style = "") => Object.assign(view.createElement("span"), { textContent: text, style });
  const row = (value) => {
    const many = bars.map((one) => one.get(value) ?? 0).join(" → ");
    return [
      cellOf(many, "text-align: right"),
      cellOf(asOnSlide(questionOf(cell), value), "font-weight: 600"),
      cellOf(isRight(cell, value) ? "✓ right" : value === OTHERS ? others : nameOfSlip(cell, value)),
    ];
  };
  const stepsLeft = all(".step:not(.visible)", slideOf(cell)).length;
  const shares = bars.map((one) => shareRight(cell, one));
  const advice = line(adviceOn(rounds, stepsLeft > 1 ? `→ ${stepsLeft} times` : "→", shares));
  panel.replaceChildren(...door, advice, ...values.flatMap(row));
}

function adviceOn(rounds, next, [first, second]) {
  const last = rounds.at(-1);
  if (!last.answered) return "Nobody has answered yet.";
  const isSecond = second !== undefined;
  const right = `${percent(first)} right${isSecond ? `, then ${percent(second)}` : ""}`;
  const what =
    first < FEW ? "explain it again, then v" : first <= MANY ? "let them talk, then v" : `go on with ${next}`;
  const then = isSecond ? `${next} shows bars and truth` : what;
  if (last.open) return `${right} so far. v closes it; then ${then}.`;
  if (last.cut && !last.told) return `Closed in passing: v lets this vote go on. ${right}.`;
  return `${right}: ${last.told ? "bars and truth were shown" : then}.`;
}

// Refused is who comes when all places of an address are taken.
const whoWaits = () => `${now.refused} ${now.refused === 1 ? "finds" : "find"} no place`;
const noPlace = () => `${whoWaits()}: Shift+V ${now.more ? "lets them in" : "has a new code"}.`;

// -------------------------------------------------------------------------------------------------- how to come in

const sheet = make("dialog", { className: "phones-sheet", "aria-label": "Votes by phone" });
const picture = make("div", { className: "qr" });
const many = make("p", { className: "many", role: "status" });
const address = make("p", { className: "address" });
const code = make("p", { className: "code" });
const button = (textContent, what) => make("button", { type: "button", textContent, onclick: what });
const more = button("", () => order({ do: "more" })); // says how many it lets in
const anew = button("Ask this slide's question anew: its votes are forgotten", () => {
  order({ do: "forget", question: questionOf(questionCell()).id });
  sheet.close();
});
const end = button("End: phones show what was guessed", () => order({ do: "end" }));

const save = button("Save the lecture: one file with votes and minutes, for the next time", () =>
  saveLecture(cells.filter((cell) => cell.dataset.question).flatMap(whatWasAsked), timesOfSlides()),
);

const timesOfSlides = () => Reveal.getSlides().map((slide) => minutesOf(slide, now.spent));

// Each question that somebody answered, with what its bars say. Texts that no bar is for are counted and not told.
function whatWasAsked(cell) {
  const rounds = roundsOf(cell).filter(({ answered }) => answered);
  if (!rounds.length) return [];
  const slide = slideOf(cell);
  const bars = rounds.map(({ votes }) => barsOf(cell, votes));
  const values = [...new Set(bars.flatMap((one) => [...one.keys()]))];
  return {
    id: questionOf(cell).id,
    slide: Number(slide.dataset.number),
    ask: make("p", { innerHTML: storeOf(slide).ask }).textContent,
    rounds: rounds.map(({ answered, phones }, i) => ({ answered, of: phones, right: shareRight(cell, bars[i]) })),
    bars: values.map((value) => {
      const { slip, says } = value === OTHERS ? {} : judgementOf(questionOf(cell), value);
      const label = slip ? nameOfSlip(cell, value) : "";
      const many = bars.map((one) => one.get(value) ?? 0);
      return {
        value: asOnSlide(questionOf(cell), value),
        is: isRight(cell, value),
        slip: label,
        says: slip && says,
        many,
      };
    }),
  };
}

export function openSheet() {
  if (!hasHall) return vote();
  if (!sheet.isConnected) {
    const close = button("Close (Escape)", () => sheet.close());
    Object.assign(close, { className: "close", autofocus: true });
    const renew = button("New code: everybody comes in again; an open vote begins again", () => order({ do: "code" }));
    const howToJoin = make("div", {}, make("h2", { textContent: "Answer by phone" }), address, code, many);
    sheet.append(
      make("div", { className: "way" }, picture, howToJoin),
      make("div", { className: "orders" }, more, anew, renew, end, save, close),
    );
    document.body.append(sheet);
  }
  fillSheet();
  sheet.showModal();
}

function fillSheet() {
  if (picture.dataset.code !== now.code) picture.innerHTML = now.qr;
  picture.dataset.code = now.code;
  address.textContent = shortAddress();
  code.textContent = now.code;
  const here = now.phones ? `${now.phones} phone${now.phones === 1 ? "" : "s"} here` : "No phone here yet";
  const most = now.most > FIRST_LIMIT ? `, ${now.most} from one address` : "";
  const waiting = now.refused ? `; ${whoWaits()}` : "";
  many.textContent = now.code ? `${here}${most}${waiting}` : "The vote server has not answered yet.";
  more.textContent = `Let in up to ${now.more} phones from one address, now ${now.per_address}: behind a router a hall has one`;
  more.hidden = !now.more || (!now.refused && now.per_address === FIRST_LIMIT);
  anew.hidden = !questionCell() || !roundsOf(questionCell()).length;
  end.disabled = now.phase === "end";
  save.hidden = now.phase !== "end";
}
