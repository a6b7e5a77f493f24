// The field: what is typed there goes into the text word by word, up to one that is strange.

import { element, used } from "../elements.js";

/** focusWord: gives the word at a place the focus. */
export function fieldOf(view, sentence, focusWord) {
  const { engine } = view;
  const { isAtEnd, before, isLeftwards } = sentence;
  const node = element("input", {
    class: "field",
    dir: "auto",
    autocomplete: "off",
    autocapitalize: "off",
    autocorrect: "off",
    spellcheck: "false",
    enterkeyhint: "next",
  });
  let seen = engine.words; // the text as it was shown last
  let isOwn = false; // whether the field itself changes it
  let isComposing = false; // signs that are put together of several keys

  /** The field stands for the word at a place, to be typed over. */
  function open(place, text = engine.word(place)) {
    sentence.replaced = place;
    view.at = place - 1;
    setDraft(text);
    view.update();
    node.focus();
    node.select();
    if (text.length === 1) node.setSelectionRange(1, 1);
  }
  function close(focused) {
    sentence.replaced = view.at = null;
    setDraft("");
    view.update();
    if (focused !== undefined) focusWord(focused);
  }
  function setDraft(text, strange = "") {
    view.draft = strange || text;
    view.complaint = strange ? complaintOf(strange) : "";
    if (node.value !== text) node.value = text;
  }
  function complaintOf(word) {
    const known = engine.vocabulary.length - 1;
    return `“${word.slice(0, 20)}” is not one of the ${known} words this model has read. Choose one near it.`;
  }

  // ---- into the text

  // Words that are known go into the text, up to a strange one, which waits in the field with all that comes after it.
  function take(typed) {
    const { words, rest, strange } = engine.understood(typed);
    if (words.length) put(words);
    setDraft(rest, strange);
    view.update();
    return !strange;
  }
  function put(words) {
    const at = before();
    own(() => putAt(at, words));
    if (view.at !== null) view.at = at + words.length;
  }
  function own(change) {
    isOwn = true;
    change();
    isOwn = false;
    seen = engine.words;
  }
  function putAt(at, words) {
    if (sentence.replaced === null) return engine.insert(at, words);
    const [first, ...others] = words;
    sentence.replaced = null;
    engine.replace(at, first);
    if (others.length) engine.insert(at + 1, others);
    return undefined;
  }

  /** A word from the list: where the field stands, or after the chosen word. */
  function choose(word) {
    if (view.complaint) return chooseForStrange(word);
    if (isAtEnd()) {
      setDraft("");
      return engine.say(engine.place, word);
    }
    const isReplacing = sentence.replaced !== null;
    put([word]);
    if (isReplacing) close();
    else setDraft("");
    return view.update();
  }
  function chooseForStrange(word) {
    const isReplacing = sentence.replaced !== null;
    const others = /^\S+\s+(.*)$/s.exec(node.value.trimStart())?.slice(1) ?? []; // what stands behind the word
    if (take(`${word} ${others.join(" ")}`) && isReplacing) close();
  }

  // ---- keys

  function enter() {
    const typed = node.value.trim();
    const known = engine.known(typed);
    const [first] = view.listed();
    if (!typed) return isAtEnd() ? undefined : close(before()); // Enter says what was written, and never more than that
    if (known) {
      const isReplacing = sentence.replaced !== null;
      put([known]);
      setDraft("");
      if (isReplacing) return close(before());
      return view.update();
    }
    if (first?.far === 0) return choose(first.word); // it begins so
    setDraft(node.value, typed.split(/\s+/)[0]);
    return view.update();
  }
  function leave() {
    const chosen = sentence.replaced;
    close(chosen ?? undefined);
    if (chosen === null) node.focus();
  }
  // The word before the empty field comes into it.
  function takeBack() {
    const place = before();
    const word = engine.word(place);
    own(() => engine.remove(place - 1));
    if (view.at !== null) view.at = place - 1;
    setDraft(word);
    view.update();
    node.focus();
  }
  function takeGhost() {
    if (node.placeholder) choose(node.placeholder);
  }

  // What a key does here, if it does anything.
  function actOf(key) {
    const isEmpty = node.value === "";
    const [forth, back] = isLeftwards() ? ["ArrowLeft", "ArrowRight"] : ["ArrowRight", "ArrowLeft"];
    const isAtStart = node.selectionStart === 0 && node.selectionEnd === 0;
    if (key === "Enter") return enter;
    if (key === forth && isEmpty && isAtEnd()) return takeGhost;
    if (key === "Escape" && (!isEmpty || !isAtEnd())) return leave;
    if (key === "ArrowDown") return view.toList;
    if (key === back && isAtStart) return () => close(before());
    if (key === "Backspace" && isEmpty && before() > 0) return takeBack;
    return undefined;
  }
  node.addEventListener("keydown", (event) => {
    const act = isComposing ? undefined : actOf(event.key);
    if (!act) return;
    used(event);
    act();
  });
  node.addEventListener("compositionstart", () => (isComposing = true));
  node.addEventListener("compositionend", () => {
    isComposing = false;
    take(node.value);
  });
  node.addEventListener("input", () => isComposing || take(node.value));
  node.addEventListener("focus", () => {
    if (isAtEnd()) engine.choose(sentence.size());
  });
  node.addEventListener("blur", ({ relatedTarget }) => {
    if (view.list.contains(relatedTarget)) return;
    // what was typed in full counts, and what is no word is not there any more
    const known = engine.known(node.value.trim());
    if (view.complaint || !known) return;
    put([known]);
    close();
  });

  // ---- what is shown

  function labelOf(ghost) {
    if (sentence.replaced !== null) return `In place of ${engine.word(sentence.replaced)}`;
    const arrow = sentence.row.dir === "rtl" ? "←" : "→";
    return ghost && !node.value ? `Next word; ${arrow} takes ${ghost}` : "Next word";
  }

  return {
    node,
    open,
    choose,
    /** What was typed belongs to another text, if Undo, a phrase, a bar or Python changed it. */
    forgetOthers() {
      if (engine.words === seen || isOwn) return;
      seen = engine.words;
      sentence.replaced = view.at = null;
      setDraft("");
    },
    /** The likeliest next word in the empty field; fit: what chooses the type before the field is described. */
    showGhost(fit) {
      const [first] = isAtEnd() ? engine.likely(sentence.size()) : [];
      const isFull = sentence.size() >= engine.most;
      const ghost = isFull || !first || first.word === engine.vocabulary[0] ? "" : first.word;
      node.placeholder = ghost;
      node.hidden = isFull && isAtEnd();
      node.style.setProperty("--signs", Math.max(3, [...(node.value || ghost)].length));
      fit();
      node.setAttribute("aria-label", labelOf(ghost));
      node.setAttribute("aria-invalid", String(Boolean(view.complaint)));
    },
  };
}
