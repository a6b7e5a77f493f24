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

const kept = store(localStorage, page); // guess → { text, right, shown, again }
const typed = store(localStorage, `${page}:typed`); // guess → what stands in its line, asked or not

function setUp(form) {
  const input = form.querySelector("input");
  const verdict = form.querySelector(".verdict");
  const again = form.dataset.again === "true";
  const question = JSON.parse(form.dataset.question);
  const tried = new Set();
  function remember(state) {
    kept.set({ ...kept.get(), [form.id]: { ...state, again } });
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
    remember({ text, right: Boolean(right), shown: enough });
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
  input.addEventListener("input", () => typed.set({ ...typed.get(), [form.id]: input.value }));
  const before = kept.get()?.[form.id];
  input.value = typed.get()?.[form.id] ?? before?.text ?? "";
  if (before?.text) guess(before.text, before.shown);
  else if (before) reveal();
}

// What answers a question: the folds below it, up to the next question or heading.
function waiting(form) {
  const found = [];
  for (const node of all("article form.guess, article :is(h1, h2, h3), details.after-guess, .tag_answer details")) {
    if (node === form) found.length = 0;
    else if (!node.matches("details")) {
      if (form.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING) return found;
    } else found.push(node);
  }
  return found;
}

all("form.guess").forEach(setUp);
function sayHowFar() {
  for (const place of all(".so-far")) {
    const states = Object.values(store(localStorage, place.dataset.page).get() ?? {});
    const right = states.filter((state) => state?.right && !state.again).length; // exercises are no guesses
    place.textContent =
      right || place.dataset.page === page ? `${right} of ${place.dataset.guesses} guesses right` : "";
  }
}
sayHowFar();

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
  const tools = line("board-tools");
  const button = Object.assign(document.createElement("button"), {
    type: "button",
    textContent: "Link to these numbers",
  });
  const said = Object.assign(document.createElement("span"), { role: "status" });
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
    place.isAsLeft = Boolean(taken);
  };
  place.take = ({ now }) => (now && place.put(now)) || damaged();
  place.addEventListener("needed", () => place.begin());
  place.addEventListener("moved", () => {
    notice.textContent = said.textContent = "";
    keep();
  });
  button.addEventListener("click", async () => {
    history.replaceState(history.state, "", `#board=${i}&now=${coded(place.now())}`);
    keep();
    try {
      await navigator.clipboard.writeText(location.href);
      said.textContent = " Copied.";
    } catch {
      said.textContent = " It stands in the address bar.";
    }
  });
  tools.append(button, said);
  place.before(notice);
  place.after(tools);
  place.addEventListener("prepared", () => goTo(place)); // made so by a sentence, which may stand far from it
}
boards.forEach(setUpBoard);

// Each in a task of its own, so that a slow phone can be scrolled meanwhile; all at once where a place is gone to.
function beginNext() {
  const place = boards.find((one) => !one.model);
  if (!place) return;
  place.begin();
  cameBack || location.hash ? beginNext() : setTimeout(beginNext);
}
beginNext();

// A number that is being typed when the page is left is taken as if Enter had been pressed.
window.addEventListener(
  "pagehide",
  () => document.activeElement?.closest(".attn-board") && document.activeElement.blur(),
);

function goTo(place) {
  const { top, bottom, height } = place.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) place.scrollIntoView({ block: height < innerHeight ? "center" : "start" });
}

// On a visitor's first look at the first page its board shows once, step by step, what it does.
const played = store(localStorage, "played");
window.addEventListener("load", () => {
  if (page !== "index" || played.get() || boards[0].isAsLeft || matchMedia("(prefers-reduced-motion: reduce)").matches)
    return;
  new IntersectionObserver(
    ([{ isIntersecting, target }], sight) => {
      if (!isIntersecting) return;
      sight.disconnect();
      played.set(true);
      target.dispatchEvent(new Event("begin"));
    },
    { rootMargin: "-50% 0px" },
  ).observe(boards[0].querySelector(".attn-board"));
});

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
    map.classList.toggle("shown", Boolean(now));
  };
  document.querySelector(".sidebar-sticky").append(map);
  window.addEventListener("scroll", light);
  light();
}

// ------------------------------------------------------------------------------------------------------ reach

// Whatever scrolls sideways on this screen can be reached, and so scrolled, with the keyboard.
function reach() {
  // looked at first and changed then: every look after a change costs the page a layout
  const boxes = all(".content :is(p, pre, .math-wrapper, .table-wrapper, .output div)");
  const wide = new Set(
    boxes.filter((box) => box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX !== "visible"),
  );
  for (const box of boxes) {
    if (wide.has(box)) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
// The boards of a page, which take their room as it changes, have observed it for longer and are told first.
window.addEventListener("load", () => {
  goToLinked();
  new ResizeObserver(reach).observe(document.querySelector(".content"));
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
