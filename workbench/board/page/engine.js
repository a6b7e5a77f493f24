// The state of a board of matrices, once for all its views: editing and computing.

import { sources } from "./arithmetic.js";
import { CONDITIONS } from "./conditions.js";
import { Journal } from "./journal.js";
import { exact, fromJson, LARGEST, minus, randomMatrix, range, readCell, readRows, sameNumber } from "./numbers.js";
import { OPERATIONS } from "./operations.js";

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
 * @property {boolean | string} sparse whether its cells that are nan stay empty; "rows": where a whole row is
 * @property {string[]} tiles the controls after whose number of rows and of columns a line is drawn
 * @property {boolean} blinks whether a cell lights up as its number changes
 * @property {string} zero the word that stands for 0
 * @property {boolean} pin whether a hand may write over its numbers; they are then among the inputs of the state, under
 *   its name, null where a number stays as it is computed
 * @property {boolean} strip of a step: whether a phone keeps it in sight while a number is changed
 *
 * @typedef {{ name: string, title: string, values: any[], numbers: any[], slider: boolean, ends: any[] }} Control ends: of
 *   a slider another control, and for each of that one's values the last that this one can still reach
 * @typedef {[name: string, row: number, column: number]} Place
 */

const LARGEST_TRACED = 1024; // numbers of a matrix whose cells are searched for one that they hold
const NOT_IN_JSON = { inf: Infinity, "-inf": -Infinity, nan: NaN };

const asName = (name) => name.replace(/\W+/g, "_"); // in Python
const byName = (records) => Object.fromEntries(records.map((record) => [record.name, record]));
const writtenOver = (matrix, pins) => matrix.map((row, i) => row.map((x, j) => pins[i][j] ?? x));
const shapeOf = (matrix) => String(matrix?.map((row) => row.length));

export class Engine extends Journal {
  constructor(model) {
    super(model);
    const { panels, controls, figure } = model.get("spec");
    Object.assign(this, { panels, controls, figure });
    this.panel = byName(panels);
    this.control = byName(controls);
    this.steps = panels.filter((panel) => panel.does);
    const given = panels.filter((panel) => !panel.does && !panel.editable);
    this.fixed = Object.fromEntries(given.map((panel) => [panel.name, this.given(panel)]));
    this.seed = 0;
    this.begin();
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
      const computed = OPERATIONS[step.does].does(matrices, step.resolved);
      values[step.name] = inputs[step.name] ? writtenOver(computed, inputs[step.name]) : computed;
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
    const isComputed = !this.steps.some(({ name }) => this.state.inputs[name]); // nothing is written over
    this.holds = Boolean(holds && isComputed);
    if (this.holds && !this.proof) this.proof = structuredClone(this.state);
  }

  // ---- where a number came from, and where it goes

  arithmetic(name, i, j) {
    const step = this.panel[name];
    if (!step.does || !OPERATIONS[step.does].because || this.isPinned(name, i, j)) return null;
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
    const cells = [];
    for (const step of this.steps) {
      if (size(step) > LARGEST_TRACED || !holds(step)) continue;
      const came = (r, c) => sources(this.arithmetic(step.name, r, c) ?? {});
      const more = this.cellsOf([step], (_, _x, r, c) => came(r, c).some((at) => held.has(at.join("/"))));
      for (const cell of more) held.add(cell.join("/"));
      cells.push(...more);
    }
    return cells;
  }

  cellsOf(steps, test) {
    const cells = (step, row, r) => Array.from(row, (x, c) => test(step, x, r, c) && [step.name, r, c]);
    return steps.flatMap((step) => this.values[step.name].flatMap((row, r) => cells(step, row, r))).filter(Boolean);
  }

  // ---- changing

  /** Whether a hand wrote this number over the one that is computed. */
  isPinned(name, i, j) {
    return Boolean(this.panel[name].does) && typeof this.state.inputs[name]?.[i]?.[j] === "number";
  }

  /** What a hand changes in this panel: an input, or a result that may be written over. */
  held(name) {
    return this.panel[name].does ? this.values[name] : this.state.inputs[name];
  }

  withPins(name, cells) {
    // the inputs with these numbers over the result: [row, column, number], null lets go
    const pins = this.values[name].map((row, i) => row.map((_, j) => this.state.inputs[name]?.[i]?.[j] ?? null));
    for (const [row, column, number] of cells) pins[row][column] = number;
    const { [name]: _, ...others } = this.state.inputs;
    return pins.flat().every((x) => x === null) ? others : { ...others, [name]: pins };
  }

  /** The numbers of a panel that are a hand's, as [row, column, number]. */
  pinnedIn(name) {
    const rows = this.panel[name].does ? (this.state.inputs[name] ?? []) : [];
    return rows.flatMap((row, i) => row.map((x, j) => [i, j, x])).filter(([, , x]) => x !== null);
  }

  letGo(name) {
    const held = this.values[name].flatMap((row, i) => row.map((_, j) => [i, j, null]));
    this.remember();
    this.moved({ ...this.state, inputs: this.withPins(name, held) }, `${this.title(name)}: as they are computed.`);
  }

  refuse(name, row, column, complaint) {
    this.moved(null, complaint, { name, row, column, complaint });
  }

  edit(name, cells, gesture) {
    // cells: [row, column, text]; all or none
    const held = this.held(name);
    const isResult = Boolean(this.panel[name].does);
    const matrix = held.map((row) => [...row]);
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
        const old = minus(exact(held[row][column]));
        return this.refuse(name, row, column, `${complaint} ${old} stays.`);
      }
      matrix[row][column] = value;
    }
    const isYours = !isResult || cells.every(([row, column]) => this.isPinned(name, row, column));
    if (isYours && String(matrix) === String(held)) return this.moved(null, "");
    this.remember(gesture);
    const pins = cells.map(([row, column]) => [row, column, matrix[row][column]]);
    const inputs = isResult ? this.withPins(name, pins) : { ...this.state.inputs, [name]: matrix };
    this.moved({ ...this.state, inputs }, this.sentenceOn(name, cells, matrix[top][left]));
  }

  sentenceOn(name, cells, value) {
    const mark = value ? "allowed ✓" : "blocked ✕";
    const { toggle } = this.panel[name];
    if (cells.length > 1) return `${cells.length} cells of ${name} ${toggle ? `are now ${mark}` : "changed"}.`;
    const [row, column] = cells[0];
    return `${this.label(name, row, column)} is now ${toggle ? mark : minus(exact(value))}.`;
  }

  paste(name, row, column, text) {
    // a block of numbers; of what *As code* copies each matrix by its name
    const assigned = [...text.matchAll(/(\w+) = (torch\.tensor\([^)]*\))/g)];
    const inputNamed = (wanted) => Object.keys(this.start.inputs).find((name) => asName(name) === wanted);
    const named = assigned.map(([, given, code]) => [inputNamed(given), readRows(code)]);
    if (named.length && named.every(([known, matrix]) => known && this.fits(known, matrix))) {
      this.remember();
      const inputs = { ...this.state.inputs, ...Object.fromEntries(named), ...this.pinsIn(text) };
      return this.moved({ ...this.state, inputs }, `${named.map(([known]) => known).join(", ")} pasted.`);
    }
    const rows = readRows(text) ?? [[text]];
    this.edit(
      name,
      rows.flatMap((line, r) => line.map((x, c) => [row + r, column + c, String(x)])),
    );
  }

  pinsIn(text) {
    // of what *As code* copies, the numbers written over results
    const pins = {};
    for (const [, given, row, column, number] of text.matchAll(/^(\w+)\[(\d+), (\d+)\] = (\S+)/gm)) {
      const step = this.steps.find(({ name, pin }) => pin && asName(name) === given);
      const matrix = step && this.values[step.name];
      if (matrix?.[row]?.[column] === undefined) continue;
      pins[step.name] ??= matrix.map((line) => line.map(() => null));
      pins[step.name][row][column] = Number(number);
    }
    return pins;
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

  random() {
    this.remember();
    this.seed += 1;
    const drawn = Object.keys(this.start.inputs).map((name, place) => {
      const { shape, draw, toggle } = this.panel[name];
      return [name, randomMatrix(...shape, this.seed, place, toggle ? [0, 1, 1] : draw)];
    });
    this.moved({ ...this.state, inputs: Object.fromEntries(drawn) }, `Random numbers, seed ${this.seed}.`);
  }

  code() {
    const { inputs } = this.state;
    const lines = Object.keys(this.start.inputs).map((name) => {
      const matrix = inputs[name];
      const rows = matrix.map((row) => `[${row.map(exact).join(", ")}]`).join(",\n    ");
      return `${asName(name)} = torch.tensor([\n    ${rows},\n], dtype=torch.float64)`;
    });
    const pinned = this.steps.flatMap(({ name }) => this.pinnedIn(name).map(([i, j, x]) => [name, i, j, x]));
    const pins = pinned.map(([name, i, j, x]) => `${asName(name)}[${i}, ${j}] = ${exact(x)}`);
    const over = pins.length ? ["", "# written over what is computed", ...pins] : [];
    return ["import torch", "", ...lines, ...over].join("\n");
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
}
