// The speaker's window, which reveal.js opens: of this deck alone, and there again after a reload.

import { setClock, startClock } from "./clock.js";
import { inside } from "./page.js";
import { offerPlans } from "./plan.js";
import { say } from "./python.js";
import { withNotes } from "./steps.js";

let plugin = RevealNotes();
let watched = null; // the window that is watched
const CLOSED = 200; // ms after which a window that was left has closed, or is blank

export const notes = plugin; // reveal.js' own, with which it begins

export function startSpeaker() {
  if (inside) return;
  window.addEventListener("message", hear, true); // before reveal.js hears it
  startClock();
}

export function openSpeaker() {
  withNotes();
  plugin.open();
}

function hear(event) {
  const { data, source } = event;
  if (!String(data).includes("reveal-notes") || source?.opener !== window || !isOpenTo(source)) return;
  if (closeOfAnother(event)) return;
  withNotes(); // one that was there before this page
  if (source === watched) return;
  watched = source;
  setClock(source.document);
  if (!source.document.querySelector(".plan")) offerPlans(source.document);
  source.addEventListener("pagehide", () => setTimeout(() => source.closed || again(source), CLOSED));
}

// Of a file that was loaded again the browser takes the window for another's.
function isOpenTo(source) {
  try {
    return Boolean(source.document);
  } catch {
    return false;
  }
}

// A speaker's window outlives the deck that it was opened from, and would drive the one that came after.
function closeOfAnother(event) {
  const { source } = event;
  const copy = source.document.querySelector("#current-slide iframe");
  if (!copy || new URL(copy.src).pathname === location.pathname) return false;
  event.stopImmediatePropagation();
  source.close();
  say("The speaker's window was of another deck: s opens this one's.", { stays: true });
  return true;
}

// What is written into a window is gone when somebody loads it again, and reveal.js writes it once.
function again(source) {
  renew();
  try {
    openSpeaker();
  } catch {
    source.close(); // a file's
    renew();
    say("The speaker's window was loaded again: s opens it.", { stays: true });
  }
}

function renew() {
  watched = null;
  plugin = RevealNotes();
  plugin.init(Reveal);
}
