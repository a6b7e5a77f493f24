// What comes next: bars, each a button that says its word. While a word is typed, the words that it may become.

import { button, element, used } from "../elements.js";
import { percent } from "../numbers.js";

const ROWS = 6;

export function nextOf(view) {
  const { engine, sentence } = view;
  const title = element("p", { class: "title" });
  const change = button("Change", () => sentence.open(engine.place), "Type another word here (Enter)");
  const remove = button("Remove", () => engine.remove(engine.place - 1), "Take this word out (Delete)");
  const tools = element("span", { class: "word-tools" }, change, remove);
  const list = element("div", { class: "list", role: "group" });
  const node = element("div", { class: "next" }, element("div", { class: "over" }, title, tools), list);
  const rows = Array.from({ length: ROWS }, (_, k) => rowOf(k));
  list.append(...rows.map((row) => row.node));
  list.addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the keys
  let listed = [];
  let seen = null; // shares by their words, as they stood before the last change
  let before = null;
  let state = null;
  let where = "";

  function rowOf(k) {
    const word = element("span", { class: "name", dir: "auto" });
    const bar = element("i");
    const ghost = element("i", { class: "ghost" });
    const share = element("span", { class: "share" });
    const track = element("span", { class: "track" }, bar, ghost);
    const node = element("button", { type: "button", class: "say" }, word, track, share);
    node.addEventListener("click", () => {
      if (listed[k].word !== engine.vocabulary[0]) sentence.choose(listed[k].word);
    });
    node.addEventListener("keydown", (event) => {
      if (event.key === "Escape" || (event.key === "ArrowUp" && k === 0)) {
        used(event);
        sentence.focus();
      } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        used(event);
        rows[k + (event.key === "ArrowDown" ? 1 : -1)]?.node.focus();
      }
    });
    return { node, word, bar, ghost, share };
  }

  view.list = list;
  view.toList = () => rows[0].node.focus();
  view.listed = () => listed;

  // The most likely ones, and the word that stands there in any case.
  function likely(place, there) {
    const all = engine.likely(place);
    const shown = all.slice(0, ROWS);
    const own = all.find(({ word }) => word === there);
    if (own && !shown.includes(own)) shown[ROWS - 1] = own;
    return shown;
  }

  function say(place, there) {
    const replaced = sentence.isReplacing();
    const em = (word) => element("em", { dir: "auto" }, word);
    if (view.complaint) return ["The nearest words"];
    if (view.draft && view.draft !== there) return ["Words like ", em(view.draft)];
    if (replaced !== null) return ["In place of ", em(engine.word(replaced))];
    return place ? ["After ", em(engine.word(place))] : ["To begin with"];
  }

  return {
    node,
    update() {
      const place = sentence.place();
      const there = engine.words[place];
      const isDraft = view.draft && view.draft !== there;
      listed = isDraft ? engine.nearest(view.draft, place).slice(0, ROWS) : likely(place, there);
      if (engine.state !== state) {
        const now = `${place} of ${engine.words.length}`;
        before = now === where ? seen : null; // another place has nothing to be compared with
        where = now;
        state = engine.state;
      }
      title.replaceChildren(...say(place, there));
      list.setAttribute("aria-label", title.textContent);
      const chosen = engine.place;
      tools.hidden = chosen === 0 || view.at !== null || Boolean(view.complaint);
      change.setAttribute("aria-label", `Change ${engine.word(chosen)}`);
      remove.setAttribute("aria-label", `Remove ${engine.word(chosen)}`);
      rows.forEach((row, k) => {
        const { word, share } = listed[k] ?? {};
        row.node.hidden = word === undefined;
        if (word === undefined) return;
        const isEnd = word === engine.vocabulary[0];
        row.word.textContent = isEnd ? "the end" : word;
        row.node.classList.toggle("sign", isEnd);
        row.node.classList.toggle("hardly", share < 0.005 && !isDraft);
        row.bar.style.width = `${100 * share}%`;
        row.share.textContent = percent(share);
        row.node.setAttribute(
          "aria-label",
          `${row.word.textContent}, ${percent(share)}${word === there ? ", stands there" : ""}`,
        );
        row.node.classList.toggle("there", word === there);
        const was = before?.get(word);
        row.ghost.hidden = isDraft || was === undefined || Math.abs(was - share) < 0.01;
        row.ghost.style.width = `${100 * (was ?? 0)}%`;
      });
      seen = new Map(engine.likely(place).map(({ word, share }) => [word, share]));
    },
  };
}
