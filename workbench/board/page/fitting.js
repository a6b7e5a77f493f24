// How a board finds its room: side by side, with less room between where it must be, else folded, one after the other.

const NARROW = 600; // px: a narrower page is read as on a phone
const WIDE = 1000; // px: on a narrower page lines of words are short
const LEAST = 15; // px of the smallest type
const LOW = 480; // px: a lower screen that is touched is a phone that lies on its side
const ORDINARY = 17; // px: larger type is so on purpose, on a wide screen, a slide or for a hall
const TOUCHED = matchMedia("(pointer: coarse)");
const LYING = matchMedia(`(pointer: coarse) and (max-height: ${LOW - 1}px)`); // innerHeight grows with what a page is wide

/** Fits a board to its page; `connect` draws its lines and says how far they go by to the left of its tables. */
export function fitsInto(view, flow, el, connect) {
  const { root, stage } = view;
  let seen = null; // the width it was fitted to: every look at a size costs the page a layout

  function fits() {
    // type as large as there is room for; in two steps, as the smallest type does not shrink with it
    root.style.fontSize = "";
    for (let k = 0; k < 2; k++) {
      const wide = flow.offsetWidth;
      if (wide <= stage.clientWidth) return true;
      const size = Number.parseFloat(getComputedStyle(root).fontSize);
      const smaller = (size * stage.clientWidth) / (wide + 2);
      if (smaller < LEAST - 0.5) return false; // not even in the smallest type: there is no need to lay it out
      root.style.fontSize = `${Math.max(LEAST, smaller)}px`;
    }
    return flow.offsetWidth <= stage.clientWidth;
  }

  function isFolded(width) {
    if (isPhone(width)) return true;
    root.classList.remove("narrow", "folded", "tight", "terse");
    const fitsWithLines = () => {
      flow.style.paddingLeft = "";
      return fits() && makeRoom();
    };
    if (fitsWithLines()) return false;
    if (TOUCHED.matches) return true; // nothing may become smaller than a fingertip
    root.classList.add("tight");
    if (fitsWithLines()) return false;
    root.classList.add("terse"); // titles in several lines
    return !fitsWithLines();
  }

  function fitHeight() {
    const size = Number.parseFloat(getComputedStyle(root).fontSize);
    const seenWhole = (size * (innerHeight - 100)) / root.offsetHeight;
    root.style.fontSize = `${Math.min(size, Math.max(LEAST, seenWhole))}px`;
  }

  // What an edit changes and its arithmetic are to be seen together: where the board is higher than what it is seen in,
  // its rows come nearer to each other.
  function lower() {
    if (root.offsetHeight <= heightAround(el)) return;
    if (Number.parseFloat(getComputedStyle(root).fontSize) > ORDINARY) return;
    root.classList.add("low");
    root.style.fontSize = `${LEAST}px`;
  }

  // A row that is taken out of a matrix stands under the columns that it belongs to.
  function align() {
    for (const { name, of } of view.engine.steps.filter((step) => step.does === "row")) {
      const [own, from] = [view.panel(name), view.panel(of[0])].map((panel) => panel.spot(0, 0));
      if (!own || !from) continue;
      const { style } = own.closest(".panel");
      style.marginLeft = "";
      const zoom = flow.getBoundingClientRect().width / flow.offsetWidth || 1;
      const aside = (from.getBoundingClientRect().left - own.getBoundingClientRect().left) / zoom;
      if (aside > 0 && !root.classList.contains("folded")) style.marginLeft = `${aside}px`;
    }
  }

  // Lines may go by to the left of all tables: where the board begins there, it moves on, in smaller type if it has to.
  function makeRoom() {
    const left = connect();
    if (flow.offsetLeft + left >= 0) return true;
    const { paddingLeft } = flow.style;
    const { fontSize } = root.style;
    flow.style.paddingLeft = `${(Number.parseFloat(paddingLeft) || 0) - left}px`;
    const hasRoom = flow.offsetWidth <= stage.clientWidth || fits();
    if (!hasRoom) {
      flow.style.paddingLeft = paddingLeft;
      root.style.fontSize = fontSize;
    }
    connect();
    return hasRoom;
  }

  function fit() {
    const width = el.clientWidth;
    seen = width;
    if (!width) return;
    letFootStick(el);
    root.classList.toggle("short", width < WIDE);
    root.classList.remove("low");
    const folded = isFolded(width);
    root.classList.toggle("narrow", isPhone(width));
    root.classList.toggle("lying", isPhone(width) && width >= NARROW);
    root.classList.toggle("touched", TOUCHED.matches);
    root.classList.toggle("folded", folded);
    if (folded) root.style.fontSize = flow.style.paddingLeft = "";
    if (!isPhone(width) && !TOUCHED.matches) {
      if (root.classList.contains("large") && !folded) fitHeight();
      lower();
    }
    align();
    if (!folded) makeRoom();
    view.step?.();
  }

  new ResizeObserver(() => el.clientWidth !== seen && fit()).observe(el);
  // a slide lowers rows
  new ResizeObserver(() => {
    if (!seen || root.classList.contains("folded")) return;
    align();
    connect();
  }).observe(flow);
  LYING.addEventListener("change", fit);
  return { fit, stop: () => LYING.removeEventListener("change", fit) };
}

/** Whether a page of this width is read as on a phone. */
export const isPhone = (width) => width < NARROW || LYING.matches;
const notebookAround = (el) => el.closest(".jp-WindowedPanel-outer"); // in JupyterLab, what scrolls
const heightAround = (el) => notebookAround(el)?.clientHeight || innerHeight;

// JupyterLab's boxes around an output could scroll, and never do: a foot would stick to them, and not to what is seen.
function letFootStick(el) {
  const outer = notebookAround(el);
  for (let node = el.parentElement; outer && node !== outer; node = node.parentElement) {
    if (getComputedStyle(node).overflowY !== "visible") node.classList.add("attn-around");
  }
}
