// The arithmetic of one cell in words and numbers, beside it; and the steps played one after the other.

const LONG = 8; // parts of a sum that are written out

// A tree as pieces of text and of cells, { at, text }, its numbers with so many digits.
function spell(node, digits, inside = false) {
  if (!node.op) {
    const text = Number.isFinite(node.value) ? trimmed(node.value, digits) : written(node.value);
    const shown = inside && text.startsWith("−") ? `(${text})` : text;
    return [node.at ? { at: node.at, text: shown } : shown];
  }
  const parts = node.parts.map((part, k) => spell(part, digits, node.op !== "told" && (inside || k > 0 || node.op === "e^")));
  const joined = (sign) => (parts.length > LONG ? [...parts.slice(0, LONG - 1), ["…"]] : parts).flatMap((part, k) => (k ? [sign, ...part] : part));
  if (node.op === "+") return inside && parts.length > 1 ? ["(", ...joined(" + "), ")"] : joined(" + ");
  if (node.op === "·") return joined("·");
  if (node.op === "/") return [...parts[0], " / ", ...parts[1]];
  if (node.op === "−") return parts.length === 1 ? ["−(", ...spell(node.parts[0], digits), ")"] : joined(" − ");
  if (node.op === "e^") return ["e^", ...parts[0]];
  if (node.op === "ln") return ["ln ", ...parts[0]];
  if (node.op === "max") return ["max(", ...joined(", "), ")"];
  return [node.text && `${node.text} `, ...parts[0]];
}

// As few digits as make the line true as it is written: whoever adds it up gets the rounded result.
function spelledOut(node, value) {
  if (!Number.isFinite(value)) return [...spell(node, 4), " = ", written(value)];
  const decimals = Number.isInteger(value) ? 0 : Math.min(10, Math.max(2, 1 - Math.floor(Math.log10(Math.abs(value) || 1))));
  const result = Number(value.toFixed(decimals));
  const near = (digits) => Number(evaluate(node, digits).toFixed(decimals)) === result;
  const digits = range(13).map((d) => d + 2).find(near) ?? 14;
  const same = Math.abs(evaluate(node, digits) - result) < 1e-12 * Math.max(1, Math.abs(result));
  return [...spell(node, digits), same ? " = " : " ≈ ", same ? trimmed(value, decimals) : minus(value.toFixed(decimals))];
}

const plainText = (pieces) => pieces.map((piece) => piece.text ?? piece).join("");

// These cells, and for those that are not shown the cells that they came from.
const inSight = (view, cells) => cells.flatMap((at) => (view.shows(view.engine.panel[at[0]]) ? [at] : inSight(view, sources(view.engine.arithmetic(...at)))));

// What stands beside the cell: its words, its arithmetic with the operands in their colours, each a way back.
function explained(view, name, i, j) {
  const node = view.engine.arithmetic(name, i, j);
  if (!node) return null;
  const pieces = spelledOut(node, view.engine.values[name][i][j]);
  const line = pieces.map((piece) => {
    if (typeof piece === "string") return piece;
    const [at] = inSight(view, [piece.at]);
    const leaf = element("button", { type: "button", tabindex: "-1", class: `leaf ${view.engine.panel[at[0]].kind}`, title: view.engine.label(...at) }, piece.text);
    leaf.addEventListener("click", () => view.go(...at));
    leaf.at = at;
    return leaf;
  });
  line[line.length - 1] = element("strong", { class: "sum" }, line.at(-1));
  return { words: view.engine.label(name, i, j), line, text: plainText(pieces), sources: inSight(view, sources(node)) };
}

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const SHOWN = 2600, FLY = 450; // ms for which a step is shown, and in which a number flies

function player(view) {
  const { engine } = view;
  const button = (text, label, act) => {
    const node = element("button", { type: "button", "aria-label": label, title: label }, text);
    node.addEventListener("click", act);
    return node;
  };
  let at = null, clock = null;
  const steps = () => engine.steps.filter((step) => view.shows(step) && step.does !== "film" && OPERATIONS[step.does].because && engine.values[step.name].length);
  const back = button("◂", "Step back", () => (pause(), show((at ?? steps().length) - 1)));
  const play = button("▸ Play", "Play the steps", () => (clock ? pause() : start()));
  const next = button("▸", "Step on", () => (pause(), show(at === null ? 0 : at + 1)));
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
    if (!still()) fly(step);
  }

  // A row and a column meet: their numbers fly into the line, the sum drops into its cell, and the others follow.
  function fly(step) {
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
