// What the deck's page is: its settings, its cells, what the browser keeps of it, and the slide that shows.

import { all, memory, remembers } from "../pages/kit.js";

const settingsElement = document.getElementById("settings");
export const settings = JSON.parse(settingsElement.textContent);
settingsElement.remove(); // it holds what nobody is to read before its step
// The speaker view shows this page twice: those copies only look on. A frame of a learning platform is none of them.
const asked = new URLSearchParams(location.search);
export const inside = window.parent !== window && asked.has("receiver");
export const besideSpeaker = inside && (asked.has("controls") ? "upcoming-slide" : "current-slide"); // which of those
export const live = Boolean(settings.server) && !inside;
export const reading = matchMedia(settings.reading).matches && !inside;
export const root = document.documentElement;
export const cells = all(".cell.code");

const lasting = (name) => memory("localStorage", `deck:${location.pathname}:${name}`);
const ofTab = (name) => memory("sessionStorage", `deck:${location.pathname}:${name}`);

export const memories = {
  typed: lasting("typed"),
  mirror: lasting("mirror"),
  hall: lasting("hall"),
  plan: lasting("plan"),
  begun: lasting("begun"),
  theme: lasting("theme"),
  session: ofTab("session"),
  outputs: ofTab("outputs"),
  place: ofTab("place"),
  last: lasting("last"), // the slide that was shown last, in any tab, and when
};

// What this browser lacks, in a sentence for each.
export const lacks = [
  !remembers() &&
    "This browser keeps nothing for this page: a reload begins anew, and the speaker's view does not follow boards.",
  attnBoards.looksOlder() && "These slides look plainer in this browser than in a newer one; all of them work.",
].filter(Boolean);

export const slideOf = (node) => node.closest("section section");
export const storeOf = (slide) => settings.slides[slide.dataset.cell]; // what it has in store, its steps and its notes
export const current = () => (reading ? null : Reveal.getCurrentSlide());

export function goTo(slide) {
  const { h, v } = Reveal.getIndices(slide);
  Reveal.slide(h, v);
}

export const inTheFile = (cell) => settings.sources[cell.dataset.id];
export const isAsInTheFile = (cell) => cell.source() === inTheFile(cell);
