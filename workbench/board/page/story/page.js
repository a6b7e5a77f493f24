// The page of a story board: a sentence whose words are buttons, what comes next, what each head hears, writing on.

import { element } from "../elements.js";
import { taskOf } from "../task.js";
import { triesOf } from "../tries.js";
import { StoryEngine } from "./engine.js";
import { headsOf } from "./heads.js";
import { nextOf } from "./next.js";
import { sentenceOf } from "./sentence.js";
import { effectOf } from "./spoken.js";
import { textBoard } from "./whole.js";
import { writingOf } from "./writing.js";

const hintOf = (arrow) => `Choose a word, or type: *${arrow}* takes the green one.`;
const SNUG = 1080; // px: on a narrower page the bars leave the heads more room
const MIDDLING = 900; // px: on a narrower one heads stand in pairs
const NARROW = 720; // px: on a narrower page all stands one below the other

function own(view, line, spoken) {
  const { engine } = view;
  Object.assign(view, { draft: "", complaint: "" });
  const tries = triesOf(view);
  const task = taskOf(view);
  const sentence = sentenceOf(view);
  view.sentence = sentence;
  const next = nextOf(view);
  const heads = headsOf(view);
  const writing = writingOf(view);
  const below = element("div", { class: "below" }, next.node, heads.node);
  const told = element("div", { class: "told" }, line, writing.back);
  return {
    parts: [tries, task, sentence, next, heads, writing],
    fitted: [sentence, heads],
    nodes: [task.node, sentence.node, told, tries.node, writing.node, below, spoken],
    stop: writing.stop,
    tell() {
      const aloud = effectOf(engine);
      const isBusy = writing.isBusy();
      const words = `${engine.past.length ? engine.said : hintOf(sentence.arrow())} ${aloud}`;
      const problem = engine.untold || engine.problem || view.complaint;
      return { problem, words: isBusy ? null : words, aloud, seen: [engine.state], isBusy };
    },
  };
}

const widths = {
  snug: (width) => width >= MIDDLING && width < SNUG,
  middling: (width) => width >= NARROW && width < MIDDLING,
  narrow: (width) => width > 0 && width < NARROW,
};

export const widget = textBoard({ Engine: StoryEngine, classes: "story", widths, own });

export default widget;
