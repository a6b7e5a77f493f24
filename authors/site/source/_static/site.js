// What a page does besides its boards: guesses are answered, boards remember where they were, wide things are reached.

const page =
  location.pathname
    .split("/")
    .pop()
    .replace(/\.html$/, "") || "index";
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const store = (place, name) => ({
  get: () => {
    try {
      return JSON.parse(place.getItem(`attention:${name}`));
    } catch {
      return null;
    }
  },
  set: (value) => {
    try {
      place.setItem(`attention:${name}`, JSON.stringify(value));
    } catch {
      /* private windows may refuse */
    }
  },
});

// --------------------------------------------------------------------------------------------------- guesses

const kept = store(localStorage, page); // guess → { text, right, shown, once: right at once, done, again: may be repeated }
const typed = store(localStorage, `${page}:typed`); // guess → what stands in its line, asked or not
const order = store(localStorage, "begun"); // pages, as they were begun
const wasTried = (one) => one.done || typeof one.once === "boolean";

function setUp(form) {
  const input = form.querySelector("input");
  const verdict = form.querySelector(".verdict");
  const again = form.dataset.again === "true";
  const question = JSON.parse(form.dataset.question);
  const tried = new Set();
  function remember(state) {
    const { once = null, done = false } = kept.get()?.[form.id] ?? {};
    state.done = done || state.right || state.shown;
    kept.set({ ...kept.get(), [form.id]: { ...state, once: once ?? state.once ?? null, again } });
    if (!order.get()?.includes(page)) order.set([...(order.get() ?? []), page]);
    sayHowFar();
  }
  function say(text, right) {
    verdict.innerHTML = text;
    verdict.className = `verdict ${right ? "right" : "wrong"}`;
  }
  function reveal() {
    form.querySelector(".answer").hidden = again;
    form.querySelector(".show")?.remove();
    for (const fold of waiting(form)) fold.open = true;
  }
  function guess(text, missed = false) {
    const { right, unread, says, key } = attnGuess.judge(question, text);
    if (!right && !unread) tried.add(key);
    const enough = missed || tried.size > 1;
    say(`${right ? "✓" : unread ? "…" : "✗"} ${says}${right || unread || enough || again ? "" : " Try again."}`, right);
    if (right || enough) reveal();
    remember({ text, right: Boolean(right), shown: enough, once: unread ? null : Boolean(right) });
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.value.trim()) guess(input.value);
  });
  form.querySelector(".show")?.addEventListener("click", () => {
    say("", false);
    reveal();
    remember({ text: "", right: false, shown: true });
  });
  const words = all(".word", form);
  const showWord = () => {
    for (const word of words) word.setAttribute("aria-pressed", String(word.textContent === input.value));
  };
  for (const word of words) {
    word.addEventListener("click", () => {
      input.value = word.textContent;
      showWord();
      guess(input.value);
    });
  }
  input.addEventListener("input", () => typed.set({ ...typed.get(), [form.id]: input.value }));
  const before = kept.get()?.[form.id];
  input.value = typed.get()?.[form.id] ?? before?.text ?? "";
  showWord();
  if (before?.text) guess(String(before.text), before.shown);
  else if (before) reveal();
}

// What answers a question: the folds below it, up to the next question or heading.
function waiting(form) {
  const found = [];
  const stops = "article form.guess, article :is(h1, h2, h3), .tag_blank";
  for (const node of all(`${stops}, details.after-guess, .tag_answer details`)) {
    if (node === form) found.length = 0;
    else if (!node.matches("details")) {
      if (form.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING) return found;
    } else found.push(node);
  }
  return found;
}

all("form.guess").forEach(setUp);
// The guesses of a page that this browser knows; exercises are none.
function guessesOn(name) {
  return Object.values(store(localStorage, name).get() ?? {}).filter((one) => one && !one.again);
}
function sayHowFar() {
  for (const place of all(".so-far")) {
    const right = guessesOn(place.dataset.page).filter((one) => one.right).length;
    place.textContent = `${right} of ${place.dataset.guesses} guesses right`;
  }
  for (const place of all(".standing")) sayWhereYouStand(place);
}

// The end of the questions over all lessons: how many were right at once, and which lessons the others ask to open.
function sayWhereYouStand(place) {
  const forms = all("form.guess");
  const tried = forms.filter((form) => wasTried(kept.get()?.[form.id] ?? {}));
  const slipped = tried.filter((form) => !kept.get()[form.id].once);
  const found = slipped.flatMap((form) => all("a", form.closest(".cell").previousElementSibling));
  const named = Object.fromEntries(found.map((link) => [Number(/\d+/.exec(link.textContent)), link.href]));
  const links = Object.entries(named).map(([number, href]) =>
    Object.assign(document.createElement("a"), { href, textContent: `lesson ${number}` }),
  );
  const count = `${tried.length} of ${forms.length} answered, ${tried.length - slipped.length} right at once.`;
  const told = [tried.length ? count : "What slips is named here, with the lessons to open again."];
  if (links.length) told.push(" To open again: ", ...links.flatMap((link, k) => [k ? ", " : "", link]), ".");
  else if (tried.length === forms.length) told.push(" Nothing slipped.");
  place.replaceChildren(...told);
}
sayHowFar();

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
    "Kept in this browser only.",
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
  const tab = store(sessionStorage, `${page}:board-${i}`);
  const last = store(localStorage, `${page}:board-${i}`);
  const line = (kind) => Object.assign(document.createElement("p"), { className: kind });
  const notice = Object.assign(line("board-notice"), { role: "status" });
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

// The first board begins at once, another when it comes near, in a task of its own; all at once where a place is gone
// to, as heights change.
const coming = new IntersectionObserver(
  (seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      coming.unobserve(target);
      setTimeout(() => target.isAwake || target.begin());
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
  const { top, bottom, height } = place.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) place.scrollIntoView({ block: height < innerHeight ? "center" : "start" });
}

function goToLinked() {
  const link = linked();
  if (link) goTo(link.now ? link.place : link.place.previousElementSibling);
}
window.addEventListener("hashchange", () => {
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
  try {
    if (root.dataset.shade) localStorage.setItem("attention:shade", root.dataset.shade);
    else localStorage.removeItem("attention:shade");
  } catch {
    /* private windows may refuse */
  }
});
for (const menu of all(".menu"))
  menu.addEventListener("click", ({ target }) => target.closest("a") && menu.hidePopover());

// How to run a lesson stands folded at the top of its page: what leads there opens it.
for (const link of all('a[href="#run-it"]'))
  link.addEventListener("click", () => (document.getElementById("run-it").open = true));

// ------------------------------------------------------------------------------------------------------ map

// The map of the steps stays in sight beside the text, and the step that is being read is lit.
const map = document.querySelector("svg.map");
if (map) {
  const steps = all("article h2").map((heading) => [
    heading,
    Number(/^Step (\d+)/.exec(heading.textContent)?.[1] ?? 0),
  ]);
  const light = () => {
    const [, now] = steps.findLast(([heading]) => heading.getBoundingClientRect().top < innerHeight / 2) ?? [];
    for (const box of all("[data-step]", map)) box.classList.toggle("lit", Number(box.dataset.step) === now);
    map.classList.add("shown"); // so that it has a place
    const { left, top, bottom } = map.getBoundingClientRect();
    const isUnder = (box) => box.right > left && box.top < bottom && box.bottom > top;
    const others = all("article :is(.saved-board, img, pre, table)").map((node) => node.getBoundingClientRect());
    map.classList.toggle("shown", Boolean(now) && !others.some(isUnder));
  };
  document.body.append(map);
  window.addEventListener("scroll", light);
  light();
}

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
    box.classList.toggle("goes-on", going.has(box)); // which is seen, too
    box.onscroll = wide.has(box) ? () => box.classList.toggle("goes-on", goesOn(box)) : null;
  }
}
const goesOn = (box) => box.scrollWidth - box.clientWidth - box.scrollLeft > 2;

// The boards of a page, which take their room as it changes, have observed it for longer and are told first.
window.addEventListener("load", () => {
  goToLinked();
  new ResizeObserver(reach).observe(document.querySelector("article"));
});

// In print the answers stand at the end, with what was folded under them; hints and everything else folded is open.
let opened = [];
window.addEventListener("beforeprint", () => {
  const end = Object.assign(document.createElement("section"), { className: "answers" });
  end.append(Object.assign(document.createElement("h2"), { textContent: "Answers" }));
  for (const [i, form] of all("form.guess")
    .filter((one) => one.dataset.again === "false")
    .entries()) {
    form.dataset.number = i + 1;
    const part = Object.assign(document.createElement("div"), { className: "answered" });
    part.innerHTML = `<b>${i + 1}.</b> ${form.querySelector(".answer").innerHTML}`;
    for (const fold of waiting(form).filter((node) => node.matches(".after-guess"))) {
      const clone = fold.cloneNode(true);
      clone.querySelector("summary").remove();
      part.append(...clone.childNodes);
    }
    end.append(part);
  }
  if (end.children.length > 1) document.querySelector("article").append(end);
  opened = all("article details:not([open], .after-guess, .tag_answer *, .tag_filled *)");
  opened.forEach((fold) => (fold.open = true));
});
window.addEventListener("afterprint", () => {
  all("section.answers").forEach((end) => end.remove());
  opened.forEach((fold) => (fold.open = false));
});
