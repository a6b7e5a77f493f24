// The field: what is typed there is read word by word, at each space, at Enter and when the field is left; what is
// pasted, at once. It stands after the last piece, in place of one, or where words were typed in place of one.

import { element, used } from "../elements.js";

const LONGEST = 2000; // signs at once
const PASTED = /^insertFrom(Paste|Drop)$/;
const BARE = /^(Shift|Control|Meta|Alt)$/; // keys that do nothing alone

/** focusPiece: gives the piece at a place the focus. */
export function fieldOf(view, sentence, focusPiece) {
  const { engine } = view;
  const node = element("input", {
    class: "field",
    dir: "auto",
    autocomplete: "off",
    autocapitalize: "off",
    autocorrect: "off",
    spellcheck: "false",
    enterkeyhint: "next",
    maxlength: LONGEST,
    hidden: engine.isAlone,
  });
  let seen = engine.text; // as it was shown last
  let caret = null; // how many signs of the text stand before the field; null after the last one
  let isAll = false; // the whole text is marked, to be deleted or typed over
  let isComposing = false; // signs that are put together of several keys

  const isAtEnd = () => sentence.replaced === null && caret === null;
  const piecesBefore = () => (caret === null ? engine.spans : engine.spans.filter(([, to]) => to <= caret)).length;

  /** The field stands for the piece at a place, to be typed over. */
  function open(place, text = engine.word(place)) {
    if (engine.isAlone) return engine.refuse("In JupyterLab the model reads what you write.");
    sentence.replaced = place;
    caret = null;
    node.value = text;
    view.update();
    node.focus();
    node.select();
    if (text.length === 1) node.setSelectionRange(1, 1);
    return undefined;
  }
  function close(focused) {
    sentence.replaced = caret = null;
    node.value = "";
    view.update();
    if (focused !== undefined && focused >= 0) focusPiece(focused);
  }

  // What was typed goes into the text, and what is typed next after it; where there is no room, it stays in the field.
  function put(typed) {
    const place = sentence.replaced;
    const after = place === null ? engine.insert(caret ?? engine.text.length, typed) : engine.replace(place, typed);
    if (after === false) return;
    sentence.replaced = null;
    caret = after < engine.text.length ? after : null;
    node.value = "";
    seen = engine.text;
    view.update();
  }
  function read(isWhole) {
    const typed = node.value.trim();
    if (typed && (isWhole || /\s$/.test(node.value))) put(typed);
    if (typed) node.focus(); // it has moved on
  }
  function enter() {
    read(true);
    if (node.value) return;
    close();
    node.focus();
  }
  function leave() {
    const place = sentence.replaced ?? (caret === null ? undefined : piecesBefore() - 1);
    close(place);
    if (place === undefined) node.focus();
  }
  // The word before the field comes back into it.
  function takeBack() {
    let place = piecesBefore() - 1;
    const to = engine.spans[place][1];
    while (engine.isJoined(place)) place -= 1;
    const from = engine.spans[place][0];
    const word = engine.text.slice(from, to).trim();
    engine.cut(from, to, "take back");
    seen = engine.text;
    if (caret !== null) caret = from;
    node.value = word;
    view.update();
    node.focus();
  }
  function takeGhost() {
    if (node.placeholder) engine.say(engine.next[0].piece);
  }

  // What a key does here, if it does anything.
  function actOf(key) {
    const isEmpty = node.value === "";
    if (key === "Enter") return enter;
    if (key === "ArrowRight" && isEmpty && isAtEnd()) return takeGhost;
    if (key === "ArrowRight" && isEmpty && caret !== null) return () => close(piecesBefore());
    if (key === "Escape" && !(isEmpty && isAtEnd())) return leave;
    if (key === "ArrowDown") return view.toList;
    if (key === "ArrowLeft" && node.selectionStart === 0 && node.selectionEnd === 0) {
      return () => close(sentence.replaced ?? piecesBefore() - 1);
    }
    if (key === "Backspace" && isEmpty && sentence.replaced === null && piecesBefore()) return takeBack;
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
    read();
  });
  node.addEventListener("input", ({ inputType }) => isComposing || read(PASTED.test(inputType)));
  node.addEventListener("blur", ({ relatedTarget }) => {
    mark(false);
    const typed = node.value.trim();
    if (typed && isAtEnd() && !engine.isFull && !relatedTarget?.matches(".say")) put(typed);
  });

  // ---- the whole text, marked as in any other field

  function mark(isMarked) {
    isAll = isMarked;
    sentence.row.classList.toggle("all", isAll);
  }
  function empty() {
    mark(false);
    engine.empty();
    close();
    node.focus();
  }
  function markAll(event) {
    const isPart = event.target === node && node.value.length > node.selectionEnd - node.selectionStart;
    if (isPart || engine.isAlone || !engine.text) return; // what is typed is marked first
    used(event);
    node.focus();
    mark(true);
  }
  function actOnAll(event) {
    const isCombined = event.ctrlKey || event.metaKey;
    if (BARE.test(event.key) || (isCombined && event.key.toLowerCase() === "c")) return;
    if (/^(Backspace|Delete)$/.test(event.key)) used(event);
    const replaces = isCombined ? /^[vx]$/i.test(event.key) : event.key.length === 1 || event.defaultPrevented;
    if (isCombined && event.key.toLowerCase() === "x") navigator.clipboard?.writeText(engine.text);
    if (replaces) empty();
    else mark(false);
  }
  sentence.row.addEventListener(
    "keydown",
    (event) => {
      const isA = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "a";
      if (isA) markAll(event);
      else if (isAll) actOnAll(event);
    },
    true,
  );
  sentence.row.addEventListener("pointerdown", () => mark(false));
  sentence.row.addEventListener("copy", (event) => {
    if (!isAll) return;
    used(event);
    event.clipboardData.setData("text/plain", engine.text);
  });

  function labelOf(ghost) {
    if (sentence.replaced !== null) return `In place of ${engine.word(sentence.replaced)}`;
    if (caret !== null) return `After ${engine.word(piecesBefore() - 1)}`;
    return ghost && !node.value ? `What comes next; → takes ${ghost}` : "What comes next";
  }

  return {
    node,
    open,
    say: (piece) => {
      node.value = "";
      engine.say(piece);
    },
    /** What was typed belongs to another text, if Undo, a phrase, a bar or Python changed it. */
    forgetOthers() {
      if (engine.text !== seen) {
        seen = engine.text;
        sentence.replaced = caret = null;
        node.value = engine.left ? `${engine.left} ${node.value}`.trim() : "";
      }
      view.at = sentence.replaced ?? (caret === null ? null : piecesBefore() - 1);
    },
    /** Do what may move the field among the pieces: it keeps the keys. */
    stayFocused(arrange) {
      const isFocused = node.matches(":focus");
      arrange();
      if (isFocused && !node.matches(":focus")) node.focus();
    },
    /** The likeliest next piece in the empty field; fit: what chooses the type before the field is described. */
    showGhost(fit) {
      const ghost = engine.isWaiting || !isAtEnd() ? "" : (engine.next[0]?.piece.trim() ?? "");
      node.placeholder = ghost;
      node.hidden = engine.isAlone;
      node.style.setProperty("--signs", Math.max(3, [...(node.value || ghost)].length));
      fit();
      node.setAttribute("aria-label", labelOf(ghost));
    },
  };
}
