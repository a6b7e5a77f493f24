// The words of the sentence, each a button: it is chosen, and chosen again it is typed over.

import { element, used } from "../elements.js";

const APART = 104; // px between two words that both say in words which heads hear them
const SAME_LINE = 4; // px that two words of one line may differ in height
const isWord = (event) =>
  event.key.length === 1 && event.key !== " " && !(event.ctrlKey || event.metaKey || event.altKey);

export function wordsOf(view, sentence, field) {
  const { engine } = view;
  const { row, size, isLeftwards, first = 1 } = sentence;
  const all = []; // where the first word is at place 1, place 0 is the sign that begins a text

  function wordAt(place) {
    const name = element("span", { class: "name" });
    const mark = element("small", { "aria-hidden": "true" });
    const node = element("button", { type: "button", class: place >= first ? "word" : "word start" }, name, mark);
    node.addEventListener("click", (event) => {
      if (event.shiftKey && sentence.chooseSecond) sentence.chooseSecond(place);
      else if (place >= first && engine.place === place && node.wasChosen) field.open(place);
      else engine.choose(place);
      node.wasChosen = true;
    });
    node.addEventListener("blur", () => (node.wasChosen = false));
    node.addEventListener("keydown", (event) => {
      const act = actOf(event, place);
      if (!act) return;
      used(event);
      act();
    });
    return { node, name, mark };
  }

  // What a key does at a word, if it does anything.
  function actOf(event, place) {
    const { key } = event;
    const forth = isLeftwards() ? -1 : 1;
    if (event.shiftKey && sentence.actWithShift) return sentence.actWithShift(key, forth);
    const to = { ArrowLeft: place - forth, ArrowRight: place + forth, Home: 0, End: size() }[key];
    if (to !== undefined && !event.altKey && !event.ctrlKey && !event.metaKey) return () => go(to);
    if (key === "ArrowDown") return view.toList;
    if (place < first) return undefined;
    if (/^(Enter|F2)$/.test(key)) return () => field.open(place);
    if (/^(Delete|Backspace)$/.test(key)) return () => remove(place);
    return isWord(event) ? () => field.open(place, key) : undefined;
  }
  function go(to) {
    if (to > size()) return field.node.focus();
    engine.choose(Math.max(0, to));
    return all[Math.max(0, to)].node.focus();
  }
  function remove(place) {
    engine.remove(place - first);
    all[Math.min(place, size())].node.focus();
  }

  // The field among the words: behind the last one, where it stands, or in place of one, which is hidden.
  function arrange() {
    while (all.length > size() + 1) all.pop().node.remove();
    while (all.length <= size()) all.push(wordAt(all.length));
    const nodes = all.map(({ node }) => node);
    if (view.at !== null && sentence.replaced === null) nodes.splice(view.at + 1, 0, field.node);
    else if (sentence.replaced !== null) nodes.splice(sentence.replaced, 0, field.node);
    else nodes.push(field.node);
    nodes.forEach((one, k) => row.children[k] !== one && row.insertBefore(one, row.children[k] ?? null));
  }

  function update() {
    arrange();
    const { place, yours } = engine;
    const { faults, left } = engine.verdict;
    const unsound = new Set(faults.map(({ at }) => at));
    all.forEach(({ node, name }, k) => {
      if (name.textContent !== engine.word(k)) name.textContent = engine.word(k);
      node.hidden = k === sentence.replaced;
      node.tabIndex = k === place ? 0 : -1;
      node.setAttribute("aria-pressed", String(k === place));
      node.classList.toggle("own", k > yours);
      node.classList.toggle("unheard", k > place);
      node.classList.toggle("unsound", unsound.has(k - 1) || (left !== null && k > left));
    });
  }

  const spot = ({ node }) => ({
    x: node.offsetLeft + node.offsetWidth / 2,
    top: node.offsetTop,
    bottom: node.offsetTop + node.offsetHeight,
  });

  /** Below each heard word which heads hear it, place → heads; in words where there is room, else their numbers. */
  function mark(heard) {
    const marked = [...heard.keys()].map((k) => ({ k, ...spot(all[k]) }));
    const isAlone = ({ k, x, top }) =>
      x > APART / 2 &&
      x < sentence.node.clientWidth - APART / 2 &&
      marked.every((other) => other.k === k || Math.abs(other.top - top) > SAME_LINE || Math.abs(other.x - x) > APART);
    const isInWords = new Set(marked.filter(isAlone).map(({ k }) => k));
    all.forEach(({ node, mark, name }, k) => {
      const heads = heard.get(k);
      const words = heads ? `${heads.length > 1 ? "heads" : "head"} ${heads.join(", ")}` : "";
      const shown = isInWords.has(k) ? words : words.replace(/heads? /, "");
      if (mark.textContent !== shown) mark.textContent = shown;
      const by = heads ? `, attended to by ${words}` : "";
      const label = sentence.labelOf?.(k) ?? (k ? `${name.textContent}, word ${k}` : "start of the text");
      node.setAttribute("aria-label", `${label}${by}`);
    });
  }

  return {
    update,
    mark,
    focus: (place) => all[place]?.node.focus(),
    node: (place) => all[place]?.node,
    spot: (place) => spot(all[place]),
    nodes: () => all.map(({ node }) => node),
  };
}
