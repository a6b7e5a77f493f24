// A board's figure: a picture that stands for its matrices, one thing to grab, one sentence that answers. It is a view
// of the same engine, so what is moved here is moved on the matrices, and what is moved there is seen here.

import { button, element, newId } from "../elements.js";
import { keysOf } from "../keys.js";
import { planeFigure } from "./plane.js";
import { sentenceFigure } from "./sentence.js";
import { turnFigure } from "./turn.js";

const KINDS = { sentence: sentenceFigure, plane: planeFigure, turn: turnFigure };
const REST = 700; // ms after which a hand has come to rest, and what it did is said
const NARROW = 640; // px: a narrower figure is read as on a phone
const LOW = 520; // px: on a lower screen the words stand beside the picture

/** matrices: draws the board itself, for whoever wants every number. */
export function figureOf(engine, el, matrices) {
  const { kind } = engine.figure;
  const root = element("div", { class: `attn-figure ${kind}`, role: "group", "aria-label": engine.heading });
  const told = element("span", { class: "unseen", role: "status" });
  const isFirst = Boolean(el.closest("[data-first]")); // on its page: it fits into the first screen
  let resting = null;
  const view = {
    engine,
    root,
    isFirst,
    figure: engine.figure,
    preview: null, // values that are shown for a moment, and stand nowhere
    get values() {
      return view.preview ?? engine.values;
    },
    /** Once the hand has come to rest: the claim, for whoever does not see it. */
    tell(claim) {
      clearTimeout(resting);
      told.textContent = "";
      resting = setTimeout(() => {
        told.textContent = claim;
      }, REST);
    },
    touched() {},
  };
  [view.start] = engine.valuesOf(engine.start.inputs);
  const drawn = KINDS[kind](view);
  const problem = element("p", { class: "problem", role: "status" });
  root.append(...drawn.nodes, problem, told);

  function update() {
    problem.textContent = engine.untold || engine.problem;
    drawn.update();
  }
  function changed() {
    view.touched(); // what stands there now is somebody's
    update();
  }
  function layOut() {
    const width = el.clientWidth;
    if (!width) return;
    const isLow = isFirst && innerHeight < LOW;
    root.dataset.layout = width < NARROW ? "narrow" : isLow ? "beside" : "wide";
    drawn.layOut();
    update();
  }
  const resized = new ResizeObserver(layOut);
  if (isFirst) window.addEventListener("resize", layOut);
  document.fonts?.ready.then(layOut);
  const forget = keysOf(view);
  el.append(root);
  if (!isFirst) el.append(everyNumber(engine, drawn.buttons, matrices));
  engine.views.add(changed);
  layOut();
  resized.observe(el);
  drawn.invite?.();
  return () => {
    engine.views.delete(changed);
    window.removeEventListener("resize", layOut);
    resized.disconnect();
    forget();
  };
}

// The board under its figure, made when it is first asked for.
function everyNumber(engine, buttons, matrices) {
  const place = element("div", { class: "every", id: newId("n"), "data-numbers": "", hidden: true });
  const open = button("Every number", () => {
    place.hidden = !place.hidden;
    open.setAttribute("aria-expanded", String(!place.hidden));
    if (!place.childElementCount) matrices(engine, place);
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!place.hidden) place.scrollIntoView({ block: "start", behavior: isStill ? "auto" : "smooth" });
  });
  open.setAttribute("aria-expanded", "false");
  open.setAttribute("aria-controls", place.id);
  buttons.append(open);
  return place;
}
