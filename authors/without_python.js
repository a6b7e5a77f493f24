// What Python does for a board, done in the page: for web pages and slides, where there is no kernel.
// It follows board.py and explorers.py; tests hold both to the same answers.

const LARGEST = 1e6;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

// ----------------------------------------------------------------------------------------------- matrices: lists of rows

const map = (matrix, f) => matrix.map((row, i) => row.map((x, j) => f(x, i, j)));
const transposed = (matrix) => matrix[0].map((_, j) => matrix.map((row) => row[j]));
const dot = (a, b) => a.reduce((sum, x, k) => sum + x * b[k], 0);
const product = (a, b) => a.map((row) => transposed(b).map((column) => dot(row, column)));
const filled = (rows, columns, f) => Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, (_, j) => f(i, j)));
const sum = (row) => row.reduce((total, x) => total + x, 0);

function softmax(scores) {
  return scores.map((row) => {
    const largest = Math.max(...row);
    const powers = row.map((x) => Math.exp(x - largest)); // nothing but −∞ in a row: nan, as in PyTorch
    return powers.map((x) => x / sum(powers));
  });
}

function maskedSoftmax(scores, allowed) {
  const weights = softmax(map(scores, (x, i, j) => (allowed[i][j] ? x : -Infinity)));
  return map(weights, (x, i) => (allowed[i].some(Boolean) ? x : 0));
}

// ------------------------------------------------------------------------- one entry for each board, named by its title

const EXPLORERS = {
  "Self-attention by hand": {
    compute({ X, W_q, W_k, W_v }, { arithmetic, query }, panels) {
      const [queries, keys, values] = [W_q, W_k, W_v].map((w) => product(X, w));
      const scores = product(queries, transposed(keys));
      const scale = arithmetic.startsWith("scaled") ? 1 / Math.sqrt(keys[0].length) : 1;
      const scaled = map(scores, (x) => x * scale);
      const weights = softmax(scaled);
      const used = arithmetic.startsWith("rounded") ? map(weights, (x) => Math.round(x * 10) / 10) : weights;
      const chosen = used[panels.find((p) => p.name === "X").rows.indexOf(query)];
      const weighted_values = map(values, (x, key) => chosen[key] * x);
      return { queries, keys, values, scores, scaled, weights, used, weighted_values, outputs: product(used, values) };
    },
    done({ inputs, results, start }) {
      const changed = (name) => sum(map(inputs[name], (x, i, j) => Number(x !== start[name][i][j])).map(sum));
      return results.weights[0][2] > 0.6 && ["X", "W_q", "W_k", "W_v"].map(changed).join() === "0,0,1,0";
    },
  },

  "Scores, scale and temperature": {
    compute({ match }, { scaling, d_k, temperature }) {
      const scores = map(match, (x) => x * Math.sqrt(d_k));
      const scaled = map(scores, (x) => x / (scaling === "on" ? Math.sqrt(d_k) : 1) / temperature);
      const weights = softmax(scaled);
      const numbers = `Entropy ${entropy(weights[0]).toFixed(2)} of at most ${Math.log(8).toFixed(2)}.  `
        + `Largest weight ${Math.max(...weights[0]).toFixed(3)}.`;
      return { scores, scaled, weights, numbers };
    },
    done: ({ settings, results }) => settings.scaling === "off" && settings.d_k === 256 && entropy(results.weights[0]) > 1.5,
  },

  "Paint a mask": {
    compute({ scores, mask }, { preset, fill }) {
      const open = map(mask, (x, i, j) => x !== 0 && (!preset.includes("padding") || j < 3) && (!preset.includes("causal") || j <= i));
      const before = fill.startsWith("−") ? (fill.includes("∞") ? -Infinity : -1e9) : null;
      const filledIn = map(scores, (x, i, j) => (before === null || open[i][j] ? x : before));
      let weights = softmax(filledIn);
      if (fill.startsWith("0")) weights = map(weights, (x, i, j) => x * open[i][j]);
      if (fill.startsWith("masked")) weights = maskedSoftmax(scores, open);
      const outputs = product(weights, [[1, 0], [0, 1], [1, 1], [2, 1]]); // times W_v, which is the identity
      const seen = open.map((row) => row.some(Boolean));
      const loss = sum(outputs.filter((_, i) => seen[i]).map((row) => dot(row, row)));
      // a row left out of the loss is multiplied by 0: harmless, unless it is nan
      const gradient = product(transposed(outputs), map(outputs, (x, i) => (seen[i] ? 2 * x : 0)));
      return {
        allowed: map(open, Number), filled: filledIn, weights, row_sums: weights.map((row) => [sum(row)]), gradient,
        loss: `The loss looks at rows with an open door only: ${Number.isNaN(loss) ? "nan" : loss.toFixed(3)}.`,
      };
    },
    done: ({ results }) => results.weights.flat().some(Number.isNaN),
  },

  "Heads": {
    compute(inputs, { head, query }, panels, saved) {
      const heads = Object.fromEntries(panels.filter((p) => p.compact).map((p) => [p.name, saved[p.name]]));
      const { columns } = panels.find((p) => p.name === "enlarged");
      const row = heads[head][Number(query.split(":")[0])];
      const order = row.map((_, j) => j).sort((a, b) => row[b] - row[a]).slice(0, 3);
      const read = order.map((j) => `${columns[j]} (key ${j}) ${row[j].toFixed(2)}`).join(", ");
      return { ...heads, enlarged: heads[head], read: `${head}, query ${query}: ${read}` };
    },
    done({ settings, results }) {
      const largest = (row) => Math.max(...row);
      const rows = Object.entries(results).filter(([name]) => name.startsWith("head ")).flatMap(([, matrix]) => matrix);
      return largest(results.enlarged[Number(settings.query.split(":")[0])]) - Math.min(...rows.map(largest)) < 1e-4;
    },
  },

  "From features to heads": {
    compute(inputs, { tokens, heads, head_dim }) {
      const width = heads * head_dim;
      const x = filled(tokens, width, (i, j) => 10 * i + j), belongs = filled(tokens, width, (_, j) => Math.floor(j / head_dim));
      const right = (matrix, h) => matrix.map((row) => row.slice(h * head_dim, (h + 1) * head_dim));
      const wrong = (matrix, h) => filled(tokens, head_dim, (i, j) => matrix.flat()[h * tokens * head_dim + i * head_dim + j]);
      const made = { x, "x:head": belongs, cut: x, "cut:head": belongs };
      for (const [name, cut] of [["right", right], ["wrong", wrong]]) {
        for (const h of [0, 1, 2]) {
          made[`${name} ${h}`] = h < heads ? cut(x, h) : [];
          made[`${name} ${h}:head`] = h < heads ? cut(belongs, h) : [];
        }
      }
      return { ...made, verdict: `view alone gives ${sameInHeads(made) ? "the same" : "something else"}.` };
    },
    done: ({ settings, results }) => settings.heads > 1 && sameInHeads(results),
  },
};

const entropy = (weights) => sum(weights.map((x) => (x > 0 ? -x * Math.log(x) : 0)));
const sameInHeads = (made) => [0, 1, 2].every((h) => String(made[`right ${h}`]) === String(made[`wrong ${h}`]));

// ------------------------------------------------------------------------------------- what board.py does with a message

const tidy = (x) => Number(x.toPrecision(6)); // what is shown is rounded; what is computed with is not
const forJson = (x) => (Number.isNaN(x) ? "nan" : x === Infinity ? "inf" : x === -Infinity ? "-inf" : tidy(x));
const fromJson = (x) => (typeof x === "number" ? x : { nan: NaN, inf: Infinity, "-inf": -Infinity }[x]);

function read(text) {
  text = String(text).trim().replaceAll("−", "-");
  if (!text) return [null, "The cell was empty."];
  if (/^[+-]?\d+,\d+$/.test(text)) return [null, `${text} has a comma: write ${text.replace(",", ".")}.`];
  if (!NUMBER.test(text)) return [null, `“${text.slice(0, 20)}” is not a number.`];
  if (Math.abs(Number(text)) > LARGEST) return [null, `${text.slice(0, 20)} is too large: at most a million.`];
  return [Number(text), ""];
}

// Numbers from −3 to 3, or switches, that depend on the seed alone (mulberry32).
function draws(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

// A model as board.js expects one: `traits` are what Python last said, and from here on this page answers.
function modelWithoutPython(traits) {
  const { panels, controls, state: saved } = traits;
  const { compute, done } = EXPLORERS[traits.title];
  const editable = panels.filter((p) => p.editable);
  const savedValues = Object.fromEntries(Object.entries(saved.values).map(([name, matrix]) => [name, map(matrix, fromJson)]));
  const start = {
    inputs: Object.fromEntries(editable.map((p) => [p.name, savedValues[p.name]])),
    settings: { ...saved.settings },
  };
  let now = start, past = [], future = [], gesture = null, seed = 0, errors = [], results = {}, listeners = [];
  let state = saved;

  const remember = (by) => {
    if (by === undefined || by === null || by !== gesture) { // one drag, or one held key, is undone at once
      past.push(now);
      future = [];
    }
    gesture = by ?? null;
  };
  const travel = (from, to, moved, stuck) => {
    gesture = null;
    if (!from.length) return stuck;
    to.push(now);
    now = from.pop();
    return moved;
  };
  const refuse = (panel, row, column, text) => ((errors = [{ panel, row, column, text }]), text);

  const answers = {
    edit({ panel, cells, gesture: by }) {
      const matrix = now.inputs[panel].map((row) => [...row]);
      for (const [row, column, text] of cells) {
        if (matrix[row]?.[column] === undefined) {
          const [top, left] = cells[0];
          const size = `${cells.at(-1)[0] - top + 1} × ${Math.max(...cells.map((c) => c[1])) - left + 1}`;
          const fits = `${matrix.length - top} × ${matrix[0].length - left}`;
          return refuse(panel, top, left, `A block of ${size} does not fit here, where ${fits} cells are left.`);
        }
        const [value, complaint] = read(text);
        if (complaint) return refuse(panel, row, column, `${complaint} ${tidy(now.inputs[panel][row][column])} stays.`);
        matrix[row][column] = value;
      }
      if (String(matrix) === String(now.inputs[panel])) return "";
      remember(by);
      now = { ...now, inputs: { ...now.inputs, [panel]: matrix } };
      if (cells.length > 1) return `${cells.length} cells of ${panel} changed.`;
      const [row, column] = cells[0];
      return `${panel} row ${row + 1} column ${column + 1} is now ${tidy(matrix[row][column])}.`;
    },
    set({ control, value, gesture: by }) {
      const { title, values } = controls.find((c) => c.name === control);
      if (!values.includes(value)) return `${title} cannot be ${value}.`;
      remember(by);
      now = { ...now, settings: { ...now.settings, [control]: value } };
      return `${title} is now ${value}.`;
    },
    undo: () => travel(past, future, "Undone.", "There is nothing to undo."),
    redo: () => travel(future, past, "Done again.", "There is nothing to do again."),
    reset() {
      remember();
      now = start;
      return "Back to the example.";
    },
    random() {
      remember();
      const draw = draws(++seed);
      const drawn = (p) => map(now.inputs[p.name], () => (p.toggle ? Number(draw() < 0.6) : Math.floor(draw() * 7) - 3));
      now = { ...now, inputs: Object.fromEntries(editable.map((p) => [p.name, drawn(p)])) };
      return `Random numbers, seed ${seed}.`;
    },
  };

  function asCode() {
    const lines = Object.entries(now.inputs).map(([name, matrix]) => {
      const rows = matrix.map((row) => `[${row.map(tidy).join(", ")}]`).join(",\n    ");
      return `${name} = torch.tensor([\n    ${rows},\n])`;
    });
    return ["import torch", "", ...lines].join("\n");
  }

  function handle(message) {
    errors = [];
    const said = answers[message.type](message);
    const made = compute(now.inputs, now.settings, panels, savedValues);
    results = Object.fromEntries(Object.entries(made).filter(([, value]) => typeof value !== "string"));
    const values = Object.fromEntries(Object.entries({ ...now.inputs, ...results }).map(([name, m]) => [name, map(m, forJson)]));
    state = {
      values, settings: now.settings, errors, said, seed, problem: "", answered: message.id ?? state.answered,
      text: Object.fromEntries(Object.entries(made).filter(([, value]) => typeof value === "string")),
      can_undo: past.length > 0, can_redo: future.length > 0, task: saved.task,
      done: Boolean(done({ inputs: now.inputs, settings: now.settings, results, start: start.inputs })), code: asCode(),
    };
    for (const listener of listeners) listener();
  }

  return {
    get: (name) => (name === "state" ? state : traits[name]),
    on: (_, listener) => listeners.push(listener),
    off: (_, listener) => (listeners = listeners.filter((other) => other !== listener)),
    send: (message) => queueMicrotask(() => handle(message)), // an answer comes later, as from Python
    handle,
    results: () => results,
  };
}

// Bring the boards of a page to life: each stands as its saved tables, with its traits in a script beside them.
function wake(page = document) {
  for (const place of page.querySelectorAll(".saved-board")) {
    const traits = JSON.parse(place.querySelector("script").textContent);
    const holder = document.createElement("div");
    place.board = modelWithoutPython(traits);
    place.replaceChildren(holder);
    render({ model: place.board, el: holder });
  }
}
