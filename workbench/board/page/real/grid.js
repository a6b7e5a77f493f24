// The grid: a column for each block, a square for each of its heads; as dark as what it hears, or as what is lost
// without it. On a narrow page it lies on its side.

import { element, newId, used } from "../elements.js";
import { percent } from "../numbers.js";
import { nameOf } from "./next.js";

const END = -1;
const SEEN = 0.01; // of a gain that is marked
const FAINTEST = 0.03; // of a loss: squares are shaded by the largest loss, if it is no smaller

export function gridOf(view) {
  const { engine } = view;
  const cells = Array.from({ length: engine.heads }, (_, head) => cellOf(head));
  const rows = Array.from({ length: engine.inBlock }, (_, row) =>
    element(
      "div",
      { role: "row" },
      numberOf("head", row, "rowheader"),
      ...cells.filter((_, head) => head % engine.inBlock === row),
    ),
  );
  const blocks = Array.from({ length: engine.blocks }, (_, block) => numberOf("block", block, "columnheader"));
  const corner = element("span", { class: "corner", "aria-hidden": "true" });
  const grid = element("div", {
    class: "grid",
    role: "grid",
    style: `--blocks: ${engine.blocks}; --in-block: ${engine.inBlock}`,
  });
  grid.append(element("div", { role: "row" }, corner, ...blocks), ...rows);
  const shows = switchOf();
  const title = element("p", { class: "which" });
  const selects = {
    asks: selectOf("Who asks", choosePlace("asks")),
    hears: selectOf("To whom", choosePlace("hears")),
  };
  selects.word = selectOf("Whose share", (value) => engine.set({ word: value }));
  const bar = element("progress", { max: 1, "aria-label": "Heads turned off, one at a time" });
  const key = element("p", { class: "key-to-grid" });
  const node = element(
    "div",
    { class: "grid-part" },
    element("div", { class: "over" }, title, shows.node),
    grid,
    bar,
    key,
  );

  // A block's or a head's number; the first one says what it counts.
  function numberOf(kind, number, role) {
    const word = element("span", { class: "counted" }, `${kind}\u00a0`);
    return element("span", { class: `index of-${kind}`, role }, ...(number ? [] : [word]), String(number));
  }

  function cellOf(head) {
    const cell = element("button", {
      type: "button",
      role: "gridcell",
      tabindex: head ? -1 : 0,
      title: `head ${engine.nameOf(head)}`,
    });
    cell.addEventListener("click", () => engine.isWaiting || engine.press(head));
    cell.addEventListener("pointerenter", ({ pointerType }) => pointerType === "mouse" && light(head));
    cell.addEventListener("pointerleave", ({ pointerType }) => pointerType === "mouse" && light(null));
    cell.addEventListener("keydown", (event) => {
      const to = neighbour(head, event.key);
      if (to === undefined) return;
      used(event);
      cells[to].focus();
    });
    cell.addEventListener("focus", () => {
      for (const one of cells) one.tabIndex = one === cell ? 0 : -1;
    });
    return cell;
  }

  // Where an arrow key leads; on a narrow page blocks run downwards.
  function neighbour(head, key) {
    const [block, row] = [Math.floor(head / engine.inBlock), head % engine.inBlock];
    const isOnSide = view.root.classList.contains("narrow");
    const [across, down] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] ?? [
      0, 0,
    ];
    const [blocks, heads] = isOnSide ? [down, across] : [across, down];
    if (!blocks && !heads) return undefined;
    const inside = (x, most) => Math.max(0, Math.min(most - 1, x));
    return inside(block + blocks, engine.blocks) * engine.inBlock + inside(row + heads, engine.inBlock);
  }

  let lighting = 0;
  function light(head) {
    view.lit = head;
    cancelAnimationFrame(lighting);
    lighting = requestAnimationFrame(() => {
      view.sentence.draw();
      describe();
    });
  }

  function choosePlace(name) {
    return (value) => engine.set({ [name]: Number(value) });
  }
  function selectOf(label, act) {
    const select = element("select", { "aria-label": label, id: newId("g") });
    select.addEventListener("change", () => act(select.value));
    return select;
  }
  function fill(select, options, chosen) {
    const shown = JSON.stringify(options);
    if (select.dataset.shown !== shown) {
      select.dataset.shown = shown;
      select.replaceChildren(...options.map(([value, words]) => element("option", { value }, words)));
    }
    select.value = String(chosen);
  }

  function switchOf() {
    const words = { heard: "attended to", missed: "missed" };
    const buttons = Object.entries(words).map(([name, word]) => {
      const one = element("button", { type: "button", "data-shows": name }, word);
      one.addEventListener("click", () => engine.set({ shows: name }));
      return one;
    });
    return {
      node: element("span", { class: "views", role: "group", "aria-label": "What the squares show" }, ...buttons),
      update() {
        for (const one of buttons)
          one.setAttribute("aria-pressed", String(one.dataset.shows === engine.state.settings.shows));
      },
    };
  }

  function ask() {
    const pieces = engine.words.map((word, place) => [place, word]);
    const { hears, asks, word } = selects;
    fill(asks, pieces, engine.place);
    fill(hears, [[END, "anyone"], ...pieces.filter(([place]) => place <= engine.place)], heardPlace());
    const listed = engine.next.map(({ piece }) => [piece, nameOf(piece)]);
    const { pair } = engine;
    fill(word, pair ? [...listed, ["", `${pair.one} of both`]] : listed, engine.next[engine.column]?.piece ?? "");
    const isHeard = engine.state.settings.shows === "heard";
    const words = isHeard ? ["How much ", asks, " attends to ", hears] : ["What ", word, " loses without each head"];
    if (title.dataset.shown !== engine.state.settings.shows) title.replaceChildren(...words);
    title.dataset.shown = engine.state.settings.shows;
  }
  const heardPlace = () => (engine.placeOf("hears") > engine.place ? END : engine.placeOf("hears"));

  // What a square says, for whoever cannot see it.
  function labelOf(head, number) {
    const name = `head ${engine.nameOf(head)}${engine.isOut(head) ? ", is off" : ""}`;
    if (engine.state.settings.shows === "missed") {
      return `${name}: ${percent(engine.whole - number)} without it, in place of ${percent(engine.whole)}`;
    }
    const to = engine.placeOf("hears") === END ? engine.hearsMost(head).to : engine.placeOf("hears");
    return `${name}: attends to ${engine.word(to)}, ${percent(number)}`;
  }

  let numbers = [];
  function paint() {
    const isMissed = engine.state.settings.shows === "missed";
    numbers = engine.cells;
    const largest = isMissed ? Math.max(FAINTEST, ...numbers.map(Math.abs)) : 1;
    cells.forEach((cell, head) => {
      const number = numbers[head];
      cell.style.setProperty("--dark", `${Math.round((100 * Math.min(1, Math.abs(number))) / largest)}%`);
      cell.classList.toggle("more", isMissed && number < -SEEN);
      cell.setAttribute("aria-label", labelOf(head, number));
    });
  }

  // In a line under the grid: a square that is pointed at, or those that are darkest.
  function describe() {
    if (engine.isWaiting || engine.isCounting || !numbers.length) return key.replaceChildren("");
    if (view.lit !== null) return key.replaceChildren(`${labelOf(view.lit, numbers[view.lit])}.`);
    const darkest = [...numbers.keys()].sort((a, b) => numbers[b] - numbers[a]).slice(0, 4);
    const isMissed = engine.state.settings.shows === "missed";
    const { whole } = engine;
    const each = darkest.map((head) => {
      const [name, number] = [engine.nameOf(head), numbers[head]];
      return isMissed ? `${percent(whole - number)} without ${name}` : `${name}: ${percent(number)}`;
    });
    const gains = isMissed && numbers.some((number) => number < -SEEN);
    const dot = gains ? " With a dot: the word gains without the head." : "";
    const most = isMissed ? `Missed most: ${percent(whole)} becomes` : "Most weight:";
    return key.replaceChildren(`${most} ${each.join(", ")}.${dot}`);
  }

  return {
    node,
    update() {
      const { head, shows: view } = engine.state.settings;
      ask();
      shows.update();
      const isEmpty = !engine.spans.length;
      node.classList.toggle("empty", isEmpty || engine.isCounting);
      node.classList.toggle("missed", view === "missed");
      bar.hidden = !engine.isCounting;
      bar.value = engine.progress < 1 ? engine.progress : 0;
      cells.forEach((cell, k) => {
        cell.classList.toggle("out", engine.isOut(k));
        cell.setAttribute("aria-selected", String(k === head));
      });
      if (!engine.isWaiting && !engine.isCounting && !isEmpty) paint();
      describe();
    },
  };
}
