// What a board asks for.

import { element, plainWords, worded } from "./elements.js";

const OPEN = "Task. ";
const DONE = "✓ Done. ";

/** What stands before the question that comes once the task is met, which may ask why or for something else. */
function asksOf({ why }) {
  const isReason = /\bwhy\b/i.test(why);
  return {
    WHY: isReason ? "✓ Now say why. " : "✓ Now say: ",
    WAS: isReason ? "✓ It was so. Say why. " : "✓ It was so. Say: ", // and is no longer
    WRONG: isReason ? "✗ Not for that reason. " : "✗ That is not it. ",
  };
}

/** In one place: the task; once it is met, the question why; at last what there is to know. */
export function taskOf({ engine }) {
  const { task } = engine;
  const node = element("div", { class: "task" });
  if (!task) return { node, update() {} };
  const said = element("span", { role: "status" });
  const [reasons, reason] = reasonsOf(engine);
  const asks = asksOf(task);
  node.append(element("p", {}, said, " ", reason), ...roomsOf(task));

  function markNow() {
    if (engine.done) return DONE;
    if (!engine.reached) return OPEN;
    if (engine.answer !== null) return asks.WRONG;
    return engine.holds ? asks.WHY : asks.WAS;
  }
  let told = "";
  return {
    node,
    update() {
      node.classList.toggle("done", engine.done);
      const mark = markNow();
      // It is heard again whenever it is written.
      const isAsking = Object.values(asks).includes(mark);
      if (mark !== told) said.replaceChildren(element("b", {}, mark), ...(isAsking ? [] : wordsOf(task, mark)));
      told = mark;
      reason.hidden = !isAsking;
      reasons.value = engine.answer === null ? "" : String(engine.answer);
    },
  };
}

/** In the foot of a board whose task is out of sight: that it is met. Pressed, it leads there; seen once, it goes. */
export function reminderOf({ engine }, task) {
  const node = element("button", { type: "button", class: "reminder", hidden: true });
  let isInSight = true;
  let isTold = true;
  let mark = "";
  node.addEventListener("click", () => task.scrollIntoView({ block: "center" }));
  function show() {
    node.hidden = isTold || !mark;
    node.textContent = `${mark.replace(/[.:] $/, "")} ↑`;
  }
  const watch = new IntersectionObserver(
    (seen) => {
      isInSight = seen.at(-1).isIntersecting;
      isTold ||= isInSight;
      show();
    },
    { rootMargin: "-56px 0px 0px" }, // what a page may have at its upper edge
  );
  watch.observe(task);
  return {
    node,
    update() {
      const now = engine.done ? DONE : engine.reached && engine.answer === null ? asksOf(engine.task).WHY : "";
      if (now !== mark) isTold = isInSight;
      mark = now;
      show();
    },
    stop: () => watch.disconnect(),
  };
}

function wordsOf(task, mark) {
  return worded((mark === DONE && task.because) || task.text);
}

// All that may come to stand there, so that nothing moves when it does; as attributes, as nobody is to hear it.
function roomsOf(task) {
  const room = (mark, words, ...more) =>
    element("div", { class: "unsaid", "data-words": `${mark}${plainWords(words)} ` }, ...more);
  const rooms = [room(DONE, task.because || task.text), room(OPEN, task.text)];
  if (!task.why) return rooms;
  const longest = task.answers.map(plainWords).reduce((one, other) => (other.length > one.length ? other : one));
  return [...rooms, room(asksOf(task).WRONG, task.why, element("span", { class: "as-select", "data-words": longest }))];
}

function reasonsOf(engine) {
  const { why, answers } = engine.task;
  const options = answers.map((answer, place) => element("option", { value: place }, plainWords(answer)));
  const first = element("option", { value: "" }, "choose …");
  const reasons = element("select", { "aria-label": plainWords(why) }, first, ...options);
  reasons.addEventListener("change", () => reasons.value !== "" && engine.reason(Number(reasons.value)));
  return [reasons, element("label", { hidden: true }, ...worded(why), " ", reasons)];
}
