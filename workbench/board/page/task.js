// What a board asks for, and the phrases of the lesson that set it.

import { button, element, plainWords, worded } from "./elements.js";

const OPEN = "Task. ";
const WHY = "✓ Now say why. ";
const WRONG = "✗ Not for that reason. ";
const DONE = "✓ Done. ";

export function taskOf({ engine }) {
  const { task } = engine;
  const node = element("div", { class: "task" });
  node.hidden = !task;
  if (!task) return { node, update() {} };
  const said = element("p", { role: "status" });
  const reasons = reasonsOf(engine);
  const words = (mark) => (mark === DONE && task.because) || task.text;
  const room = (
    mark, // so that nothing moves, whatever is said
  ) => element("div", { class: "room", "data-mark": mark, "data-words": words(mark).replaceAll("*", "") });
  const marks = task.why ? [OPEN, WHY, WRONG, DONE] : [OPEN, DONE];
  node.append(element("div", { class: "told" }, said, ...marks.map(room)));
  if (task.why) {
    node.append(element("label", { class: "reason" }, element("span", {}, ...worded(task.why)), reasons));
  }

  function markNow() {
    if (engine.done) return DONE;
    if (!engine.reached) return OPEN;
    return engine.answer === null ? WHY : WRONG;
  }
  let told = "";
  return {
    node,
    update() {
      node.classList.toggle("done", engine.done);
      const mark = markNow();
      // It is heard again whenever it is written.
      if (mark !== told) said.replaceChildren(element("b", {}, mark), ...worded(words(mark)));
      told = mark;
      reasons.disabled = !engine.reached;
      reasons.options[0].text = engine.reached ? "choose …" : "first the task …";
      reasons.value = engine.answer === null ? "" : String(engine.answer);
    },
  };
}

function reasonsOf(engine) {
  const { why, answers } = engine.task;
  const options = answers.map((answer, place) => element("option", { value: place }, plainWords(answer)));
  const first = element("option", { value: "" }, "choose …");
  const reasons = element("select", { "aria-label": plainWords(why) }, first, ...options);
  reasons.addEventListener("change", () => reasons.value !== "" && engine.reason(Number(reasons.value)));
  return reasons;
}

/** Phrases as buttons, where no page makes buttons of them; those that do the task come last, once it is done. */
export function triesOf({ engine }) {
  const shown = engine.model.alone ? [] : (engine.tries ?? []);
  const inOrder = [...shown].sort((one, other) => one.answers - other.answers);
  const buttons = inOrder.map(({ said, sets, answers }) => {
    const node = button("", () => engine.prepare(sets, `${plainWords(said)}.`));
    node.replaceChildren(...worded(said));
    return { node, isLater: () => answers && !engine.reached };
  });
  const nodes = buttons.map(({ node }) => node);
  const node = element("p", { class: "tries", hidden: !buttons.length }, "Try: ", ...nodes);
  return {
    node,
    update() {
      for (const one of buttons) one.node.classList.toggle("later", one.isLater());
      node.classList.toggle(
        "later",
        buttons.every((one) => one.isLater()),
      );
    },
  };
}
