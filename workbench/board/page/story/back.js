// The ways back: a link to what stands there, Undo, Redo, Reset.

import { button, element } from "../elements.js";

export function backOf(engine) {
  const undo = button("Undo", () => engine.undo(), "Undo the last change (Ctrl+Z)");
  const redo = button("Redo", () => engine.redo(), "Do it again (Ctrl+Y)");
  const reset = button("Reset", () => engine.reset(), "Back to the example");
  const links = (engine.model.more ?? []).map(({ act }) => button("Link", () => link(act), "Link to these words"));
  async function link(act) {
    engine.moved(null, await act());
  }
  return {
    node: element("div", { class: "back", role: "group", "aria-label": "Back" }, ...links, undo, redo, reset),
    update() {
      undo.disabled = !engine.past.length;
      redo.disabled = !engine.future.length;
    },
  };
}
