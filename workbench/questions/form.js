// The form of a question in a notebook: entries go to Python, which judges, and what it says stands below.

import { button, element } from "../board/page/elements.js";
import { keysOf } from "../board/page/keys.js";

export default { render };

function render({ model, el }) {
  const { options, rows, size, asks } = model.get("question");
  const send = (text) => model.send({ guess: text });
  const entry = options.length && size === 1 ? buttonsOf(options, send) : lineOf(options, rows, size, asks, send);
  const giveUp = button("Show me", () => send("show"));
  giveUp.className = "give-up";
  const verdict = element("div", { class: "verdict", role: "status" });
  const root = element("div", { class: "attn-guess", role: "group", "aria-label": "Your guess" });
  root.append(entry.node, giveUp, verdict);
  entry.node.append(giveUp);
  let isOpen = model.get("is_open");
  function show() {
    entry.show(model.get("entered"));
    el.closest(".jp-OutputArea")?.toggleAttribute("data-attn-guessed", Boolean(model.get("verdict")));
    if (isOpen && !model.get("is_open") && root.contains(document.activeElement)) leave(root); // Shift+Enter goes on
    isOpen = model.get("is_open");
    giveUp.hidden = !model.get("is_open");
    root.classList.toggle("answered", !model.get("is_open"));
    if (verdict.innerHTML !== model.get("verdict")) verdict.innerHTML = model.get("verdict");
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
  const buttons = options.map((option) => button(option, () => send(option)));
  return {
    node: element("div", { class: "entry" }, ...buttons),
    show: (entered) => {
      for (const one of buttons) one.setAttribute("aria-pressed", String(one.textContent === entered));
    },
  };
}

// A line for numbers, or a choice for each of several words.
function lineOf(options, rows, size, asks, send) {
  const id = `guess-${Math.random().toString(36).slice(2)}`;
  const fields = options.length
    ? Array.from({ length: size }, () => choiceOf(options))
    : [element("input", { id, autocomplete: "off", autocapitalize: "off", spellcheck: "false" })];
  const named = options.length
    ? fields.map((field, i) => element("label", { class: "choice" }, rows[i] ?? `word ${i + 1} of ${size}`, field))
    : [element("label", { for: id }, "Your guess"), ...fields];
  const how = element("p", { class: "how" }, options.length ? "" : asks);
  const form = element("form", { class: "entry" }, ...named, element("button", {}, "Check"), how);
  const text = () => fields.map((field) => field.value).join(", ");
  function check(event) {
    event.preventDefault();
    if (fields.every((field) => field.value.trim())) send(text());
  }
  form.addEventListener("submit", check);
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches("input")) return;
    check(event); // JupyterLab would eat it
    if (event.shiftKey) runOn(form);
  });
  return {
    node: form,
    show: (entered) => {
      if (!entered || entered === text()) return;
      const parts = options.length ? entered.split(", ") : [entered];
      fields.forEach((field, i) => {
        field.value = parts[i] ?? "";
      });
    },
  };
}

// None is left out: the browser says which one is missing.
function choiceOf(options) {
  const lines = ["", ...options].map((option) => element("option", { value: option }, option || "…"));
  return element("select", { required: "" }, ...lines);
}
