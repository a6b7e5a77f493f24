// On a phone, always in view: the number being edited with its stepper, and the weights and last results; of a film
// the step that is played.

import { button, element } from "./elements.js";
import { exact, minus, written } from "./numbers.js";

const ROWS = 6; // fewer of a matrix that is shown whole
const COLUMNS = 9;

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

  function update() {
    if (root.classList.contains("narrow")) mini.replaceChildren(...resultsOf(view).map(small));
  }
  view.step = () => {
    const isNumber = Boolean(view.asked && isSteppable(view.asked));
    if (isNumber) stepped = view.asked;
    const isAsking = view.asked && !isNumber;
    root.classList.toggle("stepping", Boolean(stepped && !view.played && !isAsking && !engine.error));
    if (stepped) edited.textContent = `${engine.label(...stepped)}: ${minus(exact(value()))}`;
    update();
  };
  return { stepper: element("div", { class: "stepper" }, down, edited, up), mini, update };
}

// The first weights and where the flow ends, if they are small; of large weights one row.
function resultsOf(view) {
  const { engine } = view;
  const whole = ({ kind, title, name }) => ({ kind, title, matrix: engine.values[name] });
  if (view.played) return [isSmall(engine.values[view.played.name]) ? whole(view.played) : oneRow(view, view.played)];
  const shown = engine.steps.filter((step) => view.shows(step));
  const smallOnes = shown.filter(({ name }) => isSmall(engine.values[name]));
  const isWeights = ({ kind }) => kind === "weights";
  if (smallOnes.length) {
    const last = [...smallOnes].sort(inFlow).at(-1);
    return [...new Set([smallOnes.find(isWeights), last])].filter(Boolean).map(whole);
  }
  const weights = shown.find((step) => isWeights(step) && engine.values[step.name][0].length < COLUMNS);
  return weights ? [oneRow(view, weights)] : [];
}

// Of many rows the one that is looked at, else the last.
function oneRow({ engine, asked }, { kind, title, name, rows }) {
  const matrix = engine.values[name];
  const i = asked?.[0] === name ? asked[1] : matrix.length - 1;
  return { kind, title: `${title}, ${rows[i] ?? `row ${i + 1}`}`, matrix: [matrix[i]] };
}

function small({ kind, title, matrix }) {
  const lines = matrix.map((row) => element("div", {}, Array.from(row, written).join("  ")));
  const attributes = { class: `tone ${kind}`, style: `--columns: ${matrix[0].length}` };
  return element("div", attributes, element("b", {}, title), ...lines);
}
