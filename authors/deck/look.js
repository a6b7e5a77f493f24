// How large a slide's contents are, and whether it is dark.

import { kept, reading, root } from "./page.js";

const SIZES = [1.25, 1.12, 1, 0.94, 0.88, 0.82, 0.76];
const ROWS = [40, 37, 34, 31, 29, 27, 25, 23, 21]; // px of a board's rows, whose type stays as it is
const DRAWER = [24, 22, 20, 18]; // px of code in its drawer
const WIDTH = 1110; // px for a line of code, of which a letter takes 12.1

// As large as there is room for, code and what it prints no larger than the longest line allows, words no larger than
// the numbers of a table, and smaller where a long error or a large plot needs it; beyond that a slide scrolls.
export function fit(slide) {
  const body = slide?.querySelector(".body");
  if (!body || reading) return;
  body.style.overflowY = "";
  if (slide.matches(".drawn.codes")) return fitType(body, "--drawer", DRAWER);
  if (slide.matches(".boarded")) return fitType(body, "--row", ROWS);
  const words = body.querySelector(".outputs table:not(.attn-board *)") ? [25, 24, 23, 22, 21, 20] : [25];
  const unbroken = WIDTH / (12.1 * slide.dataset.longest);
  for (const size of SIZES.slice(slide.matches(".counted, .drawn.coded") ? SIZES.indexOf(1) : 0)) {
    const code = Math.max(0.9, Math.min(size, unbroken)); // which still can be read from the last row
    const printed = Math.min(size, Math.max(1, unbroken));
    if (printed < size && body.querySelector(".cell img")) continue; // larger words would leave the picture less room
    body.style.zoom = size;
    body.style.setProperty("--size", size);
    body.style.setProperty("--code-size", code / size);
    body.style.setProperty("--printed-size", printed / size);
    for (const px of words) {
      body.style.setProperty("--words", `${px}px`);
      if (body.scrollHeight <= body.clientHeight + 1 && body.scrollWidth <= body.clientWidth + 1) return;
    }
  }
  body.style.overflowY = "auto";
}

// The largest of these sizes at which all of it is seen.
function fitType(body, name, sizes) {
  for (const px of sizes) {
    body.style.setProperty(name, `${px}px`);
    if (body.scrollHeight <= body.clientHeight + 1) return;
  }
  body.style.overflowY = "auto";
}

export const isDark = () => root.classList.contains("dark");
export const setDark = (dark) => root.classList.toggle("dark", dark);
export const startTheme = () => setDark(kept.theme.get() ?? matchMedia("(prefers-color-scheme: dark)").matches);

export function turnTheme() {
  setDark(!isDark());
  kept.theme.set(isDark());
}
