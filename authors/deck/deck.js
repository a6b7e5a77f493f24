// The deck: slides by reveal.js, keys for a lecturer, guesses, and cells that run where there is a kernel.

(() => {
const settings = JSON.parse(document.getElementById("settings").textContent);
const inside = Boolean(window.parent !== window); // the speaker view shows this page twice: those copies only look on
const live = Boolean(settings.server) && !inside;
const root = document.documentElement;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const cells = all(".cell.code");
const memory = (store, name) => ({
  get: () => { try { return JSON.parse(store.getItem(`deck:${settings.name}:${name}`)); } catch { return null; } },
  set: (value) => { try { store.setItem(`deck:${settings.name}:${name}`, JSON.stringify(value)); return true; } catch { return false; } },
});
const kept = { typed: memory(localStorage, "typed"), theme: memory(localStorage, "theme"), session: memory(sessionStorage, "session"), outputs: memory(sessionStorage, "outputs"), place: memory(sessionStorage, "place") };

// ------------------------------------------------------------------------------------------------- what shows

const reading = matchMedia(settings.reading).matches && !inside;
const slideOf = (node) => node.closest("section section");
const current = () => (reading ? null : Reveal.getCurrentSlide());
const goTo = (slide) => { const { h, v } = Reveal.getIndices(slide); Reveal.slide(h, v); };
document.addEventListener("prepared", ({ target }) => (reading ? target.scrollIntoView() : goTo(slideOf(target)))); // a board

// As large as there is room for, code and what it prints no larger than the longest line allows, words no larger than
// the numbers of a table, and smaller where a long error or a large plot needs it; beyond that a slide scrolls.
const SIZES = [1.25, 1.12, 1, 0.94, 0.88, 0.82, 0.76];
function fit(slide) {
  const body = slide?.querySelector(".body");
  if (!body || reading) return;
  body.style.overflowY = "";
  const words = body.querySelector(".outputs table:not(.attn-board *)") ? [25, 24, 23, 22, 21, 20] : [25];
  for (const size of SIZES) {
    const unbroken = 1150 / (12.1 * slide.dataset.longest);
    const code = Math.min(size, Math.max(0.9, unbroken)), printed = Math.min(size, Math.max(1, unbroken));
    if (printed < size && body.querySelector(".cell img")) continue; // larger words would leave the picture less room
    body.style.zoom = size;
    body.style.setProperty("--size", size);
    body.style.setProperty("--code-size", code / size);
    body.style.setProperty("--printed-size", printed / size);
    for (const px of words) {
      body.style.setProperty("--words", `${px}px`);
      if (body.scrollHeight <= body.clientHeight + 1 && body.scrollWidth <= body.clientWidth + 1) return;
    }
  }
  body.style.overflowY = "auto";
}

function setTheme(dark) {
  root.classList.toggle("dark", dark);
}
setTheme(kept.theme.get() ?? matchMedia("(prefers-color-scheme: dark)").matches);

// --------------------------------------------------------------------------------------------------- guesses

const tries = new Map(); // cell -> the wrong guesses so far

// What a guess looks like in Python: numbers and lists as they are; all else in quotes, where predict reads 47 % and ∞ too.
const NUMBER = /[+-]?(0|[1-9]\d*|(?=\.\d))(\.\d*)?(e[+-]?\d+)?/.source;
const PYTHON = new RegExp(`^(True|False|None|\\.\\.\\.|"[^"]*"|'[^']*'|${NUMBER}|[[(][[(\\s]*${NUMBER}([\\])\\s]*,[[(\\s]*${NUMBER})*[\\])\\s]*[\\])])$`);
function asPython(text) {
  const plain = text.trim().replaceAll("−", "-");
  return PYTHON.test(plain) ? plain : JSON.stringify(text.trim());
}

async function answer(cell, text) {
  const verdict = cell.querySelector(".verdict");
  if (!text.trim()) return;
  cell.answered = text;
  if (live) {
    const source = cell.source().replace(/^guess = [^#\n]*?(\s*#.*)?$/m, (_, comment) => `guess = ${asPython(text)}${comment ?? ""}`);
    cell.write(source);
    await run(cell);
    return;
  }
  const { right, unread, says, key } = attnGuess.judge(JSON.parse(cell.dataset.question), text);
  const before = tries.get(cell) ?? new Set();
  if (!right && !unread) tries.set(cell, before.add(key));
  const enough = before.size >= 2;
  verdict.innerHTML = `${right ? "✓" : unread ? "…" : "✗"} ${says}${right || unread || enough ? "" : " Try again."}`;
  verdict.className = `verdict ${right ? "right" : "wrong"}`;
  if (right || enough) reveal(cell);
  fit(slideOf(cell));
}

// Shows what waited for the guess: the answer and what follows it on the slide.
function reveal(cell) {
  const slide = slideOf(cell);
  if (reading) return slide.querySelectorAll(".waits").forEach((part) => part.classList.remove("waits"));
  const due = all(".waits", slide).find((part) => part.classList.contains("fragment") && !part.classList.contains("visible"));
  if (due && (cell.contains(due) || cell.nextElementSibling === due)) Reveal.nextFragment();
}

for (const cell of cells.filter((c) => c.dataset.question)) {
  const form = cell.querySelector("form.guess"), outputs = cell.querySelector(".outputs.saved");
  form.addEventListener("submit", (event) => (event.preventDefault(), answer(cell, form.querySelector("input").value)));
  outputs.classList.add("waits");
  for (let next = cell.nextElementSibling; next; next = next.nextElementSibling) next.classList.add("waits");
}

// ----------------------------------------------------------------------------------------------------- kernel

const python = document.querySelector(".python");
let kernel = null, session = null, ran = new Set(), queue = Promise.resolve(), busySince = 0;

// What Python does, in a corner of the slide; trouble, and what a key has done, stay until something is run.
function say(text, { trouble = false, stays = trouble } = {}) {
  python.textContent = text;
  python.hidden = !text;
  python.classList.toggle("trouble", trouble);
  python.dataset.stays = stays;
}
const sayNothing = () => python.dataset.stays === "true" || say("");
const sayDied = () => say("Python has died. r starts it again; boards go on without it.", { trouble: true });

// One thing after another; what fails does not keep the next from its turn. A restart ends what was running and what
// waited, and is what the hall is to read of.
let life = 0;
function enqueue(work) {
  const its = life;
  return (queue = queue.then(() => its === life && work()).catch((error) => {
    if (!kernel) say(`Python cannot be reached: ${error.message}. r tries again; boards go on without it.`, { trouble: true });
    else if (kernel.isDisposed) sayDied();
    else if (!waiting) say(`Python does not answer: ${error.message}`, { trouble: true });
  }));
}

async function start() {
  say("Python is starting …");
  const found = await attnKernel.connect({ ...settings.server, path: settings.name, id: kept.session.get()?.id });
  session = found.session;
  kernel = session.kernel;
  session.statusChanged.connect((_, status) => status_(status));
  session.connectionStatusChanged.connect((_, status) => status === "disconnected" && sayDied()); // also when it is dead
  if (found.again) {
    ran = new Set(kept.session.get().ran);
    for (const [id, messages] of Object.entries(kept.outputs.get() ?? {})) {
      const cell = cells.find((c) => c.dataset.id === id);
      if (!cell) continue;
      messages.forEach((message) => show(cell, message));
      dropSaved(cell);
    }
    say("");
  } else {
    await prepare();
  }
  root.dataset.python = "ready";
}

async function prepare() {
  ran = new Set();
  kept.outputs.set({});
  await kernel.requestExecute({ code: settings.preamble, silent: true, store_history: false }).done;
  remember();
  cells.forEach((cell) => cell.classList.toggle("stale", cell.hasOutput ?? false));
  sayNothing();
}

const remember = () => kept.session.set({ id: session.id, ran: [...ran] });

function status_(status) {
  clearInterval(busySince);
  root.dataset.status = status;
  if (status === "restarting" || status === "autorestarting") restarted();
  else if (status === "busy") {
    const since = Date.now();
    busySince = setInterval(() => python.dataset.stays !== "true" && say(`Python is busy, ${Math.round((Date.now() - since) / 1000)} s. i interrupts it.`), 1000);
  } else if (status === "idle") sayNothing();
}

let waiting = false;
function restarted() { // by itself, after it died: nothing is defined any more
  if (waiting) return;
  waiting = true;
  life += 1;
  say("Python was restarted: nothing is defined any more. u runs all cells up to here.", { trouble: true });
  const idle = new Promise((resolve, reject) => session.statusChanged.connect(function back(_, status) {
    if (status !== "idle" && status !== "dead") return;
    session.statusChanged.disconnect(back);
    status === "idle" ? resolve() : reject(new Error("it died again"));
  }));
  const asking = setInterval(() => kernel.requestKernelInfo().catch(() => {}), 1000); // it may have been ready before the server listened
  enqueue(async () => { // before anything that a key asks for meanwhile
    await idle.finally(() => (clearInterval(asking), (waiting = false)));
    await prepare();
  });
}

// Runs a cell after those above it that have not been run: a lecturer jumps. Resolves when its last output is there.
function run(cell) {
  return enqueue(async () => {
    const before = cells.slice(0, cells.indexOf(cell)).filter((c) => !ran.has(c.dataset.id));
    if (before.length && !(await catchUp(before, "the cells above"))) return;
    const check = checkOf(cell);
    if (check) (check.classList.remove("checked"), clear(check));
    if (!(await execute(cell)) || !check) return;
    check.classList.add("checked"); // what it says is seen, the course's own line not yet
    await execute(check);
  });
}

// The cell that checks the line that is to be written in this one, and holds the course's.
const checkOf = (cell) => (cell.matches(".blank") && cell.nextElementSibling?.matches(".filled") ? cell.nextElementSibling : null);

// Runs cells without asking for guesses; what answers a question nobody was asked yet is not shown.
async function catchUp(due, what) {
  const bind = (on) => kernel.requestExecute({ code: `_deck.bind(${on})`, silent: true, store_history: false }).done;
  await bind("False");
  for (const [i, cell] of due.entries()) {
    say(`Python runs ${what}: ${i + 1} of ${due.length}`, { stays: true });
    if (await execute(cell, { quietly: true })) continue;
    say(`Python runs ${what} and stopped at slide ${Reveal.getSlides().indexOf(slideOf(cell)) + 1}: there is an error.`, { trouble: true });
    await bind("True");
    return false;
  }
  await bind("True");
  say("");
  return true;
}

async function execute(cell, { quietly = false } = {}) {
  const source = cell.source(), asks = cell.dataset.question && /^guess = \.\.\./m.test(source);
  if (!quietly) say("");
  if (!asks || !quietly || cell.shown.querySelector(".error")) clear(cell);
  cell.classList.add("running");
  const future = kernel.requestExecute({ code: source, allow_stdin: false, stop_on_error: true }, true, { cellId: cell.dataset.id });
  const seen = [];
  future.onIOPub = (message) => {
    const { msg_type } = message.header;
    if (!["stream", "display_data", "execute_result", "error", "update_display_data"].includes(msg_type)) return;
    const output = { type: msg_type, content: message.content };
    if (quietly && asks && msg_type !== "error") return;
    seen.push(output);
    show(cell, output);
  };
  const reply = await future.done.finally(() => cell.classList.remove("running"));
  cell.classList.remove("stale");
  const well = reply.content.status === "ok";
  if (well) ran.add(cell.dataset.id);
  else cell.classList.remove("unseen"); // an import that fails is to be read
  if (!quietly || !asks) {
    cell.hasOutput = true;
    dropSaved(cell);
    kept.outputs.set({ ...kept.outputs.get(), [cell.dataset.id]: seen }) || kept.outputs.set({});
    if (well && cell.dataset.question && /class="[^"]*\bright\b|✓/.test(cell.shown.innerHTML)) reveal(cell);
  }
  remember();
  fit(slideOf(cell));
  if (!quietly) root.dataset.runs = Number(root.dataset.runs ?? 0) + 1;
  return well;
}

function clear(cell) {
  cell.shown.replaceChildren();
  dropSaved(cell);
}

// What Python said takes the place of what is saved; the answer to a question, though, stays until it was said.
function dropSaved(cell) {
  if (!cell.dataset.question || /✓|The answer/.test(cell.shown.textContent)) cell.querySelector(".outputs.saved")?.remove();
}

function show(cell, { type, content }) {
  const holder = document.createElement("div");
  if (type === "stream") {
    const last = cell.shown.lastElementChild;
    if (last?.matches(".stream")) return void (last.firstElementChild.textContent += content.text);
    holder.className = "stream";
    holder.append(Object.assign(document.createElement("pre"), { textContent: content.text }));
  } else if (type === "error") {
    holder.className = "error";
    const trace = content.traceback.join("\n");
    const line = document.createElement("b");
    line.textContent = content.ename ? `${content.ename}: ${content.evalue}` : content.evalue;
    holder.append(line);
    if (content.traceback.length > 1) {
      const fold = document.createElement("details");
      fold.append(Object.assign(document.createElement("summary"), { textContent: "where" }), Object.assign(document.createElement("pre"), { innerHTML: attnKernel.coloured(trace) }));
      fold.addEventListener("toggle", () => fit(slideOf(cell)));
      holder.append(fold);
    } else if (/\n\s*\^/.test(trace)) { // where the syntax is wrong: the sign stands below its place
      line.replaceWith(Object.assign(document.createElement("pre"), { innerHTML: attnKernel.coloured(trace) }));
    } else if (trace) line.textContent = trace.replace(/\x1b\[[\d;]*m/g, "");
  } else {
    const { data } = content;
    if (data["text/html"]) holder.innerHTML = [].concat(data["text/html"]).join("");
    else if (data["image/svg+xml"]) holder.innerHTML = data["image/svg+xml"];
    else if (data["image/png"]) holder.append(Object.assign(document.createElement("img"), { src: `data:image/png;base64,${data["image/png"]}`, alt: data["text/plain"] ?? "A plot" }));
    else holder.append(Object.assign(document.createElement("pre"), { textContent: [].concat(data["text/plain"] ?? "").join("") }));
  }
  cell.shown.append(holder);
  if (holder.querySelector(".saved-board")) attnBoards.wakeAll(holder);
  fit(slideOf(cell));
}

// The cell that Shift+Enter runs: the one with the focus, one with a guess that was not answered yet, or the first of
// the slide that shows and has not been run.
const guessOf = (cell) => cell.querySelector(".guess input")?.value.trim();
function nextCell() {
  const here = document.activeElement.closest?.(".cell.code");
  const guessed = all(".cell.code", current()).find((cell) => guessOf(cell) && guessOf(cell) !== cell.answered?.trim());
  if (here || guessed) return here ?? guessed;
  return all(".cell.code", current()).find((cell) => !ran.has(cell.dataset.id) && (!cell.classList.contains("fragment") || cell.classList.contains("visible")));
}

async function runAndStay(goOn) {
  const cell = nextCell();
  const guess = cell && guessOf(cell), fresh = guess && guess !== cell.answered?.trim();
  if (!cell || (goOn && ran.has(cell.dataset.id) && !cell.edited && !fresh)) {
    document.activeElement.blur?.();
    return void Reveal.next();
  }
  cell.edited = false;
  if (fresh) await answer(cell, guess);
  else await run(cell);
}

async function runUpToHere() {
  const slide = current();
  const last = cells.findLast((cell) => slideOf(cell) === slide || slideOf(cell).compareDocumentPosition(slide) & Node.DOCUMENT_POSITION_FOLLOWING);
  return enqueue(() => catchUp(cells.slice(0, cells.indexOf(last) + 1), "all up to here"));
}

// Not in the queue, which may be what is stuck.
async function restart() {
  say("Python is starting again …", { stays: true });
  waiting = true;
  life += 1;
  queue = Promise.resolve();
  try {
    if (!kernel || kernel.connectionStatus === "disconnected") {
      await session?.shutdown().catch(() => {});
      kept.session.set(null);
      await start();
    } else {
      await kernel.restart();
      await prepare();
    }
    say("Python has started again. u runs all cells up to here.", { stays: true });
  } catch (error) {
    say(`Python does not start again: ${error.message}.`, { trouble: true });
  } finally {
    waiting = false;
  }
}

// For a lecturer with a clicker, next shows what is not run as it was saved, unless the code is another by now.
const isAsInTheFile = (cell) => cell.source() === settings.sources[cell.dataset.id];
const goOn = () => showSaved() || Reveal.next();
function showSaved() {
  if (!live || Reveal.isOverview()) return false;
  const due = all(".to-come:not(:empty)", current()).filter(
    ({ parentElement: cell }) => cell.matches(".visible, :not(.fragment)") && isAsInTheFile(cell),
  );
  due.forEach((saved) => saved.classList.remove("to-come"));
  return due.length > 0;
}

// Every code cell of the slide as it stands in the file; a second press brings back what was typed.
function original() {
  for (const cell of all(".cell.code", current())) {
    const file = settings.sources[cell.dataset.id];
    if (cell.source() !== file) {
      cell.typed = cell.source();
      cell.write(file);
    } else if (cell.typed) cell.write(cell.typed);
  }
}

function makeEditable(cell) {
  const holder = cell.querySelector(".source"), file = settings.sources[cell.dataset.id];
  const typed = kept.typed.get()?.[cell.dataset.id];
  holder.replaceChildren();
  const view = attnKernel.editor(holder, typed ?? file, "Code", (text) => {
    cell.edited = true;
    cell.classList.toggle("stale", Boolean(cell.hasOutput));
    const { [cell.dataset.id]: _, ...others } = kept.typed.get() ?? {};
    kept.typed.set(text === file ? others : { ...others, [cell.dataset.id]: text });
    fit(slideOf(cell));
  });
  const button = Object.assign(document.createElement("button"), { className: "run", type: "button", textContent: "Run" });
  button.addEventListener("click", () => run(cell));
  holder.append(button);
  cell.source = () => view.state.doc.toString();
  cell.write = (text) => attnKernel.rewrite(view, text);
  const saved = cell.querySelector(".outputs"); // keeps the room for what is to come, and its board lives already
  if (!saved.querySelector(".saved-board") && !cell.dataset.question) saved.classList.add("to-come");
  cell.shown = Object.assign(document.createElement("div"), { className: "outputs shown" });
  cell.insertBefore(cell.shown, saved);
}

// ------------------------------------------------------------------------------------------------------- keys

const jump = document.querySelector(".jump"), help = document.querySelector(".help");
let number = "";

function jumpTo(text) {
  number = text;
  jump.hidden = !text;
  jump.textContent = `Slide ${text}`;
}

// The last guess that shows; where none does, first what covers it.
function toGuess() {
  const guesses = all(".guess input", current()), isCovered = (guess) => guess.closest(".fragment:not(.visible)");
  while (guesses[0] && isCovered(guesses[0]) && Reveal.nextFragment());
  guesses.findLast((guess) => !isCovered(guess))?.focus();
}

const commands = {
  "?": () => help.showModal(),
  d: () => (setTheme(!root.classList.contains("dark")), kept.theme.set(root.classList.contains("dark"))),
  g: toGuess,
};
const commandsLive = { i: () => kernel?.interrupt(), r: restart, u: runUpToHere, o: original };

const places = "input, textarea, select, [contenteditable=true], .attn-board, button, summary";
const isWithin = (event) => !help.contains(event.target) && event.target.closest?.(places); // help's button has the focus until the next frame

function onKey(event) {
  if (help.open) return event.stopPropagation(); // Escape closes it, and does nothing else
  const within = isWithin(event);
  const handled = () => (event.preventDefault(), event.stopImmediatePropagation());
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (event.key === "PageDown" || event.key === "PageUp") {
    handled();
    if (within) event.target.blur();
    return event.key === "PageUp" ? Reveal.prev() : goOn();
  }
  if (live && event.key === "Enter" && (event.shiftKey || event.ctrlKey || event.metaKey) && !event.target.closest?.(".attn-board, .guess")) {
    handled();
    return runAndStay(event.shiftKey);
  }
  if (event.key === "Escape" && number) return handled(), jumpTo("");
  if (event.key === "Escape" && within) return handled(), event.target.blur();
  if (within || !plain) return;
  if (/^\d$/.test(event.key)) return handled(), jumpTo(number + event.key);
  if (event.key === "Backspace" && number) return handled(), jumpTo(number.slice(0, -1));
  if (event.key === "Enter" && number) {
    handled();
    const slide = Reveal.getSlides()[Number(number) - 1];
    if (slide) goTo(slide);
    return jumpTo("");
  }
  if (event.key === "Enter" && Reveal.isOverview()) return handled(), Reveal.toggleOverview(false);
  const command = commands[event.key] ?? (live ? commandsLive[event.key] : undefined);
  if (command) {
    handled();
    command();
  }
}

// ------------------------------------------------------------------------------------------------------ start

attnBoards.wakeAll(document);
if (live) cells.forEach(makeEditable);
if (reading) {
  document.body.classList.add("reading");
} else {
  window.addEventListener("keydown", onKey, true);
  window.addEventListener("pointerdown", ({ target }) => target.closest?.("input, .cm-editor")?.setAttribute("data-prevent-swipe", ""), true); // a finger that drags a number turns no page
  document.body.addEventListener("keydown", (event) => isWithin(event) && event.stopPropagation()); // reveal.js hears nothing of what is typed
  const place = kept.place.get(); // the address may lag behind: a reload goes by what was noted at once
  Reveal.initialize({
    width: 1280, height: 720, margin: 0, minScale: 0.1, maxScale: 4, display: "flex", center: false, hash: true, transition: "none", navigationMode: "linear",
    slideNumber: () => [Reveal.getSlides().indexOf(Reveal.getCurrentSlide()) + 1, "/", Reveal.getTotalSlides()],
    showSlideNumber: "all", defaultTiming: 60, help: false, controlsTutorial: false, jumpToSlide: false, scrollActivationWidth: null, backgroundTransition: "none",
    plugins: [RevealNotes, { id: "saved", init: (deck) => void (deck.next = goOn) }], // for reveal.js' own keys, its arrows and swipes
  });
  Reveal.on("ready", () => {
    if (place && !inside && performance.getEntriesByType("navigation")[0]?.type === "reload") Reveal.slide(place.h, place.v, place.f);
    fit(current());
  });
  for (const change of ["slidechanged", "fragmentshown", "fragmenthidden"]) Reveal.on(change, () => inside || kept.place.set(Reveal.getIndices()));
  const stepped = new Set(); // what was shown on purpose; reveal.js also shows everything of a slide that was jumped over
  Reveal.on("fragmentshown", ({ fragments }) => fragments.forEach((part) => stepped.add(part)));
  Reveal.on("fragmenthidden", ({ fragments }) => fragments.forEach((part) => stepped.delete(part)));
  Reveal.on("slidechanged", ({ currentSlide }) => {
    for (const chapter of all("section.stack")) chapter.removeAttribute("data-previous-indexv"); // next leads to a chapter's first slide, not to where one was
    for (const part of all(".waits.fragment.visible, .blank ~ .fragment.visible")) if (!stepped.has(part)) part.classList.remove("visible", "current-fragment");
    document.activeElement.blur?.();
    if (!inside) { // Tab begins on the slide
      currentSlide.tabIndex = -1;
      currentSlide.focus({ preventScroll: true });
      currentSlide.blur();
    }
    fit(currentSlide);
  });
  Reveal.on("fragmentshown", () => fit(current()));
}
// On paper a page for each slide, and at the end one more for each that asks: with the answer and all that waited for it.
const answers = Object.assign(document.createElement("section"), { className: "answers" });
let dark = false, uncovered = [];
window.addEventListener("beforeprint", () => {
  dark = root.classList.contains("dark");
  root.classList.remove("dark");
  root.classList.add("printing", "print-pdf"); // the second keeps reveal.js' own style for paper away
  uncovered = all(".to-come:not(:empty)").filter((saved) => isAsInTheFile(saved.parentElement));
  uncovered.forEach((saved) => saved.classList.remove("to-come"));
  answers.replaceChildren(...all("section section:has(.waits)").map(answered));
  document.querySelector(".slides").append(answers);
  if (!reading) [...Reveal.getSlides(), ...answers.children].forEach(fit);
});
window.addEventListener("afterprint", () => {
  root.classList.remove("printing", "print-pdf");
  uncovered.forEach((saved) => saved.classList.add("to-come"));
  answers.remove();
  setTheme(dark);
  fit(current());
});
function answered(slide) {
  const copy = slide.cloneNode(true), drawn = all("canvas", slide);
  all(".waits", copy).forEach((part) => part.classList.remove("waits"));
  all("canvas", copy).forEach((canvas, i) => canvas.getContext("2d").drawImage(drawn[i], 0, 0));
  copy.dataset.number = `${slide.dataset.number}, answered`;
  return copy;
}
window.addEventListener("pagehide", () => session && navigator.sendBeacon(`${settings.server.baseUrl}left/${session.id}?token=${settings.server.token}`));
if (live) enqueue(start); // what a key asks for meanwhile has to wait
})();
