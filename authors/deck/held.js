// What answers a question is in the page while it shows, and at no other time: nobody sees, finds or hears it before.

import { all } from "../pages/kit.js";

export function hold(part, html = part.innerHTML) {
  part.held ??= html;
  part.innerHTML = "";
}

export function giveBack(part) {
  for (const one of [part, ...all("*", part)]) if ("held" in one) one.innerHTML = one.held;
}

export function holdOrGive(slide) {
  for (const part of all("*", slide).filter((one) => "held" in one)) {
    if (!slide.matches(".answered")) part.innerHTML = "";
    else if (!part.innerHTML) part.innerHTML = part.held;
  }
}
