// How cells are run: one, all up to here, or the one that Shift+Enter means.

import { all } from "../pages/kit.js";
import { answerInPage, asPython, guessOf, reveal } from "./guess.js";
import { fit } from "./look.js";
import { clear, dropSaved, isOutput, show } from "./output.js";
import { cells, current, isAsInTheFile, memories, root, slideOf } from "./page.js";
import { enqueue, python, remember, runSilently, say } from "./python.js";
import { turnCode } from "./steps.js";

// Runs a cell after those above it that have not been run: a lecturer jumps. Resolves when its last output is there.
export function run(cell) {
  return enqueue(async () => {
    const before = cells.slice(0, cells.indexOf(cell)).filter((one) => !python.ran.has(one.dataset.id));
    if (before.length && !(await catchUp(before, "the cells above"))) return;
    const check = checkOf(cell);
    if (check) {
      check.classList.remove("checked");
      clear(check);
    }
    if (!(await execute(cell)) || !check) return;
    check.classList.add("checked"); // what it says is seen, the course's own line not yet
    await execute(check);
  });
}

// The cell that checks the line that is to be written in this one, and holds the course's.
const checkOf = ({ classList, nextElementSibling: next }) =>
  classList.contains("blank") && next?.matches(".filled") ? next : null;

// Runs cells without asking for guesses; what answers a question nobody was asked yet is not shown.
async function catchUp(due, what) {
  const bind = (on) => runSilently(`_deck.bind(${on})`);
  await bind("False");
  for (const [i, cell] of due.entries()) {
    say(`Python runs ${what}: ${i + 1} of ${due.length}`, { stays: true });
    if (await execute(cell, { quietly: true })) continue;
    const number = Reveal.getSlides().indexOf(slideOf(cell)) + 1;
    say(`Python runs ${what} and stopped at slide ${number}: there is an error.`, { trouble: true });
    await bind("True");
    return false;
  }
  await bind("True");
  say("");
  return true;
}

export function runUpToHere() {
  const slide = current();
  const isBefore = (other) => other.compareDocumentPosition(slide) & Node.DOCUMENT_POSITION_FOLLOWING;
  const last = cells.findLast((cell) => slideOf(cell) === slide || isBefore(slideOf(cell)));
  return enqueue(() => catchUp(cells.slice(0, cells.indexOf(last) + 1), "all up to here"));
}

async function execute(cell, { quietly = false } = {}) {
  const isUnasked = quietly && cell.dataset.question && !cell.guess;
  if (!quietly) showCode(cell);
  if (!quietly) say("");
  if (!isUnasked || cell.shown.querySelector(".error")) clear(cell);
  cell.classList.add("running");
  const outputs = [];
  const reply = await ask(cell, cell.code(), (output) => {
    if (isUnasked && output.type !== "error") return;
    outputs.push(output);
    show(cell, output);
  }).finally(() => cell.classList.remove("running"));
  cell.classList.remove("stale");
  const well = reply.content.status === "ok";
  if (well) python.ran.add(cell.dataset.id);
  else {
    cell.classList.remove("unseen"); // an import that fails is to be read
    showCode(cell);
  }
  if (!isUnasked) keep(cell, outputs);
  if (!isUnasked && well && saysRight(cell)) reveal(cell);
  remember();
  fit(slideOf(cell));
  if (!quietly) root.dataset.runs = Number(root.dataset.runs ?? 0) + 1;
  return well;
}

// What is run is seen, with what it says; a question and a line to fill stand on the slide as it is.
function showCode(cell) {
  if (!cell.matches("[data-question], .open, .filled, .unseen")) turnCode(slideOf(cell), true);
}

function ask(cell, code, hear) {
  const request = { code, allow_stdin: false, stop_on_error: true };
  const future = python.kernel.requestExecute(request, true, { cellId: cell.dataset.id });
  future.onIOPub = (message) => {
    if (isOutput(message)) hear({ type: message.header.msg_type, content: message.content });
  };
  return future.done;
}

function keep(cell, outputs) {
  cell.hasOutput = true;
  dropSaved(cell);
  if (!memories.outputs.set({ ...memories.outputs.get(), [cell.dataset.id]: outputs })) memories.outputs.set({});
}

const saysRight = (cell) => cell.dataset.question && /class="[^"]*\bright\b|✓/.test(cell.shown.innerHTML);

// --------------------------------------------------------------------------------------------------- Shift+Enter

// The cell with the focus, one with a guess that was not answered yet, or the slide's first that has not been run.
function nextCell() {
  const here = document.activeElement.closest?.(".cell.code");
  if (here) return here;
  const onSlide = all(".cell.code", current());
  const isDue = (cell) => !python.ran.has(cell.dataset.id) && cell.matches(".visible, :not(.fragment)");
  return onSlide.find(hasFreshGuess) ?? onSlide.find(isDue);
}

function hasFreshGuess(cell) {
  const guess = guessOf(cell);
  return Boolean(guess) && guess !== cell.answered?.trim();
}

export async function runAndStay(goesOn) {
  const cell = nextCell();
  if (goesOn) document.activeElement.blur?.(); // the next key is the lecture's; Ctrl+Enter stays to type on
  const isFresh = cell && hasFreshGuess(cell);
  if (!cell && !goesOn) return say("No cell of this slide waits to be run.", { stays: "slide" });
  if (!cell || (goesOn && python.ran.has(cell.dataset.id) && !cell.edited && !isFresh)) {
    Reveal.next();
    return;
  }
  cell.edited = false;
  if (isFresh) await answerInPython(cell, guessOf(cell));
  else await run(cell);
}

// The page knows the answer and says it at once; where code was changed, only Python does.
export async function answerInPython(cell, text) {
  const isJudged = cells.every((one) => one.matches(".blank") || isAsInTheFile(one));
  cell.classList.toggle("judged", isJudged);
  if (isJudged) answerInPage(cell, text);
  cell.answered = text;
  cell.guess = asPython(text);
  await run(cell);
}
