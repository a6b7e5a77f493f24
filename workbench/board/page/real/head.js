// One head: its small map, whom it hears from the piece that asks, and whether it is out.

import { button, element } from "../elements.js";
import { percent } from "../numbers.js";

const SAID = 0.05; // what is said to be heard

export function headOf(view) {
  const { engine } = view;
  const canvas = element("canvas", { "aria-hidden": "true" });
  const name = element("b");
  const words = element("span");
  const turn = button("", () => engine.turn(engine.state.settings.head));
  const told = element("p", { class: "whom" }, name, " ", words);
  const node = element("div", { class: "shown-head", role: "group" }, canvas, told, turn);
  node.addEventListener("transitionend", paint); // light or dark: the map has a colour of its own

  // A pixel for each pair; the style makes squares of them.
  function paint() {
    const { head } = engine.state.settings;
    const colour = getComputedStyle(node)
      .color.match(/[\d.]+/g)
      ?.map(Number);
    if (head < 0 || engine.isWaiting || !colour) return;
    const n = engine.reading.pieces.length;
    canvas.width = canvas.height = n;
    const context = canvas.getContext("2d");
    const pixels = context.createImageData(n, n);
    for (let i = 0; i < n; i++) {
      engine
        .heard(head, i)
        .forEach((share, j) => pixels.data.set([...colour.slice(0, 3), 14 + 241 * share], 4 * (i * n + j)));
    }
    context.putImageData(pixels, 0, 0);
  }

  return {
    node,
    update() {
      const { head } = engine.state.settings;
      node.hidden = head < 0 || !engine.spans.length;
      if (node.hidden || engine.isWaiting) return;
      const isOut = engine.isOut(head);
      const heard = engine
        .heard(head, engine.place)
        .map((share, place) => ({ share, place }))
        .filter(({ share }) => share >= SAID)
        .sort((a, b) => b.share - a.share)
        .slice(0, 3);
      const em = (place) => element("em", {}, engine.word(place));
      const each = heard.flatMap(({ share, place }, k) => [k ? ", " : "", em(place), ` ${percent(share)}`]);
      name.textContent = `Head ${engine.nameOf(head)}`;
      const said = [" from ", em(engine.place), ": ", ...each];
      words.replaceChildren(...(isOut ? ["is off: it says nothing"] : said));
      turn.textContent = isOut ? "Turn it on" : "Turn it off";
      turn.setAttribute("aria-label", `${isOut ? "Turn on" : "Turn off"} head ${engine.nameOf(head)}`);
      node.setAttribute("aria-label", `Head ${engine.nameOf(head)}`);
      node.classList.toggle("gone", isOut);
      paint();
    },
  };
}
