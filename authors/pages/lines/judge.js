// A line of one's own beside the course's: what it gives is compared as workbench/predict.py's `blank` compares it, and
// told in its words. Whoever changes one changes the other, and a test compares them.

import { difference, isNear } from "../differs.js";
import { CLOSE_CALL, UNSURE } from "./limits.js";
import { MODULES, Python, parsed, readable, Unreadable } from "./python.js";
import {
  isFloat,
  keep,
  laidOut,
  listOf,
  Mistake,
  newTensor,
  numbersOf,
  numelOf,
  permute,
  shapeInWords,
  Tensor,
  Unknown,
} from "./tensor.js";
import { settings } from "./torch.js";
import { Dtype, ELLIPSIS, isNumber, kindOf, Thing, Tuple } from "./values.js";

const UNCALLED =
  "Your line gives the function itself, not its result. The brackets are missing: call it with `()` behind its name.";
const WRITTEN_DOWN =
  "The numbers are right, but your line only writes them down. Compute them: with other inputs they would be others.";
// As workbench/questions/second_input.py has it: what a result consists of that is written down number by number.
const WRITTEN =
  /^(?:torch\.(?:tensor|as_tensor|stack|bool|float\d*|double|int\d*|long|inf|nan)|math\.(?:inf|nan)|float|dtype|True|False|\.(?:reshape|view|T)|e(?=[-\d])|[-+\d\s.,()[\]=])*$/;
const AGAIN = "Mend your line and compare it again, or look at the course's.";

// ------------------------------------------------------------------------------------------------- what was recorded

/** A recorded value as Python's; lesson has the tensors and the functions that its lines share. */
function revived(data, lesson, python) {
  const each = (list) => list.map((one) => revived(one, lesson, python));
  if ("t" in data) return tensorAt(lesson, data.t);
  if ("i" in data) return BigInt(data.i);
  if ("v" in data) return data.f ? (INFINITE[data.v] ?? data.v) : data.v;
  if ("d" in data) return Dtype.of(data.d);
  if ("l" in data) return keep(each(data.l));
  if ("u" in data)
    return Object.assign(Tuple.from(each(data.u)), data.fields ? { fields: data.fields, of: data.of } : {});
  if ("y" in data) return new Map(Object.entries(data.y).map(([name, one]) => [name, revived(one, lesson, python)]));
  if ("class" in data) return (positional) => Object.assign(Tuple.named(data.class, ...positional), { of: data.of });
  if ("m" in data) return MODULES[data.m];
  if ("library" in data) return lesson.functions.get(data.library);
  if ("source" in data) return python.run(data.source);
  const attributes = Object.entries(data.o).map(([name, one]) => [name, revived(one, lesson, python)]);
  return new Thing("this module", new Map(attributes));
}
const INFINITE = { nan: NaN, inf: Infinity, "-inf": -Infinity };
/** A recorded tensor, made once. */
function tensorAt(lesson, place) {
  lesson.madeTensors ??= [];
  lesson.madeTensors[place] ??= keep(tensorOf(lesson.tensors[place]));
  return lesson.madeTensors[place];
}
/** As own_lines.py writes it: numbers, or a text and what is needed to read it; strides where it is not contiguous. */
function tensorOf([dtype, shape, numbers, ...more]) {
  const isPacked = typeof numbers === "string";
  const tensor = isPacked
    ? unpacked(dtype, shape, numbers, ...more.shift())
    : newTensor(
        dtype,
        shape,
        numbers.map((x) => INFINITE[x] ?? x),
      );
  return more.length ? laidOut(tensor, more[0]) : tensor;
}
/** All first digits of base 64, then all second ones, and so on, of whole numbers whose last axis is outermost. */
function unpacked(dtype, shape, text, parts, least) {
  const count = numelOf(shape);
  const digit = (i) => text.charCodeAt(i) - 48;
  const whole = (i) => (i < count ? digit(i) : 64 * whole(i - count) + digit(i));
  const numbers = Array.from({ length: count }, (_, i) => (whole(text.length - count + i) + least) / parts);
  return newTensor(
    dtype,
    shape,
    numbersOf(permute(newTensor(dtype, [...shape].reverse(), numbers), [...shape.keys()].reverse())),
  );
}

/** An answer of a line: recorded, or where its numbers are many the course's code for it, with the line's names. */
function answerOf(data, line, lesson) {
  if (!("code" in data)) return revived(data, lesson, null);
  if (!workedOut.has(data)) {
    const { dtype } = settings;
    const python = pythonFor(line, lesson, new Set(Object.keys(lesson.lines)));
    python.run(line.course);
    workedOut.set(data, keep(python.run(data.code)));
    settings.dtype = dtype;
  }
  return workedOut.get(data);
}
const workedOut = new WeakMap();

/** The names of the notebook where the line stands. */
function pythonFor(line, lesson, done, isSingle = false) {
  settings.dtype = line.dtype;
  if (!lesson.functions) {
    const names = new Map(Object.entries(MODULES).concat([["F", MODULES["torch.nn.functional"]]]));
    names
      .set("nn", MODULES["torch.nn"])
      .set("Cache", (positional) => Object.assign(Tuple.named(lesson.cache, ...positional), { of: "Cache" }));
    for (const name of lesson.checks) names.set(name, checkOf(name));
    new Python(names).run(lesson.library);
    lesson.functions = names;
  }
  const names = new Map();
  const python = new Python(
    names,
    (name) => {
      if (line.names[name]?.own) return new Unknown(`\`${name}\` before your line for it is right`);
      return line.missing.includes(name) || line.names[name] ? new Unknown(`\`${name}\``) : null;
    },
    isSingle,
  );
  const own = Object.entries(line.names).filter(([, data]) => !("own" in data && !done.has(data.own)));
  for (const [name, data] of own) {
    if ("own" in data) names.set(name, answerOf(lesson.lines[data.own].right, lesson.lines[data.own], lesson));
    else if (!("source" in data || "code" in data)) names.set(name, revived(data, lesson, python));
  }
  for (const [name, data] of own) if ("code" in data) names.set(name, keep(python.run(data.code)));
  for (const [, data] of own) if ("source" in data) define(python, data.source);
  return python;
}
/** A function of the notebook, unless its definition needs what is not here: then it is missing, too. */
function define(python, source) {
  try {
    python.run(source);
  } catch (error) {
    if (!(error instanceof Unknown)) throw error;
  }
}
/** What the library asks of its arguments, as far as a line can miss it; the rest it finds out by itself. */
const checkOf =
  (name) =>
  (positional, named = {}) => {
    if (name === "check_lengths" && isFloat(positional[0].dtype))
      throw new Mistake("TypeError: lengths must be whole numbers");
    if (name !== "check_count") return null;
    const [what, count] = positional;
    if (typeof count !== "bigint") throw new Unknown(`${what} that is ${kindOf(count)}`);
    if (count < (named.least ?? 1n)) throw new Mistake(`ValueError: ${what}=${count} is too small`);
    return null;
  };

// ------------------------------------------------------------------------------------------------- what a line gives

/** Whether something is still to be written: `...` or None, alone or in a list. */
const isOpen = (x) => x === null || x === ELLIPSIS || (Array.isArray(x) && x.some(isOpen));

/** Nested lists of numbers, True and False. */
function nested(x) {
  if (x instanceof Tensor) return listOf(x);
  if (Array.isArray(x)) return x.map(nested);
  if (typeof x === "boolean") return x;
  if (isNumber(x)) return Number(x);
  return undefined; // none of what is asked for
}
const flat = (x) => (Array.isArray(x) ? x.flatMap(flat) : [x]);
function formOf(x) {
  if (!Array.isArray(x)) return [];
  const inner = [...new Set(x.map((one) => String(formOf(one))))];
  if (inner.length > 1 || inner.includes("ragged")) return "ragged";
  return [x.length, ...(x.length ? formOf(x[0]) : [])];
}

/** Whether two nested lists are the same, within what is allowed; what is nearly that is not decided here. */
function isSame(mine, wanted, within) {
  if (String(formOf(mine)) !== String(formOf(wanted))) return false;
  const others = flat(wanted);
  const pairs = flat(mine).map((x, i) => [x, others[i]]);
  if (pairs.some(([x, y]) => typeof x !== typeof y)) return false;
  const gap = Math.max(0, ...pairs.map(([x, y]) => gapOf(x, y)));
  if (gap > CLOSE_CALL[0] * within && gap < CLOSE_CALL[1] * within)
    throw new Unknown("a line whose numbers are this close to the limit of what still counts as the same");
  return gap <= within;
}
function gapOf(x, y) {
  if (typeof x === "boolean") return x === y ? 0 : Infinity;
  if (!Number.isFinite(x) || !Number.isFinite(y)) return Object.is(x, y) ? 0 : Infinity;
  return Math.abs(x - y);
}
function largestGap(mine, slip) {
  const others = flat(slip);
  return flat(mine).reduce((most, x, i) => Math.max(most, gapOf(x, others[i])), 0);
}

/** What can be said of a wrong line without its answer. */
function sayDifference(mine, wanted, within) {
  const [here, there] = [formOf(mine), formOf(wanted)];
  if (here === "ragged") return "Its rows have different lengths.";
  const [ours, theirs] = [flat(mine), flat(wanted)];
  if (String(here) === String(there)) return difference(ours, theirs, within);
  const shapes = `Its shape is ${shapeInWords(here)}, and should be ${shapeInWords(there)}.`;
  const isAlike = (list) =>
    list.length === theirs.length &&
    list.every((x, i) => typeof x === typeof theirs[i] && isNear(Number(x), Number(theirs[i]), within));
  const isTurned = here.length === 2 && String(here) === String([...there].reverse());
  if (isTurned && isAlike(mine[0].flatMap((_, column) => mine.map((row) => row[column]))))
    return `Rows and columns have changed places. ${shapes}`;
  const values = theirs.every((x) => typeof x === "boolean") ? "values" : "numbers";
  return isAlike(ours) ? `The right ${values}, but the shape is part of the answer. ${shapes}` : shapes;
}

/** What is said to several results of a call, of which one is asked for, or "". */
function severalForOne(value, wanted) {
  if (!Array.isArray(value) || value.length < 2 || !Array.isArray(wanted)) return "";
  const ofTensors = value.map((one) => one instanceof Tensor && one.shape.length > 0);
  if (ofTensors.every(Boolean)) {
    const rows = new Set(value.map((one) => String(one.shape)));
    return rows.size === 1 && rows.has(String(formOf(wanted).slice(1)))
      ? ""
      : `It is ${value.length} tensors; one is asked for.`;
  }
  if (!(value instanceof Tuple) || !ofTensors.some(Boolean)) return "";
  const kinds = value.map(typeInPython).join(" and ");
  return `It is a ${value.length === 2 ? "pair" : `tuple of ${value.length}`}, ${kinds}; one tensor is asked for.`;
}
function typeInPython(x) {
  if (x instanceof Tensor) return "Tensor";
  if (x instanceof Tuple) return x.of ?? "tuple";
  return { bigint: "int", number: "float" }[typeof x] ?? "list";
}

// ------------------------------------------------------------------------------------------------- the verdict

/** Whether a line gives another value to what the notebook goes on with. */
function overwritten(line, names, before) {
  return line.goesOn.find((name) => names.get(name) !== before.get(name));
}

/** A lone expression is the line's value: its name is written before it. */
export function completed(text, name) {
  const cleaned = text.replace(/[\u00a0\u202f]/g, " "); // which come along where a line is copied from a page
  const source = readable(cleaned);
  let tree;
  try {
    tree = parsed(source);
  } catch {
    return cleaned;
  }
  const last = tree.lastChild;
  const isNamed = new RegExp(`(^|\\n)[^#\\n]*\\b${name}\\b\\s*(=[^=]|,)|def ${name}\\b`).test(source);
  if (isNamed || last?.name !== "ExpressionStatement" || last.firstChild.name === "Ellipsis") return cleaned;
  return `${source.slice(0, last.from)}${name} = ${source.slice(last.from)}`;
}

/**
 * What is said of a line: status is "none", "right", "wrong", "unread", "error" or "unknown"; says is words with
 * `code`, or HTML where there is a slip; yours and expected are nested lists where both can be shown; at is where a
 * line cannot be read. done has the ids of lines that are right; read judges one number, `attnGuess.judge`.
 */
export function judge(id, source, lesson, done = new Set(), read = null) {
  const line = { ...lesson.lines[id], read };
  try {
    const value = lineValue(line, source, lesson, done);
    const verdict = verdictOn(line, value, lesson);
    if (["right", "wrong"].includes(verdict.status))
      refuseUnsure(line, value, lineValue(line, source, lesson, done, true));
    if (verdict.status !== "right") return verdict;
    if (line.question.form === "tensor" && !line.question.constant && isWrittenDown(source, line.name))
      return { status: "wrong", says: WRITTEN_DOWN, slip: null, again: AGAIN };
    const failed = line.second?.find((other) => isByChance(other, line, source, lesson, done));
    return failed ? { status: "wrong", says: failed.says, slip: null, again: AGAIN } : verdict;
  } catch (error) {
    if (error instanceof Unreadable)
      return { status: "error", says: `Python cannot read this: ${error.message}.`, at: error.from };
    if (error instanceof Mistake)
      return { status: "error", says: `Python stops here. ${error.message}.`.replace(/\?\.$/, "?") };
    if (!(error instanceof Unknown)) return unknown("this line");
    return unknown(error.message, error.close);
  }
}

/** What code gives with these names: a dtype, a shape and numbers, for whoever compares it with PyTorch. */
export function worked(source, line, lesson) {
  try {
    const value = pythonFor(line, lesson, new Set()).run(source);
    if (value instanceof Tensor)
      return { dtype: value.dtype, shape: value.shape, numbers: [...numbersOf(value)].map(String) };
    return { plain: String(JSON.stringify(nested(value) ?? kindOf(value))) };
  } catch (error) {
    const kind = [Unreadable, Mistake, Unknown].find((one) => error instanceof one);
    return { [kind === Unknown ? "unknown" : kind ? "error" : "crash"]: kind ? error.message : error.stack };
  }
}

function unknown(what, close) {
  const meant = close ? ` Did you mean \`${close}\`?` : "";
  return {
    status: "unknown",
    says: `${what[0].toUpperCase()}${what.slice(1)} cannot be tried here.${meant}`,
  };
}

function isWrittenDown(source, name) {
  const [before, ...after] = source.replace(/#.*|^\s*import \w+$/gm, "").split("=");
  return before.trim() === name && WRITTEN.test(after.join("="));
}

/** Whether a line that is right with the lesson's numbers is wrong with others; always: even if it reads none of them. */
function isByChance({ names, gives, always }, line, source, lesson, done) {
  const all = Object.keys(names);
  if (!always && !all.every((name) => new RegExp(`\\b${name}\\b`).test(source.replace(/#.*/g, "")))) return false;
  try {
    const others = { ...line, names: { ...line.names, ...names } };
    return !isSame(nested(lineValue(others, source, lesson, done)), nested(revived(gives, lesson, null)), 1e-3);
  } catch (error) {
    if (error instanceof Unknown) throw error;
    return true;
  }
}

/** Refuses a line whose numbers depend on how sums are rounded on the way. */
function refuseUnsure(line, value, other) {
  if (line.question.form !== "tensor" || line.dtype === "float64") return;
  if (largestGap(nested(value), nested(other)) > UNSURE * line.question.within)
    throw new Unknown("a line whose last digits depend on the order in which it is added up");
}

function lineValue(line, source, lesson, done, isSingle = false) {
  if (/^\s*(\w+\s*=\s*)?["']?show["']?\s*$/.test(source)) return "show";
  const python = pythonFor(line, lesson, done, isSingle);
  const { names } = python.globals;
  const before = new Map(names);
  const out = python.run(source);
  if (!names.has(line.name)) {
    const own = [...names.keys()].find((name) => names.get(name) !== before.get(name));
    if (!own && (out === undefined || out === null || out === ELLIPSIS)) return ELLIPSIS;
    const instead = own ? `, and yours gives \`${own}\`` : "";
    throw new Mistake(
      `NameError: no name \`${line.name}\` is defined here: the line begins \`${line.name} =\`${instead}`,
    );
  }
  const changed = overwritten(line, names, before);
  if (changed) throw new Unknown(`a line that gives \`${changed}\`, with which the notebook goes on, another value`);
  return names.get(line.name);
}

function verdictOn(line, value, lesson) {
  const wanted = nested(answerOf(line.right, line, lesson));
  if (value === "show") return { status: "shown", says: "Below stands a line that does it." };
  if (value === null) return { status: "none", says: "Your line gives `None`, so there is nothing to compare yet." };
  if (isOpen(value)) return { status: "none", says: "Nothing is written yet." };
  if (line.question.form !== "tensor") return asNumber(line, value);
  if (typeof value === "function") return { status: "unread", says: UNCALLED };
  const mine = nested(value);
  if (flat(mine).includes(undefined)) {
    if (typeof value === "string" || (Array.isArray(value) && flat(value).every((x) => typeof x === "string")))
      return { status: "unread", says: "That could not be read. A tensor is asked for." };
    throw new Unknown(kindOf(value));
  }
  const { within } = line.question;
  if (isSame(mine, wanted, within)) return { status: "right", says: "Right: your line gives what the course's gives." };
  const near = line.slips
    .map((slip) => ({ ...slip, value: nested(answerOf(slip.value, line, lesson)) }))
    .filter((slip) => isSame(mine, slip.value, within))
    .map((slip) => ({ ...slip, gap: largestGap(mine, slip.value) }))
    .sort((a, b) => a.gap - b.gap);
  const shape = formOf(mine);
  const both = shape === "ragged" || Array.isArray(value) ? {} : { yours: mine, expected: wanted, within };
  const says = near[0]?.says ?? (severalForOne(value, wanted) || sayDifference(mine, wanted, within));
  return { status: "wrong", slip: near[0]?.name ?? null, says, again: AGAIN, ...both };
}

/** One number is read as a guess is. */
function asNumber(line, value) {
  const one = Array.isArray(value) && value.length === 1 ? value[0] : value;
  const number = one instanceof Tensor && numbersOf(one).length === 1 ? numbersOf(one)[0] : one;
  if (!isNumber(number) && typeof number !== "string") throw new Unknown(kindOf(value));
  if (typeof number === "boolean") return { status: "unread", says: "That could not be read. Write it as one number." };
  const { right, unread, says, slip = null } = line.read(line.question, String(number));
  return {
    status: right ? "right" : unread ? "unread" : "wrong",
    says: right ? "Right: your line gives what the course's gives." : says,
    slip,
    again: AGAIN,
  };
}
