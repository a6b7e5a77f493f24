// For a hall: a lesson half as large again, and nothing but the lesson on the screen; and back.

import { button } from "./made.js";
import { keepIn, textIn } from "./store.js";

const STEPS = [0.9, 1, 1.15, 1.3, 1.5, 1.75, 2];
const HALL = 1.5;

export const zoomOf = (node) => Number(node.style.getPropertyValue("--zoom") || 1);

/** How large everything in a lesson is. */
export function zoomed(node, by) {
  const now = STEPS.indexOf(zoomOf(node));
  node.style.setProperty("--zoom", STEPS[Math.min(STEPS.length - 1, Math.max(0, now + by))]);
}

const BEFORE = "attention:before"; // outlives a reload, as does what JupyterLab keeps of its bars

let before = null; // how JupyterLab was
let folded = []; // bars of Notebook 7's that were seen before
let leave = null; // the button that brings it back, for whoever does not know the keys

export function present(lesson) {
  const { panel, app, tools } = lesson;
  const { shell } = app;
  const begins = !before;
  document.body.classList.toggle("attn-presenting", begins);
  panel.node.style.setProperty("--zoom", begins ? HALL : 1);
  if (begins) {
    const bars = ["left", "right"].filter((side) => shell.isSideTabBarVisible?.(side));
    before = { left: shell.leftCollapsed === false, right: shell.rightCollapsed === false, mode: shell.mode, bars };
    keepIn("sessionStorage", BEFORE, JSON.stringify(before));
    shell.collapseLeft?.();
    shell.collapseRight?.();
    if (shell.mode) shell.mode = "single-document";
  } else {
    bringBack(shell, before);
  }
  fold(shell, begins);
  leave?.remove();
  leave = begins ? button("Leave", () => lesson.present(), "attn-leave") : null;
  if (leave) panel.node.append(leave);
  if (begins) for (const side of before.bars) shell.toggleSideTabBarVisibility?.(side);
  else before = null;
  // bars are folded away by the style sheet: JupyterLab has to measure again
  tools.MessageLoop?.postMessage(shell, tools.Widget.Msg.FitRequest);
  panel.content.activate();
}

/** Notebook 7 has two bars over the notebook, and takes their room away when they are hidden, not when they are low. */
function fold(shell, isFolded) {
  if (isFolded) folded = [shell.top, shell.menu].filter((bar) => bar?.isHidden === false);
  for (const bar of folded) bar.setHidden(isFolded);
}

function bringBack(shell, { mode, left, right, bars }) {
  keepIn("sessionStorage", BEFORE, null);
  if (mode) shell.mode = mode;
  if (left) shell.expandLeft?.();
  if (right) shell.expandRight?.();
  for (const side of bars) if (!shell.isSideTabBarVisible?.(side)) shell.toggleSideTabBarVisibility?.(side);
}

/** The page was loaded again while somebody presented: JupyterLab as it was before that. */
export function afterReload(shell) {
  const left = textIn("sessionStorage", BEFORE);
  if (left) bringBack(shell, JSON.parse(left));
}
