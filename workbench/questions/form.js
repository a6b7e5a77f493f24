// The form of a question in a notebook: entries go to Python, which judges, and what it says stands below.

import { button, element } from "../board/page/elements.js";
import { keysOf } from "../board/page/keys.js";
import { entryOf } from "./entry.js";

export default { render };

function render({ model, el }) {
  const { options, rows, size, asks } = model.get("question");
  const send = (text) => model.send({ guess: text });
  const verdict = element("div", { class: "verdict", role: "status" });
  const refuse = (words) => {
    verdict.textContent = words;
  };
  const { node, entry } =
    options.length && size === 1 ? buttonsOf(options, send) : lineOf(options, rows, size, asks, send, refuse);
  const giveUp = button("Show me", () => send("show"));
  giveUp.className = "give-up";
  node.append(giveUp);
  const root = element("div", { class: "attn-guess", role: "group", "aria-label": "Your guess" }, node, verdict);
  let isOpen = model.get("is_open");
  function show() {
    if (model.get("entered")) entry.put(model.get("entered"));
    el.closest(".jp-OutputArea")?.toggleAttribute("data-attn-guessed", Boolean(model.get("verdict")));
    if (isOpen && !model.get("is_open") && root.contains(document.activeElement)) leave(root); // Shift+Enter goes on
    isOpen = model.get("is_open");
    giveUp.hidden = !isOpen;
    root.classList.toggle("answered", !isOpen);
    root.classList.toggle("judged", Boolean(model.get("verdict"))); // which says itself how to write what could not be read
    if (verdict.innerHTML === model.get("verdict")) return;
    verdict.innerHTML = model.get("verdict");
    entry.again();
  }
  model.on("change", show);
  el.replaceChildren(root);
  show();
  root.addEventListener("keydown", (event) => event.key === "Escape" && leave(root));
  const end = keysOf({ engine: { undo() {}, redo() {} }, root });
  return () => {
    model.off("change", show);
    end();
  };
}

// To JupyterLab's command mode, in the cell that asked.
function leave(node) {
  node.closest(".jp-Cell")?.focus({ preventScroll: true });
}

// As in a cell: it is run, with what was entered, and the next one is reached.
function runOn(node) {
  leave(node);
  const key = { key: "Enter", code: "Enter", keyCode: 13, shiftKey: true, bubbles: true, cancelable: true };
  node.closest(".jp-Cell")?.dispatchEvent(new KeyboardEvent("keydown", key));
}

// One of few words: a button for each.
function buttonsOf(options, send) {
  const words = options.map((option) => element("button", { type: "button" }, option));
  return { node: element("div", { class: "entry" }, ...words), entry: entryOf({ words, send }) };
}

// A line for numbers, or a choice for each of several words.
function lineOf(options, rows, size, asks, send, refuse) {
  const id = `guess-${Math.random().toString(36).slice(2)}`;
  const fields = options.length
    ? Array.from({ length: size }, () => choiceOf(options))
    : [element("input", { id, autocomplete: "off", autocapitalize: "off", spellcheck: "false" })];
  const named = options.length
    ? fields.map((field, i) => element("label", { class: "choice" }, rows[i] ?? `word ${i + 1} of ${size}`, field))
    : [element("label", { for: id }, "Your guess"), ...fields];
  const how = element("p", { class: "how" }, options.length ? "" : asks);
  const check = element("button", {}, "Check");
  const form = element("form", { class: "entry" }, ...named, check, how);
  const entry = entryOf({ fields, button: check, send, refuse });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches("input")) return;
    event.preventDefault(); // JupyterLab would eat it
    entry.check();
    if (event.shiftKey) runOn(form);
  });
  return { node: form, entry };
}

function choiceOf(options) {
  const lines = ["", ...options].map((option) => element("option", { value: option }, option || "…"));
  return element("select", {}, ...lines);
}
