// The sentence: words to choose, one line to type into, which stands behind the last word or in place of another, and
// ribbons from the chosen word to those that it hears.

import { element, used } from "../elements.js";

const DRAWN = 0.1; // a smaller share is no ribbon
const NAMED = 0.3; // from here on the heard word says which head hears it
const WIDTH = { wide: 16, narrow: 10 }; // px of a ribbon with all of a head
const SHORT = 0.36; // of the type's size: no text is narrower for each of its signs
const TYPES = [44, 38, 33, 28, 25]; // px, in which a text may stand in one line
const NARROW = 700; // px
const LEFTWARDS = /^\P{L}*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const LABEL = 20; // px below a word, where it says so
const EDGE = 3; // px beside the text, where a ribbon passes lines that lie between
const ROOM = 10; // px there is for all that pass
const isWord = (event) =>
  event.key.length === 1 && event.key !== " " && !(event.ctrlKey || event.metaKey || event.altKey);

// A way along these points, whose corners are round.
function rounded(...points) {
  const towards = ([x, y], [a, b], most) => {
    const long = Math.hypot(a - x, b - y);
    const part = long ? Math.min(most, long / 2) / long : 0;
    return `${x + (a - x) * part} ${y + (b - y) * part}`;
  };
  const corners = points.slice(1, -1).map((corner, k) => {
    const [before, after] = [points[k], points[k + 2]];
    return `L${towards(corner, before, 5)}Q${corner.join(" ")} ${towards(corner, after, 5)}`;
  });
  return `M${points[0].join(" ")}${corners.join("")}L${points.at(-1).join(" ")}`;
}

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
  function setDraft(text) {
    view.draft = text;
    view.complaint = "";
    if (field.value !== text) field.value = text;
  }

  // Words that are known go into the text; what is left may still become one.
  function take(typed) {
    const { words: found, rest, strange } = engine.understood(typed);
    if (found.length) put(found);
    setDraft(strange || rest);
    if (strange) view.complaint = complaintOf(strange);
    view.update();
    return !strange;
  }
  const complaintOf = (word) =>
    `“${word.slice(0, 20)}” is not one of the ${engine.vocabulary.length - 1} words this model has read. Choose one near it.`;

  function put(found) {
    const before = at();
    if (replaced !== null) {
      const [first, ...others] = found;
      replaced = null;
      engine.replace(before, first);
      if (others.length) engine.insert(before + 1, others);
    } else {
      engine.insert(before, found);
    }
    if (view.at !== null) view.at = before + found.length;
  }

  /** A word from the list: where the field stands, or after the chosen word. */
  function choose(word) {
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
      engine.remove(place - 1);
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
    view.complaint = complaintOf(typed);
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
  function heardNow() {
    const { place } = engine;
    const { head: alone } = engine.state.settings;
    const among = view.lit ?? (alone < 0 ? null : alone);
    return engine.maps.flatMap((_, head) =>
      engine.isOut(head)
        ? []
        : Array.from(engine.heard(head, place), (share, to) => ({
            head,
            to,
            share,
            faint: among !== null && among !== head,
          })).filter(({ share }) => share >= DRAWN),
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

  function mark(names, isNarrow) {
    words.forEach(({ node, mark, name }, k) => {
      const heads = names.get(k);
      const said = heads ? `${heads.length > 1 ? "heads" : "head"} ${heads.join(", ")}` : "";
      const shown = isNarrow ? said.replace(/heads? /, "") : said;
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

  // All places are asked for before anything is written: each look after a change costs the page a layout.
  function draw() {
    const found = heardNow();
    const names = named(found);
    const isNarrow = view.root.classList.contains("narrow");
    const chosen = words[engine.place];
    if (!chosen || chosen.node.hidden) {
      mark(names, isNarrow);
      return ribbons.replaceChildren();
    }
    const isSeveral = isNarrow || node.classList.contains("several");
    const thick = (isSeveral ? WIDTH.narrow : WIDTH.wide) * Math.min(1, 4 / engine.heads);
    const rise = Number.parseFloat(getComputedStyle(row).rowGap) || 40;
    const from = spot(chosen);
    const spots = new Map(found.map(({ to }) => [to, spot(words[to])]));
    const lines = [...new Set(words.map(({ node }) => node.offsetTop))];
    const isFar = ({ top }) => lines.some((line) => line > top + 4 && line < from.top - 4);
    const ends = found
      .map((one) => ({ ...one, ...spots.get(one.to), width: Math.max(1.5, one.share * thick) }))
      .map((one) => ({ ...one, isFar: isFar(one) }));
    const size = { width: node.clientWidth, height: node.clientHeight };
    mark(names, isNarrow);
    for (const [what, px] of Object.entries(size)) ribbons.setAttribute(what, px);
    const sides = { left: EDGE, right: EDGE }; // how far out the next ribbon goes
    const edgeOf = (one) => {
      const side = one.x < size.width / 2 ? "left" : "right";
      const out = Math.min(sides[side], ROOM);
      sides[side] += one.width + 1.5;
      return side === "left" ? -out : size.width + out;
    };
    const drawn = inOrder(ends, from).map((one) => (one.isFar ? { ...one, edge: edgeOf(one) } : one));
    ribbons.replaceChildren(...drawn.map((one) => ribbon(one, from.top, rise, names.has(one.to))));
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

  function ribbon(one, top, rise, isNamed) {
    const { a, b } = one;
    const isSame = Math.abs(one.top - top) < 4;
    const far = Math.abs(a - b);
    let d;
    if (one.to === engine.place) d = `M${a} ${top}c0 ${-rise * 0.55} 26 ${-rise * 0.55} 26 0`;
    else if (isSame) {
      const h = Math.min(rise - one.width, 16 + far * 0.34) / 0.75;
      d = `M${a} ${top}C${a + (b - a) * 0.06} ${top - h} ${b - (b - a) * 0.06} ${top - h} ${b} ${top}`;
    } else if (one.isFar) {
      const low = top - 5;
      const high = one.bottom + rise - 5;
      const y = one.bottom + (isNamed ? LABEL : 0);
      d = rounded([a, top], [a, low], [one.edge, low], [one.edge, high], [b, high], [b, Math.min(y, high)]);
    } else {
      const y = one.bottom + (isNamed ? LABEL : 0);
      const h = Math.max(24, (top - y) * 0.5);
      d = `M${a} ${top}C${a} ${top - h} ${b} ${y + h} ${b} ${y}`;
    }
    const opacity = one.faint ? 0.1 : 0.3 + 0.5 * one.share;
    return element("path", { d, opacity: opacity.toFixed(2), "stroke-width": one.width.toFixed(1) });
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
      if (view.at !== null && view.at > size()) close();
      showWords();
      draw();
    },
  };
}
