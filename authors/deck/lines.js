// Lines that the hall dictates where no Python runs: written in the slide's own field, and compared by the page.

import { ownLines, setUpLine } from "../pages/line_field.js";
import { fit } from "./look.js";
import { memories, settings, slideOf } from "./page.js";

export function startLines() {
  for (const form of ownLines()) {
    const { id } = form.parentElement.dataset;
    setUpLine(form, {
      ready: async () => ({ lines: attnLines, lesson: settings.lesson }),
      before: { text: memories.typed.get()?.[id] },
      done: rightLines,
      keep: () => {},
      typed: (text) => memories.typed.set({ ...memories.typed.get(), [id]: text }),
    });
    form.addEventListener("input", () => fit(slideOf(form)));
  }
}

const rightLines = () =>
  new Set(
    ownLines()
      .filter((form) => form.querySelector(".verdict.right"))
      .map((form) => form.dataset.line),
  );
