// The operations of PyTorch that lines use: under its names, with its arguments, as functions and as methods.

import { KINDS } from "./limits.js";
import * as t from "./tensor.js";
import { Dtype, ELLIPSIS, isNumber, kindOf, listed, numberOf, Slice, Tuple } from "./values.js";

const { Mistake, Tensor, Unknown, newTensor, numbersOf, refuse, shapeInWords, unknown } = t;

export const settings = { dtype: "float32" }; // what floating-point numbers are where nobody says it
const floating = (dtype) => (t.isFloat(dtype) ? dtype : settings.dtype);
const scalarKind = (x) => (typeof x === "boolean" ? "bool" : typeof x === "bigint" ? "int64" : settings.dtype);
const scalar = (x) => newTensor(scalarKind(x), [], [numberOf(x)]);
const isWhole = (x) => !t.isFloat(x.dtype);

/** The kind of a result: tensors with axes before single ones, and these before plain numbers, within one sort. */
function commonKind(parts) {
  const levels = [[], [], []];
  for (const one of parts) levels[one instanceof Tensor ? (one.shape.length ? 0 : 1) : 2].push(kindFor(one));
  return levels
    .map((kinds) => (kinds.length ? kinds.reduce(t.promoted) : null))
    .reduceRight((lower, higher) => {
      if (!higher || !lower) return higher ?? lower;
      if (t.isFloat(higher)) return higher;
      return higher === "bool" || t.isFloat(lower) ? t.promoted(higher, lower) : higher;
    });
}
const kindFor = (one) => (one instanceof Tensor ? one.dtype : scalarKind(one));
const asTensor = (x) => (x instanceof Tensor ? x : scalar(x));

/** A tensor that stands for a number in a list. */
function aloneIn(one) {
  refuse(t.numelOf(one.shape) !== 1, "ValueError", "only tensors of one number make a tensor so: use `torch.stack`");
  return t.reshape(one, []);
}
/** Numbers, or lists of them, as one tensor. */
export function tensorOf(x, dtype = null) {
  if (x instanceof Tensor) return dtype ? t.cast(x, dtype) : x;
  if (isNumber(x)) return newTensor(dtype ?? scalarKind(x), [], [numberOf(x)]);
  const parts = listed(x).map((one) => (one instanceof Tensor ? aloneIn(one) : tensorOf(one)));
  const isEven = parts.every((one) => one.shape.join() === parts[0].shape.join());
  refuse(!isEven, "ValueError", "the rows of a tensor must be equally long");
  const kind = dtype ?? parts.map((one) => one.dtype).reduce(t.promoted, parts.length ? "bool" : settings.dtype);
  const numbers = parts.flatMap((one) => [...numbersOf(one)]);
  return newTensor(kind, [parts.length, ...(parts[0]?.shape ?? [])], numbers);
}

// ------------------------------------------------------------------------------------------------- entry by entry

const areWhole = (x, y) =>
  (Number.isInteger(x) && Number.isInteger(y)) || unknown("`//` or `%` of numbers that are not whole");
const floorDiv = (x, y) => areWhole(x, y) && Math.floor(x / y);
const modulo = (x, y) => areWhole(x, y) && x - y * Math.floor(x / y);
/** Refuses parts that hold True and False. */
function refuseBool(what, ...parts) {
  const holdsBool = parts.some((one) => kindFor(one) === "bool");
  refuse(holdsBool, "RuntimeError", `\`${what}\` is not for True and False; \`~\` exchanges them in a mask`);
}
const numbersOnly = (x, what) => {
  refuseBool(what, x);
  return x;
};
function entrywise(what, entry, kind = (common) => common) {
  return (a, b) => {
    const common = commonKind([a, b]);
    const dtype = kind(common);
    const round = dtype === "float32" || common === "float32" ? Math.fround : (x) => x;
    const [x, y] = [a, b].map((one) =>
      one instanceof Tensor ? one : newTensor("float64", [], [round(numberOf(one))]),
    );
    return t.zip([x, y], dtype, entry, what);
  };
}
function forWhole(what, entry) {
  const work = entrywise(what, entry);
  return (a, b) => {
    const kind = commonKind([a, b]);
    refuse(t.isFloat(kind), "RuntimeError", `\`${what}\` is for True and False and whole numbers, not for ${kind}`);
    return work(a, b);
  };
}
const comparison = (what, entry) => entrywise(what, entry, () => "bool");
const power = entrywise("**", (x, y) =>
  x === 1 ? 1 : Math.abs(x) < Infinity && Math.abs(y) < Infinity ? x ** y : unknown("a power of ∞"),
);
const minus = entrywise("-", (x, y) => x - y);
function overNonzero(what, entry) {
  const work = entrywise(what, entry);
  return (a, b) => {
    refuseZero(a, b);
    return work(a, b);
  };
}

export const BINARY = {
  "+": entrywise("+", (x, y) => x + y),
  "-": (a, b) => {
    refuseBool("-", a, b);
    return minus(a, b);
  },
  "*": entrywise("*", (x, y) => x * y),
  "/": entrywise("/", (x, y) => x / y, floating),
  "//": overNonzero("//", floorDiv),
  "%": overNonzero("%", modulo),
  "**": (a, b) => {
    const common = commonKind([a, b]);
    if (common === "bool") throw new Unknown("`**` of True and False");
    if (common === "int64" && numbersOf(asTensor(b)).some((x) => x < 0))
      throw new Unknown("a whole number to a power below 0");
    return power(a, b);
  },
  "@": (a, b) => {
    refuse(!(a instanceof Tensor && b instanceof Tensor), "TypeError", "`@` needs two tensors");
    return t.matmul(a, b);
  },
  "&": forWhole("&", (x, y) => bits(x, y, (p, q) => p & q)),
  "|": forWhole("|", (x, y) => bits(x, y, (p, q) => p | q)),
  "^": forWhole("^", (x, y) => bits(x, y, (p, q) => p ^ q)),
  "<": comparison("<", (x, y) => x < y),
  "<=": comparison("<=", (x, y) => x <= y),
  ">": comparison(">", (x, y) => x > y),
  ">=": comparison(">=", (x, y) => x >= y),
  "==": comparison("==", (x, y) => x === y),
  "!=": comparison("!=", (x, y) => x !== y),
};
const bits = (x, y, both) => Number(both(BigInt(x), BigInt(y)));
function refuseZero(a, b) {
  const kind = commonKind([a, b]);
  if (kind === "bool") throw new Unknown("a division of True and False");
  refuse(!t.isFloat(kind) && numbersOf(asTensor(b)).includes(0), "RuntimeError", "division by zero");
}

export const UNARY = {
  "-": (x) => t.map(numbersOnly(x, "-"), (one) => -one),
  "+": (x) => numbersOnly(x, "+"),
  "~": (x) => {
    refuse(t.isFloat(x.dtype), "TypeError", `\`~\` exchanges True and False; this tensor holds ${x.dtype}`);
    return t.map(x, (one) => (x.dtype === "bool" ? 1 - one : -one - 1));
  },
};

const isOn = (x) => x !== 0; // NaN, too
const FLOAT_ENTRIES = {
  ...{ exp: Math.exp, log: Math.log, sqrt: Math.sqrt, sin: Math.sin, cos: Math.cos },
  rsqrt: (x) => 1 / Math.sqrt(x),
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
};
const ENTRIES = { abs: Math.abs, square: (x) => x * x, relu: (x) => (x > 0 || Number.isNaN(x) ? x : 0) };
const TESTS = { isnan: Number.isNaN, isinf: (x) => Math.abs(x) === Infinity, logical_not: (x) => x === 0 };

/** The tensor, which must hold floating-point numbers. */
function needFloat(x, name) {
  refuse(isWhole(x), "RuntimeError", `${name} needs floating-point numbers, and this tensor holds ${x.dtype}`);
  return x;
}

// ------------------------------------------------------------------------------------------------------ along axes

const bigger = (x, y) => (Number.isNaN(x) || x > y ? x : y);
const lower = (x, y) => (Number.isNaN(x) || x < y ? x : y);
const largest = (list) => (list.length ? list.reduce(bigger) : unknown("the largest of nothing"));
const smallest = (list) => (list.length ? list.reduce(lower) : unknown("the smallest of nothing"));
const sumKind = (x, dtype) => dtype ?? (isWhole(x) ? "int64" : x.dtype);
/** The tensor, which must hold numbers, and not True and False where they are not allowed. */
function notEmpty(x, name, allowsBool = true) {
  if (x.shape.includes(0)) throw new Unknown(`${name} of nothing`);
  refuse(!allowsBool && x.dtype === "bool", "RuntimeError", `${name} is not for True and False`);
  return x;
}
const sum = (x, dim, keepdim, dtype) =>
  t.reduced(dtype ? t.cast(x, dtype) : x, dim, keepdim, sumKind(x, dtype), t.total);
function mean(x, dim, keepdim, dtype) {
  const from = dtype ? t.cast(x, dtype) : x;
  needFloat(from, "mean");
  return t.reduced(from, dim, keepdim, from.dtype, (list) => t.total(list) / list.length);
}
function variance(x, dim, keepdim, correction, end = (one) => one) {
  needFloat(x, "var");
  return t.reduced(x, dim, keepdim, x.dtype, (list) => {
    const middle = list.reduce((a, b) => a + b, 0) / list.length;
    const squares = t.total(list.map((one) => (one - middle) ** 2));
    return end(squares / Math.max(0, list.length - correction));
  });
}
/** The axes of a variance, and by how much less than their count it is divided; `unbiased` may stand in dim's place. */
const axesAndCorrection = (dim, unbiased, keepdim, correction) => {
  if (typeof dim === "boolean") return [null, keepdim, dim ? 1 : 0];
  return [dim === null ? null : several(dim), keepdim, correction ?? (unbiased === false ? 0 : 1)];
};
function softmaxOf(list) {
  const top = largest(list);
  const powers = list.map((x) => Math.exp(x - top));
  const whole = t.total(powers);
  return powers.map((x) => x / whole);
}
function logsumexp(list) {
  const top = largest(list);
  if (!Number.isFinite(top)) return top;
  return top + Math.log(t.total(list.map((x) => Math.exp(x - top))));
}
function shares(x, dim, dtype, name, entry) {
  const from = dtype ? t.cast(x, dtype) : x;
  needFloat(from, name);
  return t.along(from, dim, from.dtype, entry);
}
function logShares(list) {
  const whole = logsumexp(list);
  return list.map((x) => (Number.isFinite(whole) ? x - whole : NaN));
}
const placeOf = (list, best) => list.findIndex((x) => Object.is(x, best) || x === best);
function best(name, choose) {
  return (x, dim, keepdim) => {
    if (dim === null) return t.reduced(notEmpty(x, name), null, false, x.dtype, choose);
    if (!isNumber(dim)) return (name === "max" ? maximum : minimum)(x, dim);
    const axis = integer(dim);
    notEmpty(x, name);
    const values = t.reduced(x, axis, keepdim, x.dtype, choose);
    return Tuple.named(["values", "indices"], values, places(x, axis, keepdim, choose));
  };
}
const places = (x, dim, keepdim, choose) => t.reduced(x, dim, keepdim, "int64", (list) => placeOf(list, choose(list)));
const maximum = entrywise("maximum", bigger);
const minimum = entrywise("minimum", lower);

// ------------------------------------------------------------------------------------------------- what is made new

const newOf = (size, number, dtype, like = null) => {
  const isNegative = size.some((one) => one < 0);
  refuse(isNegative, "RuntimeError", `a shape has no negative sizes: ${shapeInWords(size)}`);
  const out = t.contiguous(t.expand(newTensor(dtype, [], [number]), size));
  out.layoutKnown = !like || t.areRowMajor(like);
  return out;
};
const filledWith = (number) => (size, dtype, device) =>
  device === null ? newOf(size, number, dtype ?? settings.dtype) : unknown("the argument device");
function arange(start, end, step, dtype) {
  const parts = [start, end, step].filter((one) => one !== null);
  const kind = dtype ?? (parts.some((one) => typeof one === "number") ? settings.dtype : "int64");
  const [from, to] = end === null ? [0, numberOf(start)] : [numberOf(start), numberOf(end)];
  const by = step === null ? 1 : numberOf(step);
  refuse(!by || (to - from) / by < 0, "RuntimeError", "arange does not come from its start to its end");
  return newTensor(kind, ...rowOf(Math.ceil((to - from) / by), (i) => from + i * by));
}
/** A row of so many numbers: its shape and the numbers. */
function rowOf(count, entry) {
  newOf([count], 0, "bool"); // refuses what is too large
  return [[count], Float64Array.from({ length: count }, (_, i) => entry(i))];
}
/** A matrix, number by number. */
const matrix = (dtype, rows, columns, entry) =>
  newTensor(dtype, [rows, columns], rowOf(rows * columns, (n) => entry(Math.floor(n / columns), n % columns))[1]);
function triangle(x, isInside) {
  refuse(x.shape.length < 2, "RuntimeError", `a triangle needs two axes, not ${shapeInWords(x.shape)}`);
  const [rows, columns] = x.shape.slice(-2);
  const numbers = numbersOf(x).map((one, i) => (isInside(Math.floor(i / columns) % rows, i % columns) ? one : 0));
  return newTensor(x.dtype, x.shape, numbers);
}
function diag(x, k) {
  if (x.shape.length === 2) return t.diagonal(x, k);
  refuse(x.shape.length !== 1, "RuntimeError", `diag takes one or two axes, not ${shapeInWords(x.shape)}`);
  const size = x.shape[0] + Math.abs(k);
  const numbers = numbersOf(x);
  return matrix(x.dtype, size, size, (i, j) => (j - i === k ? numbers[Math.min(i, j)] : 0));
}
/** The slices at these places of an axis, one behind the other. */
function slicesAt(x, d, places) {
  const out = t.index(x, [...Array(d).fill(new Slice(null, null, null)), newTensor("int64", [places.length], places)]);
  return Object.assign(t.contiguous(out), { layoutKnown: t.areRowMajor(x) });
}
const upTo = (count) => rowOf(count, (i) => i)[1];
function repeat(x, sizes) {
  const words = `repeat needs a number for each axis of ${shapeInWords(x.shape)}, not ${sizes.length}`;
  refuse(sizes.length < x.shape.length, "RuntimeError", words);
  if (sizes.some((one) => one < 0)) throw new Unknown("repeat fewer than 0 times");
  const full = t.reshape(x, [...new Array(sizes.length - x.shape.length).fill(1), ...x.shape]);
  const again = (times, size) => upTo(times * size).map((i) => i % size);
  return sizes.reduce((out, times, d) => slicesAt(out, d, again(times, out.shape[d])), full);
}
function repeatInterleave(x, repeats, dim) {
  const from = dim === null ? t.flatten(x, 0, -1) : x;
  const d = t.axisOf(dim ?? 0, from.shape.length);
  const times = repeats instanceof Tensor ? [...numbersOf(repeats)] : [integer(repeats)];
  const size = from.shape[d];
  const isEach = times.length === 1 || times.length === size;
  refuse(!isEach, "RuntimeError", "repeats must be as many as the axis is long");
  const places = Array.from({ length: size }, (_, i) => Array(times[times.length === 1 ? 0 : i]).fill(i)).flat();
  return slicesAt(from, d, places);
}
function roll(x, shifts, dims) {
  if (dims === null) return t.reshape(roll(t.flatten(x, 0, -1), shifts, [0]), x.shape);
  refuse(shifts.length !== dims.length, "RuntimeError", "roll needs as many shifts as dims");
  const moved = (size, by) => upTo(size).map((i) => (((i - by) % size) + size) % size);
  return dims.reduce((out, dim, i) => {
    const d = t.axisOf(dim, out.shape.length);
    return slicesAt(out, d, moved(out.shape[d], shifts[i]));
  }, x);
}
function flip(x, dims) {
  return dims.reduce((out, dim) => {
    const d = t.axisOf(dim, out.shape.length);
    return slicesAt(out, d, upTo(out.shape[d]).reverse());
  }, x);
}
/** The parts of an axis, each so long, the last as long as is left. */
function pieces(x, size, dim) {
  const d = t.axisOf(dim, x.shape.length);
  const length = x.shape[d] ?? unknown("parts of a single number");
  refuse(size < 1, "RuntimeError", "a part has one place or more");
  const part = (_, i) => t.narrow(x, d, i * size, Math.min(size, length - i * size));
  return Tuple.from({ length: Math.max(1, Math.ceil(length / size)) }, part);
}
function stack(list, dim) {
  const isAlike = list.every((one) => one.shape.join() === list[0].shape.join());
  const all = list.map((one) => shapeInWords(one.shape)).join(" and ");
  refuse(!isAlike, "RuntimeError", `stack needs tensors of one shape, not ${all}`);
  const parts = list.map((one) => t.unsqueeze(one, dim));
  return t.cat(parts, dim);
}
function where(condition, x, y) {
  if (x === null && y === null) return Tuple.of(...t.nonzero(condition));
  refuse(condition.dtype !== "bool", "RuntimeError", `where needs True and False, not ${condition.dtype}`);
  return t.zip([condition, asTensor(x), asTensor(y)], commonKind([x, y]), (c, p, q) => (c ? p : q), "where");
}
function maskedFill(x, mask, value) {
  refuse(mask.dtype !== "bool", "RuntimeError", `masked_fill needs a mask of True and False, not ${mask.dtype}`);
  refuse(value instanceof Tensor && value.shape.length, "RuntimeError", "masked_fill writes one number");
  const number = value instanceof Tensor ? numbersOf(value)[0] : numberOf(value);
  if (isWhole(x) && (!Number.isInteger(number) || (x.dtype === "bool" && number !== 0 && number !== 1)))
    throw new Unknown(`${number} among numbers of the kind ${x.dtype}`);
  return t.zip([x, mask], x.dtype, (one, hidden) => (hidden ? number : one), "masked_fill");
}
function nllLoss(x, target, reduction) {
  if (x.shape.length !== 2 || target.shape.length !== 1 || target.dtype !== "int64")
    throw new Unknown("a loss of these shapes");
  const [count, classes] = x.shape;
  const wanted = numbersOf(target);
  const words = `${count} rows of numbers and ${wanted.length} targets: a row needs one`;
  refuse(wanted.length !== count, "ValueError", words);
  if (wanted.some((one) => one < 0 || one >= classes)) throw new Unknown("targets outside the classes");
  const numbers = numbersOf(x);
  const losses = newTensor(x.dtype, ...rowOf(count, (i) => -numbers[i * classes + wanted[i]]));
  if (reduction === "none") return losses;
  return { mean, sum }[reduction]?.(losses, null, false, null) ?? unknown(`reduction="${reduction}"`);
}
/** The loss of logits whose classes are the second axis: each place of the others is a row. */
function crossEntropy(x, target, reduction) {
  const [batch, classes, ...others] = x.shape;
  const isPlain = x.shape.length === 2;
  const fits = x.shape.length > 1 && target.shape.join() === [batch, ...others].join();
  if (!isPlain && (!fits || reduction === "none")) throw new Unknown("a loss of these shapes");
  const rows = isPlain ? x : t.reshape(t.permute(x, [0, ...upTo(others.length).map((i) => i + 2), 1]), [-1, classes]);
  const wanted = isPlain ? target : t.flatten(target, 0, -1);
  return nllLoss(shares(rows, 1, null, "cross_entropy", logShares), wanted, reduction);
}
/** Of each place of `at` the number that stands at that place of the axis. */
function gather(x, dim, at) {
  const d = t.axisOf(dim, x.shape.length);
  const fits = at.shape.length === x.shape.length && at.shape.every((size, i) => i === d || size <= x.shape[i]);
  if (at.dtype !== "int64" || !fits) throw new Unknown("gather with these places");
  const numbers = numbersOf(x);
  const picked = numbersOf(at).map((place, n) => {
    refuse(place < 0 || place >= x.shape[d], "RuntimeError", `gather: the axis has no place ${place}`);
    let [rest, from, step] = [n, 0, 1];
    for (let i = x.shape.length - 1; i >= 0; i--) {
      from += step * (i === d ? place : rest % at.shape[i]);
      rest = Math.floor(rest / at.shape[i]);
      step *= x.shape[i];
    }
    return numbers[from];
  });
  return newTensor(x.dtype, at.shape, picked);
}
/** A tensor with more places around it: before and behind the last axis, then the one before it. */
function pad(x, sizes, mode, value) {
  const number = value === null ? 0 : numberOf(value);
  const isOdd = sizes.length % 2 || sizes.length > 2 * x.shape.length || sizes.some((size) => size < 0);
  if (mode !== "constant" || isOdd || (isWhole(x) && !Number.isInteger(number))) throw new Unknown("a pad like this");
  let out = x;
  for (let i = 0; i < sizes.length; i += 2) {
    const d = x.shape.length - 1 - i / 2;
    const more = (size) =>
      newOf(
        out.shape.map((one, axis) => (axis === d ? size : one)),
        number,
        x.dtype,
      );
    out = t.cat([more(sizes[i]), out, more(sizes[i + 1])], d);
  }
  return out;
}
function attention(query, key, value, mask, dropout, isCausal, scale) {
  const areAlike = [key, value].every((one) => one.dtype === query.dtype && one.shape.length > 1);
  if (isWhole(query) || !areAlike || query.shape.length < 2 || dropout || (mask && isCausal))
    throw new Unknown("attention of these tensors");
  const scores = BINARY["*"](t.matmul(query, t.transpose(key, -1, -2)), scale ?? query.shape.at(-1) ** -0.5);
  const allowed = isCausal ? triangle(newOf(scores.shape.slice(-2), 1, "bool"), (i, j) => j <= i) : mask;
  const isAdded = allowed && allowed.dtype !== "bool";
  const seen = !allowed
    ? scores
    : isAdded
      ? BINARY["+"](scores, allowed)
      : maskedFill(scores, UNARY["~"](allowed), -Infinity);
  const weights = shares(seen, -1, null, "softmax", softmaxOf);
  if (numbersOf(weights).some(Number.isNaN)) throw new Unknown("a query that may attend to nothing");
  return t.matmul(weights, value);
}
function layerNorm(x, shape, weight, bias, eps) {
  if (!shape.length) throw new Unknown("layer_norm over no axis");
  const dims = shape.map((_, i) => i - shape.length);
  const fits = dims.every((d, i) => x.shape[x.shape.length + d] === shape[i]);
  refuse(!fits, "RuntimeError", `layer_norm over ${shapeInWords(shape)} does not fit ${shapeInWords(x.shape)}`);
  const centred = BINARY["-"](x, mean(x, dims, true, null));
  const spread = BINARY["+"](variance(x, dims, true, 0), eps);
  const out = BINARY["/"](centred, t.map(spread, Math.sqrt));
  const scaled = weight ? BINARY["*"](out, weight) : out;
  return bias ? BINARY["+"](scaled, bias) : scaled;
}
function cosine(x, y, dim, eps) {
  if (x.shape.join() !== y.shape.join()) throw new Unknown("the cosine of tensors of different shapes");
  if (x.dtype !== y.dtype || isWhole(x)) throw new Unknown("the cosine of tensors of different kinds");
  const unit = (one) => {
    const squares = sum(BINARY["*"](one, one), [dim], true, null);
    return BINARY["/"](
      one,
      t.map(squares, (square) => Math.max(Math.sqrt(square), eps)),
    );
  };
  return sum(BINARY["*"](unit(x), unit(y)), [dim], false, null);
}
function nanToNum(x, nan, posinf, neginf) {
  if (x.dtype !== "float32" && x.dtype !== "float64") return x;
  const most = x.dtype === "float32" ? 3.4028234663852886e38 : Number.MAX_VALUE;
  const instead = (one) => (one === Infinity ? (posinf ?? most) : one === -Infinity ? (neginf ?? -most) : one);
  return t.map(x, (one) => (Number.isNaN(one) ? (nan ?? 0) : instead(one)));
}
function dimensions(x, count, name) {
  const words = `${name} needs ${count} ${count === 1 ? "axis" : "axes"}, and this tensor is ${shapeInWords(x.shape)}`;
  refuse(x.shape.length !== count, "RuntimeError", words);
}
function product(name, ...counts) {
  return (a, b) => {
    [a, b].forEach((one, i) => dimensions(one, counts[i], name));
    const isOdd = name !== "mm" && a.shape[0] !== b.shape[0];
    refuse(
      isOdd,
      "RuntimeError",
      `${name} of ${shapeInWords(a.shape)} and ${shapeInWords(b.shape)}: the first sizes differ`,
    );
    return t.matmul(a, b);
  };
}
function outer(a, b) {
  for (const one of [a, b]) dimensions(one, 1, "outer");
  return BINARY["*"](t.unsqueeze(a, 1), b);
}
const item = (x) => {
  refuse(t.numelOf(x.shape) !== 1, "RuntimeError", `a tensor of shape ${shapeInWords(x.shape)} is not one number`);
  return fromTensor(x.dtype, numbersOf(x)[0]);
};
export const fromTensor = (dtype, x) => (dtype === "bool" ? x === 1 : dtype === "int64" ? BigInt(x) : x);
const asList = (x) => {
  const nested = (one) =>
    Array.isArray(one) ? one.map(nested) : typeof one === "boolean" ? one : fromTensor(x.dtype, one);
  return nested(t.listOf(x));
};
const sizeOf = (x, dim) =>
  dim === null
    ? Tuple.of(...x.shape.map(BigInt))
    : BigInt(x.shape[t.axisOf(dim, x.shape.length)] ?? unknown("that size"));

// ------------------------------------------------------------------------------------------------- under its names

const integer = (x) => {
  if (typeof x === "bigint") return Number(x);
  if (x instanceof Tensor && !x.shape.length && x.dtype === "int64") return numbersOf(x)[0];
  return unknown(`${kindOf(x)} in place of a whole number`);
};
const tensor = (x) => (x instanceof Tensor ? x : unknown(`${kindOf(x)} in place of a tensor`));
const several = (x) => (typeof x === "bigint" || x instanceof Tensor ? integer(x) : listed(x).map(integer));
/** How arguments are read, by the letter of their kind; one that is None where nothing is given may be None. */
const READ = {
  t: tensor,
  n: (x) => (x instanceof Tensor || isNumber(x) ? x : unknown(`${kindOf(x)} in place of a number`)), // a number or a tensor
  f: numberOf,
  i: integer, // a whole number
  I: several, // one whole number or several
  L: (x) => [several(x)].flat(), // the same as a list
  S: (x) => listed(x).map(integer), // a shape
  b: (x) => (typeof x === "boolean" ? x : unknown(`${kindOf(x)} in place of True or False`)),
  d: (x) => (x instanceof Dtype ? x.name : (x?.dtype ?? unknown(`the dtype ${kindOf(x)}`))), // a dtype
  l: (x) => (listed(x).length ? listed(x).map(tensor) : unknown("an empty list of tensors")),
  s: (x) => (typeof x === "string" ? x : unknown(`${kindOf(x)} in place of a text`)),
  a: (x) => x, // anything
};
const DEFAULTS = { None: null, True: true, False: false };
const parameter = (text) => {
  const [, star, name, kind, otherwise] = /^(\*?)(\w+):(\w)(?:=(\S+))?$/.exec(text);
  const value = otherwise in DEFAULTS ? DEFAULTS[otherwise] : /^-?\d+$/.test(otherwise) ? BigInt(otherwise) : otherwise;
  return { star, name, value, read: (x) => (x === null && value === null ? null : READ[kind](x)) };
};
const OLD_NAMES = { axis: "dim", keepdims: "keepdim" }; // which PyTorch takes from NumPy

const OVERLOADED = ["arange", "repeat_interleave", "where", "sum", "max", "min"]; // which have other forms too

/** A function of Python that takes its arguments by place or by name. */
function taking(name, words, work, isOfF = false) {
  const parameters = words.split(" ").filter(Boolean).map(parameter);
  const places = parameters.findIndex(({ star }) => star) + 1 || parameters.length; // what is behind a star has a name
  return (positional, named = {}) => {
    const given = Object.fromEntries(Object.entries(named).map(([key, x]) => [(!isOfF && OLD_NAMES[key]) || key, x]));
    const values = parameters.map(({ star, name: own, read, value }, i) => {
      if (star) {
        if (own in given && !Array.isArray(given[own])) throw new Unknown(`${name}(${own}=…) with one number`);
        const rest = own in given ? [given[own]] : positional.slice(i);
        refuse(!rest.length, "TypeError", `\`${name}\` is missing its argument \`${own}\``);
        delete given[own];
        const flat = rest.length === 1 && Array.isArray(rest[0]) ? rest[0] : rest;
        return flat.map(read);
      }
      const isPlaced = i < Math.min(positional.length, places);
      const x = isPlaced ? positional[i] : own in given ? given[own] : value;
      if (!isPlaced) delete given[own];
      if (x === undefined && (isOfF || OVERLOADED.includes(name))) throw new Unknown(`\`${name}\` without \`${own}\``);
      if (x === undefined) throw new Mistake(`TypeError: \`${name}\` is missing its argument \`${own}\``);
      return read(x);
    });
    const [extra] = Object.keys(given);
    if (extra !== undefined) throw new Unknown(`${name}(${extra}=…)`);
    if (!parameters.some(({ star }) => star) && positional.length > parameters.length)
      throw new Unknown(`${name} with ${positional.length} arguments`);
    return work(...values);
  };
}

// name → [arguments, what it does]; the letter behind an argument's name is its kind, as in READ.
// biome-ignore format: an operation a line
const BOTH = {
  softmax: ["input:t dim:i dtype:d=None", (x, dim, dtype) => shares(x, dim, dtype, "softmax", softmaxOf)],
  log_softmax: ["input:t dim:i dtype:d=None", (x, dim, dtype) => shares(x, dim, dtype, "log_softmax", logShares)],
  logsumexp: ["input:t dim:I keepdim:b=False", (x, dim, keepdim) => t.reduced(notEmpty(x, "logsumexp"), dim, keepdim, floating(x.dtype), logsumexp)],
  sum: ["input:t dim:I=None keepdim:b=False dtype:d=None", sum],
  mean: ["input:t dim:I=None keepdim:b=False dtype:d=None", mean],
  norm: ["input:t p:a=2 dim:I=None keepdim:b=False", (x, p, dim, keepdim) => Number(p) === 2 ? t.reduced(needFloat(x, "norm"), dim, keepdim, x.dtype, (list) => Math.sqrt(t.total(list.map((one) => one * one)))) : unknown("another norm")],
  var: ["input:t dim:a=None unbiased:a=None keepdim:b=False correction:i=None", (x, ...how) => variance(x, ...axesAndCorrection(...how))],
  std: ["input:t dim:a=None unbiased:a=None keepdim:b=False correction:i=None", (x, ...how) => variance(x, ...axesAndCorrection(...how), Math.sqrt)],
  amax: ["input:t dim:I=None keepdim:b=False", (x, dim, keepdim) => t.reduced(notEmpty(x, "amax"), dim, keepdim, x.dtype, largest)],
  amin: ["input:t dim:I=None keepdim:b=False", (x, dim, keepdim) => t.reduced(notEmpty(x, "amin"), dim, keepdim, x.dtype, smallest)],
  max: ["input:t dim:a=None keepdim:b=False", best("max", largest)],
  min: ["input:t dim:a=None keepdim:b=False", best("min", smallest)],
  argmax: ["input:t dim:i=None keepdim:b=False", (x, dim, keepdim) => places(notEmpty(x, "argmax", false), dim, keepdim, largest)],
  argmin: ["input:t dim:i=None keepdim:b=False", (x, dim, keepdim) => places(notEmpty(x, "argmin", false), dim, keepdim, smallest)],
  any: ["input:t dim:I=None keepdim:b=False", (x, dim, keepdim) => t.reduced(x, dim, keepdim, "bool", (list) => list.some(isOn))],
  all: ["input:t dim:I=None keepdim:b=False", (x, dim, keepdim) => t.reduced(x, dim, keepdim, "bool", (list) => list.every(isOn))],
  cumsum: ["input:t dim:i dtype:d=None", (x, dim, dtype) => t.along(x, dim, sumKind(x, dtype), (list) => { let so = 0; t.total(list); return list.map((one) => (so += one)); })],
  tril: ["input:t diagonal:i=0", (x, k) => triangle(x, (i, j) => j - i <= k)],
  triu: ["input:t diagonal:i=0", (x, k) => triangle(x, (i, j) => j - i >= k)],
  diag: ["input:t diagonal:i=0", (x, k) => t.contiguous(diag(x, k))],
  diagonal: ["input:t offset:i=0 dim1:i=0 dim2:i=1", t.diagonal],
  transpose: ["input:t dim0:i dim1:i", t.transpose],
  swapaxes: ["input:t axis0:i axis1:i", t.transpose],
  swapdims: ["input:t dim0:i dim1:i", t.transpose],
  t: ["input:t", (x) => (x.shape.length > 2 ? dimensions(x, 2, "t()") : x.shape.length < 2 ? x : t.transpose(x, 0, 1))],
  unsqueeze: ["input:t dim:i", t.unsqueeze],
  squeeze: ["input:t dim:I=None", (x, dim) => t.squeeze(x, t.axesOf(x, dim))],
  flatten: ["input:t start_dim:i=0 end_dim:i=-1", t.flatten],
  roll: ["input:t shifts:L dims:L=None", roll],
  repeat_interleave: ["input:t repeats:n dim:i=None", repeatInterleave],
  chunk: ["input:t chunks:i dim:i=0", (x, count, dim) => pieces(x, Math.ceil(x.shape[t.axisOf(dim, x.shape.length)] / count), dim)],
  unbind: ["input:t dim:i=0", (x, dim) => Tuple.of(...Array.from({ length: x.shape[t.axisOf(dim, x.shape.length)] ?? unknown("unbind of a single number") }, (_, i) => t.select(x, dim, i)))],
  gather: ["input:t dim:i index:t", gather],
  matmul: ["input:t other:t", t.matmul],
  mm: ["input:t mat2:t", product("mm", 2, 2)],
  bmm: ["input:t mat2:t", product("bmm", 3, 3)],
  dot: ["input:t tensor:t", product("dot", 1, 1)],
  outer: ["input:t vec2:t", outer],
  masked_fill: ["input:t mask:t value:n", maskedFill],
  nan_to_num: ["input:t nan:f=None posinf:f=None neginf:f=None", nanToNum],
  maximum: ["input:t other:t", maximum],
  pow: ["input:n exponent:n", (x, y) => BINARY["**"](x, y)],
  clone: ["input:t", t.clone],
  detach: ["input:t", (x) => x],
  neg: ["input:t", UNARY["-"]],
  numel: ["input:t", (x) => BigInt(t.numelOf(x.shape))],
  where: ["condition:t input:a=None other:a=None", where],
  flip: ["input:t *dims:i", (x, dims) => (x.shape.length ? flip(x, dims) : unknown("flip of a single number"))],
  permute: ["input:t *dims:i", t.permute],
  reshape: ["input:t *shape:i", t.reshape],
};
for (const [name, entry] of Object.entries(FLOAT_ENTRIES))
  BOTH[name] = ["input:t", (x) => t.map(x, entry, floating(x.dtype))];
for (const [name, entry] of Object.entries(ENTRIES))
  BOTH[name] = ["input:t", (x) => (x.dtype === "bool" ? unknown(`${name} of True and False`) : t.map(x, entry))];
for (const [name, entry] of Object.entries(TESTS)) BOTH[name] = ["input:t", (x) => t.map(x, entry, "bool")];
const SIGNS = { add: "+", sub: "-", mul: "*", div: "/", eq: "==", ne: "!=", lt: "<", le: "<=", gt: ">", ge: ">=" };
for (const [name, sign] of Object.entries(SIGNS)) BOTH[name] = ["input:t other:n", BINARY[sign]];

// biome-ignore format: an operation a line
const OF_TORCH = {
  ones: ["*size:i dtype:d=None device:a=None", filledWith(1)],
  zeros: ["*size:i dtype:d=None device:a=None", filledWith(0)],
  einsum: ["equation:s *operands:t", t.einsum],
  cat: ["tensors:l dim:i=0", t.cat],
  stack: ["tensors:l dim:i=0", stack],
  vstack: ["tensors:l", (list) => t.cat(list.map((one) => (one.shape.length < 2 ? t.reshape(one, [1, -1]) : one)), 0)],
  tensor: ["data:a dtype:d=None", (x, dtype) => t.map(tensorOf(x, dtype), (one) => one)],
  as_tensor: ["data:a dtype:d=None device:a=None", (x, dtype) => tensorOf(x, dtype)],
  arange: ["start:n end:a=None step:a=None dtype:d=None device:a=None", arange],
  eye: ["n:i m:i=None dtype:d=None device:a=None", (n, m, dtype) => matrix(dtype ?? settings.dtype, n, m ?? n, (i, j) => i === j)],
  full: ["size:S fill_value:a dtype:d=None device:a=None", (size, x, dtype) => newOf(size, numberOf(x), dtype ?? scalarKind(x))],
  ones_like: ["input:t dtype:d=None device:a=None", (x, dtype) => newOf(x.shape, 1, dtype ?? x.dtype, x)],
  zeros_like: ["input:t dtype:d=None device:a=None", (x, dtype) => newOf(x.shape, 0, dtype ?? x.dtype, x)],
  get_default_dtype: ["", () => Dtype.of(settings.dtype)],
};
OF_TORCH.concat = OF_TORCH.cat;
OF_TORCH.row_stack = OF_TORCH.vstack;

// biome-ignore format: an operation a line
const OF_TENSORS = {
  view: ["input:t *size:i", t.view],
  expand: ["input:t *size:i", t.expand],
  repeat: ["input:t *repeats:i", repeat],
  size: ["input:t dim:i=None", sizeOf],
  dim: ["input:t", (x) => BigInt(x.shape.length)],
  item: ["input:t", item],
  tolist: ["input:t", asList],
  contiguous: ["input:t", t.inOrder],
  float: ["input:t", (x) => t.cast(x, "float32")],
  double: ["input:t", (x) => t.cast(x, "float64")],
  long: ["input:t", (x) => t.cast(x, "int64")],
  bool: ["input:t", (x) => t.cast(x, "bool")],
  to: ["input:t dtype:a", (x, to) => to instanceof Dtype ? t.cast(x, to.name) : to?.dtype ? t.cast(x, to.dtype) : unknown("`to` a device")],
  where: ["input:t condition:t other:a", (x, condition, other) => where(condition, x, other)],
};

// biome-ignore format: an operation a line
const OF_F = {
  softmax: BOTH.softmax,
  log_softmax: BOTH.log_softmax,
  dropout: ["input:t p:f=0.5", (x, p) => (Number(p) ? unknown("dropout, which draws") : x)],
  cross_entropy: ["input:t target:t weight:t=None reduction:a=mean", (x, target, weight, reduction) => (weight ? unknown("weight") : crossEntropy(x, target, reduction))],
  nll_loss: ["input:t target:t weight:t=None reduction:a=mean", (x, target, weight, reduction) => (weight ? unknown("weight") : nllLoss(x, target, reduction))],
  layer_norm: ["input:t normalized_shape:S weight:t=None bias:t=None eps:f=None", (x, shape, weight, bias, eps) => layerNorm(x, shape, weight, bias, eps ?? 1e-5)],
  pad: ["input:t pad:S mode:s=constant value:a=None", pad],
  scaled_dot_product_attention: ["query:t key:t value:t attn_mask:t=None dropout_p:f=0 is_causal:b=False scale:f=None", attention],
  linear: ["input:t weight:t bias:t=None", (x, weight, bias) => { const out = t.matmul(x, weight.shape.length > 1 ? t.transpose(weight, 0, 1) : weight); return bias ? BINARY["+"](out, bias) : out; }],
  cosine_similarity: ["x1:t x2:t dim:i=1 eps:f=None", (x, y, dim, eps) => cosine(x, y, dim, eps ?? 1e-8)],
};
OF_TORCH.cosine_similarity = OF_F.cosine_similarity;

const functionsOf = (table, isOfF = false) =>
  new Map(Object.entries(table).map(([name, [words, work]]) => [name, taking(name, words, work, isOfF)]));
export const METHODS = functionsOf({ ...BOTH, ...OF_TENSORS });
export const FUNCTIONS = new Map([
  ...functionsOf({ ...BOTH, ...OF_TORCH }),
  ...KINDS.map((name) => [name, Dtype.of(name)]),
  ["float", Dtype.of("float32")],
  ["double", Dtype.of("float64")],
  ["long", Dtype.of("int64")],
  ["inf", Infinity],
  ["nan", NaN],
  ["pi", Math.PI],
  ["e", Math.E],
]);
for (const name of ["permute", "reshape", "flip"]) {
  const work = FUNCTIONS.get(name); // as functions they want one tuple
  FUNCTIONS.set(name, (positional, named) => {
    const isOne = positional.length < 2 || Array.isArray(positional[1]);
    refuse(!isOne, "TypeError", `\`torch.${name}\` takes its numbers as one tuple`);
    return work(positional, named);
  });
}
export const OF_FUNCTIONAL = functionsOf(OF_F, true);

export const PROPERTIES = {
  T: (x) => t.permute(x, [...x.shape.keys()].reverse()),
  mT: (x) => {
    if (!x.shape.length) throw new Unknown(".mT of a single number");
    if (x.shape.length < 2) dimensions(x, 2, ".mT");
    return t.transpose(x, -1, -2);
  },
  shape: (x) => sizeOf(x, null),
  ndim: (x) => BigInt(x.shape.length),
  dtype: (x) => Dtype.of(x.dtype),
  data: (x) => x,
  device: () => null,
  is_mps: () => false,
};

/** `x[key] = value`. */
export function writeAt(x, key, value) {
  if (!isNumber(value) && !(value instanceof Tensor)) throw new Unknown(`${kindOf(value)} written into a tensor`);
  const isPicked = (key instanceof Tuple ? [...key] : [key]).some((one) => one instanceof Tensor || Array.isArray(one));
  if (isPicked && value instanceof Tensor && value.dtype !== x.dtype) t.refuseWriting();
  t.write(
    x,
    indexed(t.placesIn(x), key),
    value instanceof Tensor ? value : newTensor("float64", [], [numberOf(value)]),
  );
}
/** Writes what an operation gives over its first operand, as `x += …` does. */
export function overwrite([x, ...others], work) {
  if (others.some((one) => one instanceof Tensor && t.readsOtherwise(one, x))) t.refuseWriting();
  const result = work();
  const words = `${shapeInWords(result.shape)} does not fit into ${shapeInWords(x.shape)}, in which it is written`;
  refuse(result.shape.join() !== x.shape.join(), "RuntimeError", words);
  const isOtherSort = (t.isFloat(result.dtype) && isWhole(x)) || (x.dtype === "bool" && result.dtype !== "bool");
  refuse(isOtherSort, "RuntimeError", `${result.dtype} cannot be written into a tensor of ${x.dtype}`);
  return t.write(x, t.placesIn(x), result);
}
const IN_PLACE = "masked_fill add sub mul div exp sqrt square tril triu".split(" ");
for (const name of IN_PLACE)
  METHODS.set(`${name}_`, (given, named) => overwrite(given, () => METHODS.get(name)(given, named)));

/** What stands in square brackets behind a tensor, as `index` takes it. */
export function indexed(x, key) {
  const items = key instanceof Tuple ? [...key] : [key];
  return t.index(
    x,
    items.map((one) => {
      if (one === null || one === ELLIPSIS) return one === null ? null : "...";
      if (one instanceof Slice)
        return one.from === null && one.to === null && one.step === null
          ? one
          : new Slice(...[one.from, one.to, one.step].map((part) => (part === null ? null : integer(part))));
      if (typeof one === "bigint") return Number(one);
      if (one instanceof Tensor) return one;
      if (Array.isArray(one) && one.some((part) => part instanceof Tensor && part.shape.length))
        throw new Unknown("an index of tensors in a list");
      if (Array.isArray(one) && one.some(Array.isArray) && !(key instanceof Tuple))
        throw new Unknown("an index of lists in a list");
      return Array.isArray(one)
        ? tensorOf(one.length ? one : unknown("an empty index"))
        : unknown(`${kindOf(one)} as an index`);
    }),
  );
}
