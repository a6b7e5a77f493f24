// Bars of words, each a button: a word, its share, and dashed the share that it had before.

import { element, used } from "../elements.js";
import { percent } from "../numbers.js";

const LEAST = 0.01; // of a change that is drawn

/** choose(k): the bar was pressed; leave(): keys go back to where the list was entered from. */
export function barsOf(count, { choose, leave }) {
  const rows = Array.from({ length: count }, (_, k) => rowOf(k));
  const list = element("div", { class: "list", role: "group" }, ...rows.map(({ node }) => node));
  list.addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the keys

  function rowOf(k) {
    const word = element("span", { class: "name", dir: "auto" });
    const bar = element("i");
    const ghost = element("i", { class: "ghost" });
    const share = element("span", { class: "share" });
    const track = element("span", { class: "track" }, bar, ghost);
    const node = element("button", { type: "button", class: "say" }, word, track, share);
    node.addEventListener("click", () => choose(k));
    node.addEventListener("keydown", (event) => {
      if (event.key === "Escape" || (event.key === "ArrowUp" && k === 0)) {
        used(event);
        leave();
      } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        used(event);
        rows[k + (event.key === "ArrowDown" ? 1 : -1)]?.node.focus();
      }
    });
    return { node, word, bar, ghost, share };
  }

  return {
    list,
    focus: () => rows[0].node.focus(),
    /** A bar, or none: its name, share, the share that it had; whether it is a sign, stands there, is hardly said. */
    show(k, shown) {
      const { node, word, bar, ghost, share } = rows[k];
      node.hidden = !shown;
      if (!shown) return;
      word.textContent = shown.name;
      bar.style.width = `${100 * shown.share}%`;
      share.textContent = percent(shown.share);
      node.classList.toggle("sign", Boolean(shown.isSign));
      node.classList.toggle("hardly", Boolean(shown.isHardly));
      node.classList.toggle("there", Boolean(shown.isThere));
      const there = shown.isThere ? ", stands there" : "";
      const hasMoved = shown.was !== undefined && Math.abs(shown.was - shown.share) >= LEAST;
      const before = hasMoved && shown.saysBefore ? `, before ${percent(shown.was)}` : "";
      node.setAttribute("aria-label", `${shown.name}, ${percent(shown.share)}${before}${there}`);
      ghost.hidden = !hasMoved;
      ghost.style.width = `${100 * (shown.was ?? 0)}%`;
    },
  };
}
