// A board's state, once for all its views: editing, undo, computing, and telling Python.

import { sources } from "./arithmetic.js";
import { CONDITIONS } from "./conditions.js";
import { exact, fromJson, LARGEST, minus, randomMatrix, range, readCell, readNumbers, sameNumber } from "./numbers.js";
import { OPERATIONS } from "./operations.js";
import "../lessons/n07_learning.js"; // what only one lesson computes
import "../lessons/n10_cache_operations.js";

/**
 * The records that Python sends, as board.py makes them, and what stands on a board.
 * @typedef {import("./numbers.js").Matrix} Matrix
 * @typedef {Object} Panel an input, or a step if it has an operation
 * @property {string} name
 * @property {string} title
 * @property {string} kind whose colour it has
 * @property {string[]} rows words beside its rows, and so on
 * @property {string[]} columns
 * @property {string[]} parts words above what stands between gaps
 * @property {number | string} gap after how many columns, or the control that says so
 * @property {number[]} at column, row and number of rows in the drawing
 * @property {string} does the operation; empty of an input
 * @property {string} role of a step: computed, choice, stored or picture
 * @property {string[]} of what the operation takes
 * @property {Object} options as they are written, with names of controls
 * @property {Object} resolved the options' numbers as things stand
 * @property {any[]} when the control and the values for which it is shown
 * @property {boolean} hidden
 * @property {boolean} editable
 * @property {boolean} toggle
 * @property {boolean} sparse whether its cells that are nan stay empty
 *
 * @typedef {{ name: string, title: string, values: any[], numbers: any[], slider: boolean }} Control
 * @typedef {{ inputs: Record<string, Matrix>, settings: Record<string, any> }} State
 * @typedef {[name: string, row: number, column: number]} Place
 */

const PATIENCE = 4000; // ms after which Python is said not to have been told
const KEPT = 20; // steps of undo that a page without Python keeps
const LARGEST_TRACED = 1024; // numbers of a matrix whose cells are searched for one that they hold
const NOT_TOLD = "Python has not been told: it is busy, or it was restarted.";
const UNTOLD = `${NOT_TOLD} Run the cell of this board again to go on with it.`;
const NOT_IN_JSON = { inf: Infinity, "-inf": -Infinity, nan: NaN };

const asName = (name) => name.replace(/\W+/g, "_"); // in Python
const byName = (records) => Object.fromEntries(records.map((record) => [record.name, record]));
const shapeOf = (matrix) => String(matrix?.map((row) => row.length));

export class Engine {
  constructor(model) {
    this.model = model;
    const { heading, panels, controls, task, tries, start, colours, large } = model.get("spec");
    Object.assign(this, { heading, panels, controls, task, tries, start, colours, large });
    this.panel = byName(panels);
    this.control = byName(controls);
    this.steps = panels.filter((panel) => panel.does);
    const given = panels.filter((panel) => !panel.does && !panel.editable);
    this.fixed = Object.fromEntries(given.map((panel) => [panel.name, this.given(panel)]));
    this.past = [];
    this.future = [];
    this.views = new Set();
    this.seed = 0;
    this.said = ""; // the last thing told of a change
    this.error = null; // what was refused, and where
    this.untold = ""; // why Python does not know
    this.problem = ""; // why it cannot be computed
    this.gesture = null;
    this.proof = null; // the state in which the task was seen done
    this.answer = null;
    this.adopt(model.get("state"));
    model.on("change:state", () => this.overtake());
    model.on("change:reply", () => this.answered());
  }

  given(panel) {
    // a constant matrix, or a film's frames as rows of its bytes
    if (panel.shape.length === 2) return panel.values.map((row) => row.map(fromJson));
    const view = this.model.get("frames")[panel.name];
    const [frames, rows, columns] = panel.shape;
    const Kind = panel.single ? Float32Array : Float64Array;
    const size = frames * rows * columns * Kind.BYTES_PER_ELEMENT;
    const bytes = new Uint8Array(view.buffer ?? view, view.byteOffset ?? 0, size);
    const all = new Kind(bytes.slice().buffer);
    const row = (place) => all.subarray(place * columns, (place + 1) * columns);
    return range(frames).map((frame) => range(rows).map((i) => row(frame * rows + i)));
  }

  adopt(told) {
    // what Python, or another page before this one, says
    const known = told?.inputs && told?.settings ? told : { ...this.start, revision: 0 };
    this.revision = known.revision;
    this.answer = known.answer ?? null;
    this.proof = known.proof ?? this.proof;
    this.past = known.past ?? this.past;
    this.state = { inputs: known.inputs, settings: known.settings };
    this.compute();
  }

  overtake() {
    // another page or Python has changed something, unless it is one's own words coming back
    const told = this.model.get("state");
    if (told?.revision === this.revision) return;
    this.remember();
    this.adopt(told);
    this.show();
  }

  // ---- computing

  number(control) {
    const { values, numbers } = this.control[control];
    return numbers[values.indexOf(this.state.settings[control])];
  }

  resolve(option, numbers) {
    // as resolved in operations.py
    if (Array.isArray(option)) return option.reduce((product, part) => product * this.resolve(part, numbers), 1);
    if (option && typeof option === "object") {
      return Object.entries(option).reduce((product, [name, power]) => product * numbers[name] ** power, 1);
    }
    return typeof option === "string" ? (numbers[option] ?? NOT_IN_JSON[option] ?? option) : option;
  }

  valuesOf(inputs) {
    const numbers = Object.fromEntries(this.controls.map(({ name }) => [name, this.number(name)]));
    const values = { ...this.fixed, ...inputs };
    for (const step of this.steps) {
      const options = Object.entries(step.options).map(([name, option]) => [name, this.resolve(option, numbers)]);
      step.resolved = Object.fromEntries(options);
      const matrices = step.of.map((name) => values[name]);
      values[step.name] = OPERATIONS[step.does].does(matrices, step.resolved);
    }
    return [values, numbers];
  }

  compute() {
    this.problem = "";
    try {
      [this.values, this.numbers] = this.valuesOf(this.state.inputs);
    } catch (error) {
      this.problem = `This cannot be computed (${error.message}). The results are those from before.`;
      return;
    }
    const there = { values: this.values, numbers: this.numbers, start: this.start.inputs };
    const holds = this.task?.conditions.every(([kind, ...rest]) => CONDITIONS[kind](there, ...rest));
    if (holds && !this.proof) this.proof = structuredClone(this.state);
  }

  get reached() {
    return Boolean(this.proof);
  }

  get done() {
    return this.reached && (!this.task.why || this.answer === this.task.right);
  }

  // ---- where a number came from, and where it goes

  arithmetic(name, i, j) {
    const step = this.panel[name];
    if (!step.does || !OPERATIONS[step.does].because) return null;
    const matrices = step.of.map((of) => this.values[of]);
    const leaves = step.of.map((of, k) => (r, c) => ({ at: [of, r, c], value: matrices[k][r][c] }));
    return OPERATIONS[step.does].because(leaves, step.resolved, i, j, matrices, this.values[name][i][j]);
  }

  /** The cells that a change of this input would move, tried out; of another panel, those that hold it. */
  moves(name, i, j) {
    return this.panel[name].editable ? this.movedByChange(name, i, j) : this.holders(name, i, j);
  }

  movedByChange(name, i, j) {
    const matrix = this.state.inputs[name].map((row) => [...row]);
    matrix[i][j] = this.panel[name].toggle ? 1 - matrix[i][j] : matrix[i][j] + 1;
    const [after] = this.valuesOf({ ...this.state.inputs, [name]: matrix });
    return this.cellsOf(this.steps, (step, x, r, c) => !sameNumber(x, after[step.name][r]?.[c]));
  }

  holders(name, i, j) {
    const held = new Set([[name, i, j].join("/")]);
    const holds = ({ of }) => of.some((source) => [...held].some((key) => key.startsWith(`${source}/`)));
    const size = ({ name }) => this.values[name].length * (this.values[name][0]?.length ?? 0);
    const found = [];
    for (const step of this.steps) {
      if (size(step) > LARGEST_TRACED || !holds(step)) continue;
      const came = (r, c) => sources(this.arithmetic(step.name, r, c) ?? {});
      const cells = this.cellsOf([step], (_, _x, r, c) => came(r, c).some((at) => held.has(at.join("/"))));
      for (const cell of cells) held.add(cell.join("/"));
      found.push(...cells);
    }
    return found;
  }

  cellsOf(steps, test) {
    const cells = (step, row, r) => Array.from(row, (x, c) => test(step, x, r, c) && [step.name, r, c]);
    return steps.flatMap((step) => this.values[step.name].flatMap((row, r) => cells(step, row, r))).filter(Boolean);
  }

  // ---- changing: one gesture is one step of undo

  remember(gesture = null) {
    if (gesture === null || gesture !== this.gesture) {
      this.past.push(this.state);
      this.future = [];
    }
    this.gesture = gesture;
  }

  moved(state, said, error = null) {
    if (state) {
      this.state = state;
      this.compute();
      this.tell();
    }
    this.said = said;
    this.error = error;
    this.show();
  }

  refuse(name, row, column, complaint) {
    this.moved(null, complaint, { name, row, column, complaint });
  }

  edit(name, cells, gesture) {
    // cells: [row, column, text]; all or none
    const matrix = this.state.inputs[name].map((row) => [...row]);
    const [top, left] = cells[0];
    for (const [row, column, text] of cells) {
      if (matrix[row]?.[column] === undefined) {
        const size = `${cells.at(-1)[0] - top + 1} × ${Math.max(...cells.map((cell) => cell[1])) - left + 1}`;
        const room = `${matrix.length - top} × ${matrix[0].length - left}`;
        const complaint = `A block of ${size} does not fit here, where ${room} cells are left.`;
        return this.refuse(name, top, left, complaint);
      }
      const [value, complaint] = readCell(text);
      if (complaint) {
        const old = minus(exact(this.state.inputs[name][row][column]));
        return this.refuse(name, row, column, `${complaint} ${old} stays.`);
      }
      matrix[row][column] = value;
    }
    if (String(matrix) === String(this.state.inputs[name])) return this.moved(null, "");
    this.remember(gesture);
    const inputs = { ...this.state.inputs, [name]: matrix };
    this.moved({ ...this.state, inputs }, this.saidOf(name, cells, matrix[top][left]));
  }

  saidOf(name, cells, value) {
    if (cells.length > 1) return `${cells.length} cells of ${name} changed.`;
    const mark = value ? "allowed ✓" : "blocked ✕";
    const [row, column] = cells[0];
    return `${this.label(name, row, column)} is now ${this.panel[name].toggle ? mark : minus(exact(value))}.`;
  }

  paste(name, row, column, text, found) {
    // a block of numbers; of what *As code* copies each matrix by its name
    const assigned = [...text.matchAll(/(\w+) = (torch\.tensor\([^)]*\))/g)];
    const inputNamed = (given) => Object.keys(this.state.inputs).find((known) => asName(known) === given);
    const named = assigned.map(([, given, code]) => [inputNamed(given), readNumbers(code)]);
    if (named.length && named.every(([known, matrix]) => known && this.fits(known, matrix))) {
      this.remember();
      const inputs = { ...this.state.inputs, ...Object.fromEntries(named) };
      return this.moved({ ...this.state, inputs }, `${named.map(([known]) => known).join(", ")} pasted.`);
    }
    const rows = found?.every(Array.isArray) ? found : [found ?? [text]];
    this.edit(
      name,
      rows.flatMap((line, r) => line.map((x, c) => [row + r, column + c, String(x)])),
    );
  }

  fits(name, matrix) {
    const { toggle } = this.panel[name];
    const may = (x) => (toggle ? x === 0 || x === 1 : Math.abs(x) <= LARGEST);
    return shapeOf(matrix) === shapeOf(this.state.inputs[name]) && matrix.flat().every(may);
  }

  put(name, row, column, number, gesture) {
    this.edit(name, [[row, column, String(+number.toFixed(6))]], gesture);
  }

  set(control, value, gesture) {
    if (value === this.state.settings[control]) return;
    this.remember(gesture);
    const settings = { ...this.state.settings, [control]: value };
    this.moved({ ...this.state, settings }, `${this.control[control].title} is now ${value}.`);
  }

  travel(from, to, moved, stuck) {
    this.gesture = null;
    if (!from.length) return this.moved(null, stuck);
    to.push(this.state);
    this.moved(from.pop(), moved);
  }

  undo() {
    this.travel(this.past, this.future, "Undone.", "There is nothing to undo.");
  }

  redo() {
    this.travel(this.future, this.past, "Redone.", "There is nothing to redo.");
  }

  reset() {
    this.remember();
    this.proof = null;
    this.answer = null;
    this.moved(this.start, "Back to the example.");
  }

  prepare({ inputs, settings }, said) {
    // as a phrase has it
    this.remember();
    const { start } = this;
    this.moved({ inputs: { ...start.inputs, ...inputs }, settings: { ...start.settings, ...settings } }, said);
  }

  random() {
    this.remember();
    this.seed += 1;
    const drawn = Object.keys(this.start.inputs).map((name, place) => {
      const { shape, draw, toggle } = this.panel[name];
      return [name, randomMatrix(...shape, this.seed, place, toggle ? [0, 1, 1] : draw)];
    });
    this.moved({ ...this.state, inputs: Object.fromEntries(drawn) }, `Random numbers, seed ${this.seed}.`);
  }

  reason(answer) {
    this.answer = answer;
    this.tell();
    this.said = this.done ? "Right." : "That is not the reason. Look again at what moved.";
    this.show();
  }

  code() {
    const lines = Object.entries(this.state.inputs).map(([name, matrix]) => {
      const rows = matrix.map((row) => `[${row.map(exact).join(", ")}]`).join(",\n    ");
      return `${asName(name)} = torch.tensor([\n    ${rows},\n], dtype=torch.float64)`;
    });
    return ["import torch", "", ...lines].join("\n");
  }

  // ---- words

  shows({ when, hidden }) {
    return !hidden && (!when?.length || when.slice(1).includes(this.state.settings[when[0]]));
  }

  title(name) {
    // of a hidden choice, that of what was chosen
    const { title, hidden, role, of, resolved } = this.panel[name];
    return hidden && role === "choice" && title === name ? this.title(of[resolved.chosen]) : title;
  }

  gap({ gap }) {
    return typeof gap === "string" ? this.numbers[gap] : gap;
  }

  part(panel, j) {
    // which of the parts between gaps a column belongs to; the last of named ones has all that is left
    const gap = this.gap(panel);
    const at = gap ? Math.floor(j / gap) : 0;
    return panel.parts.length ? Math.min(at, panel.parts.length - 1) : at;
  }

  place(panel, i, j) {
    const { rows, columns, parts } = panel;
    if (rows.length && parts.length) return `${rows[i] ?? i}, ${parts[this.part(panel, j)]}, column ${j + 1}`;
    if (rows.length && columns.length) return `${rows[i] ?? i} → ${columns[j] ?? j}`;
    if (rows.length) return `${rows[i] ?? i}, column ${j + 1}`;
    return columns.length ? `${columns[j] ?? j}` : `row ${i + 1} column ${j + 1}`;
  }

  label(name, i, j) {
    return `${this.title(name)} ${this.place(this.panel[name], i, j)}`;
  }

  // ---- Python: it is told after the page has been painted, and answers with the same revision. A page without it is
  // told at once, with what it keeps for whoever comes back: it may be left in the next moment.

  show() {
    for (const view of this.views) view();
  }

  told() {
    return { revision: this.revision, ...this.state, proof: this.proof, answer: this.answer };
  }

  tell() {
    this.revision += 1;
    clearTimeout(this.sending);
    if (this.model.alone) return this.send({ past: this.past.slice(-KEPT) });
    this.sending = setTimeout(() => {
      try {
        this.send({ fresh: !this.proof });
        this.clock ??= setTimeout(() => this.missed(), PATIENCE);
      } catch {
        this.missed();
      }
    });
  }

  send(more) {
    this.model.set("state", { ...this.told(), ...more });
    this.model.save_changes();
  }

  missed() {
    this.untold = UNTOLD;
    this.clock = null;
    this.show();
  }

  answered() {
    const { revision, problem } = this.model.get("reply");
    if (revision !== this.revision) return;
    clearTimeout(this.clock);
    this.clock = null;
    this.untold = problem;
    this.show();
  }
}
