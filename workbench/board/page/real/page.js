// The page of a board on which a language model reads: pieces, whom each of its heads hears, the next piece.

import { button, element, plainWords, worded } from "../elements.js";
import { keysOf } from "../keys.js";
import { backOf } from "../story/back.js";
import { taskOf } from "../task.js";
import { triesOf } from "../tries.js";
import { RealEngine } from "./engine.js";
import { gridOf } from "./grid.js";
import { headOf } from "./head.js";
import { nextOf } from "./next.js";
import { sentenceOf } from "./sentence.js";
import { effectOf } from "./spoken.js";

const NARROW = 720; // px: on a narrower page all stands one below the other, and the grid on its side
const WIDE = 1200; // px: on a wider one squares and bars are larger
const HINT = "Type, or choose a piece. A square shows one head.";
const HINT_ALONE = "Choose a piece, or a square to see one head; press it again to turn it off.";

function render(engine, el) {
  const root = element("div", { class: "attn-board story real", role: "group", "aria-label": engine.heading });
  const line = element("p", { class: "word-line" });
  const spoken = element("p", { class: "spoken-effect", role: "status" });
  const view = { engine, root, width: el.clientWidth, at: null, lit: null, shownHeads: () => shown() };
  const tries = triesOf(view);
  const task = taskOf(view);
  const sentence = sentenceOf(view);
  view.sentence = sentence;
  const next = nextOf(view);
  const grid = gridOf(view);
  const head = headOf(view);
  const back = backOf(engine);
  const empty = button("Empty", emptied, "Take the whole text away");
  if (!engine.isAlone) back.node.prepend(empty);
  const parts = [tries, task, sentence, next, grid, head, back];
  const heads = element("div", { class: "all-heads" }, grid.node, head.node);
  const below = element("div", { class: "below" }, next.node, heads);
  const told = element("div", { class: "told" }, line, back.node);
  root.append(task.node, sentence.node, told, tries.node, below, spoken);

  const shown = () => [view.lit ?? engine.state.settings.head].filter((one) => one >= 0);

  function emptied() {
    engine.empty();
    sentence.focus();
  }

  let before = null; // what was seen last
  view.update = () => {
    for (const part of parts) part.update();
    empty.disabled = !engine.text;
    const problem = engine.untold || engine.problem;
    const effect = effectOf(engine);
    const hint = engine.isAlone ? HINT_ALONE : HINT;
    const words = engine.past.length || engine.said ? engine.said : hint;
    line.replaceChildren(...worded(problem || `${words} ${effect}`));
    line.classList.toggle("problem", Boolean(problem));
    root.classList.toggle("waiting", engine.isWaiting);
    root.setAttribute("aria-busy", String(engine.isWaiting));
    if (engine.isWaiting || (engine.reading === before?.reading && engine.state === before?.state)) return;
    if (before) spoken.textContent = plainWords(`${engine.said} ${effect}`);
    before = { reading: engine.reading, state: engine.state };
  };

  const forget = keysOf(view);
  el.append(root);
  const fit = () => {
    view.width = el.clientWidth - 30;
    root.classList.toggle("narrow", el.clientWidth > 0 && el.clientWidth < NARROW);
    root.classList.toggle("wide", el.clientWidth >= WIDE);
    sentence.update();
    grid.update();
  };
  const sized = new ResizeObserver(fit);
  sized.observe(el);
  engine.views.add(view.update);
  view.update();
  document.fonts?.ready.then(fit);
  return () => {
    engine.views.delete(view.update);
    sized.disconnect();
    next.stop();
    forget();
  };
}

/** One engine for each model, one page for each place where it is shown. */
export function widget() {
  let engine = null;
  return {
    initialize({ model }) {
      engine = new RealEngine(model);
    },
    render({ model, el }) {
      engine ??= new RealEngine(model);
      return render(engine, el);
    },
  };
}

export default widget;
