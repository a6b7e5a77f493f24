// The sentence: words to choose, one line to type into, which stands behind the last word or in place of another, and
// ribbons from the chosen word to those that it hears.

import { element, used } from "../elements.js";
import { dashesOf } from "./dashes.js";

const DRAWN = { line: 0.15, several: 0.2 }; // a smaller share is no ribbon, where the text has one line or several
const NAMED = 0.3; // from here on the heard word says which head hears it
const WIDTH = { wide: 7, narrow: 6 }; // px of a ribbon with all of a head
const SHORT = 0.36; // of the type's size: no text is narrower for each of its signs
const TYPES = [44, 38, 33, 28, 25]; // px, in which a text may stand in one line
const NARROW = 700; // px
const LEFTWARDS = /^\P{L}*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const LABEL = 20; // px below a word, where it says so
const APART = 104; // px between two words that both say in words which heads hear them
const TAKEN = 24; // px that a ribbon goes out of its way for a gap of its own
const isWord = (event) =>
  event.key.length === 1 && event.key !== " " && !(event.ctrlKey || event.metaKey || event.altKey);

export function sentenceOf(view) {
  const { engine } = view;
  const ribbons = element("svg", { class: "ribbons", "aria-hidden": "true" });
  const field = element("input", {
    class: "field",
    dir: "auto",
    autocomplete: "off",
    autocapitalize: "off",
    autocorrect: "off",
    spellcheck: "false",
    enterkeyhint: "next",
  });
  const row = element("div", { class: "words", role: "group", "aria-label": "The text, word by word" });
  const node = element("div", { class: "sentence" }, ribbons, row);
  const words = []; // buttons: place 0 is the sign that begins a text
  let replaced = null; // the place whose word the field stands for
  let fitted = ""; // what the type was chosen for
  let seen = engine.words; // the text as it was shown last
  let isOwn = false; // whether the field itself changes it
  let composing = false; // signs that are put together of several keys

  const size = () => engine.words.length;
  const arrow = () => (row.dir === "rtl" ? "←" : "→"); // forth, as the text runs
  const isAtEnd = () => view.at === null;
  const at = () => view.at ?? size(); // how many words stand before the field

  // ---- the field

  function open(place, text = engine.word(place)) {
    replaced = place;
    view.at = place - 1;
    setDraft(text);
    view.update();
    field.focus();
    field.select();
    if (text.length === 1) field.setSelectionRange(1, 1);
  }
  function close(focused) {
    replaced = view.at = null;
    setDraft("");
    view.update();
    if (focused !== undefined) words[focused]?.node.focus();
  }
  function setDraft(text, strange = "") {
    view.draft = strange || text;
    view.complaint = strange ? complaintOf(strange) : "";
    if (field.value !== text) field.value = text;
  }

  // Words that are known go into the text, up to a strange one, which waits in the field with all that comes after it.
  function take(typed) {
    const { words: found, rest, strange } = engine.understood(typed);
    if (found.length) put(found);
    setDraft(rest, strange);
    view.update();
    return !strange;
  }
  const complaintOf = (word) =>
    `“${word.slice(0, 20)}” is not one of the ${engine.vocabulary.length - 1} words this model has read. Choose one near it.`;

  function put(found) {
    const before = at();
    own(() => putAt(before, found));
    if (view.at !== null) view.at = before + found.length;
  }
  function own(change) {
    isOwn = true;
    change();
    isOwn = false;
    seen = engine.words;
  }
  function putAt(before, found) {
    if (replaced !== null) {
      const [first, ...others] = found;
      replaced = null;
      engine.replace(before, first);
      if (others.length) engine.insert(before + 1, others);
    } else {
      engine.insert(before, found);
    }
  }

  /** A word from the list: where the field stands, or after the chosen word. */
  function choose(word) {
    if (view.complaint) {
      const isReplacing = replaced !== null;
      const others = /^\S+\s+(.*)$/s.exec(field.value.trimStart())?.slice(1) ?? []; // what stands behind the word
      if (take(`${word} ${others.join(" ")}`) && isReplacing) close();
      return undefined;
    }
    if (isAtEnd()) {
      setDraft("");
      return engine.say(engine.place, word);
    }
    const isReplacing = replaced !== null;
    put([word]);
    if (isReplacing) close();
    else setDraft("");
    view.update();
    return undefined;
  }

  field.addEventListener("compositionstart", () => (composing = true));
  field.addEventListener("compositionend", () => {
    composing = false;
    take(field.value);
  });
  field.addEventListener("input", () => composing || take(field.value));
  field.addEventListener("focus", () => {
    if (isAtEnd()) engine.choose(size());
  });
  field.addEventListener("blur", ({ relatedTarget }) => {
    if (view.list.contains(relatedTarget)) return;
    // what was typed in full counts, and what is no word is not there any more
    const known = engine.known(field.value.trim());
    if (view.complaint || !known) return;
    put([known]);
    close();
  });
  field.addEventListener("keydown", (event) => {
    if (composing) return;
    const { key } = event;
    const isEmpty = field.value === "";
    const forth = getComputedStyle(row).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    const back = forth === "ArrowLeft" ? "ArrowRight" : "ArrowLeft";
    const isAtStart = field.selectionStart === 0 && field.selectionEnd === 0;
    if (key === "Enter") {
      used(event);
      enter();
    } else if (key === forth && isEmpty && isAtEnd()) {
      used(event);
      if (field.placeholder) choose(field.placeholder);
    } else if (key === "Escape" && (!isEmpty || !isAtEnd())) {
      used(event);
      const chosen = replaced;
      close(chosen ?? undefined);
      if (chosen === null) field.focus();
    } else if (key === "ArrowDown") {
      used(event);
      view.toList();
    } else if (key === back && isAtStart) {
      used(event);
      const place = at();
      close(place);
    } else if (key === "Backspace" && isEmpty && at() > 0) {
      used(event);
      const place = at();
      const word = engine.word(place);
      own(() => engine.remove(place - 1));
      if (view.at !== null) view.at = place - 1;
      setDraft(word);
      view.update();
      field.focus();
    }
  });
  function enter() {
    const typed = field.value.trim();
    const known = engine.known(typed);
    const [first] = view.listed();
    if (!typed) return isAtEnd() ? undefined : close(at()); // Enter says what was written, and never more than that
    if (known) {
      const isReplacing = replaced !== null;
      put([known]);
      setDraft("");
      if (isReplacing) return close(at());
      return view.update();
    }
    if (first?.far === 0) return choose(first.word); // it begins so
    setDraft(field.value, typed.split(/\s+/)[0]);
    return view.update();
  }

  // ---- the words

  function wordButton(place) {
    const name = element("span", { class: "name" });
    const mark = element("small", { "aria-hidden": "true" });
    const node = element("button", { type: "button", class: place ? "word" : "word start" }, name, mark);
    node.addEventListener("click", () => {
      if (place && engine.place === place && node.wasChosen) open(place);
      else engine.choose(place);
      node.wasChosen = true;
    });
    node.addEventListener("blur", () => (node.wasChosen = false));
    node.addEventListener("keydown", (event) => onKey(event, place));
    return { node, name, mark };
  }

  function onKey(event, place) {
    const forth = getComputedStyle(row).direction === "rtl" ? -1 : 1;
    const to = { ArrowLeft: place - forth, ArrowRight: place + forth, Home: 0, End: size() }[event.key];
    if (to !== undefined && !event.altKey && !event.ctrlKey && !event.metaKey) {
      used(event);
      if (to > size()) return field.focus();
      engine.choose(Math.max(0, to));
      words[Math.max(0, to)].node.focus();
    } else if (event.key === "ArrowDown") {
      used(event);
      view.toList();
    } else if (place && /^(Enter|F2)$/.test(event.key)) {
      used(event);
      open(place);
    } else if (place && /^(Delete|Backspace)$/.test(event.key)) {
      used(event);
      engine.remove(place - 1);
      words[Math.min(place, size())].node.focus();
    } else if (place && isWord(event)) {
      used(event);
      open(place, event.key);
    }
    return undefined;
  }

  function showWords() {
    while (words.length > size() + 1) words.pop().node.remove();
    while (words.length <= size()) words.push(wordButton(words.length));
    const wanted = words.map(({ node }) => node);
    if (view.at !== null && replaced === null) wanted.splice(view.at + 1, 0, field);
    else if (replaced !== null) wanted.splice(replaced, 0, field);
    else wanted.push(field);
    wanted.forEach((one, k) => row.children[k] !== one && row.insertBefore(one, row.children[k] ?? null));
    const { place, yours } = engine;
    const { faults, left } = engine.verdict;
    const unsound = new Set(faults.map(({ at }) => at));
    words.forEach(({ node, name }, k) => {
      if (name.textContent !== engine.word(k)) name.textContent = engine.word(k);
      node.hidden = k === replaced;
      node.tabIndex = k === place ? 0 : -1;
      node.setAttribute("aria-pressed", String(k === place));
      node.classList.toggle("own", k > yours);
      node.classList.toggle("unheard", k > place);
      node.classList.toggle("unsound", unsound.has(k - 1) || (left !== null && k > left));
    });
    row.dir = LEFTWARDS.test((size() ? engine.words : engine.vocabulary.slice(1)).join(" ")) ? "rtl" : "ltr";
    const [first] = isAtEnd() ? engine.likely(size()) : [];
    const isFull = size() >= engine.most;
    const ghost = isFull || !first || first.word === engine.vocabulary[0] ? "" : first.word;
    field.placeholder = ghost;
    field.hidden = isFull && isAtEnd();
    field.style.setProperty("--signs", Math.max(3, [...(field.value || ghost)].length));
    fitType();
    field.setAttribute("aria-label", labelOf(ghost));
    field.setAttribute("aria-invalid", String(Boolean(view.complaint)));
  }
  // The largest type in which the text stands in one line; else lines of a type in which the field is not left alone.
  function fitType() {
    const shape = [engine.words, field.placeholder, view.width, replaced, view.at].join();
    if (shape === fitted || !node.clientWidth) return;
    fitted = shape;
    const isNarrow = view.width < NARROW;
    const signs = engine.words.reduce((sum, word) => sum + [...word].length + 1, 4);
    const types = TYPES.filter((type) => !isNarrow && signs * SHORT * type < view.width);
    const set = (type, isSeveral) => {
      const size = `${type}px`;
      if (node.style.getPropertyValue("--size") !== size) node.style.setProperty("--size", size);
      node.classList.toggle("several", isSeveral);
    };
    const line = (one) => one.offsetTop + one.offsetHeight;
    const isBelow = (one, other) => line(one) > line(other) + 20;
    const last = () => words[size()].node;
    const isOneLine = (type) => {
      set(type, false);
      return !isBelow(last(), words[0].node) && !isBelow(field, words[0].node);
    };
    const isWhole = (type) => {
      set(type, true);
      return !isBelow(field, last());
    };
    if (types.some(isOneLine)) return;
    const several = isNarrow ? (size() < 20 ? [27, 25, 23] : [23, 22, 24]) : [28, 26, 30];
    if (!several.some(isWhole)) set(several[0], true);
  }
  function labelOf(ghost) {
    if (replaced !== null) return `In place of ${engine.word(replaced)}`;
    return ghost && !field.value ? `Next word; ${arrow()} takes ${ghost}` : "Next word";
  }

  // ---- ribbons

  // Who is heard: for each head that is not out the places with their shares.
  function heardNow(least) {
    const { place } = engine;
    const { head: alone } = engine.state.settings;
    const among = view.lit ?? (alone < 0 ? null : alone);
    return engine.maps.flatMap((_, head) =>
      engine.isOut(head) || place === 0 // the first hears nobody but itself
        ? []
        : Array.from(engine.heard(head, place), (share, to) => ({
            head,
            to,
            share,
            faint: among !== null && among !== head,
          })).filter(({ share }) => share >= least),
    );
  }

  // Which heads say which word; heads that are faint do not count.
  function named(found) {
    const names = new Map();
    for (const { head, to, share, faint } of found) {
      if (share >= NAMED && !faint) names.set(to, [...(names.get(to) ?? []), head]);
    }
    return names;
  }

  function mark(names) {
    const labelled = [...names.keys()].map((k) => ({ k, ...spot(words[k]) }));
    const isAlone = ({ k, x, top }) =>
      x > APART / 2 &&
      x < node.clientWidth - APART / 2 &&
      labelled.every((other) => other.k === k || Math.abs(other.top - top) > 4 || Math.abs(other.x - x) > APART);
    const isInWords = new Set(labelled.filter(isAlone).map(({ k }) => k));
    words.forEach(({ node, mark, name }, k) => {
      const heads = names.get(k);
      const said = heads ? `${heads.length > 1 ? "heads" : "head"} ${heads.join(", ")}` : "";
      const shown = isInWords.has(k) ? said : said.replace(/heads? /, "");
      if (mark.textContent !== shown) mark.textContent = shown;
      const loud = heads ? `, heard by ${said}` : "";
      node.setAttribute("aria-label", k ? `${name.textContent}, word ${k}${loud}` : `start of the text${loud}`);
    });
  }

  const spot = ({ node }) => ({
    x: node.offsetLeft + node.offsetWidth / 2,
    top: node.offsetTop,
    bottom: node.offsetTop + node.offsetHeight,
  });

  // The lines of words, the lowest first, with the gaps beside and between their words.
  function linesOf() {
    const lines = new Map();
    for (const { node } of words) {
      const { offsetTop: top, offsetLeft: left, offsetWidth: width } = node;
      if (node.hidden) continue;
      if (!lines.has(top)) lines.set(top, { top, bottom: top + node.offsetHeight, edges: [] });
      lines.get(top).edges.push([left, left + width]);
    }
    const gapsOf = (edges) => {
      const sorted = edges.sort(([one], [other]) => one - other);
      const inner = sorted.slice(1).map(([left], k) => (left + sorted[k][1]) / 2);
      return [sorted[0][0] - 2, ...inner, sorted.at(-1)[1] + 2].map((x) => ({ x, taken: 0 }));
    };
    return [...lines.values()]
      .map(({ top, bottom, edges }) => ({ top, bottom, gaps: gapsOf(edges) }))
      .sort((one, other) => other.top - one.top);
  }

  // All places are asked for before anything is written: each look after a change costs the page a layout.
  function draw() {
    const isNarrow = view.root.classList.contains("narrow");
    const lines = linesOf();
    const found = heardNow(lines.length > 1 ? DRAWN.several : DRAWN.line);
    const names = named(found);
    const chosen = words[engine.place];
    if (!chosen || chosen.node.hidden) {
      mark(names);
      return ribbons.replaceChildren();
    }
    const isSeveral = isNarrow || node.classList.contains("several");
    const thick = (isSeveral ? WIDTH.narrow : WIDTH.wide) * Math.min(1, 4 / engine.heads);
    const rise = Number.parseFloat(getComputedStyle(row).rowGap) || 40;
    const from = spot(chosen);
    const spots = new Map(found.map(({ to }) => [to, spot(words[to])]));
    const ends = found.map((one) => ({ ...one, ...spots.get(one.to), width: Math.max(2, one.share * thick) }));
    const size = { width: node.clientWidth, height: node.clientHeight };
    mark(names);
    for (const [what, px] of Object.entries(size)) ribbons.setAttribute(what, px);
    const drawn = inOrder(ends, from).flatMap((one) => ribbon(one, from.top, rise, names.has(one.to), lines));
    ribbons.replaceChildren(...drawn);
    return undefined;
  }

  // Feet side by side at the chosen word, the nearest first, so that no ribbon crosses another: a is where each begins,
  // b where it ends, beside the others that end there.
  function inOrder(ends, from) {
    const widthOf = (some) => some.reduce((sum, { width }) => sum + width, 0);
    const far = ({ x, top }) => (Math.abs(top - from.top) < 4 ? Math.abs(from.x - x) : 1e5 + (from.x - x));
    let foot = from.x - widthOf(ends) / 2;
    const reached = new Map();
    return [...ends]
      .sort((one, other) => far(one) - far(other))
      .map((one) => {
        const { to, x, width } = one;
        const a = foot + width / 2;
        foot += width;
        const done = reached.get(to) ?? 0;
        reached.set(to, done + width);
        const aside = widthOf(ends.filter((other) => other.to === to)) / 2 - done - width / 2;
        return { ...one, a, b: x + (x <= from.x ? aside : -aside) };
      });
  }

  // From the chosen word to the one that is heard, where its arrow points; on the way up between the words of each line.
  function ribbon(one, top, rise, isNamed, lines) {
    const { a, b, width, head } = one;
    const tip = 5 + width;
    const isSame = Math.abs(one.top - top) < 4;
    const isUp = !isSame;
    const end = isUp ? one.bottom + (isNamed ? LABEL : 0) : top;
    const last = end + (isUp ? tip : -tip);
    let d;
    let x = b;
    if (one.to === engine.place) {
      x = a + 26;
      d = `M${a} ${top}c0 ${-rise * 0.55} 26 ${-rise * 0.55} 26 ${-tip}`;
    } else if (isSame) {
      const h = Math.min(rise - width, 16 + Math.abs(a - b) * 0.34) / 0.75;
      d = `M${a} ${top}C${a + (b - a) * 0.06} ${top - h} ${b} ${top - h - tip} ${b} ${last}`;
    } else {
      const between = lines.filter((line) => line.top > one.top + 4 && line.top < top - 4);
      d = `M${a} ${top}`;
      let at = [a, top];
      const rest = (line) => (line.top - last) / (top - last); // how much of the way is left there
      const to = (x, y) => {
        const middle = (at[1] + y) / 2;
        d += `C${at[0]} ${middle} ${x} ${middle} ${x} ${y}`;
        at = [x, y];
      };
      for (const line of between) {
        const gap = gapFor(line, b + (a - b) * rest(line));
        to(gap, line.bottom);
        d += `L${gap} ${line.top}`;
        at = [gap, line.top];
      }
      to(b, last);
    }
    const opacity = (one.faint ? 0.12 : 0.45 + 0.4 * one.share).toFixed(2);
    const wide = 2.5 + width / 2;
    const dashes = dashesOf(head, width);
    return [
      element("path", { d, opacity, "stroke-width": width.toFixed(1), "stroke-dasharray": dashes }),
      element("path", { d: `M${x - wide} ${last}H${x + wide}L${x} ${end}Z`, class: "tip", opacity }),
    ];
  }

  // The gap of a line that is nearest to x; one that other ribbons go through counts as farther away.
  function gapFor({ gaps }, x) {
    const far = (gap) => Math.abs(gap.x - x) + TAKEN * gap.taken;
    const gap = gaps.reduce((one, other) => (far(other) < far(one) ? other : one));
    const aside = [0, 3, -3][gap.taken % 3];
    gap.taken += 1;
    return gap.x + aside;
  }

  return {
    node,
    choose,
    open,
    draw,
    focus: () => field.focus(),
    arrow,
    isReplacing: () => replaced,
    /** The place whose next word is asked for. */
    place: () => (isAtEnd() ? engine.place : view.at),
    update() {
      if (engine.words !== seen && !isOwn) {
        // changed by Undo, a phrase, a bar, Python: what was typed belongs to another text
        seen = engine.words;
        replaced = view.at = null;
        setDraft("");
      }
      showWords();
      draw();
    },
  };
}
