// Undo and redo by keys, in every kind of board, and which keys JupyterLab gets.

import { used } from "./elements.js";

/** What the board uses is its own, all other keys belong to JupyterLab or the slides; returns what ends it. */
export function keysOf({ engine, root }) {
  const isCombined = (event) => event.ctrlKey || event.metaKey;
  const undoes = (event) => isCombined(event) && "zy".includes(event.key.toLowerCase());
  root.addEventListener("keydown", (event) => {
    if (!undoes(event) || event.altKey || event.defaultPrevented) return;
    used(event);
    if (event.shiftKey || event.key.toLowerCase() === "y") engine.redo();
    else engine.undo();
  });
  function guard(event) {
    // before JupyterLab sees it: a plain letter would be a command to the notebook
    if (!root.contains(event.target)) return;
    const runs = event.key === "Enter" && event.shiftKey && !event.target.matches("input");
    const onwards = event.key === " " && event.target.matches("td"); // to the next slide
    const isOthers = /^(F\d+|Escape|Page.*)$/.test(event.key) && !event.target.closest(".menu, dialog");
    const passes = (isCombined(event) && !undoes(event)) || runs || onwards || isOthers;
    event.target.toggleAttribute("data-lm-suppress-shortcuts", !passes);
  }
  window.addEventListener("keydown", guard, true);
  return () => window.removeEventListener("keydown", guard, true);
}
