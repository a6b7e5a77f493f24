// The arithmetic of one cell in words and numbers, beside it.

const LONG = 8; // parts of a sum that are written out

// A tree as pieces of text and of cells, { at, text }, its numbers with so many digits.
function spell(node, digits, inside = false) {
  if (!node.op) {
    const text = Number.isFinite(node.value) ? trimmed(node.value, digits) : written(node.value);
    const shown = inside && text.startsWith("−") ? `(${text})` : text;
    return [node.at ? { at: node.at, text: shown } : shown];
  }
  const parts = node.parts.map((part, k) => spell(part, digits, inside || k > 0 || node.op === "e^"));
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
  const decimals = Math.min(10, Math.max(2, 1 - Math.floor(Math.log10(Math.abs(value) || 1))));
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
    if (!at) return piece.text; // of what is never shown, as a preset
    const leaf = element("button", { type: "button", tabindex: "-1", class: `leaf tone ${view.engine.panel[at[0]].kind}`, title: view.engine.label(...at) }, piece.text);
    leaf.addEventListener("click", () => view.go(...at));
    leaf.at = at;
    return leaf;
  });
  line[line.length - 1] = element("strong", { class: "sum" }, line.at(-1));
  return { words: view.engine.label(name, i, j), line, text: plainText(pieces), sources: inSight(view, sources(node)) };
}

// What is looked at, marked, with its arithmetic beside it; of an input, what it will move.
function lookingAt(view) {
  const { engine, root, why, hint } = view;
  let pin = null, marked = [], heard = ""; // pin: the cell that has the focus
  const isTouched = matchMedia("(hover: none)").matches; // a phone: neither keys nor a pointer
  const change = isTouched ? "Tap a number and change it with − and +. " : "Change a number: type, or press ↑ ↓. ";
  const canChange = engine.panels.some((panel) => panel.editable && !panel.toggle);
  const idle = `${canChange ? change : ""}${isTouched ? "Tap" : "Point at"} a result to see where it comes from.`;

  view.look = (name, i, j, pinned = false) => {
    if (!pinned && pin?.[0] === name && !engine.panel[name].editable) return; // on the way to the line, over other cells
    if (pinned) pin = [name, i, j];
    show([name, i, j]);
    if (pinned) view.spoken.textContent = heard;
  };
  view.unlook = () => {
    if (!root.contains(document.activeElement) || !document.activeElement.closest(".panel")) pin = null;
    show(pin);
  };
  root.addEventListener("focusout", (event) => root.contains(event.relatedTarget) || ((pin = null), show(null)));
  why.addEventListener("pointerdown", (event) => event.preventDefault()); // the cell keeps the focus

  function show(asked) {
    view.asked = asked;
    view.mark();
    if (!why.hidden) stand();
  }

  view.mark = () => {
    for (const node of marked) node.classList.remove("asked", "lit", "moved");
    marked = [];
    const put = (kind, cells) => {
      const nodes = cells.map(([name, i, j]) => view.panel(name).spot(i, j)).filter(Boolean);
      for (const node of nodes) node.classList.add(kind);
      marked.push(...nodes);
    };
    view.strip.step();
    const [name, i, j] = view.asked ?? [], there = engine.values[name]?.[i]?.[j] !== undefined;
    const isShown = there && !view.blank(name) && !view.isNothing(name, engine.values[name][i][j]);
    const found = isShown ? explained(view, name, i, j) : null;
    why.hidden = !found;
    heard = hint.textContent = there ? "" : idle;
    if (!there) return;
    put("asked", [view.asked]);
    if (found) {
      why.replaceChildren(element("span", { class: "words" }, found.words), element("span", { class: "sumline" }, ...found.line));
      put("lit", found.sources);
    }
    if (!found?.sources.length) { // an input, or what was made from nothing
      const moves = engine.moves(name, i, j);
      put("moved", moves);
      const label = engine.label(name, i, j), effect = ` moves ${counted(view, moves) || "nothing, as things stand"}.`;
      const isNamed = view.said.textContent.startsWith(`${label} is now `);
      if (engine.panel[name].editable) (hint.textContent = `${isNamed ? "It" : label}${effect}`), (heard = `${label}${effect}`);
    }
    if (found) heard = `${found.words}: ${found.text}`;
  };

  function stand() { // beside its panel where it hides least, first of all below; on a phone it is a sheet at the bottom
    if (root.classList.contains("narrow")) return why.removeAttribute("style");
    const stage = view.stage.getBoundingClientRect(), [name, i, j] = view.asked, panel = view.panel(name);
    const cell = panel.spot(i, j).getBoundingClientRect(), around = panel.node.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = why;
    const spoken = marked.map((node) => node.getBoundingClientRect()); // the cells that it speaks of
    const filled = Object.values(view.panels).filter(({ node, panel }) => !node.hidden && !view.blank(panel.name)).map(({ node }) => node.getBoundingClientRect());
    const covered = (box, [left, top]) => Math.max(0, Math.min(box.right, left + width) - Math.max(box.left, left)) * Math.max(0, Math.min(box.bottom, top + height) - Math.max(box.top, top));
    const hides = (place) => {
      const [, top] = place, hidden = sum(spoken.map((box) => Number(covered(box, place) > 0)));
      const others = sum(filled.map((box) => covered(box, place))) / (cell.width * cell.height); // in cells: the next step may read them
      return 20 * hidden + others + (top < stage.top ? 5 : 0) + (top < 0 || top + height > innerHeight ? 900 : 0) + (top + height > stage.bottom ? 300 : 0); // above is the task, below are the words of the step
    };
    const within = (left) => Math.max(stage.left, Math.min(stage.right - width, left));
    const lefts = [cell.left + cell.width / 2 - width / 2, around.left, around.right - width].map(within), middle = cell.top + cell.height / 2 - height / 2;
    const places = [around.bottom + 2, around.top - height - 2].flatMap((top) => lefts.map((left) => [left, top]));
    places.push(...[around.right + 2, around.left - width - 2].map((left) => [within(left), middle]));
    const costs = places.map(hides), [left, top] = places[costs.indexOf(Math.min(...costs))];
    why.style.transform = `translate(${left - stage.left}px, ${top - stage.top}px)`; // without a layout, and as wide wherever it stood before
  }
}

// How many cells of which shown panels these are, in words.
function counted({ engine, panels, shows }, cells) {
  const titles = cells.map(([name]) => name).filter((name) => panels[name] && shows(engine.panel[name])).map((name) => engine.title(name));
  const called = (title) => (title.includes(",") ? `“${title}”` : title);
  return [...new Set(titles)].map((title) => `${titles.filter((other) => other === title).length} of ${called(title)}`).join(", ");
}

// What a change did, for whoever does not see it: the number that moved most, of the weights where they moved.
function effectOf(view, before) {
  const { engine } = view, results = engine.steps.filter((step) => view.shows(step) && !view.blank(step.name) && step.does !== "film");
  const moves = results.flatMap(({ name, kind }) => engine.values[name].flatMap((row, i) => Array.from(row, (x, j) => ({ name, kind, i, j, x, was: before[name]?.[i]?.[j] }))))
    .filter(({ x, was }) => was !== undefined && written(x) !== written(was));
  const weights = moves.filter(({ kind }) => kind === "weights"), last = moves.at(-1)?.name, size = ({ x, was }) => Math.abs(x - was) || Infinity;
  const among = weights.length ? weights : moves.filter(({ name }) => name === last);
  if (!among.length) return "";
  const { name, i, j, x, was } = among.reduce((a, b) => (size(b) > size(a) ? b : a));
  return `${engine.label(name, i, j)}: ${written(was)} → ${written(x)}`;
}
