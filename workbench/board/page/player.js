// The steps, one after the other: a scrubber, and numbers that fly to where they are used.

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const SHOWN = 2600, FLY = 450; // ms for which a step is shown, and in which a number flies

function player(view) {
  const { engine } = view;
  let at = null, clock = null;
  const steps = () => engine.steps.filter((step) => view.shows(step) && step.does !== "film" && engine.values[step.name].length);
  const back = button("◂", () => (pause(), show((at ?? steps().length) - 1)), "Step back", "Step back");
  const play = button("▸ Play", () => (clock ? pause() : start()), "Play the steps", "Play the steps");
  const next = button("▸", () => (pause(), show(at === null ? 0 : at + 1)), "Step on", "Step on");
  const bar = element("input", { type: "range", min: "0", step: "1", "aria-label": "Steps" });
  const count = element("output");
  bar.addEventListener("input", () => (pause(), show(Number(bar.value))));
  const node = element("div", { class: "player", role: "group", "aria-label": "Steps" }, back, play, next, bar, count);
  node.addEventListener("keydown", (event) => {
    const by = { PageDown: 1, PageUp: -1 }[event.key]; // what a clicker sends; at the ends it turns the page
    const to = (at ?? (by > 0 ? -1 : steps().length)) + by;
    if (by && to >= 0 && to < steps().length) (used(event), pause(), show(to));
  });

  function pause() {
    clearInterval(clock);
    clock = null;
    play.textContent = "▸ Play";
    play.setAttribute("aria-label", "Play the steps");
  }

  function start() {
    const from = at === null || at >= steps().length - 1 ? 0 : at + 1;
    clock = setInterval(() => (at >= steps().length - 1 ? pause() : show(at + 1)), SHOWN);
    play.textContent = "❙❙ Pause";
    play.setAttribute("aria-label", "Pause");
    show(from);
  }

  function show(to) {
    const all = steps();
    at = Math.max(0, Math.min(all.length - 1, to));
    const step = all[at], names = step.of.map((name) => engine.title(name));
    view.veiled = new Set(all.slice(at + 1).map((s) => s.name));
    view.update();
    view.look(step.name, 0, 0, true);
    engine.said = `${engine.title(step.name)}: ${OPERATIONS[step.does].says(names, step.now)}`;
    view.speak();
    if (!still()) fly(view, step);
  }

  view.rest = () => { // all steps are shown, none is the present one
    pause();
    at = null;
    view.veiled = new Set();
  };

  // A page may let a board begin by itself: silently, and until anybody touches or presses anything.
  view.root.addEventListener("begin", () => {
    const touched = new AbortController(), spoken = [view.said, view.spoken];
    for (const kind of ["pointerdown", "keydown", "focusin"]) {
      window.addEventListener(kind, ({ target }) => {
        touched.abort();
        for (const words of spoken) words.removeAttribute("aria-live");
        if (node.contains(target)) return; // its buttons know what to do
        for (const flight of view.root.getAnimations({ subtree: true })) flight.cancel();
        view.rest();
        view.unlook();
        engine.said = "";
        view.update();
      }, { signal: touched.signal, capture: true });
    }
    for (const words of spoken) words.setAttribute("aria-live", "off");
    start();
  });

  return {
    node,
    update() {
      const all = steps();
      node.hidden = all.length < 3;
      bar.max = String(all.length - 1);
      bar.value = String(at ?? all.length - 1);
      bar.setAttribute("aria-valuetext", engine.title(all[at ?? all.length - 1]?.name ?? engine.panels[0].name));
      count.textContent = at === null ? "" : `${at + 1}/${all.length}`;
    },
    stop: pause,
  };
}

// A row and a column meet: their numbers fly into the line, the sum drops into its cell, and the others follow.
function fly(view, step) {
  const centre = (box) => [box.left + box.width / 2, box.top + box.height / 2];
  const leaves = view.why.querySelectorAll(".leaf"), sum = view.why.querySelector(".sum"), cell = view.panel(step.name).spot(0, 0);
  leaves.forEach((leaf, k) => {
    const from = view.panel(leaf.at[0]).spot(leaf.at[1], leaf.at[2]);
    if (!from) return;
    const [x0, y0] = centre(from.getBoundingClientRect()), [x1, y1] = centre(leaf.getBoundingClientRect());
    leaf.animate([{ transform: `translate(${x0 - x1}px, ${y0 - y1}px)`, opacity: 0.3 }, { transform: "none", opacity: 1 }], { duration: FLY, delay: Math.min(k, 8) * 90, fill: "backwards", easing: "ease-in-out" });
  });
  if (!sum || !cell) return;
  const wait = FLY + Math.min(leaves.length, 9) * 90;
  sum.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 200, delay: wait, fill: "backwards" });
  const [x0, y0] = centre(sum.getBoundingClientRect()), [x1, y1] = centre(cell.getBoundingClientRect());
  cell.animate([{ transform: `translate(${x0 - x1}px, ${y0 - y1}px)`, opacity: 0 }, { transform: "none", opacity: 1 }], { duration: FLY, delay: wait + 200, fill: "backwards", easing: "ease-in" });
  const [rows, columns] = view.panel(step.name).size();
  for (let i = 0; i < rows; i++) for (let j = i ? 0 : 1; j < columns; j++) {
    view.panel(step.name).spot(i, j)?.animate?.([{ opacity: 0 }, { opacity: 1 }], { duration: 150, delay: wait + 600 + 40 * (i * columns + j), fill: "backwards" });
  }
}
