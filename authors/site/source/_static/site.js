// What a page does besides its boards: guesses are answered, boards remember where they were, wide things are reached.

import { entryOf, triesOf, verdictOf } from "../../../../workbench/questions/entry.js";
import { all, make, memory, remembers } from "../../../pages/kit.js";
import { ownLines, setUpLine } from "../../../pages/line_field.js";
import { qrCode } from "../../../pages/qr.js";

const page =
  location.pathname
    .split("/")
    .pop()
    .replace(/\.html$/, "") || "index";
const home = new URL(document.documentElement.dataset.content_root, document.baseURI).pathname; // of this edition
const lasting = (name) => memory("localStorage", `attention:${home}:${name}`);
const ofTab = (name) => memory("sessionStorage", `attention:${home}:${name}`);

// --------------------------------------------------------------------------------------------------- guesses

const kept = lasting(page); // guess or line → { text, right, shown, once: right at once, done, again: is no guess }
const typed = lasting(`${page}:typed`); // guess → what stands in its line, asked or not
const order = lasting("begun"); // pages, as they were begun
let places = null; // what says where a reader is
const wasTried = (one) => one.done || typeof one.once === "boolean";

function remember(id, again, state) {
  const { once = null, done = false, right = false } = kept.get()?.[id] ?? {};
  if (!again) state.right ||= right; // a guess that was right once counts, whatever was tried afterwards
  state.done = done || state.right || state.shown;
  kept.set({ ...kept.get(), [id]: { ...state, once: once ?? state.once ?? null, again } });
  if (!order.get()?.includes(page)) order.set([...(order.get() ?? []), page]);
  sayHowFar();
}

function setUp(form) {
  const verdict = form.querySelector(".verdict");
  const again = form.dataset.again === "true";
  const question = JSON.parse(form.dataset.question);
  const tries = triesOf(Boolean(kept.get()?.[form.id]?.done));
  function say({ html, kind }) {
    verdict.innerHTML = html;
    verdict.className = `verdict ${kind}`;
    form.querySelector(".how").hidden = kind !== "open"; // what was read needs not be told how to write it
  }
  function reveal() {
    form.querySelector(".answer").hidden = again;
    form.querySelector(".show")?.remove();
    show(waiting(form));
  }
  function guess(text) {
    const judged = attnGuess.judge(question, text);
    const { right, unread } = judged;
    tries.take(judged);
    const shown = tries.isKnown;
    say(verdictOf(judged, shown || again));
    if (shown) reveal();
    else entry.again();
    remember(form.id, again, { text, right: Boolean(right), shown, once: unread ? null : Boolean(right) });
  }
  const fields = all("input, select", form);
  const entry = entryOf({
    fields,
    words: all(".word", form),
    button: form.querySelector("button:not([type])"),
    send: (text) => guess(text),
    refuse: (words) => say({ html: words, kind: "open" }),
  });
  form.querySelector(".show")?.addEventListener("click", () => {
    say({ html: "", kind: "open" });
    tries.isKnown = true;
    reveal();
    remember(form.id, again, { text: "", right: false, shown: true });
  });
  form.addEventListener("input", () => typed.set({ ...typed.get(), [form.id]: entry.text() }));
  const before = kept.get()?.[form.id];
  entry.put(String(typed.get()?.[form.id] ?? before?.text ?? ""));
  if (before?.text) guess(String(before.text));
  else if (before) reveal();
}

// What answers a question: the folds below it, up to the next question, heading or board, which has an answer of its own.
function waiting(form) {
  const found = [];
  const stops = "article form.guess, article :is(h1, h2, h3), .tag_blank, .saved-board:not(.tag_answer *)";
  for (const node of all(`${stops}, details.after-guess, .tag_answer details`)) {
    if (node === form) found.length = 0;
    else if (!node.matches("details")) {
      if (form.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING) return found;
    } else found.push(node);
  }
  return found;
}

// One line stands below a question until it is answered, and opens all that answers it: texts, pictures, code.
function foldAsOne(form) {
  const folds = waiting(form);
  const first = folds.find((node) => node.matches(".after-guess"));
  const others = folds.filter((node) => first && node !== first);
  for (const fold of others) fold.classList.add("joined");
  first?.addEventListener("toggle", () => show(others, first.open));
  show(others, false);
}
function show(folds, isOpen = true) {
  for (const fold of folds) {
    fold.open = isOpen;
    (fold.closest(".cell") ?? fold).hidden = !isOpen;
  }
}

// Who comes by a link to what is folded there comes to read it.
function openLinked() {
  const place = document.querySelector(":target");
  const folds = all("form.guess")
    .map(waiting)
    .find((below) => below.some((fold) => fold.contains(place)));
  if (!folds) return;
  show(folds);
  place.scrollIntoView();
}

all("form.guess").forEach((form) => {
  foldAsOne(form);
  setUp(form);
});
window.addEventListener("load", openLinked);
window.addEventListener("hashchange", openLinked);

// ---------------------------------------------------------------------------------------------- lines of one's own

// What judges a line, and what was recorded for those of this page, come when the first field is touched.
let parts = null;
function lineParts() {
  const script = (name) =>
    new Promise((resolve, reject) => {
      const src = new URL(`${document.documentElement.dataset.content_root}_static/${name}.js`, document.baseURI).href;
      const node = make("script", { src, onload: resolve, onerror: reject });
      document.head.append(node);
    });
  parts ??= Promise.all([script("lines"), script(`lines/${page}`)]).then(() => ({
    lines: attnLines,
    lesson: window.attnLesson,
  }));
  parts.catch(() => (parts = null));
  return parts;
}
const isRight = (form) => kept.get()?.[form.id]?.right;

const wordsOf = (heading) => heading.innerHTML.replace(/<a class="headerlink".*?<\/a>/, "");

/** The full stop of a sentence that ends with these words; a question has its own sign. */
const fullStop = (words) => (/[.?!]$/.test(words.trim()) ? "" : ".");
function setUpOwnLine(form) {
  const section = form.closest("section[id]");
  const heading = section?.querySelector("h1, h2, h3");
  const text = typed.get()?.[form.id];
  const before = kept.get()?.[form.id];
  const isStale = text !== undefined && text !== before?.text;
  setUpLine(form, {
    ready: lineParts,
    before: { text: text ?? before?.text, said: isStale ? null : before?.said },
    done: () =>
      new Set(
        ownLines()
          .filter(isRight)
          .map((one) => one.dataset.line),
      ),
    keep: (state) => remember(form.id, true, { ...state, once: state.right }),
    typed: (now) => typed.set({ ...typed.get(), [form.id]: now }),
    again: heading ? `Read again: <a href="#${section.id}">${wordsOf(heading)}</a>${fullStop(wordsOf(heading))}` : "",
  });
  const shows = form.closest(".cell").nextElementSibling?.querySelector("details");
  shows?.addEventListener("toggle", () => {
    const state = kept.get()?.[form.id] ?? { text: form.querySelector("textarea").value, right: false };
    if (shows.open && !state.done) remember(form.id, true, { ...state, shown: true });
  });
}
ownLines().forEach(setUpOwnLine);
// The guesses of a page that this browser knows; exercises are none.
function guessesOn(name) {
  return Object.values(lasting(name).get() ?? {}).filter((one) => one && !one.again);
}
function sayHowFar() {
  for (const place of all(".so-far")) {
    const right = guessesOn(place.dataset.page).filter((one) => one.right).length;
    place.textContent = `${right} of ${place.dataset.guesses} guesses right`;
  }
  for (const place of all(".standing")) sayWhereYouStand(place);
  places?.count();
}

// The end of the questions over all lessons: how many were right at once, and which lessons the others ask to open.
function sayWhereYouStand(place) {
  const forms = all("form.guess");
  const tried = forms.filter((form) => wasTried(kept.get()?.[form.id] ?? {}));
  const slipped = tried.filter((form) => !kept.get()[form.id].once);
  const found = slipped.flatMap((form) => all("a", form.closest(".cell").previousElementSibling));
  const named = Object.fromEntries(found.map((link) => [Number(/\d+/.exec(link.textContent)), link.href]));
  const links = Object.entries(named).map(([number, href]) => make("a", { href, textContent: `lesson ${number}` }));
  const count = `${tried.length} of ${forms.length} answered, ${tried.length - slipped.length} right at once.`;
  const told = [tried.length ? count : "What slips is named here, with the lessons to open again."];
  if (links.length) told.push(" To open again: ", ...links.flatMap((link, k) => [k ? ", " : "", link]), ".");
  else if (tried.length === forms.length) told.push(" Nothing slipped.");
  place.replaceChildren(...told);
}
sayHowFar();

// ------------------------------------------------------------------------------------------------- for later

// What is written in the notebook is for a computer: its button hands over the link to this place, and leads nowhere.
function setUpLater(place) {
  const [button, ways] = place.children;
  button.addEventListener("click", () => {
    if (!ways.children.length) ways.append(...waysTo(place));
    ways.hidden = !ways.hidden;
    button.setAttribute("aria-expanded", String(!ways.hidden));
  });
}
function waysTo(place) {
  const published = document.querySelector('meta[property="og:url"]')?.content;
  const base = location.protocol === "file:" && published ? published : location.href;
  const link = `${base.split("#")[0]}#${place.id}`;
  const copy = make("button", { type: "button", className: "button", textContent: "Copy the link" });
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(link);
      copy.textContent = "Copied";
    } catch {
      copy.textContent = link; // to be marked and copied
    }
  });
  const subject = encodeURIComponent(document.title);
  const mail = `mailto:?subject=${subject}&body=${encodeURIComponent(link)}`;
  const { notebook } = place.dataset;
  const code = make("div", { className: "code", innerHTML: qrCode(link, "This place as a QR code") });
  return [
    make("p", { textContent: "You write this one in Python, in the notebook. Take the link to this place along:" }),
    copy,
    make("a", { className: "button", href: mail, textContent: "Mail it" }),
    ...(notebook ? [make("a", { className: "button", href: notebook, textContent: "Open it in Colab" })] : []),
    code,
  ];
}
all(".later").forEach(setUpLater);

// ----------------------------------------------------------------------------------------------------- cards

// How much of a lesson was guessed, on its ring: 0, a part, or all.
function drawRing(card) {
  const of = Number(card.dataset.guesses);
  const guesses = guessesOn(card.dataset.page);
  const done = guesses.filter((one) => one.done).length;
  const ring = card.querySelector(".ring");
  ring.querySelector(".part").setAttribute("stroke-dasharray", `${done / of} 1`);
  ring.classList.toggle("finished", done >= of);
  const isBegun = guesses.some(wasTried);
  if (isBegun) ring.setAttribute("aria-label", done < of ? `${done} of ${of} guesses done` : "finished");
  return { card, isBegun, isFinished: done >= of };
}

// The cards, the one to go on with, and one line on all: each guess that was made counts once in both of its numbers.
function showCards() {
  const cards = all(".cards a[data-page]").map(drawRing);
  const asked = [...cards.map(({ card }) => card.dataset.page), "where_you_stand"];
  const made = asked.flatMap(guessesOn).filter((one) => typeof one.once === "boolean");
  const finished = cards.filter((one) => one.isFinished);
  const when = ({ card }) => order.get()?.indexOf(card.dataset.page) ?? 0;
  const begun = cards.filter((one) => one.isBegun && !one.isFinished).sort((one, other) => when(one) - when(other));
  const next = begun[0] ?? cards.find((one) => !one.isFinished);
  for (const { card } of cards) card.classList.toggle("next", card === next?.card && cards.some((one) => one.isBegun));
  if (!finished.length && !begun.length && !made.length) return;
  const [told, onwards] = document.querySelector(".how-far").children;
  const lessons = [finished.length && `${finished.length} finished`, begun.length && `${begun.length} begun`];
  told.textContent = [
    ...[lessons.filter(Boolean).join(", ")].filter(Boolean),
    `${made.length} guess${made.length === 1 ? "" : "es"}, ${made.filter((one) => one.once).length} right at once`,
    remembers() ? "Kept in this browser only." : "Kept until you leave this page.",
  ].join(". ");
  onwards.hidden = !next;
  if (!next) return;
  onwards.href = next.card.getAttribute("href");
  onwards.textContent = `${next.isBegun ? "Go on with" : "Begin with"} lesson ${next.card.querySelector("h4 span").textContent}`;
}
if (document.querySelector(".cards")) {
  showCards();
  window.addEventListener("pageshow", showCards); // Back finds the page as it was left
  window.addEventListener("storage", showCards); // as does who guesses in another window
}

// ---------------------------------------------------------------------------------------------------- boards

// A board's numbers stay, however the page is left; a link to them is the page's address and the numbers.
// What is no letter of ASCII, as the √ of a choice, is written as JSON has it; then base64 has no + and no / either.
const escaped = (sign) => `\\u${sign.charCodeAt().toString(16).padStart(4, "0")}`;
const coded = ({ inputs, settings }) => btoa(JSON.stringify({ inputs, settings }).replace(/[^ -=@-}]/g, escaped));
const decoded = (text) => {
  try {
    return JSON.parse(atob(text));
  } catch {
    return null;
  }
};
const alike = (one, other) => coded(one) === coded(other);
const boards = all(".saved-board");
const cameBack = performance.getEntriesByType("navigation")[0]?.type !== "navigate"; // by reload, Back or Forward

// The board that the address names and its numbers, null where they cannot be read. Programs that pass a link on write
// = as %3D, or take the full stop of its sentence along.
function linked() {
  let hash = location.hash;
  try {
    hash = decodeURIComponent(hash);
  } catch {
    /* as it stands */
  }
  if (!hash.startsWith("#board=") || !boards.length) return null;
  const [, i, text] = /^#board=(\d+)&(?:amp;)?now=([\w=]+)\W*$/.exec(hash.replace(/\s/g, "")) ?? [];
  const now = decoded(text);
  return { place: boards[i] ?? boards[0], now: boards[i] && now?.inputs && now.settings ? now : null };
}
const mine = (place) => (linked()?.place === place ? linked() : null);

function setUpBoard(place, i) {
  const tab = ofTab(`${page}:board-${i}`);
  const last = lasting(`${page}:board-${i}`);
  const notice = make("p", { className: "board-notice", role: "status" });
  let link = tab.get()?.link; // the last one whose numbers were taken in this tab, or that was made here
  const keep = () => {
    const { inputs, settings, answer, proof, past } = place.now();
    const named = mine(place);
    if (named?.now && alike(named.now, place.now())) link = location.hash;
    else if (named) history.replaceState(history.state, "", location.href.split("#")[0]); // it is stale
    last.set({ inputs, settings, answer, proof, past });
    tab.set({ inputs, settings, answer, proof, past, link });
  };
  const damaged = () => (notice.textContent = "This link is damaged: its numbers cannot be read. These are others.");
  place.begin = () => {
    const asked = mine(place);
    const own = tab.get();
    const isOld = cameBack && own && link === location.hash; // edits since are newer
    const taken = attnBoards.wake(place, isOld ? null : asked?.now, own, last.get());
    if (asked && !isOld && taken !== asked.now) damaged();
    else if (asked) keep();
    else if (taken && !own && !alike(taken, place.start))
      notice.textContent = "These are your numbers from last time. Reset brings back the example.";
  };
  place.take = ({ now }) => (now && place.put(now)) || damaged();
  place.addEventListener("needed", () => place.begin());
  place.addEventListener("moved", () => {
    notice.textContent = "";
    keep();
  });
  async function copyLink() {
    history.replaceState(history.state, "", `#board=${i}&now=${coded(place.now())}`);
    keep();
    try {
      await navigator.clipboard.writeText(location.href);
      return "The link is copied.";
    } catch {
      return "The link stands in the address bar.";
    }
  }
  place.more = [{ words: "Link to these numbers", act: copyLink }];
  place.before(notice);
  place.addEventListener("prepared", () => goTo(place)); // made so by a sentence, which may stand far from it
}
boards.forEach(setUpBoard);

// A board at the upper edge of the screen grows upwards, so that what is read below it stays where it is; browsers see
// to what lies above the edge.
function beginInPlace(place) {
  const { top, bottom } = place.getBoundingClientRect();
  place.begin();
  const grown = place.getBoundingClientRect().bottom - bottom;
  if (top < 0 && bottom > 0 && bottom < innerHeight) scrollBy({ top: grown, behavior: "instant" });
}

// The first board begins at once, another when it comes near, in a task of its own; all at once where a place is gone
// to, as heights change.
const coming = new IntersectionObserver(
  (seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      coming.unobserve(target);
      setTimeout(() => target.isAwake || beginInPlace(target));
    }
  },
  { rootMargin: "100% 0px" },
);
for (const place of boards) {
  if (place === boards[0] || cameBack || location.hash) place.begin();
  else coming.observe(place);
}

// A number that is being typed when the page is left is taken as if Enter had been pressed.
window.addEventListener(
  "pagehide",
  () => document.activeElement?.closest(".attn-board") && document.activeElement.blur(),
);

function goTo(place) {
  for (let fold = place.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  const { top, bottom, height } = place.getBoundingClientRect();
  const seen = Number.parseFloat(getComputedStyle(root).scrollPaddingTop) || 0; // from here on
  if (top < seen || bottom > innerHeight) place.scrollIntoView({ block: height < innerHeight ? "center" : "start" });
}

function goToLinked() {
  const link = linked();
  if (link) goTo(link.now ? link.place : link.place.previousElementSibling);
}
// Which second readings are open, this tab keeps.
const folds = all("details.second-reading");
const unfolded = ofTab(`${page}:unfolded`);
for (const fold of folds) {
  if (unfolded.get()?.includes?.(fold.parentElement.id)) fold.open = true;
  fold.addEventListener("toggle", () =>
    unfolded.set(folds.filter((one) => one.open).map((one) => one.parentElement.id)),
  );
}

// Who comes to a second reading by its heading, from the margin or a link, comes to read it.
function unfoldLinked() {
  const fold = document.querySelector("section:target > details.second-reading");
  if (fold) fold.open = true;
}
unfoldLinked();
window.addEventListener("hashchange", () => {
  unfoldLinked();
  const link = linked();
  if (!link) return;
  link.place.take(link);
  goToLinked();
});

// ---------------------------------------------------------------------------------------------------- header

// The button turns the page dark or light; where that is what the system asks for, nothing is kept.
const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
document.querySelector("button.shade").addEventListener("click", () => {
  const isDark = root.dataset.shade ? root.dataset.shade === "dark" : dark.matches;
  root.dataset.shade = isDark === dark.matches ? (isDark ? "light" : "dark") : "";
  lasting("shade").set(root.dataset.shade);
  frame();
});
// What a browser draws around the page has its colour; by the system each of the two says so itself.
function frame() {
  for (const meta of all('meta[name="theme-color"]')) {
    meta.dataset.own ??= meta.content;
    meta.content = root.dataset.shade ? getComputedStyle(document.body).backgroundColor : meta.dataset.own;
  }
}
frame();
for (const menu of all(".menu"))
  menu.addEventListener("click", ({ target }) => target.closest("a") && menu.hidePopover());

// Said once, above the page's words: that nothing is remembered, and that what is younger than this browser is missing.
const isKeeper = document.querySelector("form.guess, .saved-board, .cards");
const lacks = [
  isKeeper &&
    !remembers() &&
    "This browser keeps nothing for this page here: all of it works, and is forgotten when you leave.",
  attnBoards.looksOlder() && "This page looks plainer in this browser than in a newer one; all of it works.",
].filter(Boolean);
if (lacks.length)
  document.querySelector("article").prepend(make("p", { className: "needs", textContent: lacks.join(" ") }));

// How to run a lesson stands folded at the top of its page: what leads there opens it.
for (const link of all('a[href="#run-it"]'))
  link.addEventListener("click", () => (document.getElementById("run-it").open = true));

// After the first visit the site opens without a network, unless the browser is asked to save data: see worker.js.
function workers() {
  try {
    return location.protocol.startsWith("http") ? navigator.serviceWorker : undefined;
  } catch {
    return undefined; // in a frame that keeps nothing
  }
}
if (workers()) {
  const home = document.documentElement.dataset.content_root;
  const keep = () =>
    workers()
      .register(`${home}sw.js`)
      .catch(() => {}); // refused: as if there were none
  if (!navigator.connection?.saveData) window.addEventListener("load", keep);
  workers().ready.then(() => all(".offline").forEach((told) => (told.hidden = false)));
}

// ---------------------------------------------------------------------------------------------- where you are

// The section that is read, how many there are, and a dot for each guess and line of each. On a wide screen they stand in
// the margin beside the text, with the map of the steps in lesson 1; what is wider than the text has the margin to itself.
// On another screen the button of the contents says it, which stays in sight there, and so do the contents themselves.
const AROUND = 2; // sections before and after the one that is read
const STUCK = 44; // px from the top
function whereYouAre() {
  const headings = all("article > section > section > :is(h2, details.second-reading > summary > h2)");
  if (headings.length < 3) return null;
  const sections = headings.map((heading) => heading.closest("section"));
  const forms = sections.map((section) => all("form:is(.guess, .own-line)", section));
  const views = [
    document.getElementById("on-this-page") && inTheContents(sections),
    document.querySelector("form.guess") && inTheMargin(headings),
  ].filter(Boolean);

  function light() {
    const tops = headings.map((heading) => heading.getBoundingClientRect().top - innerHeight / 2);
    const now = tops.findLastIndex((top) => top < 0);
    const end = tops[now + 1] ?? document.querySelector("article").getBoundingClientRect().bottom - innerHeight / 2;
    const read = now < 0 ? 0 : Math.min(1, (now + tops[now] / (tops[now] - end)) / headings.length);
    for (const view of views) view.light(now, read);
  }
  function count() {
    const states = forms.map((those) => those.map((form) => Boolean(kept.get()?.[form.id]?.done)));
    for (const view of views) view.count(states);
  }
  window.addEventListener("scroll", light, { passive: true });
  window.addEventListener("resize", light);
  count();
  return { light, count };
}

const newDots = () => make("span", { className: "dots", role: "img", hidden: true });
function drawDots(dots, states) {
  dots.hidden = !states?.length;
  if (dots.hidden) return;
  dots.setAttribute("aria-label", `${states.filter(Boolean).length} of ${states.length} done`);
  dots.replaceChildren(...states.map((isDone) => make("i", { className: isDone ? "done" : "" })));
}
function mark(link, isNow) {
  if (isNow) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
}

function inTheContents(sections) {
  const menu = document.getElementById("on-this-page");
  const header = document.querySelector("header.top");
  const along = header.querySelector(".along");
  const links = sections.map((section) => menu.querySelector(`a[href="#${section.id}"]`));
  const dots = links.map((link) => {
    const row = newDots();
    link.replaceChildren(make("span", {}, ...link.childNodes), row); // words in italics stay in their line
    return row;
  });
  const place = make("span");
  const here = newDots();
  let states = [];
  let current = null; // no section yet
  along.replaceChildren(here, place);
  menu.addEventListener("toggle", () => {
    const row = links[current];
    if (row) menu.scrollTop = row.offsetTop - menu.clientHeight / 2;
  });
  new ResizeObserver(() => root.style.setProperty("--covered", `${header.offsetHeight}px`)).observe(header);
  return {
    light(now, read) {
      header.style.setProperty("--read", read.toFixed(3));
      if (now === current) return;
      current = now;
      place.textContent = now < 0 ? `${links.length} parts` : `${now + 1} of ${links.length}`;
      drawDots(here, states[now]);
      for (const [k, link] of links.entries()) mark(link, k === now);
    },
    count(counts) {
      states = counts;
      for (const [k, row] of dots.entries()) drawDots(row, states[k]);
      drawDots(here, states[current]);
    },
  };
}

function inTheMargin(headings) {
  const links = headings.map((heading) =>
    make("a", { href: `#${heading.closest("section").id}` }, heading.textContent, newDots()),
  );
  const map = document.querySelector("svg.map");
  const nav = make("nav", { className: "here", "aria-label": "Where you are" }, ...links, ...(map ? [map] : []));
  const column = make("div", { className: "margin" }, nav);
  const article = document.querySelector("article");
  article.append(column);

  // In the words' margin there is room unless something that is wider than words stands beside it.
  function isFree() {
    const { left, top, bottom } = nav.getBoundingClientRect();
    const others = all("article :is(.attn-board, .attn-figure, img, pre, table, .opening, .math-wrapper math)");
    return !others.some((one) => {
      const box = one.getBoundingClientRect();
      const isNear = box.right > left - 20 && box.top < bottom + 16 && box.bottom > top - 16;
      return isNear && one.checkVisibility();
    });
  }
  function light(now) {
    if (!column.getClientRects().length) return;
    const begins = (document.querySelector(".opening") ?? document.querySelector("h1")).getBoundingClientRect().bottom;
    column.style.top = `${begins - article.getBoundingClientRect().top + 20}px`;
    const step = Number(/^Step (\d+)/.exec(headings[now]?.textContent)?.[1] ?? 0);
    const isReading = begins < STUCK; // then the sections around it are enough
    const first = Math.max(0, Math.min(now - AROUND, links.length - 2 * AROUND - 1));
    links.forEach((link, k) => {
      link.hidden = isReading && (k < first || k > first + 2 * AROUND);
      mark(link, k === now);
    });
    if (map) {
      for (const box of all("[data-step]", map)) box.classList.toggle("lit", Number(box.dataset.step) === step);
      map.classList.toggle("shown", Boolean(step));
    }
    nav.classList.add("shown"); // so that it has a place
    nav.classList.toggle("shown", isFree());
  }
  const count = (states) => links.forEach(({ lastChild }, k) => drawDots(lastChild, states[k]));
  return { light, count };
}
places = whereYouAre();

// ------------------------------------------------------------------------------------------------------ keyboard

// A phone's keyboard may lie on the page without making it shorter: what stands at its foot then stands above the keys.
function standAboveKeys() {
  const { height, offsetTop, scale } = window.visualViewport;
  const covered = scale > 1.05 ? 0 : Math.max(0, innerHeight - height - offsetTop); // enlarged, it is no keyboard
  root.style.setProperty("--keyboard", `${Math.round(covered)}px`);
}
for (const change of ["resize", "scroll"]) window.visualViewport?.addEventListener(change, standAboveKeys);

// ------------------------------------------------------------------------------------------------------ reach

// Whatever scrolls sideways on this screen can be reached, and so scrolled, with the keyboard.
function reach() {
  // looked at first and changed then: every look after a change costs the page a layout
  const boxes = all("article :is(p:not(.unseen), pre, .math-wrapper, .table-wrapper, .output div)");
  const wide = new Set(
    boxes.filter((box) => box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX !== "visible"),
  );
  const going = new Set([...wide].filter(goesOn));
  for (const box of boxes) {
    if (wide.has(box)) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
    box.classList.toggle("is-wide", wide.has(box)); // which is said,
    box.classList.toggle("goes-on", going.has(box)); // and seen
    box.onscroll = wide.has(box) ? () => box.classList.toggle("goes-on", goesOn(box)) : null;
  }
}
const goesOn = (box) => box.scrollWidth - box.clientWidth - box.scrollLeft > 2;

// Without a face that is made for formulas, as on most phones, an exponent may stand a whole line above its letter.
function bringExponentsDown() {
  const probe = make("div", { className: "unseen", innerHTML: "<math><msup><mi>K</mi><mn>2</mn></msup></math>" });
  document.querySelector("article").append(probe);
  const [letter, exponent] = [...probe.querySelector("msup").children].map((one) => one.getBoundingClientRect());
  root.classList.toggle("high-exponents", letter.bottom - exponent.bottom > 0.8 * letter.height);
  probe.remove();
}

// The boards of a page, which take their room as it changes, have observed it for longer and are told first.
window.addEventListener("load", () => {
  bringExponentsDown();
  goToLinked();
  const fits = new ResizeObserver(() => {
    reach();
    places?.light();
  });
  fits.observe(document.querySelector("article"));
});

// In print hints and answers stand at the end, with what was folded under the question; all else that is folded is open,
// but for imports, and every board has come.
let opened = [];
window.addEventListener("beforeprint", () => {
  for (const place of boards) if (!place.isAwake) place.begin();
  const hints = make("section", { className: "answers" }, make("h2", { textContent: "Hints" }));
  for (const those of all(".hints")) {
    const part = make("div", { className: "answered" }, make("b", { textContent: those.dataset.exercise }));
    for (const [i, fold] of those.querySelectorAll("details").entries()) {
      const clone = fold.cloneNode(true);
      clone.querySelector("summary").replaceWith(` ${i + 1}. `);
      part.append(...clone.childNodes);
    }
    hints.append(part);
  }
  const end = make("section", { className: "answers" }, make("h2", { textContent: "Answers" }));
  for (const [i, form] of all("form.guess")
    .filter((one) => one.dataset.again === "false")
    .entries()) {
    form.dataset.number = i + 1;
    const innerHTML = `<b>${i + 1}.</b> ${form.querySelector(".answer").innerHTML}`;
    const part = make("div", { className: "answered", innerHTML });
    for (const fold of waiting(form).filter((node) => node.matches(".after-guess"))) {
      const clone = fold.cloneNode(true);
      clone.querySelector("summary").remove();
      part.append(...clone.childNodes);
    }
    end.append(part);
  }
  for (const section of [hints, end])
    if (section.children.length > 1) document.querySelector("article").append(section);
  opened = all("article details:not([open], .after-guess, .hints *, .tag_answer *, .tag_filled *, .tag_set-up *)");
  opened.forEach((fold) => (fold.open = true));
});
window.addEventListener("afterprint", () => {
  all("section.answers").forEach((end) => end.remove());
  opened.forEach((fold) => (fold.open = false));
});
