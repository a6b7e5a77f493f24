// The whole page of a board on which a text is read: what a text of words and one of pieces have in common.

import { element, plainWords, worded } from "../elements.js";
import { keysOf } from "../keys.js";
import { widgetFor } from "../widget.js";

/**
 * What a board of its own kind adds.
 * @typedef {Object} Own
 * @property {{ update: () => void }[]} parts all that is drawn anew after each change
 * @property {{ update: () => void }[]} fitted those of them that are also drawn anew for another width
 * @property {(HTMLElement)[]} nodes from the top to the bottom; `line` and `spoken` are among them
 * @property {() => Told} tell what is told of how things stand
 * @property {() => void} stop what ends with the page
 *
 * @typedef {Object} Told
 * @property {string} problem in place of the words, if there is one
 * @property {string | null} words of the line; null leaves what stands there
 * @property {string} aloud what is read aloud of a change
 * @property {unknown[]} seen what changes with everything that is worth being read aloud
 * @property {boolean} isBusy whether more is to come, so nothing is read aloud yet
 */

/** A widget: one engine for each model, one page for each place where it is shown. */
export function textBoard({ Engine, classes, widths, own }) {
  function render(engine, el) {
    const root = element("div", { class: `attn-board ${classes}`, role: "group", "aria-label": engine.heading });
    const line = element("p", { class: "word-line" });
    const spoken = element("p", { class: "spoken-effect", role: "status" });
    const view = { engine, root, line, width: el.clientWidth, at: null };
    const { parts, fitted, nodes, tell, stop } = own(view, line, spoken);
    root.append(...nodes);

    let before = null; // what was seen last
    view.update = () => {
      for (const part of parts) part.update();
      const { problem, words, aloud, seen, isBusy } = tell();
      if (words !== null) line.replaceChildren(...worded(problem || words));
      line.classList.toggle("problem", Boolean(problem));
      if (isBusy || seen.every((one, k) => one === before?.[k])) return;
      if (before) spoken.textContent = plainWords(aloud);
      before = seen;
    };

    const forget = keysOf(view);
    el.append(root);
    const fit = () => {
      view.width = el.clientWidth - 30;
      for (const [name, isSo] of Object.entries(widths)) root.classList.toggle(name, isSo(el.clientWidth));
      for (const part of fitted) part.update();
    };
    const sized = new ResizeObserver(fit);
    sized.observe(el);
    engine.views.add(view.update);
    view.update();
    document.fonts?.ready.then(fit);
    return () => {
      engine.views.delete(view.update);
      sized.disconnect();
      stop();
      forget();
    };
  }

  return () => widgetFor(Engine, render);
}
