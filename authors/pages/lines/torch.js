// The operations of PyTorch that lines use: under its names, with its arguments, as functions and as methods.

import { KINDS } from "./limits.js";
import * as t from "./tensor.js";
import { Dtype, ELLIPSIS, isNumber, kindOf, listed, numberOf, Slice, sequence, Tuple } from "./values.js";

const { Mistake, Tensor, Unknown, made, numbersOf } = t;

export const settings = { dtype: "float32" }; // what floating-point numbers are where nobody says it
const floating = (dtype) => (t.isFloat(dtype) ? dtype : settings.dtype);
const scalarKind = (x) => (typeof x === "boolean" ? "bool" : typeof x === "bigint" ? "int64" : settings.dtype);
const scalar = (x) => made(scalarKind(x), [], [numberOf(x)]);
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

/** Numbers, or lists of them, as one tensor. */
export function tensorOf(x, dtype = null) {
  if (x instanceof Tensor) return dtype ? t.cast(x, dtype) : x;
  if (isNumber(x)) return made(dtype ?? scalarKind(x), [], [numberOf(x)]);
  const parts = listed(x).map((one) => tensorOf(one));
  if (parts.some((one) => one.shape.join() !== parts[0].shape.join()))
    throw new Mistake("ValueError: the rows of a tensor must be equally long");
  const kind = dtype ?? (parts.length ? parts.map((one) => one.dtype).reduce(t.promoted) : settings.dtype);
  return made(
    kind,
    [parts.length, ...(parts[0]?.shape ?? [])],
    parts.flatMap((one) => [...numbersOf(one)]),
  );
}

// ------------------------------------------------------------------------------------------------- entry by entry

const areWhole = (x, y) =>
  (Number.isInteger(x) && Number.isInteger(y)) || unknown("`//` or `%` of numbers that are not whole");
const floorDiv = (x, y) => areWhole(x, y) && Math.floor(x / y);
const modulo = (x, y) => areWhole(x, y) && x - y * Math.floor(x / y);
/** The first of these, unless one holds True and False. */
function noBool(what, ...parts) {
  if (parts.some((one) => kindFor(one) === "bool"))
    throw new Mistake(`RuntimeError: \`${what}\` is not for True and False; \`~\` exchanges them in a mask`);
}
function entrywise(what, entry, kind = (common) => common) {
  return (a, b) => {
    const common = commonKind([a, b]);
    const dtype = kind(common);
    const round = dtype === "float32" || common === "float32" ? Math.fround : (x) => x;
    const [x, y] = [a, b].map((one) => (one instanceof Tensor ? one : made("float64", [], [round(numberOf(one))])));
    return t.zip([x, y], dtype, entry, what);
  };
}
function forWhole(what, entry) {
  const work = entrywise(what, entry);
  return (a, b) => {
    if (t.isFloat(commonKind([a, b])))
      throw new Mistake(
        `RuntimeError: \`${what}\` is for True and False and for whole numbers, not for ${commonKind([a, b])}`,
      );
    return work(a, b);
  };
}
const compared = (what, entry) =>
  entrywise(
    what,
    (x, y) => (entry(x, y) ? 1 : 0),
    () => "bool",
  );
const power = entrywise("**", (x, y) =>
  x === 1 ? 1 : Math.abs(x) < Infinity && Math.abs(y) < Infinity ? x ** y : unknown("a power of ∞"),
);

export const BINARY = {
  "+": entrywise("+", (x, y) => x + y),
  "-": (a, b) => (noBool("-", a, b), entrywise("-", (x, y) => x - y)(a, b)),
  "*": entrywise("*", (x, y) => x * y),
  "/": entrywise("/", (x, y) => x / y, floating),
  "//": (a, b) => (refuseZero(a, b), entrywise("//", floorDiv)(a, b)),
  "%": (a, b) => (refuseZero(a, b), entrywise("%", modulo)(a, b)),
  "**": (a, b) => {
    const common = commonKind([a, b]);
    if (common === "bool") throw new Unknown("`**` of True and False");
    if (common === "int64" && numbersOf(asTensor(b)).some((x) => x < 0))
      throw new Unknown("a whole number to a power below 0");
    return power(a, b);
  },
  "@": (a, b) => {
    if (!(a instanceof Tensor && b instanceof Tensor)) throw new Mistake("TypeError: `@` needs two tensors");
    return t.matmul(a, b);
  },
  "&": forWhole("&", (x, y) => bits(x, y, (p, q) => p & q)),
  "|": forWhole("|", (x, y) => bits(x, y, (p, q) => p | q)),
  "^": forWhole("^", (x, y) => bits(x, y, (p, q) => p ^ q)),
  "<": compared("<", (x, y) => x < y),
  "<=": compared("<=", (x, y) => x <= y),
  ">": compared(">", (x, y) => x > y),
  ">=": compared(">=", (x, y) => x >= y),
  "==": compared("==", (x, y) => x === y),
  "!=": compared("!=", (x, y) => x !== y),
};
const bits = (x, y, both) => Number(both(BigInt(x), BigInt(y)));
function refuseZero(a, b) {
  if (commonKind([a, b]) === "bool") throw new Unknown("a division of True and False");
  if (!t.isFloat(commonKind([a, b])) && numbersOf(asTensor(b)).includes(0))
    throw new Mistake("RuntimeError: division by zero");
}

export const UNARY = {
  "-": (x) => (noBool("-", x, x), t.map(x, (one) => -one)),
  "+": (x) => (noBool("+", x), x),
  "~": (x) => {
    if (t.isFloat(x.dtype))
      throw new Mistake(`TypeError: \`~\` exchanges True and False; this tensor holds ${x.dtype}`);
    return t.map(x, (one) => (x.dtype === "bool" ? 1 - one : -one - 1));
  },
};

const isOn = (x) => x !== 0;
const halfEven = (x) => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));
const FLOAT_ENTRIES = {
  exp: Math.exp,
  log: Math.log,
  log2: Math.log2,
  log1p: Math.log1p,
  sqrt: Math.sqrt,
  rsqrt: (x) => 1 / Math.sqrt(x),
  reciprocal: (x) => 1 / x,
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  sin: Math.sin,
  cos: Math.cos,
  tanh: Math.tanh,
};
const ENTRIES = {
  abs: Math.abs,
  square: (x) => x * x,
  floor: Math.floor,
  ceil: Math.ceil,
  round: halfEven,
  relu: (x) => (x > 0 || Number.isNaN(x) ? x : 0),
};
const TESTS = {
  isnan: Number.isNaN,
  isinf: (x) => Math.abs(x) === Infinity,
  isfinite: Number.isFinite,
  logical_not: (x) => x === 0,
};

const needFloat = (x, name) => {
  if (isWhole(x))
    throw new Mistake(`RuntimeError: ${name} needs floating-point numbers, and this tensor holds ${x.dtype}`);
};

// ------------------------------------------------------------------------------------------------------ along axes

const largest = (list) =>
  !list.length ? unknown("the largest of nothing") : list.reduce((x, y) => (Number.isNaN(x) || x > y ? x : y));
const smallest = (list) =>
  !list.length ? unknown("the smallest of nothing") : list.reduce((x, y) => (Number.isNaN(x) || x < y ? x : y));
const wholeSum = (x, dtype) => dtype ?? (isWhole(x) ? "int64" : x.dtype);
function filled(x, name, isFlagged = true) {
  if (x.shape.includes(0)) throw new Unknown(`${name} of nothing`);
  if (!isFlagged && x.dtype === "bool") throw new Mistake(`RuntimeError: ${name} is not for True and False`);
}
const sum = (x, dim, keepdim, dtype) =>
  t.reduced(dtype ? t.cast(x, dtype) : x, dim, keepdim, wholeSum(x, dtype), t.total);
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
const lessOne = (dim, unbiased, correction) => {
  if (typeof dim === "boolean") return [null, dim ? 1 : 0];
  return [dim, correction ?? (unbiased === false ? 0 : 1)];
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
const orderOf = (list, isDown) => {
  const before = (a, b) => (Number.isNaN(a) ? (Number.isNaN(b) ? 0 : 1) : Number.isNaN(b) ? -1 : a - b);
  return Float64Array.from(list, (_, i) => i).sort(
    (i, j) => (isDown ? before(list[j], list[i]) : before(list[i], list[j])) || i - j,
  );
};
function refuseTies(x, dim) {
  t.along(x, dim, "int64", (list) => {
    if (new Set(list).size < list.length) throw new Unknown("the order of equal numbers");
    return list;
  });
}
const place = (list, best) => list.findIndex((x) => Object.is(x, best) || x === best);
function best(name, choose) {
  return (x, dim, keepdim) => {
    if (dim === null) return filled(x, name), t.reduced(x, null, false, x.dtype, choose);
    if (dim instanceof Tensor || isNumber(dim) === false) return (name === "max" ? maximum : minimum)(x, dim);
    const axis = integer(dim);
    filled(x, name);
    const values = t.reduced(x, axis, keepdim, x.dtype, choose);
    return Tuple.named(["values", "indices"], values, places(x, axis, keepdim, choose));
  };
}
const places = (x, dim, keepdim, choose) => t.reduced(x, dim, keepdim, "int64", (list) => place(list, choose(list)));
const bigger = (x, y) => (Number.isNaN(x) || x > y ? x : y);
const lower = (x, y) => (Number.isNaN(x) || x < y ? x : y);
const maximum = entrywise("maximum", bigger);
const minimum = entrywise("minimum", lower);

// ------------------------------------------------------------------------------------------------- what is made new

const newOf = (size, number, dtype, like = null) => {
  if (size.some((one) => one < 0))
    throw new Mistake(`RuntimeError: a shape has no negative sizes: ${t.shapeInWords(size)}`);
  const out = t.contiguous(t.expand(made(dtype, [], [number]), size));
  out.lies = !like || t.liesAlike(like);
  return out;
};
function arange(start, end, step, dtype) {
  const parts = [start, end, step].filter((one) => one !== null);
  const kind = dtype ?? (parts.some((one) => typeof one === "number") ? settings.dtype : "int64");
  const [from, to] = end === null ? [0, numberOf(start)] : [numberOf(start), numberOf(end)];
  const by = step === null ? 1 : numberOf(step);
  if (!by || (to - from) / by < 0) throw new Mistake("RuntimeError: arange does not come from its start to its end");
  const count = Math.ceil((to - from) / by);
  return t.map(made("float64", [count], ranged(count), true), (i) => from + i * by, kind);
}
function ranged(count) {
  newOf([count], 0, "bool"); // refuses what is too large
  return Float64Array.from({ length: count }, (_, i) => i);
}
function triangle(x, isInside) {
  if (x.shape.length < 2) throw new Mistake(`RuntimeError: a triangle needs two axes, not ${t.shapeInWords(x.shape)}`);
  const [rows, columns] = x.shape.slice(-2);
  const numbers = numbersOf(x);
  const at = (i) => [Math.floor(i / columns) % rows, i % columns];
  return made(
    x.dtype,
    x.shape,
    numbers.map((one, i) => (isInside(...at(i)) ? one : 0)),
  );
}
function diag(x, k) {
  if (x.shape.length === 2) return t.diagonal(x, k);
  if (x.shape.length !== 1)
    throw new Mistake(`RuntimeError: diag takes one or two axes, not ${t.shapeInWords(x.shape)}`);
  const size = x.shape[0] + Math.abs(k);
  const numbers = numbersOf(x);
  const entry = (i, j) => (j - i === k ? numbers[Math.min(i, j)] : 0);
  return made(
    x.dtype,
    [size, size],
    ranged(size * size).map((n) => entry(Math.floor(n / size), n % size)),
  );
}
function repeat(x, sizes) {
  if (sizes.length < x.shape.length)
    throw new Mistake(
      `RuntimeError: repeat needs a number for each axis of ${t.shapeInWords(x.shape)}, not ${sizes.length}`,
    );
  if (sizes.some((one) => one < 0)) throw new Unknown("repeat fewer than 0 times");
  let out = t.reshape(x, [...new Array(sizes.length - x.shape.length).fill(1), ...x.shape]);
  sizes.forEach(
    (times, d) =>
      (out = t.cat(
        Array(times)
          .fill(out)
          .concat(times ? [] : [t.narrow(out, d, 0, 0)]),
        d,
      )),
  );
  return out;
}
function repeatInterleave(x, repeats, dim) {
  const from = dim === null ? t.flatten(x, 0, -1) : x;
  const d = t.axisOf(dim ?? 0, from.shape.length);
  const times = repeats instanceof Tensor ? [...numbersOf(repeats)] : [integer(repeats)];
  const size = from.shape[d];
  if (times.length !== 1 && times.length !== size)
    throw new Mistake("RuntimeError: repeats must be as many as the axis is long");
  const places = Array.from({ length: size }, (_, i) => Array(times[times.length === 1 ? 0 : i]).fill(i)).flat();
  return t.index(from, [...Array(d).fill(new Slice(null, null, null)), made("int64", [places.length], places)]);
}
function roll(x, shifts, dims) {
  if (dims === null) return t.reshape(roll(t.flatten(x, 0, -1), shifts, [0]), x.shape);
  if (shifts.length !== dims.length) throw new Mistake("RuntimeError: roll needs as many shifts as dims");
  return dims.reduce((out, dim, i) => {
    const d = t.axisOf(dim, out.shape.length);
    const size = out.shape[d];
    const shift = size ? ((shifts[i] % size) + size) % size : 0;
    return t.cat([t.narrow(out, d, size - shift, shift), t.narrow(out, d, 0, size - shift)], d);
  }, x);
}
function flip(x, dims) {
  return dims.reduce((out, dim) => {
    const d = t.axisOf(dim, out.shape.length);
    const back = made(
      "int64",
      [out.shape[d]],
      ranged(out.shape[d]).map((i) => out.shape[d] - 1 - i),
    );
    return t.index(out, [...Array(d).fill(new Slice(null, null, null)), back]);
  }, x);
}
function parts(x, sizes, dim) {
  const d = t.axisOf(dim, x.shape.length);
  const whole = sizes.reduce((a, b) => a + b, 0);
  if (whole !== x.shape[d])
    throw new Mistake(`RuntimeError: split's sizes add up to ${whole}, the axis is ${x.shape[d]} long`);
  const before = (i) => sizes.slice(0, i).reduce((a, b) => a + b, 0);
  return Tuple.of(...sizes.map((size, i) => t.narrow(x, d, before(i), size)));
}
function pieces(x, size, dim) {
  const length = x.shape[t.axisOf(dim, x.shape.length)];
  if (size < 1) throw new Mistake("RuntimeError: a part has one place or more");
  return parts(
    x,
    Array.from({ length: Math.max(1, Math.ceil(length / size)) }, (_, i) => Math.min(size, length - i * size)),
    dim,
  );
}
function stack(list, dim) {
  if (list.some((one) => one.shape.join() !== list[0].shape.join()))
    throw new Mistake(
      `RuntimeError: stack needs tensors of one shape, not ${list.map((one) => t.shapeInWords(one.shape)).join(" and ")}`,
    );
  return t.cat(
    list.map((one) => t.unsqueeze(one, dim)),
    dim,
  );
}
function where(condition, x, y) {
  if (x === null && y === null) return Tuple.of(...t.nonzero(condition));
  if (condition.dtype !== "bool") throw new Mistake(`RuntimeError: where needs True and False, not ${condition.dtype}`);
  return t.zip([condition, asTensor(x), asTensor(y)], commonKind([x, y]), (c, p, q) => (c ? p : q), "where");
}
function maskedFill(x, mask, value) {
  if (mask.dtype !== "bool")
    throw new Mistake(`RuntimeError: masked_fill needs a mask of True and False, not ${mask.dtype}`);
  if (value instanceof Tensor && value.shape.length) throw new Mistake("RuntimeError: masked_fill writes one number");
  const number = value instanceof Tensor ? numbersOf(value)[0] : numberOf(value);
  if (isWhole(x) && (!Number.isInteger(number) || (x.dtype === "bool" && number !== 0 && number !== 1)))
    throw new Unknown(`${number} among numbers of the kind ${x.dtype}`);
  return t.zip([x, mask], x.dtype, (one, hidden) => (hidden ? number : one), "masked_fill");
}
function oneHot(x, classes) {
  if (x.dtype !== "int64") throw new Mistake("RuntimeError: one_hot needs whole numbers");
  const count = classes < 0 ? largest(numbersOf(x)) + 1 : classes;
  if (numbersOf(x).some((one) => one < 0 || one >= count))
    throw new Mistake(`RuntimeError: one_hot has ${count} classes, and a number is outside`);
  return t.cast(BINARY["=="](t.unsqueeze(x, -1), arange(BigInt(count), null, null, null)), "int64");
}
function nllLoss(x, target, reduction) {
  if (x.shape.length !== 2 || target.shape.length !== 1 || target.dtype !== "int64")
    throw new Unknown("a loss of these shapes");
  const [count, classes] = x.shape;
  const wanted = numbersOf(target);
  if (wanted.length !== count)
    throw new Mistake(`ValueError: ${count} rows of numbers and ${wanted.length} targets: a row needs one`);
  if (wanted.some((one) => one < 0 || one >= classes)) throw new Unknown("targets outside the classes");
  const losses = t.map(
    made(
      x.dtype,
      [count],
      numbersOf(x).filter((_, i) => i % classes === wanted[Math.floor(i / classes)]),
    ),
    (one) => -one,
  );
  if (reduction === "none") return losses;
  return { mean, sum }[reduction]?.(losses, null, false, null) ?? unknown(`reduction="${reduction}"`);
}
function layerNorm(x, shape, weight, bias, eps) {
  if (!shape.length) throw new Unknown("layer_norm over no axis");
  const dims = shape.map((_, i) => i - shape.length);
  if (dims.some((d, i) => x.shape[x.shape.length + d] !== shape[i]))
    throw new Mistake(`RuntimeError: layer_norm over ${t.shapeInWords(shape)} does not fit ${t.shapeInWords(x.shape)}`);
  const centred = BINARY["-"](x, mean(x, dims, true, null));
  const spread = BINARY["+"](variance(x, dims, true, 0), eps);
  const out = BINARY["/"](centred, t.map(spread, Math.sqrt));
  const scaled = weight ? BINARY["*"](out, weight) : out;
  return bias ? BINARY["+"](scaled, bias) : scaled;
}
function nanToNum(x, nan, posinf, neginf) {
  if (x.dtype !== "float32" && x.dtype !== "float64") return x;
  const most = x.dtype === "float32" ? 3.4028234663852886e38 : Number.MAX_VALUE;
  const instead = (one) => (one === Infinity ? (posinf ?? most) : one === -Infinity ? (neginf ?? -most) : one);
  return t.map(x, (one) => (Number.isNaN(one) ? (nan ?? 0) : instead(one)));
}
function clamp(x, min, max) {
  if (min instanceof Tensor || max instanceof Tensor) throw new Unknown("clamp between tensors");
  const [low, high] = [min, max].map((one) => (one === null ? null : numberOf(one)));
  const dtype = commonKind([x, min, max].filter((one) => one !== null));
  const inside = (one) => (low !== null && one < low ? low : one);
  return t.map(x, (one) => (high !== null && inside(one) > high ? high : inside(one)), dtype);
}
function dimensions(x, count, name) {
  if (x.shape.length !== count)
    throw new Mistake(
      `RuntimeError: ${name} needs ${count} ${count === 1 ? "axis" : "axes"}, and this tensor is ${t.shapeInWords(x.shape)}`,
    );
}
function product(name, ...counts) {
  return (a, b) => {
    [a, b].forEach((one, i) => dimensions(one, counts[i], name));
    if (name === "bmm" && a.shape[0] !== b.shape[0])
      throw new Mistake(`RuntimeError: bmm needs as many in each batch, not ${a.shape[0]} and ${b.shape[0]}`);
    if (name === "dot" && a.shape[0] !== b.shape[0])
      throw new Mistake(`RuntimeError: dot of ${a.shape[0]} and ${b.shape[0]} numbers`);
    return t.matmul(a, b);
  };
}
function outer(a, b) {
  [a, b].forEach((one) => dimensions(one, 1, "outer"));
  return BINARY["*"](t.unsqueeze(a, 1), b);
}
const item = (x) => {
  if (t.numelOf(x.shape) !== 1)
    throw new Mistake(`RuntimeError: a tensor of shape ${t.shapeInWords(x.shape)} is not one number`);
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

const unknown = (what) => {
  throw new Unknown(what);
};
const integer = (x) => {
  if (typeof x === "bigint") return Number(x);
  if (x instanceof Tensor && !x.shape.length && x.dtype === "int64") return numbersOf(x)[0];
  return unknown(`${kindOf(x)} in place of a whole number`);
};
const tensor = (x) => (x instanceof Tensor ? x : unknown(`${kindOf(x)} in place of a tensor`));
const READ = {
  t: tensor,
  o: (x) => (x === null || x instanceof Tensor ? x : unknown(`${kindOf(x)} in place of a tensor`)), // or none
  n: (x) => (x instanceof Tensor || isNumber(x) ? x : unknown(`${kindOf(x)} in place of a number`)),
  f: (x) => (x === null ? null : numberOf(x)),
  i: integer,
  J: (x) => (x === null ? null : integer(x)),
  I: (x) => (x === null ? null : typeof x === "bigint" || x instanceof Tensor ? integer(x) : sequence(x).map(integer)),
  L: (x) => (x === null ? null : typeof x === "bigint" ? [integer(x)] : sequence(x).map(integer)),
  S: (x) => sequence(x).map(integer),
  b: (x) => (typeof x === "boolean" ? x : unknown(`${kindOf(x)} in place of True or False`)),
  d: (x) => (x === null ? null : x instanceof Dtype ? x.name : (x?.dtype ?? unknown(`the dtype ${kindOf(x)}`))),
  l: (x) => {
    const list = listed(x).map(tensor);
    return list.length ? list : unknown("an empty list of tensors");
  },
  a: (x) => x,
};
const DEFAULTS = { None: null, True: true, False: false };
const parameter = (text) => {
  const [, star, name, kind, otherwise] = /^(\*?)(\w+):(\w)(?:=(\S+))?$/.exec(text);
  const value = otherwise in DEFAULTS ? DEFAULTS[otherwise] : /^-?\d+$/.test(otherwise) ? BigInt(otherwise) : otherwise;
  return { star, name, read: READ[kind], value };
};
const OLD_NAMES = { axis: "dim", keepdims: "keepdim" }; // which PyTorch takes from NumPy

const OVERLOADED = ["arange", "repeat_interleave", "where", "sum", "max", "min"]; // which have other forms too

/** A function of Python that takes its arguments by place or by name. */
function taking(name, words, work, isOfF = false) {
  const parameters = words.split(" ").filter(Boolean).map(parameter);
  return (positional, named = {}) => {
    const given = Object.fromEntries(Object.entries(named).map(([key, x]) => [(!isOfF && OLD_NAMES[key]) || key, x]));
    const values = parameters.map(({ star, name: own, read, value }, i) => {
      if (star) {
        const rest = own in given ? [given[own]] : positional.slice(i);
        delete given[own];
        const flat = rest.length === 1 && rest[0] instanceof Array ? rest[0] : rest;
        return flat.map(integer);
      }
      const x = i < positional.length ? positional[i] : (given[own] ?? (own in given ? null : value));
      if (i >= positional.length) delete given[own];
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

// name → [arguments, what it does]. t: a tensor, n: a number or a tensor, i: a whole number, I: or several or none …
// biome-ignore format: an operation a line
const BOTH = {
  softmax: ["input:t dim:i dtype:d=None", (x, dim, dtype) => shares(x, dim, dtype, "softmax", softmaxOf)],
  log_softmax: ["input:t dim:i dtype:d=None", (x, dim, dtype) => shares(x, dim, dtype, "log_softmax", logShares)],
  logsumexp: ["input:t dim:I keepdim:b=False", (x, dim, keepdim) => (filled(x, "logsumexp"), t.reduced(x, dim, keepdim, floating(x.dtype), logsumexp))],
  sum: ["input:t dim:I=None keepdim:b=False dtype:d=None", sum],
  mean: ["input:t dim:I=None keepdim:b=False dtype:d=None", mean],
  var: ["input:t dim:a=None unbiased:a=None keepdim:b=False correction:J=None", (x, d, u, keepdim, c) => { const [dim, less] = lessOne(d, u, c); return variance(x, READ.I(dim), keepdim, less); }],
  std: ["input:t dim:a=None unbiased:a=None keepdim:b=False correction:J=None", (x, d, u, keepdim, c) => { const [dim, less] = lessOne(d, u, c); return variance(x, READ.I(dim), keepdim, less, Math.sqrt); }],
  amax: ["input:t dim:I=None keepdim:b=False", (x, dim, keepdim) => (filled(x, "amax"), t.reduced(x, dim, keepdim, x.dtype, largest))],
  amin: ["input:t dim:I=None keepdim:b=False", (x, dim, keepdim) => (filled(x, "amin"), t.reduced(x, dim, keepdim, x.dtype, smallest))],
  max: ["input:t dim:a=None keepdim:b=False", best("max", largest)],
  min: ["input:t dim:a=None keepdim:b=False", best("min", smallest)],
  argmax: ["input:t dim:J=None keepdim:b=False", (x, dim, keepdim) => (filled(x, "argmax", false), places(x, dim, keepdim, largest))],
  argmin: ["input:t dim:J=None keepdim:b=False", (x, dim, keepdim) => (filled(x, "argmin", false), places(x, dim, keepdim, smallest))],
  any: ["input:t dim:I=None keepdim:b=False", (x, dim, keepdim) => t.reduced(x, dim, keepdim, "bool", (list) => (list.some(isOn) ? 1 : 0))],
  all: ["input:t dim:I=None keepdim:b=False", (x, dim, keepdim) => t.reduced(x, dim, keepdim, "bool", (list) => (list.every(isOn) ? 1 : 0))],
  cumsum: ["input:t dim:i dtype:d=None", (x, dim, dtype) => t.along(x, dim, wholeSum(x, dtype), (list) => { let so = 0; t.total(list); return list.map((one) => (so += one)); })],
  argsort: ["input:t dim:i=-1 descending:b=False", (x, dim, isDown) => (refuseTies(x, dim), t.along(x, dim, "int64", (list) => orderOf(list, isDown)))],
  tril: ["input:t diagonal:i=0", (x, k) => triangle(x, (i, j) => j - i <= k)],
  triu: ["input:t diagonal:i=0", (x, k) => triangle(x, (i, j) => j - i >= k)],
  diag: ["input:t diagonal:i=0", diag],
  diagonal: ["input:t offset:i=0 dim1:i=0 dim2:i=1", t.diagonal],
  transpose: ["input:t dim0:i dim1:i", t.transpose],
  swapaxes: ["input:t axis0:i axis1:i", t.transpose],
  swapdims: ["input:t dim0:i dim1:i", t.transpose],
  t: ["input:t", (x) => (x.shape.length > 2 ? dimensions(x, 2, "t()") : x.shape.length < 2 ? x : t.transpose(x, 0, 1))],
  unsqueeze: ["input:t dim:i", t.unsqueeze],
  squeeze: ["input:t dim:I=None", (x, dim) => t.squeeze(x, t.axesOf(x, dim))],
  flatten: ["input:t start_dim:i=0 end_dim:i=-1", t.flatten],
  roll: ["input:t shifts:L dims:L=None", roll],
  repeat_interleave: ["input:t repeats:n dim:J=None", repeatInterleave],
  split: ["input:t split_size_or_sections:I dim:i=0", (x, size, dim) => (Array.isArray(size) ? parts(x, size, dim) : pieces(x, size, dim))],
  chunk: ["input:t chunks:i dim:i=0", (x, count, dim) => pieces(x, Math.max(1, Math.ceil(x.shape[t.axisOf(dim, x.shape.length)] / count)), dim)],
  unbind: ["input:t dim:i=0", (x, dim) => Tuple.of(...Array.from({ length: x.shape[t.axisOf(dim, x.shape.length)] ?? unknown("unbind of a single number") }, (_, i) => t.select(x, dim, i)))],
  select: ["input:t dim:i index:i", t.select],
  matmul: ["input:t other:t", t.matmul],
  mm: ["input:t mat2:t", product("mm", 2, 2)],
  bmm: ["input:t mat2:t", product("bmm", 3, 3)],
  mv: ["input:t vec:t", product("mv", 2, 1)],
  dot: ["input:t tensor:t", product("dot", 1, 1)],
  outer: ["input:t vec2:t", outer],
  masked_fill: ["input:t mask:t value:n", maskedFill],
  nan_to_num: ["input:t nan:f=None posinf:f=None neginf:f=None", nanToNum],
  clamp: ["input:t min:a=None max:a=None", clamp],
  maximum: ["input:t other:t", maximum],
  minimum: ["input:t other:t", minimum],
  pow: ["input:n exponent:n", (x, y) => BINARY["**"](x, y)],
  logical_and: ["input:t other:t", (a, b) => t.zip([a, b], "bool", (x, y) => (x !== 0 && y !== 0 ? 1 : 0), "logical_and")],
  logical_or: ["input:t other:t", (a, b) => t.zip([a, b], "bool", (x, y) => (x !== 0 || y !== 0 ? 1 : 0), "logical_or")],
  clone: ["input:t", (x) => (x.isContiguous ? t.contiguous(x) : x)],
  detach: ["input:t", (x) => x],
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
for (const [name, entry] of Object.entries(TESTS))
  BOTH[name] = ["input:t", (x) => t.map(x, (one) => (entry(one) ? 1 : 0), "bool")];
for (const [name, sign] of Object.entries({
  mul: "*",
  multiply: "*",
  div: "/",
  divide: "/",
  true_divide: "/",
  eq: "==",
  ne: "!=",
  lt: "<",
  less: "<",
  le: "<=",
  gt: ">",
  greater: ">",
  ge: ">=",
}))
  BOTH[name] = ["input:t other:n", (a, b) => BINARY[sign](a, b)];
for (const [name, sign] of Object.entries({ add: "+", sub: "-", subtract: "-" }))
  BOTH[name] = [
    "input:t other:n alpha:a=1",
    (a, b, alpha) =>
      BINARY[sign](
        a,
        alpha === 1n ? b : commonKind([a, b]) === "bool" ? unknown("alpha of True and False") : BINARY["*"](b, alpha),
      ),
  ];
for (const [name, sign] of Object.entries({ neg: "-", negative: "-", bitwise_not: "~" }))
  BOTH[name] = ["input:t", (x) => UNARY[sign](x)];
BOTH.absolute = BOTH.abs;

// biome-ignore format: an operation a line
const OF_TORCH = {
  einsum: ["equation:a operands:a=None", null],
  cat: ["tensors:l dim:i=0", t.cat],
  stack: ["tensors:l dim:i=0", stack],
  vstack: ["tensors:l", (list) => t.cat(list.map((one) => (one.shape.length < 2 ? t.reshape(one, [1, -1]) : one)), 0)],
  tensor: ["data:a dtype:d=None", (x, dtype) => t.map(tensorOf(x, dtype), (one) => one)],
  as_tensor: ["data:a dtype:d=None device:a=None", (x, dtype) => tensorOf(x, dtype)],
  arange: ["start:n end:a=None step:a=None dtype:d=None device:a=None", arange],
  eye: ["n:i m:J=None dtype:d=None device:a=None", (n, m, dtype) => triangle(triangle(newOf([n, m ?? n], 1, dtype ?? settings.dtype), (i, j) => j <= i), (i, j) => j >= i)],
  full: ["size:S fill_value:a dtype:d=None device:a=None", (size, x, dtype) => newOf(size, numberOf(x), dtype ?? scalarKind(x))],
  zeros_like: ["input:t dtype:d=None", (x, dtype) => newOf(x.shape, 0, dtype ?? x.dtype, x)],
  ones_like: ["input:t dtype:d=None", (x, dtype) => newOf(x.shape, 1, dtype ?? x.dtype, x)],
  full_like: ["input:t fill_value:a dtype:d=None", (x, value, dtype) => newOf(x.shape, numberOf(value), dtype ?? x.dtype, x)],
  get_default_dtype: ["", () => Dtype.of(settings.dtype)],
};
OF_TORCH.concat = OF_TORCH.concatenate = OF_TORCH.cat;

// biome-ignore format: an operation a line
const OF_TENSORS = {
  view: ["input:t *size:i", t.view],
  expand: ["input:t *size:i", t.expand],
  repeat: ["input:t *repeats:i", repeat],
  size: ["input:t dim:J=None", sizeOf],
  dim: ["input:t", (x) => BigInt(x.shape.length)],
  item: ["input:t", item],
  tolist: ["input:t", asList],
  contiguous: ["input:t", (x) => (x.isContiguous ? x : t.contiguous(x))],
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
  relu: BOTH.relu,
  sigmoid: BOTH.sigmoid,
  tanh: BOTH.tanh,
  dropout: ["input:t p:f=0.5", (x, p) => (Number(p) ? unknown("dropout, which draws") : x)],
  one_hot: ["tensor:t num_classes:i=-1", oneHot],
  cross_entropy: ["input:t target:t weight:o=None reduction:a=mean", (x, target, weight, reduction) => weight || x.shape.length !== 2 ? unknown("a loss of these shapes") : nllLoss(shares(x, 1, null, "cross_entropy", logShares), target, reduction)],
  nll_loss: ["input:t target:t weight:o=None reduction:a=mean", (x, target, weight, reduction) => (weight ? unknown("weight") : nllLoss(x, target, reduction))],
  layer_norm: ["input:t normalized_shape:L weight:o=None bias:o=None eps:f=None", (x, shape, weight, bias, eps) => layerNorm(x, shape, weight, bias, eps ?? 1e-5)],
  linear: ["input:t weight:t bias:o=None", (x, weight, bias) => { const out = t.matmul(x, weight.shape.length > 1 ? t.transpose(weight, 0, 1) : weight); return bias ? BINARY["+"](out, bias) : out; }],
};

const ready = (table, isOfF = false) =>
  new Map(Object.entries(table).map(([name, [words, work]]) => [name, taking(name, words, work, isOfF)]));
const sized =
  (number) =>
  (positional, { dtype = null, size, device = null, ...named } = {}) => {
    if (Object.keys(named).length || device !== null)
      throw new Unknown(`the argument ${Object.keys(named)[0] ?? "device"}`);
    const sizes = size === undefined ? positional : [size];
    return newOf(
      (sizes.length === 1 && sizes[0] instanceof Array ? sizes[0] : sizes).map(integer),
      number,
      READ.d(dtype) ?? settings.dtype,
    );
  };

export const METHODS = ready({ ...BOTH, ...OF_TENSORS });
export const FUNCTIONS = new Map([
  ...ready({ ...BOTH, ...OF_TORCH }),
  ["ones", sized(1)],
  ["zeros", sized(0)],
  [
    "einsum",
    ([equation, ...operands]) => {
      if (typeof equation !== "string") throw new Unknown("einsum without its letters");
      return t.einsum(equation, READ.l(operands.length === 1 && operands[0] instanceof Array ? operands[0] : operands));
    },
  ],
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
  FUNCTIONS.set(name, (positional, named) =>
    positional.length > 2 ? unknown(`torch.${name} with its numbers one by one`) : work(positional, named),
  );
}
export const OF_FUNCTIONAL = ready(OF_F, true);

export const PROPERTIES = {
  T: (x) =>
    t.permute(
      x,
      x.shape.map((_, d) => x.shape.length - 1 - d),
    ),
  mT: (x) =>
    !x.shape.length
      ? unknown(".mT of a single number")
      : x.shape.length < 2
        ? dimensions(x, 2, ".mT")
        : t.transpose(x, -1, -2),
  shape: (x) => sizeOf(x, null),
  ndim: (x) => BigInt(x.shape.length),
  dtype: (x) => Dtype.of(x.dtype),
  data: (x) => x,
  device: () => null,
  is_mps: () => false,
};

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
      if (Array.isArray(one) && one.some(Array.isArray) && !(key instanceof Tuple))
        throw new Unknown("an index of lists in a list");
      return one instanceof Array
        ? tensorOf(one.length ? one : unknown("an empty index"))
        : unknown(`${kindOf(one)} as an index`);
    }),
  );
}
