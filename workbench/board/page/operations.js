// The vocabulary of boards, under the names of operations.py. An operation has
//   does(matrices, options) → matrix;
//   because(leaves, options, i, j, matrices) → the arithmetic of one entry, a tree whose leaves are the cells it came
//     from: sources, highlighting and what is read out all follow from it;
//   says(names, options) → one sentence for the whole step, where the steps are played.

const tree = (op) => (...parts) => ({ op, parts });
const plus = (parts) => ({ op: "+", parts }), times = tree("·"), over = tree("/"), less = tree("−"), power = tree("e^");
const most = (parts) => ({ op: "max", parts }), log = tree("ln"), number = (value) => ({ value });
const told = (text, part, ...also) => ({ op: "told", text, parts: [part], also }); // words before a number; also: other sources

// The number of a tree, its leaves rounded to so many digits, or exact.
function evaluate(node, digits = null) {
  if (!node.op) return digits === null || !Number.isFinite(node.value) ? node.value : Number(node.value.toFixed(digits));
  const parts = node.parts.map((part) => evaluate(part, digits));
  if (node.op === "+") return sum(parts);
  if (node.op === "·") return parts.reduce((x, y) => x * y);
  if (node.op === "/") return parts[0] / parts[1];
  if (node.op === "−") return parts.length === 1 ? -parts[0] : parts[0] - parts[1];
  if (node.op === "e^") return Math.exp(parts[0]);
  if (node.op === "ln") return Math.log(parts[0]);
  if (node.op === "max") return Math.max(...parts);
  return node.round === undefined ? parts[0] : halfEven(parts[0] * 10 ** node.round) / 10 ** node.round;
}

// The cells that a tree holds, each [name, row, column].
const sources = (node) => [...(node.at ? [node.at] : []), ...(node.parts ?? []).flatMap(sources), ...(node.also ?? []).map((leaf) => leaf.at)];

const like = (a, f) => a.map((row, i) => Array.from(row, (x, j) => f(x, i, j)));
const flip = (a) => (a.length ? Array.from(a[0], (_, j) => a.map((row) => row[j])) : []);
const dot = (a, b) => { let total = 0; for (let k = 0; k < a.length; k++) total += a[k] * b[k]; return total; };
const softmaxOf = (row) => {
  const top = Math.max(...row); // nothing but −∞: nan, as in PyTorch
  const powers = Array.from(row, (x) => Math.exp(x - top)), whole = sum(powers);
  return powers.map((x) => x / whole);
};
const halfEven = (x) => { const r = Math.round(x); return Math.abs(x % 1) === 0.5 && r % 2 ? r - 1 : r; };
const across = (leaf, matrix) => (i, j) => leaf(matrix.length === 1 ? 0 : i, matrix[0].length === 1 ? 0 : j);
const entrywise = (f, node, says) => ({
  does([a, b]) {
    const rows = Math.max(a.length, b.length), columns = Math.max(a[0]?.length ?? 0, b[0]?.length ?? 0);
    const at = (m, i, j) => m[m.length === 1 ? 0 : i][m[0].length === 1 ? 0 : j];
    return grid(a.length && b.length ? rows : 0, columns, (i, j) => f(at(a, i, j), at(b, i, j)));
  },
  because: ([a, b], _, i, j, [ma, mb]) => node(across(a, ma)(i, j), across(b, mb)(i, j)),
  says: ([a, b]) => says(a, b),
});
const copied = (does, origin, says) => ({ // entries that only move
  does, says,
  because: (leaves, options, i, j, matrices) => { const [which, r, c] = origin(options, i, j, matrices); return leaves[which](r, c); },
});
const rowTree = (leaf, matrix, i) => range(matrix[0].length).map((j) => leaf(i, j));
const turnOf = ({ angle, start, every }, i) => [Math.cos, Math.sin].map((wave) => Number(wave((((every ? i % every : i) + start) * angle * Math.PI) / 180).toFixed(15))); // a right angle is exact
const [TOP_LEFT, NO_MASK, TILED, TOO_SHORT] = [1, 2, 4, 5]; // faults of a cache, as in operations.py
const firstKept = (end, { window, fault }) => Math.max(0, end - window + 1 + Number(fault === TOO_SHORT));
const isKept = (i, o) => i >= firstKept(o.read, o) && i < o.read;
const storedFor = ({ heads, stored, fault }, h) => (fault === TILED ? h % stored : Math.floor((h * stored) / heads));
const headScores = (q, k, m, o, h, i) => { // of one query of one head: key → score, where the mask is open
  const width = q[0].length / o.heads, part = (row, which) => Array.from(row).slice(which * width, (which + 1) * width);
  return k.flatMap((row, j) => (m[i][j] !== 0 ? [[j, dot(part(q[i], h), part(row, storedFor(o, h))) / Math.sqrt(width)]] : []));
};
const shares = (scores) => softmaxOf(scores.map(([, score]) => score));
const everyLeaf = (leaves, matrices) => leaves.flatMap((leaf, k) => matrices[k].flatMap((row, r) => Array.from(row, (_, c) => leaf(r, c))));

const OPERATIONS = {
  product: {
    does([a, b], { transpose }) {
      const left = transpose === "a" ? flip(a) : a, right = transpose === "b" ? b : flip(b);
      return left.map((row) => right.map((column) => dot(row, column)));
    },
    because: ([a, b], { transpose }, i, j, [ma]) => plus(range(transpose === "a" ? ma.length : ma[0].length).map((k) =>
      times(transpose === "a" ? a(k, i) : a(i, k), transpose === "b" ? b(j, k) : b(k, j)))),
    says: ([a, b], { transpose }) => `${a} times ${b}: each ${transpose === "a" ? "column" : "row"} of ${a} meets each ${transpose === "b" ? "row" : "column"} of ${b}; multiply entry by entry and add up.`,
  },
  scale: {
    does: ([a], { by, powers }) => like(a, (x) => x * by * powers),
    because: ([a], { by, powers }, i, j) => times(a(i, j), number(by * powers)),
    says: ([a], { by, powers }) => `Every entry of ${a} times ${trimmed(by * powers, 4)}.`,
  },
  add: entrywise((x, y) => x + y, (x, y) => plus([x, y]), (a, b) => `${a} plus ${b}, entry by entry.`),
  subtract: entrywise((x, y) => x - y, less, (a, b) => `${a} minus ${b}, entry by entry.`),
  multiply: entrywise((x, y) => x * y, times, (a, b) => `${a} times ${b}, entry by entry.`),
  divide: entrywise((x, y) => x / y, over, (a, b) => `${a} divided by ${b}, entry by entry.`),
  exp: {
    does: ([a]) => like(a, Math.exp), because: ([a], _, i, j) => power(a(i, j)),
    says: ([a]) => `e to the power of each entry of ${a}.`,
  },
  outer: {
    does: ([a, b]) => a.flat().map((x) => b.flat().map((y) => x * y)),
    because: ([a, b], _, i, j, [ma, mb]) => times(a(...Object.values(placeOf(ma, i))), b(...Object.values(placeOf(mb, j)))),
    says: ([a, b]) => `Every entry of ${a} times every entry of ${b}.`,
  },
  weigh: {
    does: ([w, v]) => like(v, (x, i) => w[0][i] * x), because: ([w, v], _, i, j) => times(w(0, i), v(i, j)),
    says: ([w, v]) => `Each row of ${v} times its entry of ${w}.`,
  },
  total: {
    does: ([a], { over }) => (over === "row" ? a.map((row) => [sum(Array.from(row))]) : [flip(a).map(sum)]),
    because: ([a], { over }, i, j, [ma]) => plus(over === "row" ? rowTree(a, ma, i) : range(ma.length).map((k) => a(k, j))),
    says: ([a], { over }) => `The sum of each ${over} of ${a}.`,
  },
  largest: {
    does: ([a]) => a.map((row) => [Math.max(...row)]), because: ([a], _, i, j, [ma]) => most(rowTree(a, ma, i)),
    says: ([a]) => `The largest entry of each row of ${a}.`,
  },
  running_maximum: {
    does: ([a]) => a.map((row) => { let top = -Infinity; return row.map((x) => (top = Math.max(top, x))); }),
    because: ([a], _, i, j) => most(range(j + 1).map((k) => a(i, k))),
    says: ([a]) => `The largest entry of each row of ${a} so far, from left to right.`,
  },
  rounded: {
    does: ([a], { digits }) => like(a, (x) => halfEven(x * 10 ** digits) / 10 ** digits),
    because: ([a], { digits }, i, j) => ({ ...told("rounded:", a(i, j)), round: digits }),
    says: ([a], { digits }) => `${a}, rounded to ${digits} digit${digits === 1 ? "" : "s"}.`,
  },
  preset: {
    does: (_, { which, queries, keys, length }) => grid(queries, keys, (i, j) =>
      Number((which % 2 === 0 || j < length) && (which < 2 || j <= i + keys - queries))),
    because: (_, { which }, i, j, m, value) => told(value ? "open" : "closed", number(value)),
    says: () => "A mask that is made, not computed.",
  },
  both: {
    does: ([a, b]) => like(a, (x, i, j) => Number(x !== 0 && b[i][j] !== 0)),
    because: ([a, b], _, i, j) => times(a(i, j), b(i, j)), says: ([a, b]) => `Open where ${a} and ${b} are both open.`,
  },
  any_open: {
    does: ([m]) => m.map((row) => [Number(row.some((x) => x !== 0))]), because: ([m], _, i, j, [mm]) => most(rowTree(m, mm, i)),
    says: ([m]) => `Whether a row of ${m} has anything open.`,
  },
  fill: {
    does: ([a, m], { value }) => entrywise((x, open) => (open !== 0 ? x : value), null, null).does([a, m]),
    because: ([a, m], { value }, i, j, [ma, mm]) => {
      const open = across(m, mm)(i, j);
      return open.value !== 0 ? told("may attend, it stays:", a(i, j), open) : told("may not attend:", number(value), open);
    },
    says: ([a, m], { value }) => `${a} where ${m} is open, elsewhere ${written(value)}.`,
  },
  softmax: {
    does: ([a], { over }) => (over === "row" ? a.map(softmaxOf) : flip(flip(a).map(softmaxOf))),
    because: ([a], { over: along }, i, j, [ma]) => over(power(a(i, j)), plus((along === "row" ? rowTree(a, ma, i) : range(ma.length).map((k) => a(k, j))).map((leaf) => power(leaf)))),
    says: ([a], { over }) => `Softmax of each ${over} of ${a}: e to the power of each entry, divided by their sum; shares that sum to 1.`,
  },
  masked: {
    does: ([a, m]) => a.map((row, i) => (m[i].some((x) => x !== 0) ? softmaxOf(row.map((x, j) => (m[i][j] !== 0 ? x : -Infinity))) : row.map(() => 0))),
    because([a, m], _, i, j, [ma, mm]) {
      const open = range(ma[0].length).filter((k) => mm[i][k] !== 0), also = rowTree(m, mm, i);
      if (!open.length) return told("nothing to attend to, so", number(0), ...also);
      if (!open.includes(j)) return told("may not attend, so", number(0), ...also);
      return told("", over(power(a(i, j)), plus(open.map((k) => power(a(i, k))))), ...also);
    },
    says: ([a, m]) => `Softmax over the keys that ${m} leaves open; a row with none gets zeros.`,
  },
  entropy: {
    does: ([a]) => a.map((row) => [sum(Array.from(row, (x) => (x === 0 ? 0 : x < 0 ? -Infinity : -x * Math.log(x))))]),
    because([a], _, i, j, [ma]) {
      const parts = rowTree(a, ma, i), [some, none] = [true, false].map((is) => parts.filter(({ value }) => value > 1e-12 === is));
      return told("", less(plus(some.map((leaf) => times(leaf, log(leaf))))), ...none);
    },
    says: ([a]) => `How spread each row of ${a} is.`,
  },
  cross_entropy: {
    does: ([y, w]) => y.map((row, i) => [-sum(row.map((x, j) => (x === 0 ? 0 : x * Math.log(w[i][j]))))]),
    because([y, w], _, i, j, [my, mw]) {
      const pairs = range(my[0].length).map((k) => [y(i, k), w(i, k)]), [some, none] = [true, false].map((is) => pairs.filter(([x]) => x.value !== 0 === is));
      const also = none.flat();
      if (!some.length) return told("nothing is wished for, so", number(0), ...also);
      return told("", less(plus(some.map(([x, weight]) => times(x, log(weight))))), ...also);
    },
    says: ([y, w]) => `How far each row of ${w} is from ${y}: wished shares times the logarithm of the weights, added up, with the sign turned.`,
  },
  learned: {
    does([wq, wk, x, wish], { steps, rate, keys_too: too, which }) {
      const { does: by } = OPERATIONS.product, rows = wish.map((row) => sum(Array.from(row)));
      const step = (w, pulls, much) => like(w, (number, i, j) => Math.fround(number - much * dot(x.map((row) => row[i]), pulls.map((row) => row[j]))));
      for (let k = 0; k < steps; k++) {
        const queries = by([x, wq], {}), keys = by([x, wk], {});
        const scores = by([queries, keys], { transpose: "b" }).map(softmaxOf).map((row, i) => row.map((w, j) => w * rows[i] - wish[i][j]));
        [wq, wk] = [step(wq, by([scores, keys], {}), rate), step(wk, by([scores, queries], { transpose: "a" }), rate * too)];
      }
      return which ? wk : wq;
    },
    because(leaves, { steps, which }, i, j, matrices, value) {
      const also = everyLeaf(leaves, matrices);
      const start = leaves[which](i, j);
      if (!steps) return told("no step yet:", start);
      return told(`at the start, less ${steps === 1 ? "one step" : `${steps} steps`}:`, less(start, number(start.value - value)), ...also);
    },
    says: (names, { steps, rate, which }) => `${names[which]} after ${steps} step${steps === 1 ? "" : "s"} at a learning rate of ${trimmed(rate, 4)}: each time, the weights are computed anew, and the gradient times the rate is taken away.`,
  },
  choose: copied((matrices, { chosen }) => matrices[chosen], ({ chosen }, i, j) => [chosen, i, j], (names, { chosen }) => `${names[chosen]}, as chosen.`),
  row: copied(([a], { chosen }) => [Array.from(a[chosen])], ({ chosen }, i, j) => [0, chosen, j], ([a]) => `One row of ${a}.`),
  film: {
    does: ([frames], { chosen }) => frames[chosen], because: (_, options, i, j, m, value) => told("", number(value)),
  },
  cut: copied(([a], { at, part }) => a.map((row) => (part ? row.slice(at) : row.slice(0, at))), ({ at, part }, i, j) => [0, i, j + (part ? at : 0)], ([a]) => `A part of the features of ${a}.`),
  columns: copied(([a], { first, step }) => a.map((row) => row.filter((_, j) => j >= first && (j - first) % step === 0)), ({ first, step }, i, j) => [0, i, first + j * step], ([a], { step }) => `One of every ${step} columns of ${a}.`),
  head: copied(([a], { heads, which }) => {
    const width = a[0].length / heads;
    return which < heads ? a.map((row) => row.slice(which * width, (which + 1) * width)) : [];
  }, ({ heads, which }, i, j, [a]) => [0, i, j + (which * a[0].length) / heads], ([a], { which }) => `Head ${which}: its share of the features of ${a}, of every token.`),
  view_alone: copied(([a], { heads, which }) => {
    const width = a[0].length / heads, all = a.flat();
    return which < heads ? grid(a.length, width, (i, j) => all[(which * a.length + i) * width + j]) : [];
  }, ({ heads, which }, i, j, [a]) => {
    const at = (which * a.length + i) * (a[0].length / heads) + j;
    return [0, Math.floor(at / a[0].length), at % a[0].length];
  }, ([a], { which }) => `Head ${which} by view alone: the numbers of ${a} in their order.`),
  transposed: copied(([a]) => flip(a), (_, i, j) => [0, j, i], ([a]) => `Rows of ${a} become columns.`),
  stack: copied(([a, b]) => [...a, ...b], (_, i, j, [a]) => (i < a.length ? [0, i, j] : [1, i - a.length, j]), ([a, b]) => `The tokens of ${a}, then those of ${b}.`),
  beside: copied(([a, b]) => a.map((row, i) => [...row, ...b[i]]), (_, i, j, [a]) => (j < a[0].length ? [0, i, j] : [1, i, j - a[0].length]), ([a, b]) => `The features of ${a}, then those of ${b}.`),
  numbered: {
    does: (_, { tokens, features }) => grid(tokens, features, (i, j) => 10 * i + j),
    because: (_, o, i, j) => told("", plus([times(number(10), number(i)), number(j)])), says: () => "Each entry is 10 · token + feature.",
  },
  rotate: {
    does: ([a], o) => a.map((row, i) => {
      const [cos, sin] = turnOf(o, i);
      return row.map((x, j) => (j % 2 ? row[j - 1] * sin + x * cos : x * cos - row[j + 1] * sin));
    }),
    because([a], o, i, j) {
      const [cos, sin] = turnOf(o, i).map(number);
      return j % 2 ? plus([times(a(i, j - 1), sin), times(a(i, j), cos)]) : less(times(a(i, j), cos), times(a(i, j + 1), sin));
    },
    says: ([a]) => `Each pair of features of ${a}, turned by its position.`,
  },
  remembered: {
    does: (_, o) => grid(o.tokens, o.tokens, (i, j) => {
      const begin = Math.floor(i / o.chunk) * o.chunk, end = Math.min(begin + o.chunk, o.read), first = firstKept(begin, o);
      if (i >= o.read || j < first || j >= end) return 0;
      const distance = o.fault === TOP_LEFT ? i - begin - (j - first) : i - j;
      return Number((o.fault === NO_MASK && begin > 0) || (distance >= 0 && distance < o.window));
    }),
    because: (_, o, i, j, m, value) => told(value ? "heard" : "not heard", number(value)),
    says: (_, { chunk, window }) => `Who hears whom: chunks of ${chunk}, and a window of ${window}.`,
  },
  kept: {
    does: ([a], o) => a.map((row, i) => (isKept(i, o) ? row : row.map(() => NaN))),
    because: ([a], o, i, j) => (isKept(i, o) ? a(i, j) : told("not kept:", number(NaN))),
    says: ([a]) => `The rows of ${a} that are kept.`,
  },
  shared_outputs: {
    does: ([q, k, v, m], o) => {
      const width = v[0].length / o.stored;
      return q.map((_, i) => range(o.heads).flatMap((h) => {
        const scores = headScores(q, k, m, o, h, i), weights = shares(scores);
        return range(width).map((c) => dot(weights, scores.map(([j]) => v[j][storedFor(o, h) * width + c])));
      }));
    },
    because(leaves, o, i, j, [q, k, v, m]) {
      const width = v[0].length / o.stored, h = Math.floor(j / width), scores = headScores(q, k, m, o, h, i), weights = shares(scores);
      const also = everyLeaf(leaves, [q, k, [], m]);
      if (!scores.length) return told("nobody is heard, so", number(0), ...also);
      return told("", plus(scores.map(([key], n) => times(number(weights[n]), leaves[2](key, storedFor(o, h) * width + (j % width))))), ...also);
    },
    says: ([, , v]) => `Of each head: weights times its rows of ${v}, added up.`,
  },
  shared_weights: {
    does: ([q, k, m], o) => range(o.heads).map((h) => {
      const scores = headScores(q, k, m, o, h, o.of), weights = shares(scores), row = k.map(() => (o.of < o.read ? 0 : NaN));
      scores.forEach(([key], n) => (row[key] += weights[n]));
      return row;
    }),
    because(leaves, o, h, j, [q, k, m]) {
      const scores = headScores(q, k, m, o, h, o.of), mine = scores.find(([key]) => key === j), also = everyLeaf(leaves, [q, k, m]);
      if (!mine) return told("not heard, so", number(0), ...also);
      return told("", over(power(number(mine[1])), plus(scores.map(([, score]) => power(number(score))))), ...also);
    },
    says: ([q, k]) => `Weights of one token in each head: its part of ${q} against the stored part of ${k} that the head shares.`,
  },
  apart: {
    does: ([a, b], { read }) => a.map((row, i) => [i < read ? Math.max(...Array.from(row, (x, j) => Math.abs(x - b[i][j]))) : NaN]),
    because([a, b], _, i, j, [ma, mb], value) {
      const at = range(ma[0].length).find((c) => Math.abs(ma[i][c] - mb[i][c]) === value) ?? 0, pair = [a(i, at), b(i, at)];
      return told("at its largest:", less(...(pair[0].value < pair[1].value ? pair.reverse() : pair)), ...rowTree(a, ma, i), ...rowTree(b, mb, i));
    },
    says: ([a, b]) => `The largest difference between ${a} and ${b} in each row.`,
  },
  amount: {
    does: ([a, b]) => [[[a, b].flat(2).filter(Number.isFinite).length]],
    because: (_, o, i, j, [a, b]) => plus([a, b].map((m) => number(m.flat().filter(Number.isFinite).length))),
    says: ([a, b]) => `How many numbers ${a} and ${b} hold.`,
  },
  arrows: { does: () => [] },
  arcs: { does: () => [] },
  python: { does: (_, __, made) => made, because: (_, o, i, j, m, value) => told("Python says", number(value)), says: () => "This step is done by Python." },
};
const placeOf = (matrix, k) => ({ i: Math.floor(k / matrix[0].length), j: k % matrix[0].length });

// What a task asks for, as CONDITIONS of board.py: (values, numbers of the controls, start) → whether it holds.
const CONDITIONS = {
  above: (v, n, s, name, i, j, least) => v[name][i][j] > least,
  below: (v, n, s, name, i, j, most) => v[name][i][j] < most,
  changed: (v, n, s, counts) => Object.entries(s).every(([name, m]) => sum(m.flat().map((x, k) => Number(x !== v[name].flat()[k]))) === (counts[name] ?? 0)),
  set: (v, n, s, control, wanted) => n[control] === wanted,
  at_least: (v, n, s, control, least) => n[control] >= least,
  has_nan: (v, n, s, name) => v[name].some((row) => row.some(Number.isNaN)),
  equal: (v, n, s, a, b, within = 1e-9) => v[a].length === v[b].length && v[a].every((row, i) => row.length === v[b][i].length && row.every((x, j) => Math.abs(x - v[b][i][j]) < within)),
  differ: (v, n, s, a, b, least) => v[a].some((row, i) => row.some((x, j) => Math.abs(x - v[b][i][j]) > least)),
  most_even(v, n, s, film, frame, row) {
    const top = (numbers) => numbers.reduce((a, b) => Math.max(a, b), -Infinity);
    let least = Infinity;
    for (const head of v[film]) for (const weights of head) least = Math.min(least, top(weights));
    return top(v[film][n[frame]][n[row]]) - least < 1e-4;
  },
};
