// What comes next: bars, each a button that says its word. While a word is typed, the words that it may become.

import { button, element } from "../elements.js";
import { barsOf } from "./bars.js";

const ROWS = 6;

export function nextOf(view) {
  const { engine, sentence } = view;
  const title = element("p", { class: "title" });
  const change = button("Change", () => sentence.open(engine.place), "Type another word here (Enter)");
  const remove = button("Remove", () => engine.remove(engine.place - 1), "Take this word out (Delete)");
  const tools = element("span", { class: "word-tools" }, change, remove);
  const bars = barsOf(ROWS, {
    choose: (k) => listed[k].word !== engine.vocabulary[0] && sentence.choose(listed[k].word),
    leave: () => sentence.focus(),
  });
  const { list } = bars;
  const node = element("div", { class: "next" }, element("div", { class: "over" }, title, tools), list);
  let listed = [];
  let seen = null; // shares by their words, as they stood before the last change
  let before = null;
  let state = null;
  let where = "";

  view.list = list;
  view.toList = bars.focus;
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
      for (let k = 0; k < ROWS; k++) {
        const { word, share } = listed[k] ?? {};
        const isEnd = word === engine.vocabulary[0];
        const was = isDraft ? undefined : before?.get(word);
        const name = isEnd ? "the end" : word;
        bars.show(
          k,
          word && { name, share, was, isSign: isEnd, isThere: word === there, isHardly: !isDraft && share < 0.005 },
        );
      }
      seen = new Map(engine.likely(place).map(({ word, share }) => [word, share]));
    },
  };
}
