// A line of Python, parsed by @lezer/python and worked out: what learners write in one, and the course's own functions.

import { parser } from "@lezer/python";
import { DEEPEST, MOST_CALLS } from "./limits.js";
import { begin, Mistake, numbersOf, numelOf, refuse, refuseLessons, select, Tensor, Unknown } from "./tensor.js";
import {
  BINARY,
  FUNCTIONS,
  fromTensor,
  indexed,
  METHODS,
  OF_FUNCTIONAL,
  overwrite,
  PROPERTIES,
  UNARY,
  writeAt,
} from "./torch.js";
import { Dtype, ELLIPSIS, isNumber, kindOf, numberOf, Once, Slice, sequence, Thing, Tuple } from "./values.js";

/** What cannot be read as Python: a reason, and from where to where. */
export class Unreadable extends Error {
  constructor(message, from, to = from) {
    super(message);
    Object.assign(this, { from, to });
  }
}

const text = (source, node) => source.slice(node.from, node.to);
function children(node) {
  const nodes = [];
  for (let child = node.firstChild; child; child = child.nextSibling) if (child.name !== "Comment") nodes.push(child);
  return nodes;
}
const parts = (node) => children(node).filter(({ name }) => !/^[()[\],:.]$/.test(name));

// ------------------------------------------------------------------------------------------------- reading a line

const CLOSING = { "(": ")", "[": "]", "{": "}" };
const TYPED = {
  "“": '"',
  "”": '"',
  "‘": "'",
  "’": "'",
  "–": "-",
  "−": "-",
  "×": "*",
  "·": "*",
  "÷": "/",
  "…": "...",
  "≤": "<=",
  "≥": ">=",
  "≠": "!=",
};

/** Where brackets do not pair, in words, or null. */
function unpaired(source) {
  const open = [];
  const plain = source.replace(/("|')(?:\\.|(?!\1).)*\1|#.*/g, (hidden) => " ".repeat(hidden.length));
  for (const [i, sign] of [...plain].entries()) {
    if (sign in CLOSING) open.push([sign, i]);
    else if (Object.values(CLOSING).includes(sign)) {
      const [last, at] = open.pop() ?? [];
      if (!last) return [`this \`${sign}\` closes nothing: no bracket is open before it`, i];
      if (CLOSING[last] !== sign)
        return [`this \`${sign}\` closes the \`${last}\` of place ${at + 1}, which needs \`${CLOSING[last]}\``, i];
    }
  }
  const [last, at] = open.pop() ?? [];
  return last ? [`this \`${last}\` is never closed: a \`${CLOSING[last]}\` is missing behind it`, at] : null;
}

/** What is said of a sign that a keyboard puts in the place of Python's, and where it stands. */
function typedReason(source, at) {
  const signs = { "×": "`*`, or `@` for matrices", "·": "`*`, or `@` for matrices" };
  return [`\`${source[at]}\` is no sign of Python: write ${signs[source[at]] ?? `\`${TYPED[source[at]]}\``}`, at];
}

function reasonFor(source, node) {
  const sign = [...source].findIndex((one) => one in TYPED);
  if (sign >= 0) return typedReason(source, sign);
  const brackets = unpaired(source);
  if (brackets) return brackets;
  const before = source.slice(0, node.from).trimEnd();
  const after = source.slice(node.from).trimStart();
  if (!after || after.startsWith("\n"))
    return [`something is missing behind \`${before.split(/\s+/).pop() ?? ""}\``, before.length];
  if (/[\w)\]]$/.test(before) && /^[\w(]/.test(after))
    return [
      `between \`${/[\w.]+\)?\]?$|.$/.exec(before)[0]}\` and \`${/^[\w.]+|^./.exec(after)[0]}\` a sign is missing, as \`*\`, \`@\` or \`,\``,
      node.from,
    ];
  if (before.endsWith("...")) return ["`...` stands where your line goes: write it in its place", before.length - 3];
  const pasted = /^(>>>|```)/.exec(after);
  if (pasted) return [`\`${pasted[0]}\` is no part of the line: leave it out`, node.from];
  const isStarred = /[,=]$/.test(before) && after.startsWith("*"); // as in `a, *b`
  if (/[-+*/@&|=,<>]$/.test(before) && !isStarred)
    return [`behind \`${before.at(-1)}\` a value is missing`, before.length];
  throw new Unknown(`\`${/^\S+/.exec(after)[0]}\` where it stands`); // a grammar may know less than Python
}

/** A line as the grammar takes it, which does not know `1.` as a number. */
export const readable = (source) =>
  source.replace(/(^|[^\w.])(\d[\d_]*)\.(?![\w.])/g, "$1$2.0").replace(/(^|[^\w.])(\d+)\.(?=e[-+\d])/gi, "$1$2.0");

/** The tree of a line; raises Unreadable, which says where and why. */
export function parsed(source) {
  const strange = /^\s*[%!?]/m.exec(source);
  if (strange) throw new Unknown(`\`${strange[0].trim()}\`, a command to the notebook,`);
  const tree = parser.parse(source);
  let first = null;
  tree.iterate({
    enter(node) {
      if (node.type.isError && !first) first = node.node;
    },
  });
  if (first) throw new Unreadable(...reasonFor(source, first));
  return tree.topNode;
}

// ------------------------------------------------------------------------------------------------- Python's own

const whole = (x, name) =>
  typeof x === "bigint" ? x : typeof x === "boolean" ? BigInt(x) : fail(`${name} needs a whole number`);
const fail = (words) => {
  throw new Unknown(words);
};
const math = { pi: Math.PI, e: Math.E, inf: Infinity, nan: NaN };
for (const name of ["sqrt", "exp", "sin", "cos", "tan", "tanh", "log2"])
  math[name] = ([x]) => {
    const number = single(x);
    const out = Math[name](number);
    refuse(Math.abs(out) === Infinity && Number.isFinite(number), "OverflowError", "math range error");
    if (Number.isNaN(out) && !Number.isNaN(number)) throw new Mistake(`ValueError: math.${name} is not for ${number}`);
    return out;
  };
math.log = ([x, base]) => {
  if (single(x) <= 0) throw new Mistake("ValueError: math.log is for numbers above 0");
  return Math.log(single(x)) / (base === undefined ? 1 : Math.log(single(base)));
};
const single = (x) => (x instanceof Tensor && numelOf(x.shape) === 1 ? numbersOf(x)[0] : numberOf(x));
const chosen =
  (name, isBetter) =>
  (given, { default: otherwise, ...named } = {}) => {
    if (Object.keys(named).length) throw new Unknown(`${name} with a key`);
    const list = given.length === 1 ? iterated(given[0]) : given;
    if (!list.length) return otherwise ?? fail(`${name} of nothing`);
    return list.reduce((a, b) => (isTrue(operate(isBetter, b, a)) ? b : a));
  };
const positive = (x) => (x < 0 ? -x : x);
const BUILTINS = {
  len: ([x]) => {
    if (x instanceof Once)
      throw new Mistake("TypeError: what is gone through once has no length: make a list of it, `list(…)`");
    return BigInt(x instanceof Tensor ? (x.shape[0] ?? fail("len of a single number")) : sequence(x).length);
  },
  range: (given) => {
    const [from, to, by] = given.length > 1 ? given : [0n, given[0]];
    const out = [];
    const [first, last, step] = [from, to, by ?? 1n].map((x) => whole(x, "range"));
    for (let i = first; step > 0n ? i < last : i > last; i += step || fail("range by 0"))
      out.push(i) > MOST_CALLS && fail("so long a range");
    return out;
  },
  sum: ([x, start = 0n], named = {}) => iterated(x).reduce((a, b) => operate("+", a, b), named.start ?? start),
  max: chosen("max", ">"),
  min: chosen("min", "<"),
  abs: ([x]) =>
    x instanceof Tensor
      ? METHODS.get("abs")([x])
      : isNumber(x)
        ? positive(typeof x === "boolean" ? BigInt(x) : x)
        : fail(`abs of ${kindOf(x)}`),
  float: ([x]) =>
    typeof x === "string"
      ? /^-?inf$/.test(x)
        ? Number(x.replace("inf", "Infinity"))
        : Number.isNaN(Number(x))
          ? fail(`\`float("${x}")\``)
          : Number(x)
      : single(x),
  int: ([x]) =>
    typeof x === "bigint" ? x : Number.isFinite(single(x)) ? BigInt(Math.trunc(single(x))) : fail("int of this"),
  bool: ([x]) => isTrue(x),
  list: ([x = []]) => iterated(x),
  tuple: ([x = []]) => Tuple.from(iterated(x)),
  zip: (lists, { strict } = {}) => new Once(zipped(lists.map(stepsOf), strict)),
  enumerate: ([x, start = 0n], named = {}) => new Once(counted(stepsOf(x), named.start ?? start)),
  reversed: ([x]) => {
    if (x instanceof Once)
      throw new Mistake("TypeError: what is gone through once has no end to begin at: make a list of it, `list(…)`");
    return new Once(iterated(x).reverse().values());
  },
  next: ([x, ...otherwise]) => {
    if (!(x instanceof Once)) throw new Mistake(`TypeError: ${kindOf(x)} is no iterator: \`next\` is not for it`);
    const { done, value } = x.next();
    if (done && !otherwise.length) throw new Mistake("StopIteration: nothing is left to go through");
    return done ? otherwise[0] : value;
  },
  all: ([x]) => !holdsSome(x, (one) => !isTrue(one)),
  any: ([x]) => holdsSome(x, isTrue),
  pow: ([x, y, ...more]) => (more.length ? fail("pow of three numbers") : operate("**", x, y)),
  print: () => null,
};
/** Names of Python itself that are not tried here: no line is told that they are not defined. */
const NOT_TRIED =
  "round sorted map filter str dict set type isinstance divmod slice iter repr getattr hasattr eval exec id globals locals vars input open format chr ord complex callable issubclass object super bytes frozenset hash dir help setattr display get_ipython".split(
    " ",
  );
Object.assign(BUILTINS.bool, { dtype: "bool" });
Object.assign(BUILTINS.int, { dtype: "int64" });
Object.assign(BUILTINS.float, { dtype: "float64" });
const functional = new Thing("F", OF_FUNCTIONAL);
const torch = new Thing(
  "torch",
  new Map([
    ...FUNCTIONS,
    ["nn", new Thing("torch.nn", new Map([["functional", functional]]))],
    ["Tensor", new Thing("torch.Tensor", METHODS)],
  ]),
);
export const MODULES = {
  torch,
  math: new Thing("math", new Map(Object.entries(math))),
  "torch.nn.functional": functional,
  "torch.nn": torch.attributes.get("nn"),
};

/** All parts at once; an iterator is used up. */
const iterated = (x) => [...gone(x)];

/** The parts to go through, of an iterator one by one, as far as it is asked. */
function gone(x) {
  if (x instanceof Once) return x;
  if (!(x instanceof Tensor)) return sequence(x);
  if (!x.shape.length) throw new Mistake("TypeError: a tensor with one number has no parts to go through");
  return Array.from({ length: x.shape[0] }, (_, i) => select(x, 0, i));
}
const stepsOf = (x) => gone(x)[Symbol.iterator]();

function* zipped(all, isStrict) {
  while (all.length) {
    const row = [];
    for (const steps of all) {
      const { done, value } = steps.next();
      if (!done) row.push(value);
      else if (isStrict && (row.length || all.slice(1).some((one) => !one.next().done)))
        throw new Mistake("ValueError: zip's lists are not equally long");
      else return;
    }
    yield Tuple.from(row);
  }
}

function* counted(steps, start) {
  let i = whole(start, "enumerate");
  for (let step = steps.next(); !step.done; step = steps.next()) yield Tuple.of(i++, step.value);
}

/** Whether a part is such a one; the first that is ends the way through an iterator. */
function holdsSome(x, isOne) {
  for (const one of gone(x)) if (isOne(one)) return true;
  return false;
}

function isTrue(x) {
  if (x instanceof Tensor) {
    if (numelOf(x.shape) !== 1)
      throw new Mistake(
        "RuntimeError: a tensor of several numbers is neither True nor False: say `.any()` or `.all()`, or use `&`, `|`, `~`",
      );
    return numbersOf(x)[0] !== 0;
  }
  if (Array.isArray(x) || typeof x === "string") return x.length > 0;
  return isNumber(x) ? Boolean(x) : x !== null;
}

const ARITHMETIC = {
  "+": (x, y) => x + y,
  "-": (x, y) => x - y,
  "*": (x, y) => x * y,
  "//": (x, y) => (typeof x === "bigint" ? (x - modulo(x, y)) / y : Math.floor(x / y)),
  "%": (x, y) => modulo(x, y),
  "&": (x, y) => x & y,
  "|": (x, y) => x | y,
  "^": (x, y) => x ^ y,
};
function modulo(x, y) {
  const rest = x % y;
  return rest && rest < 0 !== y < 0 ? rest + y : rest; // has y's sign
}
const ORDER = { "<": (x, y) => x < y, "<=": (x, y) => x <= y, ">": (x, y) => x > y, ">=": (x, y) => x >= y };

function numbers(sign, a, b) {
  if (sign in ORDER) return ORDER[sign](a, b);
  const flags = typeof a === "boolean" && typeof b === "boolean";
  const [x, y] = [a, b].map((one) => (typeof one === "boolean" ? BigInt(one) : one));
  const areWhole = typeof x === "bigint" && typeof y === "bigint";
  if (["/", "//", "%"].includes(sign) && Number(y) === 0) throw new Mistake("ZeroDivisionError: division by zero");
  if (sign === "/") return Number(x) / Number(y);
  if (sign === "**") {
    refuse(Number(x) === 0 && Number(y) < 0, "ZeroDivisionError", "0 cannot be raised to a negative power");
    if (areWhole && y >= 0n) return y < 200n ? x ** y : fail("so high a power");
    return Number(x) < 0 && !Number.isInteger(Number(y)) ? fail("a root of a number below 0") : Number(x) ** Number(y);
  }
  if ("&|^".includes(sign)) {
    if (!areWhole) throw new Mistake(`TypeError: \`${sign}\` is not for these numbers`);
    return flags ? ARITHMETIC[sign](x, y) === 1n : ARITHMETIC[sign](x, y);
  }
  refuse(sign === "@", "TypeError", "`@` is not for two numbers");
  if (!(sign in ARITHMETIC)) throw new Unknown(`\`${sign}\``);
  return areWhole ? ARITHMETIC[sign](x, y) : ARITHMETIC[sign](Number(x), Number(y));
}

/** Whether two values that are no tensors are equal, as == says. */
function equal(a, b) {
  if (isNumber(a) && isNumber(b)) return Number(a) === Number(b);
  if (Array.isArray(a) && Array.isArray(b) && a instanceof Tuple === b instanceof Tuple)
    return a.length === b.length && a.every((x, i) => isTrue(operate("==", x, b[i])));
  return a === b;
}

function operate(sign, a, b) {
  if (a instanceof Tensor || b instanceof Tensor) {
    const other = a instanceof Tensor ? b : a;
    if (!(other instanceof Tensor) && !isNumber(other)) {
      const words = `\`${sign}\` of a tensor and ${kindOf(other)}`;
      throw ["==", "!=", "*", "%"].includes(sign) // of which Python knows some with others
        ? new Unknown(words)
        : new Mistake(`TypeError: there is no ${words}`);
    }
    return sign in BINARY ? BINARY[sign](a, b) : fail(`\`${sign}\``);
  }
  if (sign === "==" || sign === "!=") return equal(a, b) === (sign === "==");
  if (isNumber(a) && isNumber(b)) return numbers(sign, a, b);
  if (sign === "+" && Array.isArray(a) && Array.isArray(b) && a instanceof Tuple === b instanceof Tuple)
    return a instanceof Tuple ? Tuple.from([...a, ...b]) : [...a, ...b];
  if (sign === "*" && Array.isArray(a) && typeof b === "bigint") {
    if (Number(b) * a.length > MOST_CALLS) throw new Unknown("so long a list");
    const long = Array(Math.max(0, Number(b)))
      .fill([...a])
      .flat();
    return a instanceof Tuple ? Tuple.from(long) : long;
  }
  if (sign === "*" && Array.isArray(b) && typeof a === "bigint") return operate(sign, b, a);
  throw new Unknown(`\`${sign}\` of ${kindOf(a)} and ${kindOf(b)}`);
}

/** What `before += by` gives, or another sign; tensors and lists that the line has made are written over. */
function updated(before, sign, by) {
  if (before instanceof Tensor && sign !== "@") return overwrite([before, by], () => operate(sign, before, by));
  const isLonger = sign === "+" && Array.isArray(before) && !(before instanceof Tuple);
  if (!isLonger) return operate(sign, before, by);
  extend(before, iterated(by));
  return before;
}
function extend(list, more) {
  refuseLessons(list);
  for (const one of more) if (list.push(one) > MOST_CALLS) throw new Unknown("so long a list");
  return null;
}
function placeIn(list, place) {
  if (place < -list.length || place >= list.length)
    throw new Mistake(`IndexError: ${kindOf(list)} of ${list.length} has no place ${place}`);
  return place < 0 ? place + list.length : place;
}

/** What a dictionary has under a name. */
function entryOf(dictionary, name) {
  if (dictionary.has(name)) return dictionary.get(name);
  const words = typeof name === "string" ? `"${name}"` : kindOf(name);
  const names = [...dictionary.keys()].map((one) => `"${one}"`).join(", ");
  throw new Mistake(`KeyError: the dictionary has no ${words}; it has ${names}`);
}
/** A dictionary's methods. Its views are gone through once here, in Python as often as one likes. */
const OF_DICTIONARIES = {
  keys: (all) => new Once(all.keys()),
  values: (all) => new Once(all.values()),
  items: (all) => new Once([...all].map((pair) => Tuple.from(pair)).values()),
  get: (all, [name, otherwise = null]) => (all.has(name) ? all.get(name) : otherwise),
};

const cut = (list, { from, to, step }) => {
  const by = Number(step ?? 1n);
  if (by < 1) throw new Unknown("a list from its end on");
  const out = list.slice(Number(from ?? 0n), to === null ? undefined : Number(to)).filter((_, i) => i % by === 0);
  return list.fields ? Tuple.from(out) : out;
};

// ------------------------------------------------------------------------------------------------- working it out

/** The names of one notebook or function, and those around it. */
class Scope {
  constructor(around, names = new Map()) {
    Object.assign(this, { around, names });
  }
  has(name) {
    return this.names.has(name) || Boolean(this.around?.has(name));
  }
  get(name) {
    return this.names.has(name) ? this.names.get(name) : this.around?.get(name);
  }
}

class Returned {
  constructor(value) {
    this.value = value;
  }
}

/** Works out code in names; absent says why a name that is there cannot be used here. */
export class Python {
  constructor(names, absent = () => null, isSingle = false) {
    this.globals = new Scope(null, names);
    this.absent = absent;
    this.calls = this.depth = 0;
    begin(isSingle);
  }

  run(given, scope = this.globals) {
    const source = readable(given);
    return this.block(children(parsed(source)), { source, scope });
  }

  block(nodes, at) {
    let last = null;
    for (const node of nodes) {
      last = this.statement(node, at);
      if (last instanceof Returned) return last;
    }
    return last;
  }

  statement(node, at) {
    if (++this.calls > MOST_CALLS) throw new Unknown("a line that takes so long");
    const work = this[`do${node.name}`];
    if (!work) throw new Unknown(`\`${text(at.source, node).split(/\s/)[0]}\``);
    return work.call(this, node, at);
  }

  doExpressionStatement(node, at) {
    return this.oneOrTuple(parts(node), at);
  }
  doStatementGroup(node, at) {
    return this.block(
      children(node).filter(({ name }) => name !== ";"),
      at,
    );
  }
  doAssignStatement(node, at) {
    const sides = [[]];
    for (const child of children(node)) {
      if (child.name === "AssignOp") sides.push([]);
      else if (child.name !== "TypeDef") sides.at(-1).push(child);
    }
    for (const [target] of sides.slice(0, -1))
      if (/^(Binary|Unary|Call)Expression$|^Number$|^String$/.test(target.name))
        throw new Unreadable("left of `=` stands a name, and right of it what the name is for", target.from);
    const value = this.oneOrTuple(sides.pop(), at);
    for (const side of sides) this.bind(side, value, at);
  }
  doUpdateStatement(node, at) {
    const [target, sign, ...rest] = children(node);
    const before = this.value(target, at);
    this.bind([target], updated(before, text(at.source, sign).slice(0, -1), this.oneOrTuple(rest, at)), at);
  }
  doReturnStatement(node, at) {
    if (at.scope === this.globals) throw new Unreadable("`return` stands in functions only", node.from, node.to);
    const [, ...rest] = children(node);
    return new Returned(rest.length ? this.oneOrTuple(rest, at) : null);
  }
  doPassStatement() {
    return null;
  }
  doIfStatement(node, at) {
    const all = children(node);
    for (let i = 0; i < all.length; i++) {
      const { name } = all[i];
      if (name === "else") return this.block(this.body(all[i + 1]), at);
      if (name !== "if" && name !== "elif") continue;
      if (isTrue(this.value(all[i + 1], at))) return this.block(this.body(all[i + 2]), at);
    }
    return null;
  }
  doWhileStatement(node, at) {
    const [, condition, body, ...more] = children(node);
    if (more.length) throw new Unknown("`else` behind a loop");
    while (isTrue(this.value(condition, at))) {
      const out = this.block(this.body(body), at);
      if (out instanceof Returned) return out;
    }
    return null;
  }
  doForStatement(node, at) {
    const all = children(node);
    const to = all.findIndex(({ name }) => name === "in");
    if (all.at(-2).name === "else" || all.at(-1).name !== "Body") throw new Unknown("`else` behind a loop");
    for (const one of gone(this.value(all[to + 1], at))) {
      this.bind(all.slice(1, to), one, at);
      const out = this.block(this.body(all.at(-1)), at);
      if (out instanceof Returned) return out;
    }
    return null;
  }
  doFunctionDefinition(node, at) {
    const [, name, list, ...rest] = children(node);
    at.scope.names.set(
      text(at.source, name),
      this.functionFrom(list, this.body(rest.at(-1)), at, text(at.source, name)),
    );
  }
  doImportStatement(node, at) {
    const words = text(at.source, node).replace(/[()]/g, " ").trim().split(/\s+/).join(" ");
    const plain = /^import ([\w.]+)(?: as (\w+))?$/.exec(words);
    const from = /^from ([\w.]+) import (.+)$/.exec(words);
    const module = MODULES[(plain ?? from)?.[1]];
    if (!module) throw new Unknown(`\`${words}\``);
    if (plain)
      return at.scope.names.set(
        plain[2] ?? plain[1].split(".")[0],
        plain[2] ? module : MODULES[plain[1].split(".")[0]],
      );
    for (const one of from[2].split(",")) {
      const [name, own] = one.trim().split(" as ");
      at.scope.names.set(own ?? name, this.attribute(module, name));
    }
    return null;
  }
  body(node) {
    return children(node).filter(({ name }) => name !== ":");
  }

  bind(nodes, value, at, isList = false) {
    const targets = nodes.filter(({ name }) => name !== ",");
    const [target] = targets;
    if (nodes.length > 1 || isList) {
      const values = iterated(value);
      if (targets.some(({ name }) => name === "*")) throw new Unknown("`*` before a name");
      if (values.length !== targets.length)
        throw new Mistake(`ValueError: ${values.length} values for ${targets.length} names`);
      targets.forEach((one, i) => this.bind([one], values[i], at));
    } else if (/^(Tuple|Array|Parenthesized)Expression$/.test(target.name)) {
      const inner = children(target).filter(({ name }) => !/^[()[\]]$/.test(name));
      this.bind(inner, value, at, target.name === "ArrayExpression");
    } else if (target.name === "VariableName") at.scope.names.set(text(at.source, target), value);
    else if (target.name === "MemberExpression" && children(target)[1].name === "[") this.writeInto(target, value, at);
    else throw new Unknown(`\`${text(at.source, target)} = …\`, which writes into what is there,`);
  }

  /** `a[…] = value`, with a tensor or a list that the line has made. */
  writeInto(target, value, at) {
    const [of, , ...rest] = children(target);
    const owner = this.value(of, at);
    const key = this.key(rest.slice(0, -1), at);
    if (owner instanceof Tensor) return writeAt(owner, key, value);
    if (!Array.isArray(owner) || owner instanceof Tuple || typeof key !== "bigint")
      throw new Unknown(`\`${text(at.source, target)} = …\`, which writes into what is there,`);
    refuseLessons(owner);
    owner[placeIn(owner, Number(key))] = value;
  }

  // ---- expressions

  /** One expression, or the tuple of several. */
  oneOrTuple(nodes, at) {
    if (nodes.length === 1) return this.value(nodes[0], at);
    return Tuple.from(this.items(nodes, at));
  }
  items(nodes, at) {
    const out = [];
    for (let i = 0; i < nodes.length; i++) {
      if (nodes[i].name === ",") continue;
      if (nodes[i].name === "*") out.push(...iterated(this.value(nodes[++i], at)));
      else out.push(this.value(nodes[i], at));
    }
    return out;
  }

  value(node, at) {
    const work = this[`of${node.name}`];
    if (!work) throw new Unknown(`\`${text(at.source, node)}\``);
    return work.call(this, node, at);
  }

  ofVariableName(node, { source, scope }) {
    const name = text(source, node);
    if (scope.has(name)) return scope.get(name);
    const why = this.absent(name);
    if (why) throw why;
    const sign = [...name].findIndex((one) => one in TYPED); // the grammar takes quotes of print for letters
    if (sign >= 0) throw new Unreadable(...typedReason(source, node.from + sign));
    if (name in BUILTINS) return BUILTINS[name];
    if (NOT_TRIED.includes(name)) throw new Unknown(`\`${name}\``);
    throw new Mistake(`NameError: no name \`${name}\` is defined here${this.near(name, scope)}`);
  }
  near(name, scope) {
    const all = ["True", "False", "None"];
    for (let one = scope; one; one = one.around) all.push(...one.names.keys());
    const owner = ["math", "torch"].find((one) => scope.has(one) && MODULES[one].attributes.has(name));
    const close = owner ? `${owner}.${name}` : nearest(name, all);
    return close ? `; did you mean \`${close}\`?` : "";
  }
  ofNumber(node, { source }) {
    const words = text(source, node).replaceAll("_", "");
    if (/^(0[xob])?[\da-f]+$/i.test(words) && !/^\d+e\d+$/i.test(words)) {
      if (/^0\d*[1-9]/.test(words)) throw new Unreadable("a whole number begins with no 0", node.from, node.to);
      return BigInt(words);
    }
    return /j$/i.test(words) ? fail("a complex number") : Number(words);
  }
  ofBoolean(node, { source }) {
    return text(source, node) === "True";
  }
  ofNone() {
    return null;
  }
  ofEllipsis() {
    return ELLIPSIS;
  }
  ofString(node, { source }) {
    const plain = /^(["'])([^"'\\]*)\1$/.exec(text(source, node));
    return plain ? plain[2] : fail("a text like this");
  }
  /** A text with values in it: a line may print one, and nothing else. */
  ofFormatString(node, at) {
    for (const place of node.getChildren("FormatReplacement")) {
      const inner = children(place).filter(({ name }) => !/^([{}]|Format.*)$/.test(name));
      const shown = this.oneOrTuple(inner, at);
      const isOne = isNumber(shown) || (shown instanceof Tensor && !shown.shape.length);
      if (place.getChild("FormatSpec") && !isOne) throw new Unknown(`\`${text(at.source, place)}\``);
    }
    return new Thing("a text with values in it", new Map());
  }
  ofParenthesizedExpression(node, at) {
    return this.value(parts(node)[0], at);
  }
  ofTupleExpression(node, at) {
    return Tuple.from(this.items(parts(node), at));
  }
  ofArrayExpression(node, at) {
    return this.items(parts(node), at);
  }
  ofArrayComprehensionExpression(node, at) {
    return [...this.comprehended(parts(node), at)];
  }
  ofComprehensionExpression(node, at) {
    return this.comprehended(parts(node), at);
  }
  ofConditionalExpression(node, at) {
    const [yes, , condition, , no] = children(node);
    return this.value(isTrue(this.value(condition, at)) ? yes : no, at);
  }
  ofUnaryExpression(node, at) {
    const [sign, operand] = children(node);
    const words = text(at.source, sign);
    const isLogical =
      operand.name === "BinaryExpression" && children(operand).some(({ name }) => /^(and|or)$/.test(name));
    if (words === "not" && isLogical) throw new Unknown("`not` before `and` or `or` without brackets"); // the grammar's tree is another than Python's
    const x = this.value(operand, at);
    if (words === "not") return !isTrue(x);
    if (x instanceof Tensor) return UNARY[words](x);
    if (!isNumber(x)) throw new Unknown(`\`${words}\` of ${kindOf(x)}`);
    const number = typeof x === "boolean" ? BigInt(x) : x;
    if (words === "~") return typeof number === "bigint" ? -number - 1n : fail("`~` of a number");
    return words === "-" ? -number : number;
  }
  ofBinaryExpression(node, at) {
    const [left, ...rest] = children(node);
    const right = rest.pop();
    const sign = rest.map((one) => text(at.source, one)).join(" ");
    if (sign === "and" || sign === "or") {
      const first = this.value(left, at);
      return isTrue(first) === (sign === "and") ? this.value(right, at) : first;
    }
    if (right.name === "UnaryExpression" && right.firstChild.name === "not")
      throw new Unreadable(`\`not\` stands behind \`${sign}\`: brackets are missing around it`, right.from);
    const isChain = (one) =>
      one.name === "BinaryExpression" &&
      COMPARES.test(
        children(one)
          .slice(1, -1)
          .map((part) => text(at.source, part))
          .join(" "),
      );
    if (COMPARES.test(sign) && isChain(left)) {
      const before = this.value(left, at);
      return isTrue(before)
        ? this.compared(sign, this.value(children(left).at(-1), at), this.value(right, at))
        : before;
    }
    const [a, b] = [this.value(left, at), this.value(right, at)];
    return COMPARES.test(sign) ? this.compared(sign, a, b) : operate(sign, a, b);
  }
  compared(sign, a, b) {
    if (sign === "is" || sign === "is not") return (a === b) === (sign === "is");
    if (sign === "in" || sign === "not in") {
      if (!Array.isArray(b) && !(b instanceof Once)) throw new Unknown(`\`${sign}\` ${kindOf(b)}`);
      return holdsSome(b, (x) => x === a || isTrue(operate("==", a, x))) === (sign === "in");
    }
    return operate(sign, a, b);
  }
  ofMemberExpression(node, at) {
    const [of, sign, ...rest] = children(node);
    const owner = this.value(of, at);
    if (sign.name === ".") return this.attribute(owner, text(at.source, rest[0]), text(at.source, of));
    const key = this.key(rest.slice(0, -1), at);
    if (owner instanceof Tensor) return indexed(owner, key);
    if (owner instanceof Map) return entryOf(owner, key);
    if (owner instanceof Once)
      throw new Mistake("TypeError: what is gone through once has no places: make a list of it, `list(…)`");
    if (!Array.isArray(owner)) throw new Unknown(`[ ] behind ${kindOf(owner)}`);
    if (key instanceof Slice) return cut(owner, key);
    const place =
      typeof key === "bigint"
        ? Number(key)
        : key instanceof Tensor && !key.shape.length
          ? Number(fromTensor("int64", numbersOf(key)[0]))
          : fail(`${kindOf(key)} in [ ] behind ${kindOf(owner)}`);
    return owner[placeIn(owner, place)];
  }
  /** What stands in square brackets. */
  key(nodes, at) {
    const groups = [[]];
    for (const node of nodes) {
      if (node.name === ",") groups.push([]);
      else groups.at(-1).push(node);
    }
    const isTuple = groups.length > 1;
    if (isTuple && !groups.at(-1).length) groups.pop();
    const keys = groups.map((group) => {
      if (!group.some(({ name }) => name === ":")) return this.oneOrTuple(group, at);
      const bounds = [null, null, null];
      let i = 0;
      for (const node of group) {
        if (node.name === ":") i++;
        else bounds[i] = this.value(node, at);
      }
      return new Slice(...bounds);
    });
    return isTuple ? Tuple.from(keys) : keys[0];
  }
  attribute(owner, name, words = owner.name) {
    if (owner instanceof Thing) {
      if (owner.attributes.has(name)) return owner.attributes.get(name);
      const close = nearest(name, [...owner.attributes.keys()]);
      throw Object.assign(new Unknown(`\`${owner.name}.${name}\``), { close: name.length > 3 && close });
    }
    if (owner instanceof Tensor) {
      if (name in PROPERTIES) return PROPERTIES[name](owner);
      const method = METHODS.get(name);
      if (method) return (positional, named) => method([owner, ...positional], named);
      throw Object.assign(new Unknown(`\`${words}.${name}\``), {
        close: nearest(name, [...METHODS.keys(), ...Object.keys(PROPERTIES)]),
      });
    }
    if (name === "append" && Array.isArray(owner) && !(owner instanceof Tuple)) return ([x]) => extend(owner, [x]);
    if (owner instanceof Map && Object.hasOwn(OF_DICTIONARIES, name))
      return (given) => OF_DICTIONARIES[name](owner, given);
    if (owner instanceof Tuple && owner.fields?.includes(name)) return owner[owner.fields.indexOf(name)];
    throw new Unknown(`\`${words}.${name}\``);
  }
  ofCallExpression(node, at) {
    const [of, list] = children(node);
    const work = this.value(of, at);
    if (typeof work !== "function")
      throw work instanceof Thing || work instanceof Dtype
        ? new Unknown(`\`${text(at.source, of)}\` as a function`)
        : new Mistake(`TypeError: \`${text(at.source, of)}\` is ${kindOf(work)} and no function: it cannot be called`);
    const [positional, named] = this.argumentsOf(children(list).slice(1, -1), at);
    if (++this.calls > MOST_CALLS) throw new Unknown("a line that takes so long");
    return work(positional, named);
  }
  argumentsOf(nodes, at) {
    if (nodes.some(({ name }) => name === "for")) return [[this.comprehended(nodes, at)], {}];
    const positional = [];
    const named = {};
    for (let i = 0; i < nodes.length; i++) {
      if (nodes[i].name === ",") continue;
      if (nodes[i].name === "**") throw new Unknown("`**` in a call");
      if (nodes[i + 1]?.name === "AssignOp") {
        if (text(at.source, nodes[i + 1]) !== "=") throw new Unknown("`:=`");
        const name = text(at.source, nodes[i]);
        if (name in named)
          throw new Unreadable(`the argument \`${name}\` stands here twice`, nodes[i].from, nodes[i].to);
        named[name] = this.value(nodes[i + 2], at);
        i += 2;
      } else {
        if (Object.keys(named).length)
          throw new Unreadable("an argument without a name stands behind one with a name", nodes[i].from, nodes[i].to);
        if (nodes[i].name === "*") positional.push(...iterated(this.value(nodes[++i], at)));
        else positional.push(this.value(nodes[i], at));
      }
    }
    return [positional, named];
  }
  /** What a comprehension gives, one by one; only what its first `for` goes through is worked out at once. */
  comprehended(nodes, at) {
    const first = nodes.findIndex(({ name }) => name === "for");
    const all = gone(this.value(nodes[nodes.findIndex(({ name }) => name === "in") + 1], at));
    return new Once(this.each(nodes, first, { ...at, scope: new Scope(at.scope) }, all));
  }
  *each(nodes, i, at, all) {
    if (i >= nodes.length) {
      if (++this.calls > MOST_CALLS) throw new Unknown("a line that takes so long");
      const first = nodes.findIndex(({ name }) => name === "for");
      yield this.oneOrTuple(nodes.slice(0, first), at);
    } else if (nodes[i].name === "if") {
      if (isTrue(this.value(nodes[i + 1], at))) yield* this.each(nodes, i + 2, at);
    } else if (nodes[i].name === "for") {
      const to = nodes.findIndex(({ name }, k) => k > i && name === "in");
      for (const one of all ?? gone(this.value(nodes[to + 1], at))) {
        this.bind(nodes.slice(i + 1, to), one, at);
        yield* this.each(nodes, to + 2, at);
      }
    } else throw new Unknown(`\`${text(at.source, nodes[i])}\``);
  }
  ofLambdaExpression(node, at) {
    const all = children(node);
    const list = all.find(({ name }) => name === "ParamList");
    return this.functionFrom(list, all.at(-1), at, "lambda");
  }

  /** A function of its own: names of arguments, values of those that have one, and what it does. */
  functionFrom(list, body, at, name) {
    const wanted = [];
    let isNamedOnly = false;
    const nodes = list ? children(list).filter((one) => !/^[()]$/.test(one.name)) : [];
    for (let i = 0; i < nodes.length; i++) {
      const kind = nodes[i].name;
      if (kind === "*") isNamedOnly = nodes[i + 1]?.name === "," || fail("`*` before an argument");
      else if (kind === "AssignOp") wanted.at(-1).value = this.value(nodes[++i], at);
      else if (kind === "VariableName") wanted.push({ own: text(at.source, nodes[i]), isNamedOnly });
      else if (kind !== "," && kind !== "TypeDef")
        throw new Unknown(`\`${text(at.source, nodes[i])}\` among arguments`);
    }
    return (positional, named = {}) => {
      const scope = new Scope(at.scope);
      const unused = { ...named };
      const byPlace = wanted.filter((one) => !one.isNamedOnly);
      if (positional.length > byPlace.length)
        throw new Mistake(`TypeError: \`${name}\` takes ${byPlace.length} arguments, not ${positional.length}`);
      for (const one of wanted) {
        const i = byPlace.indexOf(one);
        if (i >= 0 && i < positional.length) scope.names.set(one.own, positional[i]);
        else if (one.own in unused) scope.names.set(one.own, unused[one.own]);
        else if ("value" in one) scope.names.set(one.own, one.value);
        else throw new Mistake(`TypeError: \`${name}\` is missing its argument \`${one.own}\``);
        if (!(i >= 0 && i < positional.length)) delete unused[one.own];
      }
      const [extra] = Object.keys(unused);
      if (extra !== undefined) throw new Mistake(`TypeError: \`${name}\` has no argument \`${extra}\``);
      if (++this.depth > DEEPEST) throw new Unknown("functions that call each other so deeply");
      try {
        const inner = { ...at, scope };
        if (!Array.isArray(body)) return this.value(body, inner);
        const out = this.block(body, inner);
        return out instanceof Returned ? out.value : null;
      } finally {
        this.depth--;
      }
    };
  }
}

const COMPARES = /^(<|<=|>|>=|==|!=|is|is not|in|not in)$/;

/** The name that is probably meant: the same without regard to capitals and `_`, or else one that differs least; or "". */
function nearest(name, names) {
  const plain = (one) => one.toLowerCase().replaceAll("_", "");
  const most = name.length > 4 ? 2 : name.length > 2 ? 1 : 0;
  const others = names
    .filter((other) => other !== name)
    .map((other) => [plain(other) === plain(name) ? 0 : distance(name.toLowerCase(), other.toLowerCase()), other])
    .filter(([gap]) => gap <= most)
    .sort(([a], [b]) => a - b);
  return others[0]?.[1] ?? "";
}
/** How many letters are to be put in, left out or exchanged to make b of a. */
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
}
