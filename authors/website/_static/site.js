// What a page does besides its boards: guesses are answered, boards remember where they were, wide things can be reached.

const page = location.pathname.split("/").pop().replace(/\.html$/, "") || "index";
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const store = (place, name) => ({
  get: () => { try { return JSON.parse(place.getItem(`attention:${name}`)); } catch { return null; } },
  set: (value) => { try { place.setItem(`attention:${name}`, JSON.stringify(value)); } catch { /* private windows may refuse */ } },
});

// --------------------------------------------------------------------------------------------------- guesses

const kept = store(localStorage, page); // guess → { text, right, shown }

function setUp(form) {
  const input = form.querySelector("input"), verdict = form.querySelector(".verdict"), again = form.dataset.again === "true";
  const question = JSON.parse(form.dataset.question), tried = new Set();
  const remember = (state) => (kept.set({ ...kept.get(), [form.id]: state }), sayHowFar());
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
    say(`${right ? "✓" : "✗"} ${says}${right || unread || enough || again ? "" : " Try again."}`, right);
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
  const before = kept.get()?.[form.id];
  if (!before) return;
  input.value = before.text;
  if (before.text) guess(before.text, before.shown);
  else reveal();
}

// What answers a question: the folds below it, up to the next question or heading.
function waiting(form) {
  const found = [];
  for (const node of all("article form.guess, article :is(h1, h2, h3), details.after-guess, .tag_answer details")) {
    if (node === form) found.length = 0;
    else if (!node.matches("details")) { if (form.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING) return found; }
    else found.push(node);
  }
  return found;
}

all("form.guess").forEach(setUp);
function sayHowFar() {
  for (const place of all(".so-far")) {
    const states = Object.values(store(localStorage, place.dataset.page).get() ?? {});
    const right = states.filter((state) => state.right).length;
    place.textContent = right || place.dataset.page === page ? `${right} of ${place.dataset.guesses} guesses right` : "";
  }
}
sayHowFar();

// ---------------------------------------------------------------------------------------------------- boards

// A board's state survives a reload of the page; a link to a state is the page's address and that state.
// What is no letter of ASCII, as the √ of a choice, is written as JSON has it; then base64 has no + and no / either.
const escaped = (sign) => `\\u${sign.charCodeAt().toString(16).padStart(4, "0")}`;
const coded = (now) => btoa(JSON.stringify(now).replace(/[^ -=@-}]/g, escaped));
const decoded = (text) => { try { return JSON.parse(atob(text)); } catch { return null; } };
const linked = () => /^#board=(\d+)&now=([\w=]+)$/.exec(location.hash);
const boards = all(".saved-board");

boards.forEach((place, i) => {
  const { spec } = JSON.parse(place.querySelector("script").textContent);
  const session = store(sessionStorage, `${page}:board-${i}`);
  const reloaded = performance.getEntriesByType("navigation")[0]?.type === "reload";
  const asked = Number(linked()?.[1]) === i ? decoded(linked()[2]) : null;
  const now = (reloaded && session.get()) || asked || session.get();
  if (now) place.dataset.now = JSON.stringify(now);
  let state = now;
  place.addEventListener("moved", ({ detail: { inputs, settings } }) => session.set((state = { inputs, settings })));
  const tools = Object.assign(document.createElement("p"), { className: "board-tools" });
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Link to these numbers" });
  const said = Object.assign(document.createElement("span"), { role: "status" });
  button.addEventListener("click", async () => {
    history.replaceState(null, "", `#board=${i}&now=${coded(state ?? spec.start)}`);
    try { await navigator.clipboard.writeText(location.href); said.textContent = " Copied."; }
    catch { said.textContent = " It stands in the address bar."; }
  });
  tools.append(button, said);
  place.after(tools);
  place.addEventListener("prepared", () => goTo(place)); // made so by a sentence, which may stand far from it
});

function goTo(place) {
  const { top, bottom, height } = place.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) place.scrollIntoView({ block: height < innerHeight ? "center" : "start" });
}

// On a visitor's first look at the first page its board shows once, step by step, what it does.
const played = store(localStorage, "played");
window.addEventListener("load", () => {
  if (page !== "index" || played.get() || boards[0].dataset.now || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  new IntersectionObserver(([{ isIntersecting, target }], sight) => {
    if (!isIntersecting) return;
    sight.disconnect();
    played.set(true);
    target.dispatchEvent(new Event("begin"));
  }, { rootMargin: "-50% 0px" }).observe(boards[0].querySelector(".attn-board"));
});

function goToLinked() {
  const place = boards[linked()?.[1]];
  if (place) goTo(place);
}
window.addEventListener("hashchange", () => {
  const found = linked(), now = found && decoded(found[2]);
  if (now) boards[found[1]]?.put(now);
  goToLinked();
});

// ------------------------------------------------------------------------------------------------------ map

// The map of the steps stays in sight beside the text, and the step that is being read is lit.
const map = document.querySelector("svg.map");
if (map) {
  const steps = all("article h2").map((heading) => [heading, Number(/^Step (\d+)/.exec(heading.textContent)?.[1] ?? 0)]);
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
function reach() { // looked at first and changed then: every look after a change costs the page a layout
  const boxes = all(".content :is(p, pre, .math-wrapper, .table-wrapper, .output div)");
  const wide = new Set(boxes.filter((box) => box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX !== "visible"));
  for (const box of boxes) wide.has(box) ? (box.tabIndex = 0) : box.removeAttribute("tabindex");
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
  for (const [i, form] of all("form.guess").filter((one) => one.dataset.again === "false").entries()) {
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
