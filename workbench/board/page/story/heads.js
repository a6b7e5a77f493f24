// What each head hears: its map with the row of the chosen place, the word that it hears most, and a switch.

import { button, element } from "../elements.js";
import { percent } from "../numbers.js";
import { dashesOf } from "./dashes.js";

export function headsOf(view) {
  const { engine } = view;
  const cards = Array.from({ length: engine.heads }, (_, head) => cardOf(head));
  const inRow = `--heads: ${Math.min(4, engine.heads)}`;
  const node = element("div", {
    class: "heads",
    style: inRow,
    role: "group",
    "aria-label": "What each head attends to",
  });
  let painted = {};
  const key = element("p", { class: "key-to-maps" });
  node.append(...cards.map((card) => card.node), key);
  node.addEventListener("transitionend", () => update()); // light or dark: the maps have colours of their own

  function cardOf(head) {
    const canvas = element("canvas", { "aria-hidden": "true" });
    const frame = element("i", { class: "frame" });
    const said = element("span", { class: "hears" });
    const map = element("span", { class: "map" }, canvas, frame);
    const only = button("", () => engine.set("head", engine.state.settings.head === head ? -1 : head));
    only.className = "only";
    only.append(map, said);
    const out = button("", () => engine.turn(head), "Take it out, put it back");
    out.className = "switch-off";
    out.setAttribute("role", "switch");
    out.setAttribute("aria-label", `Head ${head}`);
    const line = element("path", { d: "M2 4H52", "stroke-dasharray": dashesOf(head, 3) });
    const kind = element("svg", { class: "kind-of-line", viewBox: "0 0 54 8", "aria-hidden": "true" }, line);
    const name = element("span", { class: "name-of-head" }, `head ${head}`, kind);
    const node = element("div", { class: "one-head" }, element("div", { class: "over" }, name, out), only);
    for (const [event, lit] of [
      ["pointerenter", head],
      ["pointerleave", null],
    ]) {
      only.addEventListener(event, ({ pointerType }) => pointerType === "mouse" && light(lit));
    }
    return { node, map, canvas, frame, said, only, out };
  }
  function light(head) {
    view.lit = head;
    view.sentence.draw();
  }

  // A pixel for each pair; the style makes squares of them.
  function paint(canvas, map, colour) {
    const n = engine.tokens.length;
    const [red, green, blue] = colour.match(/[\d.]+/g).map(Number);
    const ink = red | (green << 8) | (blue << 16);
    canvas.width = canvas.height = n;
    const context = canvas.getContext("2d");
    const pixels = context.createImageData(n, n);
    const words = new Uint32Array(pixels.data.buffer); // a pixel each, alpha first
    for (let i = 0; i < n; i++) {
      for (let k = i * n; k <= i * n + i; k++) words[k] = ink | ((14 + 241 * map[k]) << 24);
    }
    context.putImageData(pixels, 0, 0);
  }

  function update() {
    const { place } = engine;
    const n = engine.tokens.length;
    const colour = getComputedStyle(node).color;
    const isNew = colour && (painted.maps !== engine.maps || painted.colour !== colour); // none before it is in the page
    if (isNew) painted = { maps: engine.maps, colour };
    const em = (word) => element("em", { dir: "auto" }, word);
    key.replaceChildren("A row for each word, a square for each that it attends to. Framed: ", em(engine.word(place)));
    cards.forEach(({ node, map, canvas, frame, said, only, out }, head) => {
      const row = engine.heard(head, place);
      const share = Math.max(...row);
      const heard = engine.word(row.indexOf(share));
      const isOut = engine.isOut(head);
      map.classList.toggle("empty", n === 1);
      if (isNew) paint(canvas, engine.maps[head], colour);
      frame.style.top = `${(100 * place) / n}%`;
      frame.style.height = `${100 / n}%`;
      frame.style.width = `${(100 * (place + 1)) / n}%`;
      const hears = n > 1 ? [em(heard), ` ${percent(share)}`] : ["no word yet"];
      said.replaceChildren(...(isOut ? ["is out"] : hears));
      node.classList.toggle("gone", isOut);
      out.setAttribute("aria-checked", String(!isOut));
      only.setAttribute("aria-pressed", String(engine.state.settings.head === head));
      only.setAttribute(
        "aria-label",
        `Head ${head} alone: ${isOut ? "is out" : `attends most to ${heard}, ${percent(share)}`}`,
      );
    });
  }
  return { node, update };
}
