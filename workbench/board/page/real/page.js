// The page of a board on which a language model reads: pieces, whom each of its heads hears, the next piece.

import { button, element } from "../elements.js";
import { backOf } from "../story/back.js";
import { textBoard } from "../story/whole.js";
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

function own(view, line, spoken) {
  const { engine, root } = view;
  const shownHeads = () => [view.lit ?? engine.state.settings.head].filter((one) => one >= 0);
  Object.assign(view, { lit: null, shownHeads });
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
  const heads = element("div", { class: "all-heads" }, grid.node, head.node);
  const below = element("div", { class: "below" }, next.node, heads);
  const told = element("div", { class: "told" }, line, back.node);

  function emptied() {
    engine.empty();
    sentence.focus();
  }

  return {
    parts: [tries, task, sentence, next, grid, head, back],
    fitted: [sentence, grid],
    nodes: [task.node, sentence.node, told, tries.node, below, spoken],
    stop: next.stop,
    tell() {
      empty.disabled = !engine.text;
      root.classList.toggle("waiting", engine.isWaiting);
      root.setAttribute("aria-busy", String(engine.isWaiting));
      const effect = effectOf(engine);
      const hint = engine.isAlone ? HINT_ALONE : HINT;
      return {
        problem: engine.untold || engine.problem,
        words: `${engine.past.length || engine.said ? engine.said : hint} ${effect}`,
        aloud: `${engine.said} ${effect}`,
        seen: [engine.reading, engine.state],
        isBusy: engine.isWaiting,
      };
    },
  };
}

const widths = { narrow: (width) => width > 0 && width < NARROW, wide: (width) => width >= WIDE };

export const widget = textBoard({ Engine: RealEngine, classes: "story real", widths, own });

export default widget;
