// The field: what is typed there is read word by word, at each space and at Enter.

import { element, used } from "../elements.js";

const LONGEST = 400; // signs at once

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
  let isComposing = false; // signs that are put together of several keys

  /** The field stands for the piece at a place, to be typed over. */
  function open(place, text = engine.word(place)) {
    if (engine.isAlone) return engine.refuse("In JupyterLab the model reads what you write.");
    sentence.replaced = view.at = place;
    node.value = text;
    view.update();
    node.focus();
    node.select();
    if (text.length === 1) node.setSelectionRange(1, 1);
    return undefined;
  }
  function close(focused) {
    sentence.replaced = view.at = null;
    node.value = "";
    view.update();
    if (focused !== undefined && focused >= 0) focusPiece(focused);
  }

  function put(typed) {
    const place = sentence.replaced;
    sentence.replaced = view.at = null;
    node.value = "";
    if (place === null) engine.append(typed);
    else engine.replace(place, typed);
    seen = engine.text;
    view.update();
    node.focus();
  }
  function read() {
    if (/\S\s+$/.test(node.value)) put(node.value.trim());
  }
  function enter() {
    const typed = node.value.trim();
    if (typed) put(typed);
  }
  function leave() {
    const place = sentence.replaced;
    close(place ?? undefined);
    if (place === null) node.focus();
  }
  // The last piece comes back into the field.
  function takeBack() {
    const last = engine.spans.length - 1;
    const word = engine.word(last);
    engine.remove(last);
    seen = engine.text;
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
    const isAtEnd = sentence.replaced === null;
    if (key === "Enter") return enter;
    if (key === "ArrowRight" && isEmpty && isAtEnd) return takeGhost;
    if (key === "Escape" && !(isEmpty && isAtEnd)) return leave;
    if (key === "ArrowDown") return view.toList;
    if (key === "ArrowLeft" && node.selectionStart === 0 && node.selectionEnd === 0) {
      return () => close(sentence.replaced ?? engine.spans.length - 1);
    }
    if (key === "Backspace" && isEmpty && isAtEnd && engine.spans.length && !engine.isWaiting) return takeBack;
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
  node.addEventListener("input", () => isComposing || read());

  function labelOf(ghost) {
    if (sentence.replaced !== null) return `In place of ${engine.word(sentence.replaced)}`;
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
      if (engine.text === seen) return;
      seen = engine.text;
      sentence.replaced = view.at = null;
      node.value = "";
    },
    /** The likeliest next piece in the empty field; fit: what chooses the type before the field is described. */
    showGhost(fit) {
      const ghost = engine.isWaiting || sentence.replaced !== null ? "" : (engine.next[0]?.piece.trim() ?? "");
      node.placeholder = ghost;
      node.hidden = engine.isAlone;
      node.style.setProperty("--signs", Math.max(3, [...(node.value || ghost)].length));
      fit();
      node.setAttribute("aria-label", labelOf(ghost));
    },
  };
}
