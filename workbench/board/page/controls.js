// The bar of a board: undo and redo, its menus and sliders, larger type, its matrices as code.

import { button, element, newId } from "./elements.js";

/** refit: after larger type the board has to be laid out anew. */
export function barOf(view, refit) {
  const { engine, root } = view;
  const undo = button("Undo", () => engine.undo(), "Undo the last change (Ctrl+Z)");
  const redo = button("Redo", () => engine.redo(), "Do it again (Ctrl+Y)");
  const reset = button("Reset", startAgain, "Back to the example");
  const random = button("Random", () => engine.random(), "New random numbers, of the next seed");
  random.classList.add("random");
  const large = button("Large type", enlarge, "Larger type");
  const code = codeOf(view);
  const chosen = engine.controls.filter((control) => control.values.length > 1);
  const controls = chosen.map((control) => controlOf(view, control));
  const attributes = { class: "bar", role: "toolbar", "aria-label": "Board" };
  const node = element("div", attributes, undo, redo, reset, random);
  node.append(...controls.map((control) => control.node), element("span", { class: "end" }, large, code.node));
  const canEdit = engine.panels.some((panel) => panel.editable);
  random.hidden = !canEdit;
  code.node.hidden = !canEdit;

  function startAgain() {
    view.rest();
    engine.reset();
  }
  function enlarge() {
    root.classList.toggle("large");
    update();
    refit();
  }
  function update() {
    for (const control of controls) control.update();
    undo.disabled = !engine.past.length;
    redo.disabled = !engine.future.length;
    random.textContent = engine.seed ? `Random ${engine.seed}` : "Random"; // the number is the seed
    large.setAttribute("aria-pressed", String(root.classList.contains("large")));
    code.update();
  }
  return { node, update };
}

function codeOf({ engine, said }) {
  const area = element("textarea", { readonly: true, rows: "9", "aria-label": "The matrices as Python code" });
  const copy = button("Copy", async () => {
    area.select();
    try {
      await navigator.clipboard.writeText(area.value);
    } catch {
      document.execCommand("copy");
    }
    said.textContent = "Copied. Paste it into a cell.";
  });
  const summary = element("summary", {}, "As code");
  const node = element("details", { class: "code" }, summary, element("div", {}, area, copy));
  function update() {
    if (node.open) area.value = engine.code();
  }
  node.addEventListener("toggle", update);
  return { node, update };
}

function controlOf({ engine }, control) {
  const { name, title, values, slider } = control;
  const id = newId("c");
  const shown = element("output", { for: id });
  const options = values.map((value, place) => element("option", { value: place }, String(value)));
  const input = slider
    ? element("input", { id, type: "range", min: "0", max: String(values.length - 1), step: "1" })
    : element("select", { id }, ...options);
  const set = () => engine.set(name, values[input.value], slider ? `slide ${name}` : null);
  input.addEventListener(slider ? "input" : "change", set);
  const node = element("span", { class: "control" }, element("label", { for: id }, title), input);
  if (slider) node.append(shown);
  return {
    node,
    update() {
      const value = engine.state.settings[name];
      input.value = String(values.indexOf(value));
      shown.textContent = String(value);
      if (slider) input.setAttribute("aria-valuetext", String(value));
    },
  };
}
