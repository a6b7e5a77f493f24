// The page of a story board: a sentence whose words are buttons, what comes next, what each head hears, writing on.

import { element, plainWords, worded } from "../elements.js";
import { keysOf } from "../keys.js";
import { taskOf } from "../task.js";
import { triesOf } from "../tries.js";
import { StoryEngine } from "./engine.js";
import { headsOf } from "./heads.js";
import { nextOf } from "./next.js";
import { sentenceOf } from "./sentence.js";
import { effectOf } from "./spoken.js";
import { writingOf } from "./writing.js";

const hintOf = (arrow) => `Choose a word, or type: *${arrow}* takes the green one.`;
const SNUG = 1080; // px: on a narrower page the bars leave the heads more room
const MIDDLING = 900; // px: on a narrower one heads stand in pairs
const NARROW = 720; // px: on a narrower page all stands one below the other

function render(engine, el) {
  const root = element("div", { class: "attn-board story", role: "group", "aria-label": engine.heading });
  const line = element("p", { class: "word-line" });
  const spoken = element("p", { class: "spoken-effect", role: "status" });
  const view = { engine, root, width: el.clientWidth, at: null, draft: "", complaint: "", line };
  const tries = triesOf(view);
  const task = taskOf(view);
  const sentence = sentenceOf(view);
  view.sentence = sentence;
  const next = nextOf(view);
  const heads = headsOf(view);
  const writing = writingOf(view);
  const parts = [tries, task, sentence, next, heads, writing];
  const below = element("div", { class: "below" }, next.node, heads.node);
  const told = element("div", { class: "told" }, line, writing.back);
  root.append(task.node, sentence.node, told, tries.node, writing.node, below, spoken);

  let before = null; // what was seen last
  view.update = () => {
    for (const part of parts) part.update();
    const problem = engine.untold || engine.problem || view.complaint;
    const effect = effectOf(engine);
    const words = `${engine.past.length ? engine.said : hintOf(sentence.arrow())} ${effect}`;
    if (!writing.isBusy()) line.replaceChildren(...worded(problem || words));
    line.classList.toggle("problem", Boolean(problem));
    if (engine.state !== before && !writing.isBusy()) {
      if (before) spoken.textContent = plainWords(effect);
      before = engine.state;
    }
  };

  const forget = keysOf(view);
  el.append(root);
  const fit = () => {
    view.width = el.clientWidth - 30;
    root.classList.toggle("snug", el.clientWidth >= MIDDLING && el.clientWidth < SNUG);
    root.classList.toggle("middling", el.clientWidth >= NARROW && el.clientWidth < MIDDLING);
    root.classList.toggle("narrow", el.clientWidth > 0 && el.clientWidth < NARROW);
    sentence.update();
    heads.update();
  };
  const sized = new ResizeObserver(fit);
  sized.observe(el);
  engine.views.add(view.update);
  view.update();
  document.fonts?.ready.then(fit);
  return () => {
    engine.views.delete(view.update);
    sized.disconnect();
    writing.stop();
    forget();
  };
}

/** One engine for each model, one page for each place where it is shown. */
export function widget() {
  let engine = null;
  return {
    initialize({ model }) {
      engine = new StoryEngine(model);
    },
    render({ model, el }) {
      engine ??= new StoryEngine(model);
      return render(engine, el);
    },
  };
}

export default widget;
