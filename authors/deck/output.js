// What Python says of a cell, on its slide.

import { make } from "../pages/kit.js";
import { fit } from "./look.js";
import { slideOf } from "./page.js";

const KINDS = ["stream", "display_data", "execute_result", "error", "update_display_data"];
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, "g"); // as a terminal is told of them

export const isOutput = (message) => KINDS.includes(message.header.msg_type);

export function clear(cell) {
  cell.shown.replaceChildren();
  dropSaved(cell);
}

// What Python said takes the place of what is saved; the answer to a question, though, stays until it was said.
export function dropSaved(cell) {
  const isSaid = !cell.dataset.question || /✓|The answer/.test(cell.shown.textContent);
  if (isSaid) cell.querySelector(".outputs.saved")?.remove();
}

export function show(cell, { type, content }) {
  const last = cell.shown.lastElementChild;
  if (type === "stream" && last?.matches(".stream")) {
    last.firstElementChild.textContent += content.text;
    return;
  }
  const write = { stream: stream, error: failure }[type] ?? value;
  const holder = write(content, cell);
  cell.shown.append(holder);
  if (holder.querySelector(".saved-board")) attnBoards.wakeAll(holder);
  fit(slideOf(cell));
}

const stream = ({ text }) => make("div", { className: "stream" }, make("pre", { textContent: text }));

// An error in one line, and where it happened folded away.
function failure({ ename, evalue, traceback }, cell) {
  const holder = make("div", { className: "error" });
  const line = make("b", { textContent: ename ? `${ename}: ${evalue}` : evalue });
  const trace = traceback.join("\n");
  const coloured = () => make("pre", { innerHTML: attnKernel.coloured(trace) });
  if (traceback.length > 1) {
    const fold = make("details", {}, make("summary", { textContent: "where" }), coloured());
    fold.addEventListener("toggle", () => fit(slideOf(cell)));
    holder.append(line, fold);
  } else if (/\n\s*\^/.test(trace)) {
    holder.append(coloured()); // where the syntax is wrong: the sign stands below its place
  } else {
    if (trace) line.textContent = trace.replace(COLOURS, "");
    holder.append(line);
  }
  return holder;
}

function value({ data }) {
  const text = [].concat(data["text/plain"] ?? "").join("");
  const markup = [].concat(data["text/html"] ?? data["image/svg+xml"] ?? "").join("");
  if (markup) return make("div", { innerHTML: markup });
  const png = data["image/png"];
  if (!png) return make("div", {}, make("pre", { textContent: text }));
  return make("div", {}, make("img", { src: `data:image/png;base64,${png}`, alt: text || "A plot" }));
}
