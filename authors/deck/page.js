// What the deck's page is: its settings, its cells, what the browser keeps of it, and the slide that shows.

const told = document.getElementById("settings");
export const settings = JSON.parse(told.textContent);
told.remove(); // it holds what nobody is to read before its step
export const inside = window.parent !== window; // the speaker view shows this page twice: those copies only look on
export const live = Boolean(settings.server) && !inside;
export const reading = matchMedia(settings.reading).matches && !inside;
export const root = document.documentElement;
export const all = (selector, within = document) => [...within.querySelectorAll(selector)];
export const cells = all(".cell.code");

function memory(store, name) {
  const key = `deck:${settings.name}:${name}`;
  return {
    get() {
      try {
        return JSON.parse(store.getItem(key));
      } catch {
        return null;
      }
    },
    set(value) {
      try {
        store.setItem(key, JSON.stringify(value));
        return true;
      } catch {
        return false; // the browser keeps nothing, or no more
      }
    },
  };
}

export const kept = {
  typed: memory(localStorage, "typed"),
  mirror: memory(localStorage, "mirror"),
  hall: memory(localStorage, "hall"),
  theme: memory(localStorage, "theme"),
  session: memory(sessionStorage, "session"),
  outputs: memory(sessionStorage, "outputs"),
  place: memory(sessionStorage, "place"),
};

export const slideOf = (node) => node.closest("section section");
export const storeOf = (slide) => settings.slides[slide.dataset.cell]; // what it has in store, its steps and its notes
export const current = () => (reading ? null : Reveal.getCurrentSlide());

export function goTo(slide) {
  const { h, v } = Reveal.getIndices(slide);
  Reveal.slide(h, v);
}

export const inTheFile = (cell) => settings.sources[cell.dataset.id];
export const isAsInTheFile = (cell) => cell.source() === inTheFile(cell);
