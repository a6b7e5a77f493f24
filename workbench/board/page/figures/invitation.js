// An invitation, once: the number goes up and comes back by itself, and stops where a hand comes near.

const WAIT = 900; // ms until the number moves
const MOVES = 2400; // ms that it takes
const BY = 0.8; // and how far it goes

/** at: the panel, row and column of the number; isMoved: whether it stands elsewhere than at the start. */
export function invitationOf(view, at, isMoved, update) {
  const { engine, root } = view;
  const [name, row, column] = at;
  let frame = null; // that is waited for

  function invite() {
    if (!view.isFirst || isMoved()) return;
    root.classList.add("invites");
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const began = performance.now() + WAIT;
    const from = view.start[name][row][column];
    const step = (now) => {
      const gone = (now - began) / MOVES;
      const to = from + BY * Math.sin(Math.PI * Math.max(0, gone));
      const pins = gone < 1 ? engine.withPins(name, [[row, column, Math.round(to * 10) / 10]]) : null;
      if (isMoved() && !view.preview) return; // somebody else has changed it
      view.preview = pins && gone > 0 ? engine.valuesOf(pins)[0] : null;
      if (gone > 0) update();
      frame = gone < 1 ? requestAnimationFrame(step) : null;
    };
    frame = requestAnimationFrame(step);
  }

  function end() {
    root.classList.remove("invites");
    if (frame === null) return;
    cancelAnimationFrame(frame);
    frame = null;
    view.preview = null;
    update();
  }
  return { invite, end };
}
