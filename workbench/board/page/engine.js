// A board's state, once for all its views: editing, undo, computing, and telling Python.

const PATIENCE = 4000; // ms after which Python is said not to have been told
const KEPT = 20; // steps of undo that a page without Python keeps
const UNTOLD = "Python has not been told: it is busy, or it was restarted. Run the cell of this board again to go on with it.";

const asName = (name) => name.replace(/\W+/g, "_"); // in Python

class Engine {
  constructor(model) {
    this.model = model;
    Object.assign(this, model.get("spec"));
    this.panel = Object.fromEntries(this.panels.map((panel) => [panel.name, panel]));
    this.control = Object.fromEntries(this.controls.map((control) => [control.name, control]));
    this.steps = this.panels.filter((panel) => panel.does);
    this.fixed = Object.fromEntries(this.panels.filter((p) => !p.does && !p.editable).map((p) => [p.name, this.given(p)]));
    this.past = []; this.future = []; this.views = new Set();
    this.seed = 0; this.said = ""; this.error = null; this.untold = ""; this.problem = ""; this.gesture = null; this.proof = null; this.answer = null;
    this.adopt(model.get("now"));
    model.on("change:now", () => model.get("now")?.revision !== this.revision && (this.remember(), this.adopt(model.get("now")), this.show()));
    model.on("change:heard", () => this.answered());
  }

  given(panel) { // a constant matrix, or a film's frames as rows of its bytes
    if (panel.shape.length === 2) return panel.values.map((row) => row.map(fromJson));
    const view = this.model.get("films")[panel.name], [frames, rows, columns] = panel.shape;
    const Kind = panel.single ? Float32Array : Float64Array, size = Kind.BYTES_PER_ELEMENT;
    const bytes = new Uint8Array(view.buffer ?? view, view.byteOffset ?? 0, frames * rows * columns * size);
    const all = new Kind(bytes.slice().buffer);
    return range(frames).map((f) => range(rows).map((i) => all.subarray((f * rows + i) * columns, (f * rows + i + 1) * columns)));
  }

  adopt(now) { // what Python, or another page before this one, says
    const known = now?.inputs && now?.settings ? now : { ...this.start, revision: 0 };
    this.revision = known.revision;
    this.answer = known.answer ?? null;
    this.proof = known.proof ?? this.proof;
    this.past = known.past ?? this.past;
    this.now = { inputs: known.inputs, settings: known.settings };
    this.madeFor = JSON.stringify(this.now);
    this.compute();
  }

  // ---- computing

  number(control) { const { values, numbers } = this.control[control]; return numbers[values.indexOf(this.now.settings[control])]; }

  resolved(option, numbers) {
    if (Array.isArray(option)) return option.reduce((product, part) => product * this.resolved(part, numbers), 1);
    if (option && typeof option === "object") return Object.entries(option).reduce((product, [name, power]) => product * numbers[name] ** power, 1);
    return typeof option === "string" ? (numbers[option] ?? { inf: Infinity, "-inf": -Infinity, nan: NaN }[option] ?? option) : option;
  }

  valuesOf(inputs) {
    const numbers = Object.fromEntries(this.controls.map((control) => [control.name, this.number(control.name)]));
    const values = { ...this.fixed, ...inputs }, made = this.model.get("heard")?.made ?? {};
    for (const step of this.steps) {
      step.now = Object.fromEntries(Object.entries(step.options).map(([name, option]) => [name, this.resolved(option, numbers)]));
      const mine = step.does === "python" ? (made[step.name] ?? []).map((row) => row.map(fromJson)) : step.now;
      values[step.name] = OPERATIONS[step.does].does(step.of.map((name) => values[name]), step.now, mine);
    }
    return [values, numbers];
  }

  compute() {
    this.problem = "";
    try {
      [this.values, this.numbers] = this.valuesOf(this.now.inputs);
    } catch (error) {
      this.problem = `This cannot be computed (${error.message}). The results are those from before.`;
      return;
    }
    const holds = this.task?.conditions.every(([kind, ...rest]) => CONDITIONS[kind](this.values, this.numbers, this.start.inputs, ...rest));
    if (holds && !this.proof) this.proof = structuredClone(this.now);
  }

  stale() { // the steps that only Python could compute for what stands there now, and what follows from them
    const found = new Set(), unheard = (this.model.alone || this.untold) && JSON.stringify(this.now) !== this.madeFor;
    for (const { name, does, of } of unheard ? this.steps : []) if (does === "python" || of.some((n) => found.has(n))) found.add(name);
    return found;
  }

  get reached() { return Boolean(this.proof); }
  get done() { return this.reached && (!this.task.why || this.answer === this.task.right); }

  // ---- where a number came from, and where it goes

  arithmetic(name, i, j) {
    const step = this.panel[name];
    if (!step.does || !OPERATIONS[step.does].because) return null;
    const matrices = step.of.map((of) => this.values[of]);
    const leaves = step.of.map((of, k) => (r, c) => ({ at: [of, r, c], value: matrices[k][r][c] }));
    return OPERATIONS[step.does].because(leaves, step.now, i, j, matrices, this.values[name][i][j]);
  }

  moves(name, i, j) { // the cells that a change of this input would move, tried out; of another panel, those that hold it
    const panel = this.panel[name], found = [];
    if (panel.editable) {
      const inputs = { ...this.now.inputs, [name]: this.now.inputs[name].map((row) => [...row]) };
      inputs[name][i][j] = panel.toggle ? 1 - inputs[name][i][j] : inputs[name][i][j] + 1;
      const [after] = this.valuesOf(inputs);
      for (const step of this.steps) this.values[step.name].forEach((row, r) => row.forEach((x, c) => sameNumber(x, after[step.name][r]?.[c]) || found.push([step.name, r, c])));
      return found;
    }
    const held = new Set([`${name}/${i}/${j}`]);
    for (const step of this.steps) {
      const size = this.values[step.name].length * (this.values[step.name][0]?.length ?? 0);
      if (size > 1024 || !step.of.some((of) => [...held].some((key) => key.startsWith(`${of}/`)))) continue;
      this.values[step.name].forEach((row, r) => row.forEach((_, c) => {
        if (sources(this.arithmetic(step.name, r, c) ?? {}).some((at) => held.has(at.join("/")))) (held.add(`${step.name}/${r}/${c}`), found.push([step.name, r, c]));
      }));
    }
    return found;
  }

  // ---- changing: one gesture is one step of undo

  remember(gesture = null) {
    if (gesture === null || gesture !== this.gesture) (this.past.push(this.now), (this.future = []));
    this.gesture = gesture;
  }

  moved(now, said, error = null) {
    if (now) (this.now = now, this.compute(), this.tell());
    this.said = said; this.error = error;
    this.show();
  }

  edit(name, cells, gesture) { // cells: [row, column, text]; all or none
    const matrix = this.now.inputs[name].map((row) => [...row]);
    for (const [row, column, text] of cells) {
      const [top, left] = cells[0];
      if (matrix[row]?.[column] === undefined) {
        const size = `${cells.at(-1)[0] - top + 1} × ${Math.max(...cells.map((c) => c[1])) - left + 1}`;
        const complaint = `A block of ${size} does not fit here, where ${matrix.length - top} × ${matrix[0].length - left} cells are left.`;
        return this.moved(null, complaint, { name, row: top, column: left, complaint });
      }
      let [value, complaint] = read(text);
      if (complaint) {
        complaint = `${complaint} ${minus(exact(this.now.inputs[name][row][column]))} stays.`;
        return this.moved(null, complaint, { name, row, column, complaint });
      }
      matrix[row][column] = value;
    }
    if (String(matrix) === String(this.now.inputs[name])) return this.moved(null, "");
    this.remember(gesture);
    const [row, column] = cells[0];
    const now = matrix[row][column], reads = this.panel[name].toggle ? (now ? "allowed ✓" : "blocked ✕") : minus(exact(now));
    const said = cells.length > 1 ? `${cells.length} cells of ${name} changed.` : `${this.label(name, row, column)} is now ${reads}.`;
    this.moved({ ...this.now, inputs: { ...this.now.inputs, [name]: matrix } }, said);
  }

  paste(name, row, column, text, found) { // a block of numbers; of what *As code* copies each matrix by its name
    const named = [...text.matchAll(/(\w+) = (torch\.tensor\([^)]*\))/g)].map(([, as, code]) => [Object.keys(this.now.inputs).find((known) => asName(known) === as), readNumbers(code)]);
    const may = ({ toggle }, x) => (toggle ? x === 0 || x === 1 : Math.abs(x) <= LARGEST);
    const fits = ([known, matrix]) => known && String(matrix?.map((line) => line.length)) === String(this.now.inputs[known].map((line) => line.length)) && matrix.flat().every((x) => may(this.panel[known], x));
    if (named.length && named.every(fits)) {
      this.remember();
      return this.moved({ ...this.now, inputs: { ...this.now.inputs, ...Object.fromEntries(named) } }, `${named.map(([known]) => known).join(", ")} pasted.`);
    }
    const rows = found?.every(Array.isArray) ? found : [found ?? [text]];
    this.edit(name, rows.flatMap((line, r) => line.map((x, c) => [row + r, column + c, String(x)])));
  }

  put(name, row, column, number, gesture) { this.edit(name, [[row, column, String(+number.toFixed(6))]], gesture); }

  set(control, value, gesture) {
    if (value === this.now.settings[control]) return;
    this.remember(gesture);
    this.moved({ ...this.now, settings: { ...this.now.settings, [control]: value } }, `${this.control[control].title} is now ${value}.`);
  }

  travel(from, to, moved, stuck) {
    this.gesture = null;
    if (!from.length) return this.moved(null, stuck);
    to.push(this.now);
    this.moved(from.pop(), moved);
  }

  undo() { this.travel(this.past, this.future, "Undone.", "There is nothing to undo."); }
  redo() { this.travel(this.future, this.past, "Redone.", "There is nothing to redo."); }

  reset() {
    this.remember();
    this.proof = this.answer = null;
    this.moved(this.start, "Back to the example.");
  }

  prepare({ inputs, settings }, said) { // as a phrase has it
    this.remember();
    this.moved({ inputs: { ...this.start.inputs, ...inputs }, settings: { ...this.start.settings, ...settings } }, said);
  }

  random() {
    this.remember();
    this.seed += 1;
    const drawn = Object.keys(this.start.inputs).map((name, place) => {
      const { shape, draw, toggle } = this.panel[name];
      return [name, randomMatrix(...shape, this.seed, place, toggle ? [0, 1, 1] : draw)];
    });
    this.moved({ ...this.now, inputs: Object.fromEntries(drawn) }, `Random numbers, seed ${this.seed}.`);
  }

  reason(answer) {
    this.answer = answer;
    this.tell();
    this.said = this.done ? "Right." : "That is not the reason. Look again at what moved.";
    this.show();
  }

  code() {
    const lines = Object.entries(this.now.inputs).map(([name, matrix]) => {
      const rows = matrix.map((row) => `[${row.map(exact).join(", ")}]`).join(",\n    ");
      return `${asName(name)} = torch.tensor([\n    ${rows},\n], dtype=torch.float64)`;
    });
    return ["import torch", "", ...lines].join("\n");
  }

  // ---- words

  shows({ when, hidden }) { return !hidden && (!when?.length || when.slice(1).includes(this.now.settings[when[0]])); }

  title(name) { // of a hidden choice, that of what was chosen
    const { title, hidden, does, of, now } = this.panel[name];
    return hidden && does === "choose" && title === name ? this.title(of[now.chosen]) : title;
  }
  gap({ gap }) { return typeof gap === "string" ? this.numbers[gap] : gap; }
  part(panel, j) { // which of the parts between gaps a column belongs to; the last of named ones has all that is left
    const gap = this.gap(panel), at = gap ? Math.floor(j / gap) : 0;
    return panel.parts.length ? Math.min(at, panel.parts.length - 1) : at;
  }
  place(panel, i, j) {
    const { rows, columns, parts } = panel;
    if (rows.length && parts.length) return `${rows[i] ?? i}, ${parts[this.part(panel, j)]}, column ${j + 1}`;
    if (rows.length && columns.length) return `${rows[i] ?? i} → ${columns[j] ?? j}`;
    if (rows.length) return `${rows[i] ?? i}, column ${j + 1}`;
    return columns.length ? `${columns[j] ?? j}` : `row ${i + 1} column ${j + 1}`;
  }
  label(name, i, j) { return `${this.title(name)} ${this.place(this.panel[name], i, j)}`; }

  // ---- Python: it is told after the page has been painted, and answers with the same revision. A page without it is
  // told at once, with what it keeps for whoever comes back: it may be left in the next moment.

  show() { for (const view of this.views) view(); }

  tell() {
    this.revision += 1;
    clearTimeout(this.sending);
    const told = () => ({ revision: this.revision, ...this.now, proof: this.proof, answer: this.answer });
    if (this.model.alone) {
      this.model.set("now", { ...told(), past: this.past.slice(-KEPT) });
      return this.model.save_changes();
    }
    this.sending = setTimeout(() => {
      try {
        this.model.set("now", { ...told(), fresh: !this.proof });
        this.model.save_changes();
        this.clock ??= setTimeout(() => this.missed(), PATIENCE);
      } catch {
        this.missed();
      }
    });
  }

  missed() { this.untold = UNTOLD; this.clock = null; this.show(); }

  answered() {
    const { revision, problem } = this.model.get("heard");
    if (revision !== this.revision) return;
    clearTimeout(this.clock);
    this.clock = null;
    this.untold = problem;
    if (!problem) this.madeFor = JSON.stringify(this.now);
    if (this.steps.some((step) => step.does === "python")) this.compute();
    this.show();
  }
}
