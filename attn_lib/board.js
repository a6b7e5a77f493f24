// A Board's page: tables whose cells are the heatmap and the editor. It formats and asks; every number is Python's.

const PATIENCE = 4000; // ms without an answer after which the results are shown as old

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

function written(value) {
  if (typeof value === "string") return value === "inf" ? "∞" : value === "-inf" ? "−∞" : value; // nan
  const size = Math.abs(value);
  let text;
  if (Number.isInteger(value) && size < 1e6) text = String(value);
  else if (size >= 1e6 || size < 0.005) text = value.toExponential(0).replace("e+", "e");
  else text = value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
  return text.replaceAll("-", "−");
}

const exact = (value) => (typeof value === "string" ? written(value) : String(value));
const bracketed = (text) => (text.startsWith("−") ? `(${text})` : text);
const cut = (parts) => (parts.length > 8 ? [...parts.slice(0, 7), "…"] : parts);

// ------------------------------------------------------------------------------------------ where a number came from

// For a cell of a computed panel: the cells it came from, and its arithmetic with their numbers.
function explain(panel, row, column, values, chosen) {
  const [how, first, second] = panel.how;
  const a = values[first], b = values[second], result = written(values[panel.name][row][column]);
  const sources = [];
  const take = (name, r, c) => (sources.push([name, r, c]), bracketed(written(values[name][r][c])));
  let sum = "";
  if (how === "product") {
    sum = cut(a[row].map((_, k) => `${take(first, row, k)}·${take(second, k, column)}`)).join(" + ");
  } else if (how === "match") {
    sum = cut(a[row].map((_, k) => `${take(first, row, k)}·${take(second, column, k)}`)).join(" + ");
  } else if (how === "times") {
    const from = values[first][row][column], ratio = values[panel.name][row][column] / from;
    sum = `${take(first, row, column)} · ${from ? written(ratio) : "scale"}`;
  } else if (how === "fill") {
    const open = b[row][column] === 1;
    take(second, row, column);
    sum = open ? `may attend: ${take(first, row, column)} stays` : "may not attend: filled in";
  } else if (how === "softmax") {
    const powers = a[row].map((_, k) => `e^${take(first, row, k)}`);
    sum = `${powers[column]} / (${cut(powers).join(" + ")})`;
  } else if (how === "weigh") { // one row of weights, the one chosen, each times a whole row of values
    sum = `${take(first, chosen(panel.how[3]), row)} · ${take(second, row, column)}`;
  } else if (how === "share") { // what one query gives to every key
    const given = values[panel.name][row].map((_, k) => {
      sources.push([panel.name, row, k]);
      return `${panel.columns[k] ?? k} ${written(values[panel.name][row][k])}`;
    });
    return { sources, text: `query ${panel.rows[row] ?? row} gives ${given.slice(0, 24).join(", ")}` };
  } else if (how === "total") { // the sum of a row
    sum = cut(a[row].map((_, k) => take(first, row, k))).join(" + ");
  } else {
    return null;
  }
  return { sources, text: `${sum} = ${result}` };
}

// ---------------------------------------------------------------------------------------------------------- the page

function render({ model, el }) {
  const panels = model.get("panels");
  const cells = new Map(); // "name/row/column" -> td
  const tables = new Map(); // name -> { node, shape }
  let question = 0, asked = null, waiting = [], clock = null, drag = null, last = null;
  const key = (name, row, column) => `${name}/${row}/${column}`;
  const state = () => model.get("state");
  const valueAt = (name, row, column) => state().values[name][row][column];

  const root = element("div", { class: "attn-board", role: "group", "aria-label": model.get("title"), "data-lm-suppress-shortcuts": "true" });
  for (const [name, colour] of Object.entries(model.get("colours"))) root.style.setProperty(`--${name}`, colour);
  const bar = element("div", { class: "bar", role: "toolbar", "aria-label": "Board" });
  const task = element("p", { class: "task" });
  const flow = element("div", { class: "flow" });
  const why = element("p", { class: "why" });
  const lines = element("p", { class: "lines" });
  const said = element("p", { class: "said", role: "status", "aria-live": "polite" });
  const old = element("p", { class: "old", role: "alert" });
  root.append(bar, task, flow, why, lines, said, old);
  el.append(root);

  // ---- asking Python: one question at a time, later ones wait, and edits of the same cell replace each other

  function ask(message) {
    const same = (m) => m.type === "edit" && message.type === "edit" && m.gesture && m.gesture === message.gesture;
    waiting = waiting.filter((m) => !same(m));
    waiting.push(message);
    next();
  }

  function next() {
    if (asked !== null || waiting.length === 0) return;
    asked = `${Date.now()}-${++question}-${Math.random()}`;
    model.send({ ...waiting.shift(), id: asked });
    clock = setTimeout(() => {
      root.classList.add("stale");
      old.textContent = "Python does not answer: it is busy, or it was restarted; then run the cell of this board again.";
    }, PATIENCE);
  }

  function answered() {
    if (asked !== null && state().answered !== asked) return;
    asked = null;
    clearTimeout(clock);
    root.classList.remove("stale");
    old.textContent = "";
    next();
  }

  const edit = (name, row, column, text, gesture) =>
    ask({ type: "edit", panel: name, cells: [[row, column, String(text)]], gesture });

  // ---- the bar

  const button = (text, type, hint) => {
    const node = element("button", { type: "button", title: hint }, text);
    node.addEventListener("click", () => ask({ type }));
    return node;
  };
  const undo = button("Undo", "undo", "Undo the last change (Ctrl+Z)");
  const redo = button("Redo", "redo", "Do it again (Ctrl+Y)");
  const editable = panels.some((p) => p.editable);
  const random = button("Random", "random", "New random numbers");
  const large = element("button", { type: "button", "aria-pressed": "false", title: "Larger type" }, "Large type");
  large.addEventListener("click", () => {
    const on = root.classList.toggle("large");
    large.setAttribute("aria-pressed", String(on));
  });
  const code = element("details", { class: "code" }, element("summary", {}, "As code"));
  const area = element("textarea", { readonly: true, rows: "8", "aria-label": "The matrices as Python code" });
  const copy = element("button", { type: "button" }, "Copy");
  copy.addEventListener("click", async () => {
    area.select();
    try {
      await navigator.clipboard.writeText(area.value);
    } catch {
      document.execCommand("copy");
    }
    said.textContent = "Copied. Paste it into a cell.";
  });
  code.append(area, copy);
  bar.append(undo, redo, button("Reset", "reset", "Back to the example"), ...(editable ? [random] : []), large);

  const controls = new Map();
  for (const control of model.get("controls")) {
    const id = `c${Math.random().toString(36).slice(2)}`;
    const holder = element("span", { class: "control" }, element("label", { for: id }, control.title));
    let input;
    const shown = element("output", { for: id });
    if (control.slider) {
      input = element("input", { id, type: "range", min: "0", max: String(control.values.length - 1), step: "1" });
      input.addEventListener("input", () => {
        shown.textContent = control.values[input.value];
        input.setAttribute("aria-valuetext", String(control.values[input.value]));
        ask({ type: "set", control: control.name, value: control.values[input.value], gesture: `slide ${control.name}` });
      });
      holder.append(input, shown);
    } else {
      input = element("select", { id }, ...control.values.map((v, i) => element("option", { value: i }, String(v))));
      input.addEventListener("change", () => ask({ type: "set", control: control.name, value: control.values[input.value] }));
      holder.append(input);
    }
    controls.set(control.name, { input, shown, control });
    bar.append(holder);
  }
  if (editable) bar.append(code);

  // ---- the tables, in columns as the data flows

  const groups = new Map();
  for (const panel of panels) {
    if (!groups.has(panel.group)) {
      if (groups.size) flow.append(element("span", { class: "arrow", "aria-hidden": "true" }, "→"));
      groups.set(panel.group, element("div", { class: "group" }));
      flow.append(groups.get(panel.group));
    }
    const holder = element("div", { class: `panel ${panel.kind}` });
    groups.get(panel.group).append(holder);
    tables.set(panel.name, { holder, shape: "" });
  }

  function build(panel) {
    const { holder } = tables.get(panel.name);
    const values = state().values[panel.name];
    holder.replaceChildren();
    holder.hidden = !values || values.length === 0;
    if (holder.hidden) return;
    const table = element("table", { class: panel.compact ? "compact" : "" });
    const title = panel.title || panel.name;
    table.append(element("caption", {}, title, ...(panel.editable ? [element("span", { class: "pen" }, panel.toggle ? "click" : "edit")] : [])));
    if (panel.columns.length && !panel.compact) {
      const head = element("tr", {}, ...(panel.rows.length && !panel.compact ? [element("td")] : []));
      values[0].forEach((_, j) => head.append(element("th", { scope: "col" }, panel.columns[j] ?? String(j))));
      table.append(element("thead", {}, head));
    }
    const body = element("tbody");
    values.forEach((row, i) => {
      const line = element("tr");
      if (panel.rows.length && !panel.compact) line.append(element("th", { scope: "row" }, panel.rows[i] ?? String(i)));
      row.forEach((_, j) => {
        const cell = panel.toggle ? toggle(panel, i, j) : panel.editable ? number(panel, i, j) : result(panel, i, j);
        cells.set(key(panel.name, i, j), cell);
        line.append(cell);
      });
      body.append(line);
    });
    table.append(body);
    holder.append(table);
  }

  const label = (panel, i, j) => `${panel.title || panel.name} row ${i + 1} column ${j + 1}`;

  function number(panel, i, j) {
    const input = element("input", { type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", "aria-label": label(panel, i, j) });
    let clean = true, held = 0;
    const shown = () => exact(valueAt(panel.name, i, j));
    const step = (amount, gesture) => {
      const now = Number(String(input.value).replace("−", "-"));
      const from = Number.isFinite(now) && input.value.trim() !== "" ? now : valueAt(panel.name, i, j);
      input.value = String(+(from + amount).toFixed(6));
      clean = true;
      edit(panel.name, i, j, input.value, gesture);
    };
    const commit = () => {
      if (!clean) edit(panel.name, i, j, input.value);
      clean = true;
    };
    const revert = () => ((input.value = shown()), (clean = true));
    input.addEventListener("input", () => (clean = false));
    input.addEventListener("change", commit);
    input.addEventListener("focus", () => (look(panel.name, i, j), input.select()));
    input.addEventListener("blur", () => unlook());
    input.addEventListener("keydown", (event) => {
      const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
      if (event.altKey && moves[event.key]) {
        commit();
        go(panel.name, i + moves[event.key][0], j + moves[event.key][1]);
      } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
        if (!event.repeat) held += 1;
        step((event.key === "ArrowUp" ? 1 : -1) * (event.shiftKey ? 10 : 1), `hold ${label(panel, i, j)} ${held}`);
      } else if (event.key === "Enter") {
        commit();
        if (!go(panel.name, i + (event.shiftKey ? -1 : 1), j)) input.select();
      } else if (event.key === "Escape") {
        revert();
        input.select();
      } else if ((event.ctrlKey || event.metaKey) && clean && "zy".includes(event.key.toLowerCase())) {
        ask({ type: event.key.toLowerCase() === "y" || event.shiftKey ? "redo" : "undo" });
      } else {
        return;
      }
      event.preventDefault();
    });
    input.addEventListener("wheel", (event) => {
      if (document.activeElement !== input) return; // a page that scrolls past changes nothing
      event.preventDefault();
      step(event.deltaY < 0 ? 1 : -1, `wheel ${label(panel, i, j)}`);
    }, { passive: false });
    input.addEventListener("paste", (event) => {
      const text = event.clipboardData.getData("text/plain").replace(/\r/g, "").replace(/\n$/, "");
      if (!/[\t\n]/.test(text)) return; // one number: as in any field
      event.preventDefault();
      const block = text.split("\n").map((line) => line.split("\t"));
      ask({ type: "edit", panel: panel.name, cells: block.flatMap((line, r) => line.map((t, c) => [i + r, j + c, t])) });
    });
    input.addEventListener("pointerdown", (event) => {
      if (event.button === 0) drag = { input, x: event.clientX, from: valueAt(panel.name, i, j), moved: 0, gesture: `drag ${Math.random()}` };
    });
    input.addEventListener("pointermove", (event) => {
      if (!drag || drag.input !== input) return;
      const steps = Math.round((event.clientX - drag.x) / 12);
      if (!drag.moved && steps === 0) return;
      if (!drag.moved) input.setPointerCapture(event.pointerId);
      if (steps === drag.moved) return;
      drag.moved = steps;
      root.classList.add("dragging");
      input.value = String(+(drag.from + steps).toFixed(6));
      clean = true;
      edit(panel.name, i, j, input.value, drag.gesture);
    });
    const drop = () => ((drag = null), root.classList.remove("dragging"));
    input.addEventListener("pointerup", drop);
    input.addEventListener("pointercancel", drop);
    input.addEventListener("click", () => clean && input.select()); // a press of the mouse has undone the selection
    input.addEventListener("dragstart", (event) => event.preventDefault());
    const cell = element("td", { class: "number" }, input);
    cell.update = (value, error) => {
      if (!drag && (clean || error) && waiting.length === 0) revert();
      input.toggleAttribute("aria-invalid", Boolean(error));
      if (error) input.setAttribute("aria-invalid", "true");
    };
    cell.target = input;
    return cell;
  }

  function toggle(panel, i, j) {
    const node = element("button", { type: "button", class: "switch" });
    node.addEventListener("click", () => edit(panel.name, i, j, valueAt(panel.name, i, j) === 1 ? 0 : 1));
    node.addEventListener("focus", () => look(panel.name, i, j));
    node.addEventListener("blur", () => unlook());
    node.addEventListener("keydown", (event) => arrows(event, panel.name, i, j));
    const cell = element("td", { class: "number" }, node);
    cell.update = (value) => {
      node.textContent = value === 1 ? "✓" : "✕";
      node.setAttribute("aria-pressed", String(value === 1));
      node.setAttribute("aria-label", `${label(panel, i, j)}: may attend`);
    };
    cell.target = node;
    return cell;
  }

  function result(panel, i, j) {
    const cell = element("td", { class: "result", tabindex: i === 0 && j === 0 ? "0" : "-1" });
    cell.addEventListener("focus", () => look(panel.name, i, j));
    cell.addEventListener("blur", () => unlook());
    cell.addEventListener("mouseenter", () => look(panel.name, i, j));
    cell.addEventListener("mouseleave", () => unlook());
    cell.addEventListener("keydown", (event) => arrows(event, panel.name, i, j));
    let shown;
    cell.update = (value) => {
      const head = state().values[`${panel.name}:head`]?.[i]?.[j];
      if (shown === `${value} ${head}`) return; // most cells stay as they are, and touching one costs layout
      shown = `${value} ${head}`;
      cell.textContent = panel.compact ? "" : written(value);
      if (head !== undefined) cell.append(element("small", {}, `h${head}`));
      cell.setAttribute("aria-label", `${label(panel, i, j)}: ${written(value)}${head === undefined ? "" : `, head ${head}`}`);
      cell.classList.toggle("broken", typeof value === "string" && value === "nan");
      cell.dataset.head = head ?? "";
    };
    cell.target = cell;
    return cell;
  }

  function arrows(event, name, i, j) {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (!moves[event.key]) return;
    event.preventDefault();
    go(name, i + moves[event.key][0], j + moves[event.key][1]);
  }

  function go(name, row, column) {
    const cell = cells.get(key(name, row, column));
    if (!cell || !cell.isConnected) return false;
    if (cell.target === cell) {
      for (const other of tables.get(name).holder.querySelectorAll(".result")) other.tabIndex = -1;
      cell.tabIndex = 0;
    }
    cell.target.focus();
    return true;
  }

  // ---- where a number came from

  const chosen = (name) => controls.get(name).control.values.indexOf(state().settings[name]);

  function look(name, row, column) {
    last = [name, row, column];
    for (const lit of root.querySelectorAll(".lit, .asked")) lit.classList.remove("lit", "asked");
    const panel = panels.find((p) => p.name === name);
    const found = panel.how.length ? explain(panel, row, column, state().values, chosen) : null;
    why.textContent = found ? `${label(panel, row, column)}:  ${found.text}` : label(panel, row, column);
    cells.get(key(name, row, column))?.classList.add("asked");
    for (const source of found?.sources ?? []) cells.get(key(...source))?.classList.add("lit");
  }

  function unlook() {
    const focused = [...cells.entries()].find(([, cell]) => cell.target === document.activeElement);
    if (focused) {
      const [name, row, column] = focused[0].split("/");
      return look(name, Number(row), Number(column));
    }
    last = null;
    for (const lit of root.querySelectorAll(".lit, .asked")) lit.classList.remove("lit", "asked");
    why.textContent = idle;
  }

  const idle = editable
    ? "Point at a result, or walk to it with Tab and the arrow keys, to see where it came from. Numbers change by typing, ↑ ↓ (Shift: by 10), dragging sideways or the wheel."
    : "Point at a cell, or walk to it with Tab and the arrow keys.";

  // ---- what Python says

  function update() {
    const now = state();
    for (const panel of panels) {
      const values = now.values[panel.name] ?? [];
      const place = tables.get(panel.name);
      const shape = `${values.length} ${values[0]?.length}`;
      if (shape !== place.shape) {
        place.shape = shape;
        build(panel);
      }
      const sizes = values.flat().filter((v) => typeof v === "number").map(Math.abs);
      const top = panel.share ? 1 : Math.max(...sizes.filter((v) => v < 1e8), 1e-9);
      values.forEach((row, i) => row.forEach((value, j) => {
        const cell = cells.get(key(panel.name, i, j));
        const error = now.errors.find((e) => e.panel === panel.name && e.row === i && e.column === j);
        cell.update(value, error);
        const share = typeof value === "number" ? Math.min(1, Math.abs(value) / top).toFixed(3) : "0";
        if (share !== cell.share) cell.style.setProperty("--share", (cell.share = share));
        if (cell.target !== cell) cell.querySelector(".complaint")?.remove();
        if (error) cell.append(element("span", { class: "complaint" }, error.text));
      }));
    }
    for (const { input, shown, control } of controls.values()) {
      const value = now.settings[control.name];
      if (document.activeElement !== input || asked === null) input.value = String(control.values.indexOf(value));
      shown.textContent = String(value);
      if (control.slider) input.setAttribute("aria-valuetext", String(value));
    }
    undo.disabled = !now.can_undo;
    redo.disabled = !now.can_redo;
    random.textContent = now.seed ? `Random (seed ${now.seed})` : "Random";
    area.value = now.code;
    task.hidden = !now.task;
    task.classList.toggle("done", now.done);
    task.replaceChildren(element("b", {}, now.done ? "✓ Done. " : "Task. "), now.task);
    lines.textContent = Object.values(now.text).join("   ");
    said.textContent = now.problem || now.said;
    said.classList.toggle("problem", Boolean(now.problem || now.errors.length));
    if (last) look(...last);
    else why.textContent = idle;
    answered();
  }

  // keys meant for a cell are not JupyterLab's
  root.addEventListener("keydown", (event) => event.stopPropagation());
  model.on("change:state", update);
  update();
  return () => (model.off("change:state", update), clearTimeout(clock));
}

export default { render };
