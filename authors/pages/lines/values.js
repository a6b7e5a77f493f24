// Python's values: None is null, whole numbers are BigInt, since 2 is not 2.0; True, strings and lists are JavaScript's.

import { Mistake, Tensor, Unknown } from "./tensor.js";

export const ELLIPSIS = Symbol("...");

export class Tuple extends Array {
  static named(fields, ...parts) {
    return Object.assign(Tuple.of(...parts), { fields });
  }
}

export class Slice {
  constructor(from, to, step) {
    Object.assign(this, { from, to, step });
  }
}

export class Dtype {
  static all = new Map();
  constructor(name) {
    this.name = name;
  }
  static of(name) {
    if (!Dtype.all.has(name)) Dtype.all.set(name, new Dtype(name));
    return Dtype.all.get(name);
  }
}

/** What has attributes only: a module of Python, or one of PyTorch's with its weights. */
export class Thing {
  constructor(name, attributes) {
    Object.assign(this, { name, attributes });
  }
}

export const isNumber = (x) => typeof x === "bigint" || typeof x === "number" || typeof x === "boolean";

export function kindOf(x) {
  if (x === null) return "None";
  if (x === ELLIPSIS) return "...";
  if (x instanceof Tensor) return "a tensor";
  if (x instanceof Once) return "an iterator";
  if (x instanceof Tuple) return "a tuple";
  if (Array.isArray(x)) return "a list";
  if (x instanceof Map) return "a dictionary";
  if (x instanceof Thing) return x.name;
  const kinds = { bigint: "a whole number", number: "a number", boolean: "True or False", string: "a text" };
  return kinds[typeof x] ?? (typeof x === "function" ? "a function" : "this");
}

export function numberOf(x) {
  if (!isNumber(x)) throw new Unknown(`${kindOf(x)} in place of a number`);
  return Number(x);
}

/** What is gone through once, as a generator or what `zip` gives: no list for PyTorch, and it has no places.
 *
 * It has no `return`, so that a loop which ends early leaves the rest, as in Python. */
export class Once {
  constructor(steps) {
    this.next = () => steps.next();
  }
  [Symbol.iterator]() {
    return this;
  }
}

/** The parts of a list or a tuple. */
export function listed(x) {
  if (x instanceof Once)
    throw new Mistake("TypeError: a list is needed here: write `[… for … in …]` with square brackets");
  if (typeof x === "string") throw new Unknown("a text in place of a list");
  return sequence(x);
}

/** The parts of what can be gone through. */
export function sequence(x) {
  if (Array.isArray(x) || typeof x === "string") return [...x];
  if (x instanceof Map) return [...x.keys()];
  if (isNumber(x) || x === null) throw new Mistake(`TypeError: ${kindOf(x)} has no parts to go through`);
  throw new Unknown(`the parts of ${kindOf(x)}`);
}
