// For a hall: a lesson half as large again, and nothing but the lesson on the screen; and back.

import { button } from "./made.js";

const STEPS = [0.9, 1, 1.15, 1.3, 1.5, 1.75, 2];
const HALL = 1.5;

export const zoomOf = (node) => Number(node.style.getPropertyValue("--zoom") || 1);

/** How large everything in a lesson is. */
export function zoomed(node, by) {
  const now = STEPS.indexOf(zoomOf(node));
  node.style.setProperty("--zoom", STEPS[Math.min(STEPS.length - 1, Math.max(0, now + by))]);
}

let before = null; // how JupyterLab was
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
    shell.collapseLeft?.();
    shell.collapseRight?.();
    if (shell.mode) shell.mode = "single-document";
  } else {
    if (before.mode) shell.mode = before.mode;
    if (before.left) shell.expandLeft?.();
    if (before.right) shell.expandRight?.();
  }
  leave?.remove();
  leave = begins ? button("Leave", () => lesson.present(), "attn-leave") : null;
  if (leave) panel.node.append(leave);
  for (const side of before.bars) shell.toggleSideTabBarVisibility?.(side);
  if (!begins) before = null;
  // bars are folded away by the style sheet: JupyterLab has to measure again
  tools.MessageLoop?.postMessage(shell, tools.Widget.Msg.FitRequest);
  panel.content.activate();
}
