// Numbers: as they are read, written, drawn at random and kept in matrices, which are lists of rows.

/** @typedef {number[][]} Matrix */

export const LARGEST = 1e6; // that a board's cell may hold

export const range = (count) => Array.from({ length: count }, (_, i) => i);
export const grid = (rows, columns, entry) => range(rows).map((i) => range(columns).map((j) => entry(i, j)));
export const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);
export const sameNumber = (x, y) => x === y || (Number.isNaN(x) && Number.isNaN(y)); // 0 and −0 too

const WORDS = { nan: NaN, inf: Infinity, "-inf": -Infinity }; // for what JSON cannot hold
export const fromJson = (x) => (typeof x === "number" ? x : WORDS[x]);

// ---- writing

export const minus = (text) => text.replaceAll("-", "−");

/** A number with at most so many digits behind the point, and no zeros at its end. */
export function trimmed(x, digits) {
  const text = x.toFixed(digits).replace(/(\.\d*?)0+$/, "$1");
  return minus(text.replace(/\.$/, "").replace(/^-0$/, "0"));
}

/** A number with so many digits behind the point. */
export const fixed = (x, digits) => minus(x.toFixed(digits));

/** A number with one digit behind the point, or two where it has them. */
export const shortly = (x) => fixed(x, Math.abs(x * 10 - Math.round(x * 10)) < 1e-9 ? 1 : 2);

/** A number that is added: its sign comes first, ± of 0. */
export const signed = (x) => (x > 0 ? "+" : x < 0 ? "−" : "±") + Math.abs(x);

/** A share in whole per cent, which says neither 0 nor 100 of what is not. */
export function percent(share) {
  if (share < 0.005) return share > 0 ? "< 1\u00a0%" : "0\u00a0%";
  return share > 0.995 && share < 0.9995 ? "> 99\u00a0%" : `${Math.round(100 * share)}\u00a0%`;
}

/** A number in a cell: at most five signs, whatever it is rounded to. */
export function written(x) {
  const size = Math.abs(x);
  if (Number.isNaN(x)) return "nan";
  if (size === Infinity) return x > 0 ? "∞" : "−∞";
  if (size >= 999.5e6) return minus(x.toExponential(0).replace("e+", "e"));
  if (size >= 999.5e3) return minus(`${(x / 1e6).toFixed(size >= 9.95e6 ? 0 : 1)}M`);
  if (size >= (x < 0 ? 9999.5 : 99999.5)) return minus(`${(x / 1e3).toFixed(0)}k`);
  const whole = Math.round(x);
  if (x === whole || (whole && Math.abs(x - whole) < 1e-12 * size)) return minus(String(whole + 0)); // 1 of shares
  if (size < 0.0005) return "≈0";
  if (size < 0.005) return minus(x.toFixed(3).replace("-0", "-"));
  if (size < 9.995) return minus(x.toFixed(2));
  return minus(x.toFixed(size < 99.95 ? 1 : 0));
}

/** A number as it is, for whoever edits it or copies it. */
export const exact = (x) => String(Number(x.toPrecision(12)));

/** Shares as whole parts that sum to as many as there are, 100 for percents: the largest remainders are rounded up. */
export function inParts(shares, parts) {
  const whole = shares.map((share) => Math.floor(share * parts + 1e-9));
  const left = shares.map((share, j) => share * parts - whole[j]);
  const byRemainder = range(shares.length).sort((a, b) => left[b] - left[a]);
  for (const j of byRemainder.slice(0, parts - sum(whole))) whole[j] += 1;
  return whole;
}

// ---- reading what is typed or pasted on a board; authors/pages/reading.js reads guesses, number by number as here

const plainSigns = (text) =>
  String(text)
    .replace(/[−–]/g, "-")
    .replaceAll("∞", "inf")
    .replace(/(\d)½/g, "$1.5")
    .replaceAll("½", "1/2")
    .replace(/[\u00a0\u202f]/g, "_")
    .replace(/\s*(%|per ?cent\b)/gi, "%")
    .replace(/\s*\/\s*/g, "/");

/**
 * A number as people write it, undefined if the text is none: 1.5, 1,5, 1/3, 47 %, 7 percent, 1e-3, 5 050.
 * words: nan and ∞ are taken too; thousands: 5,050 is 5050, for whole numbers, and not 5.05.
 */
export function readNumber(text, { words = false, thousands = false } = {}) {
  const bare = plainSigns(text)
    .trim()
    .replace(/^([+-])\s+/, "$1");
  const word = words && /^([+-]?)(?:(nan|not a number)|inf(?:inity)?)$/i.exec(bare);
  if (word?.[2]) return NaN;
  if (word) return word[1] === "-" ? -Infinity : Infinity;
  const [, over = "", under = "1", percent] = /^([^/%]+)(?:\/([^/%]+))?(%?)$/.exec(bare) ?? [];
  const [above, below] = [over, under].map((part) => decimal(part, thousands));
  if (Number.isNaN(above) || !below) return undefined;
  return above / below / (percent ? 100 : 1); // 1e400 is a number, too large
}

// Of a text without signs for parts and powers; of two kinds of signs the last is the decimal one, the others part
// thousands.
function decimal(text, thousands) {
  let bare = text.replace(/(\d)[ _'](?=\d{3}(?!\d))/g, "$1");
  const signs = bare.match(/[.,]/g) ?? [];
  const whole = bare.slice(0, bare.search(/[.,][^.,]*$/));
  const isGrouped = (part) => /^[+-]?\d{1,3}(?:(?:,\d{3})+|(?:\.\d{3})+)$/.test(part);
  const joined = (part) => part.replace(/[.,]/g, "");
  if (isGrouped(bare) && (signs.length > 1 || (thousands && signs[0] === ","))) {
    bare = joined(bare);
  } else if (signs.length > 1 && isGrouped(whole) && signs[0] !== signs.at(-1)) {
    bare = `${joined(whole)}.${bare.slice(whole.length + 1)}`;
  } else if (signs.length === 1) {
    bare = bare.replace(",", ".");
  }
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(bare) ? Number(bare) : NaN;
}

/**
 * Rows of numbers as they are copied from a sheet, printed, or written in Python; undefined if they are none:
 * 1 2 3, 0,06; 0,47, [[1, 2], [3, 4]], torch.tensor([[1., 2.]]). Lines without brackets are rows.
 */
export function readRows(text) {
  const bare = text
    .trim()
    .replace(/,?\s*\b(dtype|device|requires_grad|grad_fn)\s*=\s*[^,)]+/g, "")
    .replace(/^(\w+\s*=\s*)?[a-z_.]*(tensor|array)\s*(?=\()/i, "");
  const isBracketed = /[[\](){}]/.test(bare);
  const inBrackets = /[[({]([^[\](){}]*)[\])}]/g;
  if (isBracketed && /[^\s,;[\](){}]/.test(bare.replace(inBrackets, ""))) return undefined;
  const lines = isBracketed ? [...bare.matchAll(inBrackets)].map(([, line]) => line) : bare.split(/\r?\n/);
  const rows = lines.map((line) => partsOf(line, isBracketed).map((part) => readNumber(part)));
  return rows.length && rows.every((row) => row.length && !row.includes(undefined)) ? rows : undefined;
}

// The numbers of one line. A comma before a digit is a decimal one where something else parts the numbers, or where it
// stands alone; in a sheet tabs part them, and an empty cell is a part that is no number.
function partsOf(line, isBracketed) {
  if (line.includes("\t")) return line.split("\t");
  const parts = line.split(/;|,(?!\d)|\s+/).filter(Boolean);
  const commas = parts.map((part) => part.split(",").length - 1);
  const isAlone = commas.every((count) => count < 2) && (parts.length > 1 || !isBracketed);
  const isDecimal = /,(?!\d)/.test(line) ? commas.every((count) => count === 1) : isAlone;
  return isDecimal ? parts : line.split(/[;,\s]+/).filter(Boolean);
}

/** What a cell takes: a number and no complaint, or null and the reason why the text is none. */
export function readCell(text) {
  const typed = String(text).trim();
  const value = readNumber(typed);
  if (!typed) return [null, "The cell was empty."];
  if (value === undefined) return [null, `“${typed.slice(0, 20)}” is not a number.`];
  if (Math.abs(value) > LARGEST) return [null, `${typed.slice(0, 20)} is too large: at most a million.`];
  return [value, ""];
}

// ---- random numbers, the same as random_matrix of board.py draws

// lowbias32, as in board.py
function mix(seed) {
  let x = (seed + 0x9e3779b9) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

export function randomMatrix(rows, columns, seed, place, [lowest, highest, step]) {
  const count = Math.round((highest - lowest) / step) + 1;
  const hash = (k) => mix((mix((mix(seed) ^ place) >>> 0) ^ k) >>> 0);
  return grid(rows, columns, (i, j) => lowest + step * Math.floor((hash(i * columns + j) * count) / 2 ** 32));
}

/** The lot number `place` of a seed: from 0 to 1, the same on every page. */
export const lotOf = (seed, place) => mix((mix(seed) ^ place) >>> 0) / 2 ** 32;
