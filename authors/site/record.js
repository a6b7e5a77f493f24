// What was guessed in lectures, kept in this browser: from links that phones make, joined, and sent nowhere.

import { make, memory, remembers } from "../pages/kit.js";

const ASKED = {}; // record.py puts the questions here, by their ids
const LONGEST = 80;
const place = document.getElementById("record");

const record = memory("localStorage", `attention:${location.pathname}`);
const isGuess = (one) => one?.id in ASKED && Array.isArray(one.said);

function kept() {
  const guesses = record.get();
  return Array.isArray(guesses) ? guesses.filter(isGuess) : [];
}

// The guesses behind the #: a question's id and what was said, the first time and the second.
function inTheLink() {
  const found = new Map();
  const parts = new URLSearchParams(location.hash.slice(1));
  const on = /^\d{4}-\d\d-\d\d$/.test(parts.get("on")) ? parts.get("on") : "";
  for (const [id, text] of parts) {
    if (!Object.hasOwn(ASKED, id)) continue;
    if (!found.has(id)) found.set(id, { on, id, said: [] });
    found.get(id).said.push(text.slice(0, LONGEST));
  }
  return [...found.values()];
}

function joined(old, fresh) {
  const same = (one, other) => one.id === other.id && one.on === other.on;
  return [...old.filter((one) => !fresh.some((other) => same(one, other))), ...fresh];
}

// Right, wrong with what it mistakes, or neither, where the words were the lecture's own.
function judged({ question, choices, right }, text) {
  if (choices.includes(text) && Number.isInteger(right)) {
    const is = choices.indexOf(text) === right;
    const { slip, says } = attnGuess.judge(question, text);
    return { right: is, says: is || !slip ? "" : says };
  }
  const { unread, right: is, says } = attnGuess.judge(question, text);
  return unread ? {} : { right: Boolean(is), says: is ? "" : says };
}

const WHERE = remembers()
  ? "They are kept in this browser and nowhere else."
  : "This browser keeps nothing for this page: they stand in its address alone, which you can save.";
const last = ({ said }) => said.findLast(Boolean) ?? "";

function entry(one) {
  const about = ASKED[one.id];
  const said = one.said.filter(Boolean);
  const { right, says } = judged(about, last(one));
  const guesses = said.map((text) => text.replaceAll("; ", ", ")).join(", then ");
  const sign = right === undefined ? "" : right ? "✓ " : "✗ ";
  const line = make("p", { className: right ? "right" : "" }, `${sign}You said ${guesses || "nothing"}. `);
  if (says) line.append(make("span", { innerHTML: says }));
  const answer = make(
    "details",
    {},
    make("summary", { textContent: "The answer" }),
    make("div", { innerHTML: about.answer }),
  );
  const again = make("a", { href: about.at, textContent: about.section });
  return make(
    "section",
    { className: "kept-guess" },
    make("h3", { textContent: about.ask }),
    line,
    make("p", {}, "In the lesson: ", again),
    answer,
  );
}

function show(all) {
  place.replaceChildren();
  if (!all.length) {
    place.append(
      make("p", {
        textContent:
          "Nothing is kept here yet. Where a lecture lets you answer by phone, its page leads here at the end. " +
          "What you guess in a lesson stands in the lesson itself.",
      }),
    );
    return;
  }
  const wrong = all.filter((one) => judged(ASKED[one.id], last(one)).right === false);
  const sure = all.filter((one) => judged(ASKED[one.id], last(one)).right).length;
  place.append(
    make("p", {
      textContent: `${all.length} guess${all.length === 1 ? "" : "es"}, ${sure} right in the end. ${WHERE}`,
    }),
  );
  if (wrong.length) {
    const links = new Map(wrong.map(({ id }) => [`${ASKED[id].lesson}: ${ASKED[id].section}`, ASKED[id].at])); // each once
    const list = [...links].map(([textContent, href]) => make("li", {}, make("a", { href, textContent })));
    place.append(make("h2", { textContent: "To read again" }), make("ul", {}, ...list));
  }
  for (const [lesson, guesses] of [...byLesson(all)].sort(
    ([one], [other]) => Number.parseInt(one, 10) - Number.parseInt(other, 10),
  )) {
    const days = [...new Set(guesses.map(({ on }) => on).filter(Boolean))].sort().join(", ");
    place.append(
      make("h2", { textContent: lesson }),
      make("p", { className: "days", textContent: days }),
      ...guesses.map(entry),
    );
  }
  const forget = make("button", { type: "button", className: "button", textContent: "Forget all of it" });
  forget.onclick = () => {
    if (forget.dataset.sure) {
      record.set([]);
      history.replaceState(null, "", location.pathname + location.search);
      show([]);
    }
    forget.dataset.sure = "yes";
    forget.textContent = "Forget it for good?";
  };
  const print = make("button", {
    type: "button",
    className: "button",
    textContent: "Print",
    onclick: () => window.print(),
  });
  place.append(make("p", { className: "orders" }, print, " ", forget));
}

function byLesson(all) {
  const found = new Map();
  for (const one of all) found.set(ASKED[one.id].lesson, [...(found.get(ASKED[one.id].lesson) ?? []), one]);
  return found;
}

window.addEventListener("beforeprint", () => {
  for (const fold of place.querySelectorAll("details")) fold.open = true;
});

function read() {
  const fresh = inTheLink();
  const all = joined(kept(), fresh);
  if (fresh.length && record.set(all)) history.replaceState(null, "", location.pathname + location.search);
  show(all);
}
window.addEventListener("hashchange", read);
read();
