// The page of a board: bar, task, the drawn flow, the arithmetic beside a cell, the line that is read out.

const NARROW = 600, LEAST = 11;

function render(engine, el) {
  const root = element("div", { class: `attn-board${engine.large ? " large" : ""}`, role: "group", "aria-label": engine.heading });
  for (const [name, colour] of Object.entries(engine.colours)) root.style.setProperty(`--${name}`, colour);
  const view = { engine, root, halves: {}, veiled: new Set(), asked: null, pin: null, marked: [] };
  const bar = element("div", { class: "bar", role: "toolbar", "aria-label": "Board" });
  const task = taskOf(view);
  const lines = element("svg", { class: "lines", "aria-hidden": "true" });
  const flow = element("div", { class: "flow" }, lines);
  const why = (view.why = element("div", { class: "why", hidden: true }));
  const said = element("span", { class: "said", role: "status" }), hint = element("span", { class: "hint" });
  const spoken = element("span", { class: "spoken", role: "status", "aria-live": "polite" });
  const steps = player(view), strip = stripOf(view);
  const foot = element("div", { class: "foot" }, steps.node, element("p", { class: "line" }, said, hint));
  root.append(bar, task.node, element("div", { class: "stage" }, flow, why), foot, strip.node, spoken);

  // ---- panels, in the places of a grid

  const panels = Object.fromEntries(engine.panels.filter((panel) => !panel.hidden).map((panel) => [panel.name, panelOf(view, panel)]));
  const places = new Map();
  for (const { node, panel } of Object.values(panels)) {
    const [column, row = 1, rows = 1] = panel.at.length ? panel.at : [1, 1], key = `${column} ${row} ${rows}`;
    if (!places.has(key)) {
      const place = element("div", { class: "place" });
      Object.assign(place.style, { gridColumn: column, gridRow: `${row} / span ${rows}` });
      places.set(key, place);
    }
    places.get(key).append(node);
  }
  const at = (key) => key.split(" ").map(Number); // in the order of the flow, also for whoever hears it
  flow.append(...[...places.keys()].sort((a, b) => at(a)[0] - at(b)[0] || at(a)[1] - at(b)[1]).map((key) => places.get(key)));

  view.shows = ({ when, hidden }) => !hidden && (!when?.length || when.slice(1).includes(engine.now.settings[when[0]]));
  view.panel = (name) => panels[name] ?? { go: () => false, spot: () => null, size: () => [0, 0] };
  view.go = (name, i, j) => view.panel(name).go(i, j);
  view.colour = (kind) => [1, 3, 5].map((k) => parseInt((engine.colours[kind] ?? "#333333").slice(k, k + 2), 16));

  // ---- looking at a cell: what it came from, or what it will move

  view.look = (name, i, j, pinned = false) => {
    if (!pinned && view.pin?.[0] === name && !engine.panel[name].editable) return; // on the way to the line, over other cells
    if (pinned) view.pin = [name, i, j];
    view.asked = [name, i, j];
    mark(true);
    if (pinned) spoken.textContent = why.hidden ? hint.textContent : why.spoken;
  };
  view.unlook = () => {
    const inside = root.contains(document.activeElement) && document.activeElement.closest(".panel");
    if (!inside) view.pin = null;
    if (view.pin) return view.look(...view.pin, false), undefined;
    view.asked = null;
    mark(true);
  };
  root.addEventListener("focusout", (event) => root.contains(event.relatedTarget) || ((view.pin = null), view.unlook()));
  why.addEventListener("pointerdown", (event) => event.preventDefault()); // the cell keeps the focus

  function mark(anew) {
    for (const node of view.marked) node.classList.remove("asked", "lit", "moved");
    view.marked = [];
    const put = (kind) => ([name, i, j]) => {
      const node = view.panel(name).spot(i, j);
      if (node) (node.classList.add(kind), view.marked.push(node));
    };
    hint.textContent = "";
    if (!view.asked || engine.values[view.asked[0]]?.[view.asked[1]] === undefined) return void (why.hidden = true);
    const [name, i, j] = view.asked, found = view.veiled.has(name) ? null : explained(view, name, i, j);
    why.hidden = !found;
    if (found) {
      why.replaceChildren(element("span", { class: "words" }, found.words), element("span", { class: "sumline" }, ...found.line));
      why.spoken = `${found.words}: ${found.text}`;
      found.sources.forEach(put("lit"));
    }
    if (!found?.sources.length) { // an input, or what was made from nothing
      const moves = engine.moves(name, i, j);
      moves.forEach(put("moved"));
      const counted = Object.entries(moves.reduce((n, [to]) => ({ ...n, [to]: (n[to] ?? 0) + 1 }), {})).filter(([to]) => panels[to] && view.shows(engine.panel[to]));
      if (engine.panel[name].editable) hint.textContent = `${engine.label(name, i, j)} ${counted.length ? `moves ${counted.map(([to, n]) => `${n} of ${engine.title(to)}`).join(", ")}` : "moves nothing, as things stand"}.`;
    }
    put("asked")(view.asked);
    strip.update();
    if (found && anew) stand(name, i, j);
  }

  function stand(name, i, j) { // below its panel, or above where there is no room; on a phone a sheet at the bottom
    if (root.classList.contains("narrow")) return why.removeAttribute("style");
    const stage = why.parentElement.getBoundingClientRect(), panel = panels[name].node.getBoundingClientRect(), cell = view.panel(name).spot(i, j).getBoundingClientRect();
    const [width, height] = [why.offsetWidth, why.offsetHeight];
    const left = Math.max(0, Math.min(stage.width - width, cell.left + cell.width / 2 - width / 2 - stage.left));
    const covers = (top) => view.marked.filter((node) => { // cells that it speaks of, and what is out of sight
      const box = node.getBoundingClientRect();
      return box.left - stage.left < left + width && box.right - stage.left > left && box.top - stage.top < top + height && box.bottom - stage.top > top;
    }).length + (stage.top + top < 0 || stage.top + top + height > innerHeight ? 50 : 0);
    const below = panel.bottom + 2 - stage.top, above = panel.top - height - 2 - stage.top;
    why.style.left = `${left}px`;
    why.style.top = `${covers(above) < covers(below) ? above : below}px`;
  }

  // ---- connectors along the true dependencies, behind the panels

  function origins(name) { // the shown panels that a step depends on, through those that are not shown
    const { does, of, wires, now } = engine.panel[name];
    const names = wires ?? (does === "choose" ? [of[now.chosen]] : of);
    return names.flatMap((from) => (panels[from] && !panels[from].node.hidden ? [from] : engine.panel[from].does ? origins(from) : []));
  }

  function connect() {
    const box = flow.getBoundingClientRect(), zoom = box.width / flow.offsetWidth || 1, paths = new Set();
    lines.setAttribute("width", flow.offsetWidth);
    lines.setAttribute("height", flow.offsetHeight);
    const places = Object.fromEntries(Object.entries(panels).filter(([, { node }]) => !node.hidden).map(([name, { node }]) => {
      const b = node.getBoundingClientRect(), t = node.lastElementChild.getBoundingClientRect();
      const [left, right, top, bottom, y] = [t.left - box.left, t.right - box.left, b.top - box.top, b.bottom - box.top, (t.top + t.bottom) / 2 - box.top].map((v) => v / zoom);
      return [name, { left, right, top, bottom, x: (left + right) / 2, y }];
    }));
    const crossed = (ends, y, x0, x1) => Object.values(places).filter((p) => !ends.includes(p) && p.left < x1 && p.right > x0 && p.top < y && p.bottom > y).length;
    for (const { name } of engine.steps.filter((step) => places[step.name])) {
      const to = places[name], from = [...new Set(origins(name))].map((of) => places[of]), level = (p) => Math.abs(p.y - to.y) < 14;
      const straight = from.some((p) => p.right <= to.left + 2 && level(p));
      for (const p of from) {
        if (p.right <= to.left + 2) {
          const y = straight ? to.y : to.y + (p.y < to.y ? -6 : 6), half = Math.min(10, (to.left - p.right) / 2);
          const early = crossed([p, to], y, p.right + half, to.left), late = crossed([p, to], p.y, p.right, to.left - half - 8);
          const turn = late < early ? to.left - half - 8 : p.right + half;
          paths.add(level(p) ? `M${p.right + 1},${y} H${to.left - 5}` : `M${p.right + 1},${p.y} H${turn} V${y} H${to.left - 5}`);
        } else {
          const x = Math.max(to.left + 12, Math.min(to.right - 12, p.x));
          if (to.top > p.bottom + 5) paths.add(`M${x},${p.bottom + 1} V${to.top - 5}`);
          else if (p.top > to.bottom + 5) paths.add(`M${x},${p.top - 1} V${to.bottom + 5}`);
        }
      }
    }
    const id = (connect.id ??= `tip${Math.random().toString(36).slice(2)}`);
    const tip = element("marker", { id, viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, element("path", { d: "M0,0 L8,4 L0,8 Z" }));
    lines.replaceChildren(element("defs", {}, tip), ...[...paths].map((d) => element("path", { d, class: "wire", "marker-end": `url(#${id})` })));
  }

  // ---- type as large as fits

  let fitted = "";
  function fit() {
    const width = el.clientWidth;
    if (!width) return;
    root.style.fontSize = "";
    root.classList.toggle("narrow", width < NARROW);
    if (width >= NARROW) {
      const base = parseFloat(getComputedStyle(root).fontSize), wanted = flow.offsetWidth + 2, room = flow.parentElement.clientWidth;
      let size = base * Math.min(1, room / wanted);
      if (root.classList.contains("large")) size = Math.min(size, Math.max(14, base * (innerHeight - 100) / root.offsetHeight));
      root.style.fontSize = `${Math.max(LEAST, size)}px`;
    }
    strip.update();
    connect();
  }
  new ResizeObserver(() => fit()).observe(el);

  // ---- the bar

  const button = (text, act, hinted) => {
    const node = element("button", { type: "button", title: hinted }, text);
    node.addEventListener("click", act);
    return node;
  };
  const undo = button("Undo", () => engine.undo(), "Undo the last change (Ctrl+Z)");
  const redo = button("Redo", () => engine.redo(), "Do it again (Ctrl+Y)");
  const random = button("Random", () => engine.random(), "New random numbers, of the next seed");
  random.classList.add("random");
  const large = button("Large type", () => (large.setAttribute("aria-pressed", String(root.classList.toggle("large"))), fit()), "Larger type");
  large.setAttribute("aria-pressed", String(root.classList.contains("large")));
  const editable = engine.panels.some((panel) => panel.editable);
  bar.append(undo, redo, button("Reset", () => engine.reset(), "Back to the example"), ...(editable ? [random] : []));
  const controls = engine.controls.filter((control) => control.values.length > 1).map((control) => controlOf(view, control));
  bar.append(...controls.map((control) => control.node), element("span", { class: "space" }), large);
  const area = element("textarea", { readonly: true, rows: "9", "aria-label": "The matrices as Python code" });
  const copy = button("Copy", async () => {
    area.select();
    try { await navigator.clipboard.writeText(area.value); } catch { document.execCommand("copy"); }
    said.textContent = "Copied. Paste it into a cell.";
  });
  const code = element("details", { class: "code" }, element("summary", {}, "As code"), element("div", {}, area, copy));
  code.addEventListener("toggle", () => (area.value = engine.code()));
  if (editable) bar.append(code);

  // ---- what is shown

  view.speak = () => { // the last thing said, unless Python was not told, which is worse
    said.textContent = engine.untold || engine.problem || engine.said;
    said.classList.toggle("problem", Boolean(engine.untold || engine.problem || engine.error));
  };
  view.update = () => {
    for (const panel of Object.values(panels)) panel.update();
    for (const panel of Object.values(panels)) panel.complain(engine.error?.name === panel.panel.name ? engine.error : null);
    for (const control of controls) control.update();
    undo.disabled = !engine.past.length;
    redo.disabled = !engine.future.length;
    random.textContent = engine.seed ? `Random ${engine.seed}` : "Random"; // the number is the seed
    if (code.open) area.value = engine.code();
    task.update();
    view.speak();
    steps.update();
    strip.update();
    const shown = Object.values(panels).map(({ node, size }) => `${node.hidden} ${node.hidden ? "" : size()}`).join();
    if (shown !== fitted) (fitted = shown), root.isConnected && fit();
    if (view.asked) mark(false);
  };

  // ---- keys: what the board uses is its own, all others belong to JupyterLab or the slides

  root.addEventListener("keydown", (event) => {
    const letter = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase();
    if (letter !== "z" && letter !== "y" || event.target.matches("textarea") || event.defaultPrevented) return;
    used(event);
    letter === "y" || event.shiftKey ? engine.redo() : engine.undo();
  });
  const guard = (event) => { // before JupyterLab sees it: a plain letter would be a command to the notebook
    if (!root.contains(event.target)) return;
    const combined = event.ctrlKey || event.metaKey, undoes = combined && "zy".includes(event.key.toLowerCase());
    const lines = event.key === "Enter" && event.shiftKey && !event.target.matches("input");
    const onwards = event.key === " " && event.target.matches("td"); // to the next slide
    const passes = (combined && !undoes) || lines || onwards || /^(F\d+|Escape|Page.*)$/.test(event.key);
    event.target.toggleAttribute("data-lm-suppress-shortcuts", !passes);
  };
  window.addEventListener("keydown", guard, true);

  el.append(root);
  engine.views.add(view.update);
  view.update();
  fit();
  return () => {
    engine.views.delete(view.update);
    window.removeEventListener("keydown", guard, true);
    steps.stop();
  };
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

function taskOf(view) {
  const { engine } = view, { task } = engine;
  const mark = element("b"), words = element("span"), node = element("div", { class: "task", role: "status" });
  if (!task) return { node, update() { node.hidden = true; } };
  const reasons = element("select", { "aria-label": task.why }, element("option", { value: "" }, "choose …"), ...task.answers.map((a, i) => element("option", { value: i }, a)));
  reasons.addEventListener("change", () => reasons.value !== "" && engine.reason(Number(reasons.value)));
  const asked = element("label", { class: "reason" }, task.why, reasons);
  node.append(element("p", {}, mark, words), ...(task.why ? [asked] : []));
  words.textContent = task.text;
  return {
    node,
    update() {
      node.classList.toggle("done", engine.done);
      mark.textContent = engine.done ? "✓ Done. " : engine.reached ? "✓ Now say why. " : "Task. ";
      reasons.disabled = !engine.reached;
      reasons.value = engine.answer === null ? "" : String(engine.answer);
    },
  };
}

// On a phone, always in view: the number being edited with its stepper, and the weights and last results.
function stripOf(view) {
  const { engine } = view;
  const minusButton = element("button", { type: "button", "aria-label": "one less" }, "−"), plusButton = element("button", { type: "button", "aria-label": "one more" }, "+");
  const edited = element("span", { class: "edited" }, "Tap a number to change it."), mini = element("div", { class: "mini" });
  const stepper = element("div", { class: "stepper" }, minusButton, edited, plusButton);
  const steps = engine.panels.some((panel) => panel.editable && !panel.toggle);
  const step = (by) => {
    const [name, i, j] = view.stepped ?? [];
    if (name) engine.edit(name, [[i, j, String(+(engine.now.inputs[name][i][j] + by).toFixed(6))]], `stepper ${name} ${i} ${j}`);
  };
  minusButton.addEventListener("click", () => step(-1));
  plusButton.addEventListener("click", () => step(1));
  const node = element("div", { class: "strip" }, stepper, mini);
  return {
    node,
    update() {
      if (!view.root.classList.contains("narrow")) return;
      const [name, i, j] = view.asked ?? [];
      if (name && engine.panel[name].editable && !engine.panel[name].toggle) view.stepped = [name, i, j];
      stepper.hidden = !steps; // there from the start, so that nothing jumps when a number is tapped
      minusButton.disabled = plusButton.disabled = !view.stepped;
      if (view.stepped) edited.textContent = `${engine.label(...view.stepped)}: ${minus(exact(engine.now.inputs[view.stepped[0]][view.stepped[1]][view.stepped[2]]))}`;
      const shown = engine.steps.filter((s) => view.shows(s) && engine.values[s.name].length && engine.values[s.name].length < 9 && engine.values[s.name][0].length < 9);
      const kept = new Set([shown.find((s) => s.kind === "weights"), shown.at(-1)].filter(Boolean));
      mini.replaceChildren(...[...kept].map((s) => element("div", { class: s.kind }, element("b", {}, s.title), ...engine.values[s.name].map((row) => element("div", {}, row.map(written).join("  "))))));
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
