// The page of a board: bar, task, the drawn flow, the arithmetic beside a cell, the line that is read out.

const NARROW = 600, WIDE = 1000, LEAST = 11; // px: of a page that is read as on a phone, of long lines, of the smallest type

function render(engine, el) {
  const root = element("div", { class: `attn-board${engine.large ? " large" : ""}`, role: "group", "aria-label": engine.heading });
  for (const [name, colour] of Object.entries(engine.colours)) root.style.setProperty(`--${name}`, colour);
  const view = { engine, root, halves: {}, veiled: new Set(), stale: new Set() };
  view.shows = (panel) => engine.shows(panel);
  view.panels = Object.fromEntries(engine.panels.filter((panel) => !panel.hidden).map((panel) => [panel.name, panelOf(view, panel)]));
  view.blank = (name) => view.veiled.has(name) || view.stale.has(name);
  view.isNothing = (name, x) => Number.isNaN(x) && Boolean(engine.panel[name].sparse);
  view.panel = (name) => view.panels[name] ?? { go: () => false, spot: () => null, size: () => [0, 0] };
  view.go = (name, i, j) => view.panel(name).go(i, j);
  view.colour = (kind) => [1, 3, 5].map((k) => parseInt((engine.colours[kind] ?? "#333333").slice(k, k + 2), 16));
  view.said = element("span", { class: "said", role: "status" });
  view.hint = element("span", { class: "hint" });
  view.spoken = element("span", { class: "spoken", role: "status", "aria-live": "polite" });
  view.effect = element("span", { class: "effect", role: "status" });
  view.why = element("div", { class: "why", hidden: true });

  const flow = flowOf(view), connect = wiresOf(view, flow);
  view.complaint = element("p", { class: "complaint", id: `x${Math.random().toString(36).slice(2)}` });
  view.stage = element("div", { class: "stage" }, flow, view.why, view.complaint);
  const bar = barOf(view, () => fit()), task = taskOf(view), tries = triesOf(view), steps = player(view), strip = (view.strip = stripOf(view));
  const line = element("p", { class: "line" }, element("span", { class: "told" }, view.said, " ", view.hint));
  root.append(bar.node, task.node, tries.node, view.stage, element("div", { class: "foot" }, steps.node, line), strip.node, view.spoken, view.effect);
  lookingAt(view);

  function fits() { // type as large as there is room for; in two steps, as the smallest type does not shrink with it
    root.style.fontSize = "";
    for (let k = 0; k < 2; k++) {
      const size = parseFloat(getComputedStyle(root).fontSize), share = view.stage.clientWidth / (flow.offsetWidth + 2);
      if (size * share < LEAST - 1) return false; // not even in the smallest type: there is no need to lay it out
      root.style.fontSize = `${Math.max(LEAST, size * Math.min(1, share))}px`;
    }
    return flow.offsetWidth <= view.stage.clientWidth + 1;
  }

  let seen = null; // the width it was fitted to: every look at a size costs the page a layout
  function fit() { // side by side, with less room between where it must be, else as on a phone
    const width = (seen = el.clientWidth);
    if (!width) return;
    let narrow = width < NARROW;
    if (!narrow) {
      root.classList.remove("narrow", "tight");
      narrow = !(fits() || (root.classList.add("tight"), fits()));
    }
    root.classList.toggle("narrow", narrow);
    root.classList.toggle("short", width < WIDE);
    (narrow ? strip.node : view.stage).append(view.why);
    if (narrow) root.style.fontSize = "";
    else if (root.classList.contains("large")) {
      const size = parseFloat(root.style.fontSize);
      root.style.fontSize = `${Math.min(size, Math.max(14, (size * (innerHeight - 100)) / root.offsetHeight))}px`;
    }
    strip.update();
    if (!narrow) connect();
  }
  new ResizeObserver(() => el.clientWidth !== seen && fit()).observe(el);

  view.speak = () => { // the last thing said, unless Python was not told, which is worse
    const lost = [...view.stale].filter((name) => view.panels[name]).map((name) => engine.title(name)).join(", ");
    const problem = engine.untold || engine.problem || (lost && `Without Python there is no ${lost} for these numbers; Reset brings it back.`);
    view.said.textContent = problem || engine.said;
    view.said.classList.toggle("problem", Boolean(problem || engine.error));
  };
  let fitted = "", before = engine.values;
  view.update = () => {
    const panels = Object.values(view.panels);
    view.stale = engine.stale();
    for (const panel of panels) panel.update();
    for (const panel of panels) panel.complain(engine.error?.name === panel.panel.name ? engine.error : null);
    view.complaint.textContent = engine.error?.complaint ?? "";
    for (const part of [bar, task, tries, steps, strip]) part.update();
    view.speak();
    if (engine.values !== before) view.effect.textContent = effectOf(view, before);
    before = engine.values;
    const shown = panels.map(({ node, size }) => `${node.hidden} ${node.hidden ? "" : size()}`).join();
    if (shown !== fitted) (fitted = shown), root.isConnected && fit();
    view.mark();
    complain();
  };

  function complain() { // above the refused cell: below it Enter goes on
    const { complaint, stage } = view, { name, row, column } = engine.error ?? {};
    const cell = name && view.panel(name).spot(row, column)?.getBoundingClientRect();
    complaint.hidden = !cell;
    if (!cell) return;
    const { left, top, width } = stage.getBoundingClientRect(), above = cell.top - complaint.offsetHeight - 3;
    const aside = Math.max(0, Math.min(width - complaint.offsetWidth, cell.left - left));
    complaint.style.transform = `translate(${aside}px, ${(above < 0 ? cell.bottom + 3 : above) - top}px)`;
  }

  const forget = keysOf(view);
  root.classList.toggle("narrow", el.clientWidth > 0 && el.clientWidth < NARROW); // before there is much to lay out
  el.append(root);
  engine.views.add(view.update);
  view.update();
  return () => {
    engine.views.delete(view.update);
    forget();
    steps.stop();
  };
}

// The panels in the places of a grid, in the order of the flow, also for whoever hears it.
function flowOf({ panels }) {
  const places = new Map();
  for (const { node, panel } of Object.values(panels)) {
    const [column, row = 1, rows = 1] = panel.at.length ? panel.at : [1], key = [column, row, rows].join();
    if (!places.has(key)) places.set(key, { column, row, node: element("div", { class: "place", style: `grid-area: ${row} / ${column} / span ${rows}` }) });
    places.get(key).node.append(node);
  }
  const inOrder = [...places.values()].sort((a, b) => a.column - b.column || a.row - b.row);
  return element("div", { class: "flow" }, ...inOrder.map(({ node }) => node));
}

// Keys: what the board uses is its own, all others belong to JupyterLab or the slides.
function keysOf({ engine, root }) {
  const undoes = (event) => (event.ctrlKey || event.metaKey) && "zy".includes(event.key.toLowerCase());
  root.addEventListener("keydown", (event) => {
    if (!undoes(event) || event.altKey || event.defaultPrevented) return;
    used(event);
    event.shiftKey || event.key.toLowerCase() === "y" ? engine.redo() : engine.undo();
  });
  const guard = (event) => { // before JupyterLab sees it: a plain letter would be a command to the notebook
    if (!root.contains(event.target)) return;
    const combined = (event.ctrlKey || event.metaKey) && !undoes(event);
    const runs = event.key === "Enter" && event.shiftKey && !event.target.matches("input");
    const onwards = event.key === " " && event.target.matches("td"); // to the next slide
    const passes = combined || runs || onwards || /^(F\d+|Escape|Page.*)$/.test(event.key);
    event.target.toggleAttribute("data-lm-suppress-shortcuts", !passes);
  };
  window.addEventListener("keydown", guard, true);
  return () => window.removeEventListener("keydown", guard, true);
}

function button(text, act, title, label) {
  const node = element("button", { type: "button", title, "aria-label": label }, text);
  node.addEventListener("click", act);
  return node;
}

function barOf(view, fit) {
  const { engine, root } = view;
  const undo = button("Undo", () => engine.undo(), "Undo the last change (Ctrl+Z)");
  const redo = button("Redo", () => engine.redo(), "Do it again (Ctrl+Y)");
  const reset = button("Reset", () => (view.rest(), engine.reset()), "Back to the example");
  const random = button("Random", () => engine.random(), "New random numbers, of the next seed");
  random.classList.add("random");
  const large = button("Large type", () => (root.classList.toggle("large"), update(), fit()), "Larger type");
  const code = codeOf(view), controls = engine.controls.filter((control) => control.values.length > 1).map((control) => controlOf(view, control));
  const node = element("div", { class: "bar", role: "toolbar", "aria-label": "Board" }, undo, redo, reset, random);
  node.append(...controls.map((control) => control.node), element("span", { class: "end" }, large, code.node));
  random.hidden = code.node.hidden = !engine.panels.some((panel) => panel.editable);
  function update() {
    for (const control of controls) control.update();
    undo.disabled = !engine.past.length;
    redo.disabled = !engine.future.length;
    random.textContent = engine.seed ? `Random ${engine.seed}` : "Random"; // the number is the seed
    large.setAttribute("aria-pressed", String(root.classList.contains("large")));
    code.update();
  }
  return { node, update };
}

function codeOf({ engine, said }) {
  const area = element("textarea", { readonly: true, rows: "9", "aria-label": "The matrices as Python code" });
  const copy = button("Copy", async () => {
    area.select();
    try { await navigator.clipboard.writeText(area.value); } catch { document.execCommand("copy"); }
    said.textContent = "Copied. Paste it into a cell.";
  });
  const node = element("details", { class: "code" }, element("summary", {}, "As code"), element("div", {}, area, copy));
  const update = () => node.open && (area.value = engine.code());
  node.addEventListener("toggle", update);
  return { node, update };
}

function controlOf(view, control) {
  const { engine } = view, id = `c${Math.random().toString(36).slice(2)}`;
  const shown = element("output", { for: id });
  const node = element("span", { class: "control" }, element("label", { for: id }, control.title));
  const input = control.slider
    ? element("input", { id, type: "range", min: "0", max: String(control.values.length - 1), step: "1" })
    : element("select", { id }, ...control.values.map((v, i) => element("option", { value: i }, String(v))));
  input.addEventListener(control.slider ? "input" : "change", () =>
    engine.set(control.name, control.values[input.value], control.slider ? `slide ${control.name}` : null));
  node.append(input, ...(control.slider ? [shown] : []));
  return {
    node,
    update() {
      const value = engine.now.settings[control.name];
      input.value = String(control.values.indexOf(value));
      shown.textContent = String(value);
      if (control.slider) input.setAttribute("aria-valuetext", String(value));
    },
  };
}

const DONE = "✓ Done. ";

function taskOf(view) {
  const { engine } = view, { task } = engine;
  const node = element("div", { class: "task" }), said = element("p", { role: "status" });
  let told = "";
  if (!task) return { node, update() { node.hidden = true; } };
  const reasons = element("select", { "aria-label": plainWords(task.why) }, element("option", { value: "" }, "choose …"), ...task.answers.map((a, i) => element("option", { value: i }, plainWords(a))));
  reasons.addEventListener("change", () => reasons.value !== "" && engine.reason(Number(reasons.value)));
  const asked = element("label", { class: "reason" }, element("span", {}, ...worded(task.why)), reasons);
  const words = (mark) => (mark === DONE && task.because) || task.text;
  const marks = ["Task. ", ...(task.why ? ["✓ Now say why. ", "✗ Not for that reason. "] : []), DONE];
  const room = marks.map((mark) => element("div", { class: "room", "data-mark": mark, "data-words": words(mark).replaceAll("*", "") })); // of the longest
  node.append(element("div", { class: "told" }, said, ...room), ...(task.why ? [asked] : []));
  return {
    node,
    update() {
      node.classList.toggle("done", engine.done);
      const now = engine.done ? DONE : !engine.reached ? marks[0] : marks[engine.answer === null ? 1 : 2];
      if (now !== told) said.replaceChildren(element("b", {}, (told = now)), ...worded(words(now))); // it is heard again whenever it is written
      reasons.disabled = !engine.reached;
      reasons.options[0].text = engine.reached ? "choose …" : "first the task …";
      reasons.value = engine.answer === null ? "" : String(engine.answer);
    },
  };
}

// The phrases of the lesson that set the board, where no page makes buttons of them; what does the task, once it is done.
function triesOf({ engine }) {
  const shown = engine.model.alone ? [] : engine.tries ?? [];
  const buttons = shown.map(({ said, sets, answers }) => {
    const node = element("button", { type: "button" }, ...worded(said));
    node.addEventListener("click", () => engine.prepare(sets, `${plainWords(said)}.`));
    return { node, update: () => node.classList.toggle("later", answers && !engine.reached), answers };
  }).sort((a, b) => a.answers - b.answers);
  const node = element("p", { class: "tries", hidden: !buttons.length }, "Try: ", ...buttons.map((button) => button.node));
  return {
    node,
    update() {
      for (const button of buttons) button.update();
      node.classList.toggle("later", buttons.every(({ node }) => node.classList.contains("later")));
    },
  };
}

// On a phone, always in view: the number being edited with its stepper, and the weights and last results.
function stripOf(view) {
  const { engine } = view;
  let stepped = null; // the number that the buttons change: the last input that was tapped
  const value = () => engine.now.inputs[stepped[0]][stepped[1]][stepped[2]];
  const step = (by) => () => engine.put(...stepped, value() + by, `stepper ${stepped}`);
  const down = button("−", step(-1), undefined, "one less"), up = button("+", step(1), undefined, "one more");
  const edited = element("span", { class: "edited" }, "Tap a number to change it."), mini = element("div", { class: "mini" });
  const stepper = element("div", { class: "stepper" }, down, edited, up); // there from the start, so that nothing jumps
  const numbers = ({ editable, toggle }) => editable && !toggle;
  stepper.hidden = !engine.panels.some(numbers);
  const isSmall = (matrix) => matrix.length > 0 && matrix.length < 6 && matrix[0].length < 9;
  const all = ({ kind, title, name }) => ({ kind, title, matrix: engine.values[name] });
  const oneRow = ({ kind, title, name }) => { // of many rows the one that is looked at, else the last
    const matrix = engine.values[name], i = view.asked?.[0] === name ? view.asked[1] : matrix.length - 1;
    return { kind, title: `${title}, ${engine.panel[name].rows[i] ?? `row ${i + 1}`}`, matrix: [matrix[i]] };
  };
  const results = () => {
    const there = engine.steps.filter((s) => view.shows(s)), shown = there.filter((s) => isSmall(engine.values[s.name]));
    if (!shown.length) return there.filter((s) => s.kind === "weights" && engine.values[s.name][0].length < 9).slice(0, 1).map(oneRow);
    const last = [...shown].sort((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1]).at(-1); // where the flow ends
    return [...new Set([shown.find((s) => s.kind === "weights"), last])].filter(Boolean).map(all);
  };
  const small = ({ kind, title, matrix }) => element("div", { class: `tone ${kind}`, style: `--columns: ${matrix[0].length}` },
    element("b", {}, title), ...matrix.map((row) => element("div", {}, Array.from(row, written).join("  "))));
  return {
    node: element("div", { class: "strip" }, stepper, mini),
    step() {
      if (view.asked && numbers(engine.panel[view.asked[0]])) stepped = view.asked;
      down.disabled = up.disabled = !stepped;
      this.update();
      if (stepped) edited.textContent = `${engine.label(...stepped)}: ${minus(exact(value()))}`;
    },
    update() {
      if (view.root.classList.contains("narrow")) mini.replaceChildren(...results().map(small));
    },
  };
}

// One engine for each model, one page for each place where it is shown.

export default () => {
  let engine = null;
  return {
    initialize({ model }) { engine = new Engine(model); },
    render({ model, el }) { return render((engine ??= new Engine(model)), el); },
  };
};
