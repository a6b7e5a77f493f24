// What stands for a matrix on the page: a table whose cells are the heatmap and the editor, a canvas where there are
// too many numbers for cells, a row of small heads to choose from, or a picture.

const CELLS = 600; // more than so many are drawn on a canvas
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function element(tag, attributes = {}, ...children) {
  const node = document.createElementNS(/^(svg|path|line|text|g|circle|marker|defs)$/.test(tag) ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false && value !== null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

// Words with *emphasis* and powers, e^(so): as they are seen, and emphasis in quotation marks where there is only text.
const worded = (text) => text.split(/(\*[^*]+\*|\^\([^)]+\))/).map((part, k) => (k % 2 === 0 ? part : part[0] === "*" ? element("em", {}, part.slice(1, -1)) : element("sup", {}, part.slice(2, -1))));
const plainWords = (text) => text.replace(/\*([^*]+)\*/g, "“$1”");

const used = (event) => (event.preventDefault(), event.stopPropagation());

// A number's place on its panel's scale, −1 to 1: fixed by the first numbers, and never jumping, however large one gets.
const strength = (x, half) => (Number.isFinite(x) ? Math.sign(x) * (1 - 2 ** (-Math.abs(x) / half)) : x > 0 ? 1 : x < 0 ? -1 : 0);

function panelOf(view, panel) {
  const { engine } = view;
  const node = element("div", { class: `panel tone ${panel.kind}`, "data-name": panel.name });
  const head = element("div", { class: "head" }, element("b", {}, ...worded(panel.title)));
  if (panel.note) head.append(element("span", { class: "note" }, panel.note));
  node.append(head);
  const kinds = { arrows: plane, arcs };
  const body = kinds[panel.does] ?? (panel.shape?.length === 3 ? gallery : null);
  let drawn = null, shape = "";
  const self = {
    node, panel,
    update() {
      const matrix = engine.values[panel.name], rows = matrix.length, columns = matrix[0]?.length ?? 0;
      node.hidden = !view.shows(panel) || (!body && rows * columns === 0);
      if (node.hidden) return;
      const now = `${rows} ${columns} ${engine.gap(panel)}`;
      if (now !== shape) {
        shape = now;
        drawn?.node.remove();
        drawn = (body ?? (rows * columns > CELLS ? canvasOf : tableOf))(view, panel, matrix);
        node.append(drawn.node);
      }
      drawn.update(matrix);
    },
    go: (i, j) => !node.hidden && Boolean(drawn?.go?.(i, j)),
    spot: (i, j) => (node.hidden ? null : drawn?.spot?.(i, j)),
    size: () => { const matrix = engine.values[panel.name]; return [matrix.length, matrix[0]?.length ?? 0]; },
    complain: (error) => drawn?.complain?.(error),
  };
  return self;
}

function tableOf(view, panel, first) {
  const { engine } = view, { rows, columns, name, parts } = panel;
  const begins = range(first[0].length).filter((j) => !j || engine.part(panel, j) !== engine.part(panel, j - 1)); // the parts
  const cells = first.map((row, i) => Array.from(row, (_, j) => (panel.toggle ? switchCell : panel.editable ? numberCell : resultCell)(view, panel, i, j)));
  const table = element("table", { role: "grid", "aria-label": panel.title });
  if (columns.length) {
    const head = element("tr", {}, ...(rows.length ? [element("td")] : []));
    cells[0].forEach((_, j) => head.append(element("th", { scope: "col" }, columns[j] ?? String(j))));
    table.append(element("thead", {}, head));
  }
  if (parts.length) {
    const heads = begins.map((j, k) => element("th", { scope: "colgroup", colspan: (begins[k + 1] ?? first[0].length) - j }, parts[k]));
    table.append(element("thead", {}, element("tr", {}, ...(rows.length ? [element("td")] : []), ...heads)));
  }
  const body = element("tbody");
  cells.forEach((row, i) => {
    const line = element("tr", {}, ...(rows.length ? [element("th", { scope: "row" }, rows[i] ?? String(i))] : []));
    row.forEach((cell, j) => {
      if (j && begins.includes(j)) cell.node.classList.add("after-gap");
      cell.node.addEventListener("mouseenter", () => view.look(name, i, j));
      cell.node.addEventListener("mouseleave", () => view.unlook());
      line.append(cell.node);
    });
    body.append(line);
  });
  table.append(body);
  const shares = panel.kind === "weights" && !panel.toggle;
  const sizes = first.flatMap((row) => Array.from(row, Math.abs)).filter((x) => x < 1e8);
  view.halves[name] ??= Math.max(...sizes, 1e-9) / 2 || 1;
  let current = null;
  const rove = (i, j) => {
    if (current) current.target.tabIndex = -1;
    (current = cells[i][j]).target.tabIndex = 0;
  };
  rove(0, 0);
  body.addEventListener("focusin", (event) => {
    const at = cells.flatMap((row, i) => row.map((cell, j) => [cell, i, j])).find(([cell]) => cell.target === event.target);
    if (at) (rove(at[1], at[2]), view.look(name, at[1], at[2], true));
  });
  return {
    node: table,
    update: (matrix) => matrix.forEach((row, i) => row.forEach((x, j) => {
      const cell = cells[i][j];
      const blank = view.blank(name) || view.isNothing(name, x);
      if (cell.shown !== undefined && Object.is(cell.shown, x) && cell.blank === blank) return;
      cell.shown = x; cell.blank = blank;
      cell.update(x, blank);
      const share = blank ? 0 : shares ? Math.max(0, Math.min(1, x || 0)) : panel.toggle ? x * 0.6 : strength(x, view.halves[name]);
      cell.node.style.setProperty("--share", `${(Math.abs(share) * 100).toFixed(1)}%`);
      cell.node.classList.toggle("below", share < 0);
      cell.node.classList.toggle("share", shares);
      cell.node.classList.toggle("broken", Number.isNaN(x) && !blank);
    })),
    go(i, j) { if (!cells[i]?.[j]) return false; cells[i][j].target.focus(); return true; },
    spot: (i, j) => cells[i]?.[j]?.node,
    complain: (error) => cells.forEach((row, i) => row.forEach((cell, j) => cell.complain?.(error?.row === i && error.column === j))),
  };
}

// Keys that walk inside a panel; true where the key was one of them.
function walk(view, name, i, j, event, keys = MOVES) {
  const [rows, columns] = view.panel(name).size();
  const ends = { Home: [i, 0], End: [i, columns - 1] };
  const to = keys[event.key] ? [i + keys[event.key][0], j + keys[event.key][1]] : ends[event.key];
  if (!to || event.ctrlKey || event.metaKey || event.shiftKey) return false;
  if (to[1] < 0 && to[0] > 0) (to[0] -= 1, to[1] = columns - 1); // in the order of reading
  else if (to[1] >= columns && to[0] < rows - 1) (to[0] += 1, to[1] = 0);
  view.go(name, ...to);
  used(event);
  return true;
}

function resultCell(view, panel, i, j) {
  const node = element("td", { class: "cell result", tabindex: "-1" });
  node.addEventListener("keydown", (event) => {
    if (walk(view, panel.name, i, j, event) || event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.metaKey) return;
    const [from] = inSight(view, sources(view.engine.arithmetic(panel.name, i, j) ?? {}));
    if (from) view.go(...from);
    used(event);
  });
  return {
    node, target: node,
    update(x, blank) {
      const text = blank ? "" : panel.kind === "mask" ? (x ? "✓" : "✕") : written(x);
      node.textContent = text;
      node.classList.toggle("long", text.length > 4);
      node.setAttribute("aria-label", `${view.engine.label(panel.name, i, j)}: ${blank ? "not yet" : text}`);
    },
  };
}

function switchCell(view, panel, i, j) {
  const button = element("button", { type: "button", class: "switch", tabindex: "-1" });
  const node = element("td", { class: "cell input" }, button);
  button.addEventListener("click", () => view.engine.edit(panel.name, [[i, j, String(1 - view.engine.values[panel.name][i][j])]]));
  button.addEventListener("keydown", (event) => walk(view, panel.name, i, j, event));
  return {
    node, target: button,
    update(x) {
      button.textContent = x === 1 ? "✓" : "✕";
      button.setAttribute("aria-pressed", String(x === 1));
      button.setAttribute("aria-label", view.engine.label(panel.name, i, j));
    },
  };
}

function numberCell(view, panel, i, j) {
  const { engine } = view, { name } = panel;
  const input = element("input", { type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", tabindex: "-1", "aria-label": engine.label(name, i, j) });
  const node = element("td", { class: "cell input" }, input);
  let clean = true, held = 0; // clean: what stands there is the number, all of it selected
  const valueNow = () => engine.now.inputs[name][i][j];
  const fresh = () => ((input.value = minus(exact(valueNow()))), (clean = true), document.activeElement === input && input.select());
  const commit = () => {
    if (clean) return true;
    clean = true;
    engine.edit(name, [[i, j, input.value]]);
    fresh();
    return !engine.error;
  };
  const put = (number, gesture) => {
    clean = true;
    engine.put(name, i, j, number, gesture);
    fresh();
  };
  const step = (amount, gesture) => put((read(input.value)[0] ?? valueNow()) + amount, gesture);
  const replace = () => clean && document.activeElement === input && input.select(); // a typed digit takes the place of all
  input.addEventListener("beforeinput", replace);
  input.addEventListener("input", () => (clean = false));
  input.addEventListener("focus", () => clean && input.select());
  input.addEventListener("blur", commit);
  input.addEventListener("dblclick", () => (clean = false));
  input.addEventListener("keydown", (event) => {
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey, moves = MOVES[event.key];
    if (event.altKey && moves) view.go(name, i + moves[0], j + moves[1]);
    else if (plain && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      if (!event.repeat) held += 1;
      step((event.key === "ArrowUp" ? 1 : -1) * (event.shiftKey ? 10 : 1), `hold ${name} ${i} ${j} ${held}`);
    } else if (plain && clean && /^(ArrowLeft|ArrowRight|Home|End)$/.test(event.key)) return void walk(view, name, i, j, event);
    else if (plain && event.key === "Enter") {
      if (commit() && !view.go(name, i + (event.shiftKey ? -1 : 1), j)) fresh();
    } else if (event.key === "Escape" && !clean) fresh();
    else if (event.key === "F2" && clean) (clean = false, input.setSelectionRange(99, 99));
    else {
      if (plain && event.key.length === 1) (replace(), event.stopPropagation());
      return;
    }
    used(event);
  });
  input.addEventListener("wheel", (event) => {
    if (document.activeElement !== input || event.ctrlKey) return; // a page that scrolls past changes nothing
    event.preventDefault();
    step(event.deltaY < 0 ? 1 : -1, `wheel ${name} ${i} ${j}`);
  }, { passive: false });
  input.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text/plain").trimEnd(), found = readNumbers(text);
    if (found ? found.length === 1 && readNumber(text) !== undefined : !/\s/.test(text)) return; // one: as in any field
    event.preventDefault();
    clean = true;
    engine.paste(name, i, j, text, found);
    fresh();
  });
  input.addEventListener("click", () => setTimeout(replace)); // the press has set a caret, and does so once more after it
  draggable(view, input, valueNow, put);
  return {
    node, target: input,
    update() { if (clean) fresh(); },
    complain(isRefused) {
      if (!isRefused) return ["aria-invalid", "aria-errormessage"].forEach((said) => input.removeAttribute(said));
      input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-errormessage", view.complaint.id);
    },
  };
}

// Drawn sideways, a number goes up or down, one for every 12 px; one gesture is one step of undo.
function draggable(view, input, valueNow, put) {
  let drag = null;
  input.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, from: valueNow(), moved: 0, gesture: `drag ${performance.now()}` };
  });
  input.addEventListener("pointermove", (event) => {
    if (!drag || !(event.buttons & 1)) return void (drag = null);
    const steps = Math.round((event.clientX - drag.x) / 12);
    if (steps === drag.moved) return;
    if (!drag.moved) input.setPointerCapture(event.pointerId);
    drag.moved = steps;
    view.root.classList.add("dragging");
    put(drag.from + steps, drag.gesture);
  });
  const drop = () => ((drag = null), view.root.classList.remove("dragging"));
  input.addEventListener("pointerup", drop);
  input.addEventListener("pointercancel", drop);
  input.addEventListener("dragstart", (event) => event.preventDefault());
}

// ------------------------------------------------------------------------------------- many numbers, heads, pictures

function paint(canvas, matrix, colour) {
  const rows = matrix.length, columns = matrix[0].length, context = canvas.getContext("2d");
  const pixels = context.createImageData(columns, rows);
  const [r, g, b] = colour;
  for (let i = 0, k = 0; i < rows; i++) for (let j = 0; j < columns; j++, k += 4) {
    const share = Math.max(0, Math.min(1, matrix[i][j]));
    pixels.data[k] = r; pixels.data[k + 1] = g; pixels.data[k + 2] = b; pixels.data[k + 3] = 25 + 230 * share;
  }
  context.putImageData(pixels, 0, 0);
}

function canvasOf(view, panel, first) {
  const rows = first.length, columns = first[0].length, { name } = panel;
  const canvas = element("canvas", { width: columns, height: rows });
  const cross = element("div", { class: "cross" });
  const node = element("div", { class: "many", tabindex: "0", role: "application", "aria-label": `${panel.title}, ${rows} × ${columns}: arrow keys walk` }, canvas, cross);
  let at = [0, 0];
  const mark = ([i, j]) => Object.assign(cross.style, { left: `${(100 * j) / columns}%`, top: `${(100 * i) / rows}%`, width: `${100 / columns}%`, height: `${100 / rows}%` });
  const under = (event) => {
    const box = canvas.getBoundingClientRect();
    return [Math.min(rows - 1, Math.floor(((event.clientY - box.top) / box.height) * rows)), Math.min(columns - 1, Math.floor(((event.clientX - box.left) / box.width) * columns))].map((x) => Math.max(0, x));
  };
  const look = (to, pinned) => (mark((at = to)), view.look(name, ...to, pinned));
  node.addEventListener("mousemove", (event) => look(under(event)));
  node.addEventListener("mouseleave", () => view.unlook());
  node.addEventListener("click", (event) => (node.focus(), look(under(event), true)));
  node.addEventListener("focus", () => look(at, true));
  node.addEventListener("keydown", (event) => walk(view, name, ...at, event));
  return {
    node,
    update: (matrix) => paint(canvas, matrix, view.colour(panel.kind)),
    go(i, j) { if (!(i >= 0 && j >= 0 && i < rows && j < columns)) return false; at = [i, j]; document.activeElement === node ? look(at, true) : node.focus(); return true; },
    spot: (i, j) => (mark([i, j]), cross),
  };
}

// All frames of a film, small; a click chooses one.
function gallery(view, panel) {
  const { engine } = view;
  const frames = engine.values[panel.name], step = engine.steps.find((s) => s.does === "film" && s.of[0] === panel.name);
  const control = engine.control[step?.options.chosen], { values = [], numbers = [] } = control ?? {};
  const buttons = frames.map((frame, f) => {
    const canvas = element("canvas", { width: frame[0].length, height: frame.length });
    paint(canvas, frame, view.colour("weights"));
    const value = values[numbers.indexOf(f)];
    const button = element("button", { type: "button", class: "small-head", tabindex: f ? "-1" : "0" }, canvas, element("span", {}, String(value ?? f)));
    button.addEventListener("click", () => control && engine.set(control.name, value));
    button.addEventListener("keydown", (event) => {
      const to = { ArrowLeft: f - 1, ArrowRight: f + 1, Home: 0, End: frames.length - 1 }[event.key];
      if (buttons[to]) (used(event), buttons[to].focus(), buttons[to].click());
    });
    return button;
  });
  const node = element("div", { class: "gallery", role: "group", "aria-label": panel.title }, ...buttons);
  return {
    node,
    update() {
      const chosen = step ? step.now.chosen : -1;
      buttons.forEach((button, f) => (button.setAttribute("aria-pressed", String(f === chosen)), (button.tabIndex = f === chosen ? 0 : -1)));
    },
  };
}

// Rows of two matrices as arrows from one point: the longer the shadow of one on the other, the larger their score.
function plane(view, panel) {
  const SIZE = 230, middle = SIZE / 2;
  const node = element("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "plane", role: "img" });
  return {
    node,
    update() {
      const sets = panel.of.map((name) => [view.engine.panel[name], view.engine.values[name]]);
      const far = Math.max(2, ...sets.flatMap(([, m]) => m.flat().map(Math.abs)).filter(Number.isFinite));
      const unit = (middle - 26) / 2 ** Math.ceil(Math.log2(far));
      const lines = [element("line", { x1: 0, y1: middle, x2: SIZE, y2: middle, class: "axis" }), element("line", { x1: middle, y1: 0, x2: middle, y2: SIZE, class: "axis" })];
      for (const [{ kind, rows }, matrix] of sets) matrix.forEach(([x, y], i) => {
        const [to, up] = [middle + unit * x, middle - unit * y], turn = Math.atan2(-y, x);
        const wing = (a) => `${to - 9 * Math.cos(turn + a)},${up - 9 * Math.sin(turn + a)}`;
        lines.push(element("path", { d: `M${middle},${middle} L${to},${up} M${wing(0.4)} L${to},${up} L${wing(-0.4)}`, class: `arrow tone ${kind}`, "stroke-dasharray": kind === "key" ? "5 3" : undefined }));
        lines.push(element("text", { x: to + 8 * Math.cos(turn) + (x < 0 ? -4 : 4), y: up + 10 * Math.sin(turn) + 4, class: kind, "text-anchor": x < 0 ? "end" : "start" }, rows[i] ?? String(i)));
      });
      node.replaceChildren(...lines);
      const says = sets.map(([{ title }, m]) => `${title} ${m.map((row) => `(${row.map(written).join(", ")})`).join(" ")}`).join("; ");
      node.setAttribute("aria-label", `Arrows in a plane: ${says}`);
    },
  };
}

// Words above, words below, and a curve from each query to the keys that it listens to.
function arcs(view, panel) {
  const node = element("svg", { class: "arcs tone weights", role: "img" });
  return {
    node,
    update() {
      const [of] = panel.of, matrix = view.engine.values[of], { rows, columns } = view.engine.panel[of];
      const wide = 62, width = wide * Math.max(matrix.length, matrix[0].length), parts = [];
      node.setAttribute("viewBox", `0 0 ${width} 150`);
      const words = (names, count, y) => range(count).map((k) => element("text", { x: wide * (k + 0.5), y, "text-anchor": "middle" }, names[k] ?? String(k)));
      matrix.forEach((row, i) => row.forEach((x, j) => x > 0.02 && parts.push(element("path", {
        d: `M${wide * (i + 0.5)},24 C${wide * (i + 0.5)},80 ${wide * (j + 0.5)},70 ${wide * (j + 0.5)},126`, "stroke-width": (1 + 6 * x).toFixed(1), opacity: (0.15 + 0.85 * x).toFixed(2),
      }))));
      node.replaceChildren(...parts, ...words(rows, matrix.length, 16), ...words(columns, matrix[0].length, 142));
      node.setAttribute("aria-label", `Who listens to whom: ${matrix.map((row, i) => `${rows[i] ?? i} most to ${columns[row.indexOf(Math.max(...row))] ?? row.indexOf(Math.max(...row))}`).join(", ")}.`);
    },
  };
}
