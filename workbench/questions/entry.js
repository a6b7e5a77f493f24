// How a guess is entered and what is said of it, wherever a question stands: in a notebook, in a page, on a slide, on a
// phone. Each place has fields and buttons of its own; what they do and how a verdict reads is here.

export const EMPTY = "Something is still empty.";

/** A verdict as HTML, and its kind: "right", "wrong" or "open"; isLast: no further guess is asked for. */
export function verdictOf({ right, unread, says }, isLast) {
  if (right) return { kind: "right", html: `✓ ${says}` };
  if (unread) return { kind: "open", html: `… ${says}` };
  return { kind: "wrong", html: `✗ ${says}${isLast ? "" : " Try again."}` };
}

const TRIES = 2; // wrong guesses, after which the answer is shown

/** Counts tries; isKnown: the answer was shown. It stays known, and a right guess done, whatever is tried afterwards. */
export function triesOf(isKnown = false) {
  const wrong = new Set();
  return {
    isKnown,
    take({ right, unread, key }) {
      if (!right && !unread) wrong.add(key);
      this.isKnown ||= Boolean(right) || wrong.size >= TRIES;
    },
  };
}

/**
 * Has fields, or a button for each of few words, answer: send(text) gets what is entered, refuse(words) why nothing is
 * sent. `button` sends what stands in the fields.
 */
export function entryOf({ fields = [], words = [], button, send, refuse }) {
  const text = () => fields.map(({ value }) => value.trim()).join(", ");
  const press = (word) => {
    for (const one of words) one.setAttribute("aria-pressed", String(one === word));
  };
  function check() {
    const empty = fields.find(({ value }) => !value.trim());
    if (!empty) return send(text());
    refuse(EMPTY);
    empty.focus();
  }
  // By its button or Enter, which clicks it: a frame that may send no forms has no event "submit".
  button?.addEventListener("click", (event) => {
    event.preventDefault();
    check();
  });
  for (const word of words) {
    word.addEventListener("click", () => {
      press(word);
      send(word.textContent);
    });
  }
  /** Shows what was entered before. */
  function put(entered) {
    press(words.find((word) => word.textContent === entered));
    if (entered === text()) return;
    const parts = fields.length > 1 ? entered.split(", ") : [entered];
    fields.forEach((field, i) => {
      field.value = parts[i] ?? "";
    });
  }
  /** The next guess takes the place of this one, where this one was typed. */
  function again() {
    const field = fields.find((one) => one === document.activeElement);
    field?.select?.();
  }
  return { text, check, put, again };
}
