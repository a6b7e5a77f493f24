// Tensors as a line needs them: a kind of numbers, a shape, and where the numbers lie, which `view` asks for.

import { KINDS, LARGEST_WHOLE, MOST_NUMBERS, MOST_STEPS } from "./limits.js";

/** Why a line cannot be tried here; only the notebook says what it gives. */
export class Unknown extends Error {}
/** Why Python stops at a line too, in words. */
export class Mistake extends Error {}
export const unknown = (what) => {
  throw new Unknown(what);
};
/** Stops as Python does where something is so. */
export const refuse = (isSo, ...words) => {
  if (isSo) throw new Mistake(words.join(": "));
};

let steps = 0;
let added = (x) => x; // how a sum so far is rounded
/** Begin to count what a line does; isSingle: sums are rounded at each step, as a slow float32 would. */
export function begin(isSingle) {
  steps = 0;
  added = isSingle ? Math.fround : (x) => x;
}

function spend(count) {
  steps += count;
  if (steps > MOST_STEPS) throw new Unknown("a line that takes so long or so much memory");
}

export const numelOf = (shape) => shape.reduce((a, b) => a * b, 1);
export const shapeInWords = (shape) => (shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`);
export const isFloat = (dtype) => dtype.startsWith("float");
const rank = (dtype) => KINDS.indexOf(dtype);
/** The dtype in which numbers of both kinds fit. */
export const promoted = (a, b) => (rank(a) > rank(b) ? a : b);

function rowMajor(shape) {
  const strides = new Array(shape.length);
  let step = 1;
  for (let d = shape.length - 1; d >= 0; d--) {
    strides[d] = step;
    step *= Math.max(shape[d], 1);
  }
  return strides;
}

function whole(x) {
  if (!Number.isFinite(x) || Math.abs(x) > LARGEST_WHOLE) throw new Unknown("a whole number as large as this");
  return Math.trunc(x) + 0;
}
const ROUND = { float32: Math.fround, float64: (x) => x, int64: whole, bool: (x) => (x === 0 ? 0 : 1) };

export class Tensor {
  constructor(dtype, shape, data, strides = rowMajor(shape), offset = 0) {
    Object.assign(this, { dtype, shape, data, strides, offset });
    this.layoutKnown = true; // whether PyTorch's is known to lie in memory as this one
  }
  get isContiguous() {
    if (!numelOf(this.shape)) return true;
    let step = 1;
    for (let d = this.shape.length - 1; d >= 0; d--) {
      if (this.shape[d] !== 1 && this.strides[d] !== step) return false;
      step *= this.shape[d];
    }
    return true;
  }
}

/** A new tensor of these numbers, rounded to their kind. */
export function newTensor(dtype, shape, numbers, layoutKnown = true) {
  const data = Float64Array.from(numbers, ROUND[dtype]);
  return Object.assign(new Tensor(dtype, shape, data), { layoutKnown });
}

/** A copy that lies in memory as the tensor does, as far as it is known. */
export function clone(tensor) {
  const { shape, strides, layoutKnown } = tensor;
  const isDense = strides.reduce((sum, stride, d) => sum + stride * (shape[d] - 1), 1) === numelOf(shape);
  const copy = isDense ? laidOut(tensor, strides) : contiguous(tensor);
  return Object.assign(copy, { layoutKnown: isDense && layoutKnown });
}

/** The same numbers, placed in memory as a tensor was that had these strides. */
export function laidOut(tensor, strides) {
  const size = strides.reduce((sum, stride, d) => sum + stride * (tensor.shape[d] - 1), 1);
  const places = numbersOf(new Tensor("int64", tensor.shape, Float64Array.from(Array(size).keys()), strides));
  const data = new Float64Array(size);
  numbersOf(tensor).forEach((x, i) => (data[places[i]] = x));
  return new Tensor(tensor.dtype, tensor.shape, data, strides);
}

function room(shape) {
  const count = numelOf(shape);
  if (count > MOST_NUMBERS) throw new Unknown(`a tensor of shape ${shapeInWords(shape)}`);
  spend(count);
  return count;
}

/** The same numbers in the same memory, under another shape. */
function viewOf(tensor, shape, strides, offset = tensor.offset) {
  const { dtype, data, layoutKnown } = tensor;
  return Object.assign(new Tensor(dtype, shape, data, strides, offset), { layoutKnown });
}

/** The numbers of a tensor in the order of its places. */
export function numbersOf(tensor) {
  const { shape, strides, data, offset } = tensor;
  const count = room(shape);
  if (tensor.isContiguous) return data.subarray(offset, offset + count);
  const out = new Float64Array(count);
  const at = shape.map(() => 0);
  let from = offset;
  for (let i = 0; i < count; i++) {
    out[i] = data[from];
    for (let d = shape.length - 1; d >= 0; d--) {
      from += strides[d];
      if (++at[d] < shape[d]) break;
      from -= strides[d] * shape[d];
      at[d] = 0;
    }
  }
  return out;
}

export const cast = (tensor, dtype) =>
  tensor.dtype === dtype ? tensor : newTensor(dtype, tensor.shape, numbersOf(tensor), areRowMajor(tensor));
/** Whether all of these lie in PyTorch's memory row by row. */
export const areRowMajor = (...tensors) => tensors.every((one) => one.layoutKnown && one.isContiguous);

/** Nested lists of the numbers, as tolist gives them. */
export function listOf(tensor, numbers = numbersOf(tensor), depth = 0, from = 0) {
  const size = numelOf(tensor.shape.slice(depth + 1));
  if (depth === tensor.shape.length) return tensor.dtype === "bool" ? numbers[from] === 1 : numbers[from];
  return Array.from({ length: tensor.shape[depth] }, (_, i) => listOf(tensor, numbers, depth + 1, from + i * size));
}

// --------------------------------------------------------------------------------------------------- writing in place

const ofTheLesson = new WeakSet();
const perhapsShared = new WeakSet(); // memory of which is not known whether PyTorch has a copy
/** What was made of a tensor, as a view or a copy: which of them PyTorch makes is known only with the layout. */
function unsure(tensor, made) {
  if (!tensor.layoutKnown) for (const one of [tensor, made]) perhapsShared.add(one.data);
  return made;
}
/** Marks a tensor or a list as one with which the notebook goes on, so that no line writes into it. */
export function keep(x) {
  if (x instanceof Tensor) ofTheLesson.add(x.data);
  else if (Array.isArray(x)) ofTheLesson.add(x);
  return x;
}
export function refuseLessons(memory) {
  if (ofTheLesson.has(memory)) throw new Unknown("a line that writes into what the notebook goes on with");
}
export const refuseWriting = () => unknown("writing into a tensor like this");
/** Where in memory each number of a tensor lies, as a tensor of its shape. */
export function placesIn({ shape, strides, offset, data }) {
  room([data.length]);
  return new Tensor("int64", shape, Float64Array.from(data.keys()), strides, offset);
}
/** Whether a tensor lies in the same memory as another, but not at these places of it. */
export const readsOtherwise = (a, b, places = placesIn(b)) =>
  a.data === b.data && String(numbersOf(placesIn(a))) !== String(numbersOf(places));

/** Writes a value, made as large as needed, to these places of a tensor's memory. */
export function write(tensor, places, value) {
  refuseLessons(tensor.data);
  const to = numbersOf(places);
  const isTwice = new Set(to).size < to.length;
  if (perhapsShared.has(tensor.data) || isTwice || readsOtherwise(value, tensor, places)) refuseWriting();
  const ones = value.shape.findIndex((size) => size !== 1); // in front, which fall away
  const plain = reshape(value, value.shape.slice(ones < 0 ? value.shape.length : ones));
  const round = ROUND[tensor.dtype];
  numbersOf(expand(plain, places.shape)).forEach((x, i) => (tensor.data[to[i]] = round(x)));
  return tensor;
}

// ------------------------------------------------------------------------------------------------------------ axes

/** An axis as counted from 0. */
export function axisOf(dim, count) {
  const many = Math.max(count, 1);
  if (!Number.isInteger(dim)) throw new Unknown(`an axis that is ${dim}`);
  if (dim < -many || dim >= many)
    throw new Mistake(`IndexError: there is no axis ${dim}, the tensor's axes are ${-many} to ${many - 1}`);
  return dim < 0 ? dim + many : dim;
}

export function permute(tensor, order) {
  const axes = order.map((dim) => axisOf(dim, tensor.shape.length));
  if (axes.length !== tensor.shape.length || new Set(axes).size !== axes.length)
    throw new Mistake(
      `RuntimeError: permute needs each of the ${tensor.shape.length} axes once, not ${shapeInWords(order)}`,
    );
  const { shape, strides } = tensor;
  return viewOf(
    tensor,
    axes.map((d) => shape[d]),
    axes.map((d) => strides[d]),
  );
}

export function transpose(tensor, a, b) {
  const order = tensor.shape.map((_, d) => d);
  const [one, other] = [axisOf(a, order.length), axisOf(b, order.length)];
  if (!order.length) return tensor;
  [order[one], order[other]] = [order[other], order[one]];
  return permute(tensor, order);
}

export function unsqueeze(tensor, dim) {
  const at = axisOf(dim, tensor.shape.length + 1);
  const put = (list, x) => [...list.slice(0, at), x, ...list.slice(at)];
  const step = at < tensor.shape.length ? tensor.shape[at] * tensor.strides[at] : 1;
  return viewOf(tensor, put(tensor.shape, 1), put(tensor.strides, step));
}

export function squeeze(tensor, dims) {
  const gone = dims.map((dim) => axisOf(dim, tensor.shape.length)).filter((d) => tensor.shape[d] === 1);
  const rest = (list) => list.filter((_, d) => !gone.includes(d));
  return viewOf(tensor, rest(tensor.shape), rest(tensor.strides));
}

export function expand(tensor, sizes) {
  const more = sizes.length - tensor.shape.length;
  const fail = () =>
    new Mistake(`RuntimeError: ${shapeInWords(tensor.shape)} cannot be expanded to ${shapeInWords(sizes)}`);
  if (more < 0) throw fail();
  const old = (d) => (d < more ? 1 : tensor.shape[d - more]);
  const shape = sizes.map((size, d) => (size === -1 && d >= more ? old(d) : size));
  if (shape.some((size, d) => size < 0 || (size !== old(d) && old(d) !== 1))) throw fail();
  const strides = shape.map((size, d) => (size === old(d) && d >= more ? tensor.strides[d - more] : 0));
  return viewOf(tensor, shape, strides);
}

function broadcast(shapes, what) {
  const length = Math.max(...shapes.map((shape) => shape.length));
  return Array.from({ length }, (_, i) => {
    const sizes = shapes.map((shape) => shape[i - length + shape.length] ?? 1);
    const size = sizes.find((one) => one !== 1) ?? 1;
    if (sizes.some((one) => one !== 1 && one !== size)) {
      const both = shapes.map(shapeInWords).join(" and ");
      throw new Mistake(
        `RuntimeError: the shapes ${both} do not fit in \`${what}\`: from the last size on, sizes must be equal or 1`,
      );
    }
    return size;
  });
}

/** A shape whose one −1 is worked out. */
function completed(sizes, count, name) {
  const fail = () => new Mistake(`RuntimeError: ${name} cannot make ${shapeInWords(sizes)} of ${count} numbers`);
  if (!sizes.every(Number.isInteger)) throw new Unknown(`a shape that is ${sizes}`);
  const rest = numelOf(sizes.filter((size) => size !== -1));
  const open = sizes.filter((size) => size === -1).length;
  if (open > 1 || sizes.some((size) => size < -1) || (open && (!rest || count % rest))) throw fail();
  const shape = sizes.map((size) => (size === -1 ? count / rest : size));
  if (numelOf(shape) !== count) throw fail();
  return shape;
}

/** The strides under which the same memory has another shape, or null where it would have to be copied. */
function viewStrides({ shape, strides }, wanted) {
  const sizes = [];
  const steps = [];
  shape.forEach((size, d) => {
    const last = sizes.length - 1;
    if (size === 1) return;
    if (last >= 0 && steps[last] === size * strides[d]) {
      sizes[last] *= size;
      steps[last] = strides[d];
    } else {
      sizes.push(size);
      steps.push(strides[d]);
    }
  });
  const result = new Array(wanted.length).fill(1);
  let d = wanted.length - 1;
  for (let chunk = sizes.length - 1; chunk >= 0; chunk--) {
    let [left, step] = [sizes[chunk], steps[chunk]];
    while (left > 1) {
      while (d >= 0 && wanted[d] === 1) d--;
      if (d < 0 || left % wanted[d]) return null;
      result[d] = step;
      step *= wanted[d];
      left /= wanted[d--];
    }
  }
  return result;
}

export function view(tensor, sizes) {
  const shape = completed(sizes, numelOf(tensor.shape), "view");
  if (!tensor.layoutKnown) throw new Unknown("`view` of what was computed from a turned tensor");
  if (tensor.isContiguous) return viewOf(tensor, shape, rowMajor(shape));
  const strides = viewStrides(tensor, shape);
  if (!strides)
    throw new Mistake(
      `RuntimeError: view cannot make ${shapeInWords(shape)} of this ${shapeInWords(tensor.shape)}: after a transpose ` +
        "its numbers lie in memory in another order; reshape copies them",
    );
  return viewOf(tensor, shape, strides);
}

export function reshape(tensor, sizes) {
  const shape = completed(sizes, numelOf(tensor.shape), "reshape");
  const strides = tensor.isContiguous ? rowMajor(shape) : viewStrides(tensor, shape);
  const out = strides
    ? viewOf(tensor, shape, strides)
    : newTensor(tensor.dtype, shape, numbersOf(tensor), tensor.layoutKnown);
  return unsure(tensor, out);
}

export const contiguous = (tensor) => newTensor(tensor.dtype, tensor.shape, numbersOf(tensor));
/** The tensor, or where its numbers lie otherwise a copy. */
export const inOrder = (tensor) => unsure(tensor, tensor.isContiguous ? tensor : contiguous(tensor));

export function flatten(tensor, from, to) {
  const { shape } = tensor;
  if (!shape.length && [from, to].some((one) => one < -1 || one > 0))
    throw new Mistake(`IndexError: there are no such axes`);
  if (!shape.length) return reshape(tensor, [1]);
  const [a, b] = [axisOf(from, shape.length), axisOf(to, shape.length)];
  if (a > b) throw new Mistake("RuntimeError: flatten ends before it begins");
  return reshape(tensor, [...shape.slice(0, a), numelOf(shape.slice(a, b + 1)), ...shape.slice(b + 1)]);
}

/** Part of one axis: so many places from `first` on, each `step` after the one before. */
export function narrow(tensor, d, first, count, step = 1) {
  const put = (list, x) => list.map((one, i) => (i === d ? x : one));
  const offset = tensor.offset + first * tensor.strides[d];
  return viewOf(tensor, put(tensor.shape, count), put(tensor.strides, step * tensor.strides[d]), offset);
}

export function select(tensor, dim, index) {
  if (!tensor.shape.length) throw new Mistake("IndexError: a tensor with one number has no axis to index");
  const d = axisOf(dim, tensor.shape.length);
  const size = tensor.shape[d];
  if (index < -size || index >= size)
    throw new Mistake(`IndexError: index ${index} is out of bounds for axis ${d} of ${shapeInWords(tensor.shape)}`);
  const cut = narrow(tensor, d, index < 0 ? index + size : index, 1);
  const rest = (list) => list.filter((_, i) => i !== d);
  return viewOf(tensor, rest(cut.shape), rest(cut.strides), cut.offset);
}

export function diagonal(tensor, offset = 0, dim1 = 0, dim2 = 1) {
  const count = tensor.shape.length;
  const [a, b] = [axisOf(dim1, count), axisOf(dim2, count)];
  if (count < 2 || a === b) throw new Mistake("RuntimeError: diagonal needs two different axes");
  const [rows, columns] = [tensor.shape[a], tensor.shape[b]];
  const length = Math.max(0, offset >= 0 ? Math.min(rows, columns - offset) : Math.min(rows + offset, columns));
  const first = !length ? 0 : offset >= 0 ? offset * tensor.strides[b] : -offset * tensor.strides[a];
  const rest = (list, x) => [...list.filter((_, d) => d !== a && d !== b), x];
  const { shape, strides } = tensor;
  return viewOf(tensor, rest(shape, length), rest(strides, strides[a] + strides[b]), tensor.offset + first);
}

// --------------------------------------------------------------------------------------------------------- indexing

const isPlace = (x) => typeof x === "number" && Number.isInteger(x);

function sliced(tensor, d, { from, to, step }) {
  const size = tensor.shape[d];
  if (step !== null && step < 1) throw new Mistake("ValueError: the step of a slice must be greater than 0");
  const at = (x, otherwise) => Math.min(size, Math.max(0, x === null ? otherwise : x < 0 ? x + size : x));
  const [first, last, by] = [at(from, 0), at(to, size), step ?? 1];
  return narrow(tensor, d, Math.min(first, size), Math.max(0, Math.ceil((last - first) / by)), by);
}

/** What `tensor[items]` is: items are whole numbers, slices, null, "..." and tensors. */
export function index(tensor, items) {
  const uses = (item) => (item === null || item === "..." ? 0 : item.dtype === "bool" ? item.shape.length : 1);
  const used = items.reduce((count, item) => count + uses(item), 0);
  if (used > tensor.shape.length)
    throw new Mistake(
      `IndexError: ${used} indices for ${shapeInWords(tensor.shape)}, which has ${tensor.shape.length} axes`,
    );
  if (items.filter((item) => item === "...").length > 1)
    throw new Mistake("IndexError: only one ... may stand in an index");
  const places = new Map(); // axis of the result so far → tensor of places in it
  let d = 0;
  let out = tensor;
  for (const item of items) {
    if (item === null) out = unsqueeze(out, d++);
    else if (item === "...") d += tensor.shape.length - used;
    else if (item instanceof Tensor && (item.shape.length || item.dtype === "bool")) {
      for (const one of placesOf(out, d, item)) places.set(d++, one);
    } else if (item instanceof Tensor || isPlace(item)) {
      if (isFloat(item.dtype ?? "")) throw floatIndex();
      out = select(out, d, item instanceof Tensor ? numbersOf(item)[0] : item);
    } else out = sliced(out, d++, item);
  }
  return places.size ? gathered(out, places) : out;
}

const floatIndex = () => new Mistake("IndexError: tensors used as indices must hold whole numbers or True and False");

function placesOf(tensor, d, item) {
  if (isFloat(item.dtype)) throw floatIndex();
  if (item.dtype !== "bool") return [item];
  if (!item.shape.length) throw new Unknown("an index that is one True or False");
  item.shape.forEach((size, k) => {
    if (size !== tensor.shape[d + k])
      throw new Mistake(
        `IndexError: the shape of the mask ${shapeInWords(item.shape)} does not fit ${shapeInWords(tensor.shape)}`,
      );
  });
  return nonzero(item);
}

/** For each axis the places of what is not 0. */
export function nonzero(tensor) {
  const steps = rowMajor(tensor.shape);
  const there = [...numbersOf(tensor)].flatMap((x, i) => (x === 0 ? [] : [i]));
  return tensor.shape.map((size, d) =>
    newTensor(
      "int64",
      [there.length],
      there.map((i) => Math.floor(i / steps[d]) % size),
    ),
  );
}

/** The numbers at places of some axes: axis → tensor of places. */
function gathered(tensor, places) {
  const axes = [...places.keys()];
  const shape = broadcast(
    [...places.values()].map((one) => one.shape),
    "[ ]",
  );
  const lists = [...places.values()].map((one) => numbersOf(expand(one, shape)));
  const sizes = axes.map((d) => tensor.shape[d]);
  lists.forEach((list, k) => {
    const outside = list.find((x) => x < -sizes[k] || x >= sizes[k]);
    refuse(
      outside !== undefined,
      "IndexError",
      `index ${outside} is out of bounds for axis ${axes[k]} of ${shapeInWords(tensor.shape)}`,
    );
  });
  const others = tensor.shape.map((_, d) => d).filter((d) => !places.has(d));
  const rest = others.map((d) => tensor.shape[d]);
  const length = numelOf(rest);
  const rows = numbersOf(permute(tensor, [...axes, ...others]));
  const out = new Float64Array(room([...shape, ...rest]));
  for (let i = 0; i < numelOf(shape); i++) {
    const row = lists.reduce((at, list, k) => at * sizes[k] + (list[i] < 0 ? list[i] + sizes[k] : list[i]), 0);
    out.set(rows.subarray(row * length, (row + 1) * length), i * length);
  }
  // Places beside each other stay where they were, others come first.
  const front = axes.every((d, i) => !i || d === axes[i - 1] + 1) ? axes[0] : 0;
  const order = rest.map((_, i) => shape.length + i);
  order.splice(front, 0, ...shape.keys());
  const turned = permute(new Tensor(tensor.dtype, [...shape, ...rest], out), order);
  return newTensor(tensor.dtype, turned.shape, numbersOf(turned), front === 0 && areRowMajor(tensor));
}

// ------------------------------------------------------------------------------------------------------- arithmetic

export const map = (tensor, entry, dtype = tensor.dtype) =>
  newTensor(dtype, tensor.shape, numbersOf(tensor).map(entry), areRowMajor(tensor));

/** Entry by entry of tensors that are made as large as each other. */
export function zip(tensors, dtype, entry, what) {
  const shape = broadcast(
    tensors.map((one) => one.shape),
    what,
  );
  const count = room(shape);
  const lists = tensors.map((one) => numbersOf(expand(one, shape)));
  const out = new Float64Array(count);
  for (let i = 0; i < count; i++) out[i] = entry(lists[0][i], lists[1][i], lists[2]?.[i]);
  return newTensor(dtype, shape, out, areRowMajor(...tensors));
}

export function axesOf(tensor, dim) {
  if (dim === null || (Array.isArray(dim) && !dim.length)) return tensor.shape.map((_, d) => d);
  const axes = [dim].flat().map((one) => axisOf(one, tensor.shape.length));
  if (new Set(axes).size !== axes.length) throw new Mistake("RuntimeError: an axis stands in dim twice");
  return axes.filter((d) => d < tensor.shape.length);
}

/** Each line along the axes to one number. */
export function reduced(tensor, dim, keepdim, dtype, entry) {
  const axes = axesOf(tensor, dim);
  const rest = tensor.shape.map((_, d) => d).filter((d) => !axes.includes(d));
  const numbers = numbersOf(permute(tensor, [...rest, ...axes]));
  const length = numelOf(axes.map((d) => tensor.shape[d]));
  const shape = rest.map((d) => tensor.shape[d]);
  const part = (_, i) => entry(numbers.subarray(i * length, (i + 1) * length));
  const out = Float64Array.from({ length: numelOf(shape) }, part);
  const full = keepdim ? tensor.shape.map((size, d) => (axes.includes(d) ? 1 : size)) : shape;
  return newTensor(dtype, full, out, areRowMajor(tensor));
}

/** Each line along one axis to a line as long. */
export function along(tensor, dim, dtype, entry) {
  if (!tensor.shape.length) return reshape(along(reshape(tensor, [1]), axisOf(dim, 0), dtype, entry), []);
  const d = axisOf(dim, tensor.shape.length);
  const turned = transpose(tensor, d, -1);
  const numbers = numbersOf(turned);
  const out = new Float64Array(numbers.length);
  for (let i = 0, length = tensor.shape[d]; i < numbers.length; i += length)
    out.set(entry(numbers.subarray(i, i + length)), i);
  const back = transpose(new Tensor(dtype, turned.shape, out), d, -1);
  return newTensor(dtype, tensor.shape, numbersOf(back), areRowMajor(tensor));
}

export const total = (numbers) => numbers.reduce((sum, x) => added(sum + x), 0);

export function matmul(a, b) {
  if (!a.shape.length || !b.shape.length) throw new Mistake("RuntimeError: `@` multiplies no single numbers: use `*`");
  const [left, right] = [a.shape.length === 1 ? unsqueeze(a, 0) : a, b.shape.length === 1 ? unsqueeze(b, 1) : b];
  const [rows, inner] = left.shape.slice(-2);
  const [height, columns] = right.shape.slice(-2);
  if (inner !== height) {
    const both = `${shapeInWords(a.shape)} and ${shapeInWords(b.shape)}`;
    const sizes = `the last size of the left is ${inner}, the ${b.shape.length > 1 ? "last but one" : "size"} of the right ${height}`;
    throw new Mistake(`RuntimeError: ${both} cannot be multiplied by \`@\`: ${sizes}`);
  }
  if (a.dtype !== b.dtype)
    throw new Mistake(`RuntimeError: \`@\` needs two tensors of one dtype, not ${a.dtype} and ${b.dtype}`);
  if (a.dtype === "bool") throw new Unknown("`@` of True and False");
  const batch = broadcast([left.shape.slice(0, -2), right.shape.slice(0, -2)], "@");
  const many = numelOf(batch);
  spend(many * rows * columns * Math.max(inner, 1));
  const x = numbersOf(expand(left, [...batch, rows, inner]));
  const y = numbersOf(transpose(expand(right, [...batch, inner, columns]), -1, -2));
  const out = new Float64Array(many * rows * columns);
  for (let n = 0, at = 0; n < many; n++)
    for (let i = 0; i < rows; i++)
      for (let j = 0; j < columns; j++, at++) {
        const [p, q] = [(n * rows + i) * inner, (n * columns + j) * inner];
        let sum = 0;
        for (let k = 0; k < inner; k++) sum = added(sum + x[p + k] * y[q + k]);
        out[at] = sum;
      }
  const shape = [...batch, ...(a.shape.length > 1 ? [rows] : []), ...(b.shape.length > 1 ? [columns] : [])];
  return newTensor(a.dtype, shape, out, a.shape.length >= b.shape.length);
}

/** Sums of products as the letters say. */
export function einsum(equation, tensors) {
  const [inputs, output] = equation.replace(/\s/g, "").split("->");
  const terms = inputs.split(",");
  if (!/^[A-Za-z,]*$/.test(inputs) || !/^[A-Za-z]*$/.test(output ?? "")) throw new Unknown(`einsum of "${equation}"`);
  if (terms.length !== tensors.length || new Set(output).size !== (output ?? "").length)
    throw new Mistake(`RuntimeError: einsum "${equation}" is not for ${tensors.length} tensors`);
  const sizes = {};
  terms.forEach((term, t) => {
    const { shape } = tensors[t];
    if (term.length !== shape.length)
      throw new Mistake(
        `RuntimeError: einsum's "${term}" has ${term.length} letters, the tensor the shape ${shapeInWords(shape)}`,
      );
    [...term].forEach((letter, d) => {
      if (shape[term.indexOf(letter)] !== shape[d])
        throw new Mistake(`RuntimeError: in einsum "${term}" has two sizes for ${letter}`);
      const before = sizes[letter];
      if (before !== undefined && before !== shape[d] && before !== 1 && shape[d] !== 1)
        throw new Mistake(`RuntimeError: in einsum "${letter}" is ${before} and ${shape[d]}`);
      sizes[letter] = Math.max(before ?? 1, shape[d]);
    });
  });
  if (tensors.some((one) => one.shape.includes(0))) throw new Unknown("einsum of nothing");
  const once = Object.keys(sizes)
    .filter((letter) => inputs.split(letter).length === 2)
    .sort();
  const outputs = output === undefined ? once : [...output];
  if (outputs.some((letter) => !(letter in sizes)))
    throw new Mistake(`RuntimeError: einsum "${equation}" makes a letter of nothing`);
  const letters = [...outputs, ...Object.keys(sizes).filter((letter) => !outputs.includes(letter))];
  const full = letters.map((letter) => sizes[letter]);
  const length = numelOf(full.slice(outputs.length));
  spend(numelOf(full) * tensors.length);
  const lists = terms.map((term, t) => {
    const { shape, strides, data, offset } = tensors[t];
    const steps = letters.map((letter) =>
      [...term].reduce((sum, one, d) => sum + (one === letter && shape[d] > 1 ? strides[d] : 0), 0),
    );
    return numbersOf(new Tensor("float64", full, data, steps, offset));
  });
  const shape = outputs.map((letter) => sizes[letter]);
  const out = Float64Array.from({ length: numelOf(shape) }, (_, i) =>
    total(
      lists[0]
        .subarray(i * length, (i + 1) * length)
        .map((x, k) => lists.reduce((product, list, t) => (t ? product * list[i * length + k] : x), x)),
    ),
  );
  const [{ dtype }] = tensors;
  if (dtype === "bool" || tensors.some((one) => one.dtype !== dtype)) throw new Unknown("einsum of such dtypes");
  return newTensor(dtype, shape, out, false);
}

export function cat(tensors, dim) {
  const full = tensors.filter((one) => one.shape.length !== 1 || one.shape[0]); // an empty one of old fits everywhere
  const [{ shape }] = full.length ? full : tensors;
  if (!shape.length) throw new Mistake("RuntimeError: single numbers cannot be concatenated: stack them");
  const d = axisOf(dim, shape.length);
  for (const one of full)
    if (one.shape.length !== shape.length || one.shape.some((size, i) => i !== d && size !== shape[i])) {
      const both = `${shapeInWords(shape)} and ${shapeInWords(one.shape)}`;
      throw new Mistake(
        `RuntimeError: the shapes ${both} do not fit in \`cat\` along axis ${d}: their other sizes must be equal`,
      );
    }
  const dtype = tensors.map((one) => one.dtype).reduce(promoted);
  const after = numelOf(shape.slice(d + 1));
  const lists = (full.length ? full : tensors).map((one) => [numbersOf(one), one.shape[d] * after]);
  const all = shape.map((size, i) => (i === d ? full.reduce((sum, one) => sum + one.shape[d], 0) : size));
  const out = new Float64Array(room(all));
  for (let i = 0, at = 0; i < numelOf(shape.slice(0, d)); i++)
    for (const [numbers, length] of lists) {
      out.set(numbers.subarray(i * length, (i + 1) * length), at);
      at += length;
    }
  return newTensor(dtype, all, out, areRowMajor(...tensors));
}
