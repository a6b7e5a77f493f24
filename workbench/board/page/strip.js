// On a phone, always in view: the number being edited with its stepper, and of the weights and last results, or those
// that the board names, what is out of sight; of a film the step that is played.

import { button, element } from "./elements.js";
import { exact, minus, sum, written } from "./numbers.js";

const ROWS = 6; // fewer of a matrix that is shown whole
const COLUMNS = 9;
const LINES = 5; // of results and their names
const HEIGHT = 150; // px that the strip may take of what is seen

const isNumbers = ({ editable, toggle }) => editable && !toggle;
const isSmall = (matrix) => matrix.length > 0 && matrix.length < ROWS && matrix[0].length < COLUMNS;
const inFlow = (one, other) => one.at[0] - other.at[0] || one.at[1] - other.at[1];

export function stripOf(view) {
  const { engine, root } = view;
  let stepped = null; // the number that the buttons change: the last input that was tapped
  const value = () => engine.held(stepped[0])[stepped[1]][stepped[2]];
  const isSteppable = (at) => isNumbers(engine.panel[at[0]]) || engine.isPinned(...at);
  const step = (by) => () => engine.put(...stepped, value() + by, `stepper ${stepped}`);
  const edited = element("span", { class: "edited" });
  const down = button("−", step(-1), undefined, "one less");
  const up = button("+", step(1), undefined, "one more");
  const mini = element("div", { class: "mini" });
  const seen = seenPanels(view, update);
  let shown = ""; // what the strip says

  function update() {
    if (!root.classList.contains("narrow")) return;
    seen.watch();
    const isChoosing = Boolean(document.activeElement?.closest(".choices") && root.contains(document.activeElement));
    const isOfUse = view.played || isChoosing || root.classList.contains("stepping");
    const results = isOfUse ? resultsOf(view).filter(({ name }) => !seen.has(name)) : [];
    const now = results.map(({ title, matrix }) => `${title}\n${matrix.map(lineOf).join("\n")}`).join("\n");
    if (now !== shown) mini.replaceChildren(...results.map(small));
    shown = now;
  }
  view.step = () => {
    const isNumber = Boolean(view.asked && isSteppable(view.asked));
    if (isNumber) stepped = view.asked;
    const isAsking = view.asked && !isNumber;
    const isStepping = Boolean(stepped && !view.played && !isAsking && !engine.error);
    root.classList.toggle("stepping", isStepping);
    root.classList.toggle("asking", Boolean(isAsking && !view.played && !view.why.hidden));
    if (stepped) edited.textContent = `${engine.label(...stepped)}: ${minus(exact(value()))}`;
    update();
  };
  const stepper = element("div", { class: "stepper" }, down, edited, up);
  return { stepper, mini, update, stop: seen.stop };
}

// Which panels are in sight above the strip; watched from the first time it is asked.
function seenPanels({ panels }, changed) {
  const names = new Set();
  let watcher = null;
  function look(entries) {
    for (const { target, intersectionRatio } of entries) {
      if (intersectionRatio > 0.9) names.add(target.dataset.name);
      else names.delete(target.dataset.name);
    }
    changed();
  }
  return {
    has: (name) => names.has(name),
    watch() {
      if (watcher) return;
      watcher = new IntersectionObserver(look, { rootMargin: `0px 0px -${HEIGHT}px`, threshold: [0, 0.9, 1] });
      for (const { node } of Object.values(panels)) watcher.observe(node);
    },
    stop: () => watcher?.disconnect(),
  };
}

// The first weights and where the flow ends, if they are small; of large weights one row.
function resultsOf(view) {
  const { engine } = view;
  const whole = ({ name, ...panel }) => ({ ...panel, name, matrix: engine.values[name] });
  if (view.played) return [isSmall(engine.values[view.played.name]) ? whole(view.played) : oneRow(view, view.played)];
  const shown = engine.steps.filter((step) => view.shows(step));
  const named = shown.filter(({ strip }) => strip);
  if (named.length) return named.map(whole);
  const smallOnes = shown.filter(({ name }) => isSmall(engine.values[name]));
  const isWeights = ({ kind }) => kind === "weights";
  if (smallOnes.length) {
    const last = [...smallOnes].sort(inFlow).at(-1);
    const both = [...new Set([smallOnes.find(isWeights), last])].filter(Boolean).map(whole);
    return hasRoom(both.map(({ matrix }) => matrix)) ? both : both.slice(0, 1);
  }
  const weights = shown.find((step) => isWeights(step) && engine.values[step.name][0].length < COLUMNS);
  return weights ? [oneRow(view, weights)] : [];
}

// Whether there is room for all of them, side by side or one under the other.
function hasRoom(matrices) {
  if (sum(matrices.map((matrix) => matrix[0].length)) < COLUMNS - 1) return true;
  return sum(matrices.map((matrix) => matrix.length + 1)) <= LINES;
}

// Of many rows the one that is looked at, else the last.
function oneRow({ engine, asked }, { kind, title, name, rows }) {
  const matrix = engine.values[name];
  const i = asked?.[0] === name ? asked[1] : matrix.length - 1;
  return { kind, name, title: `${title}, ${rows[i] ?? `row ${i + 1}`}`, matrix: [matrix[i]], rows: [], columns: [] };
}

const lineOf = (row) => Array.from(row, written).join("  ");

// Its rows with their names; of a single row that the board names, the columns have theirs.
function small({ kind, title, matrix, rows, columns, strip }) {
  const named = (name, text) => (name === undefined ? [text] : [element("i", {}, name), ` ${text}`]);
  const cells = (row) => Array.from(row, (x, j) => [j ? "   " : "", ...named(columns[j], written(x))]).flat();
  const isOneRow = strip && matrix.length === 1 && columns.length;
  const lines = matrix.map((row, i) =>
    element("div", {}, ...(isOneRow ? cells(row) : named(rows.length ? (rows[i] ?? i) : undefined, lineOf(row)))),
  );
  const attributes = { class: `tone ${kind}`, style: `--columns: ${matrix[0].length}` };
  return element("div", attributes, element("b", {}, title), ...lines);
}
