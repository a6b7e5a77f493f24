// Cells whose code can be changed, where there is a Python to run it.

import { all } from "../pages/kit.js";
import { fit } from "./look.js";
import { current, inTheFile, isAsInTheFile, memories, settings, slideOf } from "./page.js";
import { run } from "./run.js";

export function makeEditable(cell) {
  const holder = cell.querySelector(".source");
  const typed = memories.typed.get()?.[cell.dataset.id];
  holder.replaceChildren();
  const view = attnKernel.editor(holder, typed ?? inTheFile(cell), "Code", (text) => noteChange(cell, text));
  const button = Object.assign(document.createElement("button"), { className: "run", type: "button" });
  button.textContent = "Run";
  button.addEventListener("click", () => run(cell));
  holder.append(button);
  cell.source = () => view.state.doc.toString();
  const compares = settings.questions[cell.dataset.id]?.compares; // a comparison names wrong answers: it runs, and nobody reads it
  const guess = () => (cell.dataset.question ? `guess = ${cell.guess ?? "..."}\n` : "");
  cell.code = () => (compares ? `${guess()}${cell.source()}\n${compares}` : cell.source());
  cell.write = (text) => attnKernel.rewrite(view, text);
  cell.toBlank = () => attnKernel.toBlank(view);
  const output = cell.querySelector(".outputs"); // keeps the room for what is to come, and its board lives already
  if (!output.querySelector(".saved-board") && !("held" in output) && !cell.dataset.question)
    output.classList.add("to-come");
  if (cell.matches(".blank")) leaveRoom(cell);
  cell.shown = Object.assign(document.createElement("div"), { className: "outputs shown" });
  cell.insertBefore(cell.shown, output);
}

// What is said of a line stands above it, and covers nothing of it.
function leaveRoom(line) {
  const tell = () => line.nextElementSibling?.style.setProperty("--blank-line", `${line.offsetHeight}px`);
  new ResizeObserver(tell).observe(line);
}

function noteChange(cell, text) {
  cell.edited = true;
  cell.classList.toggle("stale", Boolean(cell.hasOutput));
  const { [cell.dataset.id]: _, ...others } = memories.typed.get() ?? {};
  memories.typed.set(text === inTheFile(cell) ? others : { ...others, [cell.dataset.id]: text });
  fit(slideOf(cell));
}

// Every code cell of the slide as it stands in the file; a second press brings back what was typed.
export function original() {
  for (const cell of all(".cell.code", current())) {
    if (!isAsInTheFile(cell)) {
      cell.typed = cell.source();
      cell.write(inTheFile(cell));
    } else if (cell.typed) cell.write(cell.typed);
  }
}
