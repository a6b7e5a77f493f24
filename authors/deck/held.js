// What answers a question is in the page while it shows, and at no other time: nobody sees, finds or hears it before.

import { all } from "../pages/kit.js";

// instead: what stands there before.
export function hold(part, html = part.innerHTML, instead = "") {
  part.held ??= html;
  part.instead = instead;
  put(part, instead);
}

export function giveBack(part) {
  for (const one of [part, ...all("*", part)]) if ("held" in one) put(one, one.held);
}

export function holdOrGive(slide) {
  for (const part of all("*", slide).filter((one) => "held" in one)) {
    const due = slide.matches(".answered") ? part.held : part.instead;
    if (part.put !== due) put(part, due);
  }
}

function put(part, html) {
  part.innerHTML = html;
  part.put = html;
}
