// Numbers: as they are read, written, drawn at random and kept in matrices, which are lists of rows.

const grid = (rows, columns, f) => Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, (_, j) => f(i, j)));
const range = (n) => Array.from({ length: n }, (_, i) => i);
const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);
const fromJson = (x) => (typeof x === "number" ? x : { nan: NaN, inf: Infinity, "-inf": -Infinity }[x]);
const sameNumber = (x, y) => x === y || (Number.isNaN(x) && Number.isNaN(y)); // 0 and −0 too
const minus = (text) => text.replaceAll("-", "−");
const trimmed = (x, digits) => minus(x.toFixed(digits).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "").replace(/^-0$/, "0"));

// In a cell: at most five signs, whatever a number is rounded to.
function written(x) {
  const size = Math.abs(x);
  if (Number.isNaN(x)) return "nan";
  if (size === Infinity) return x > 0 ? "∞" : "−∞";
  if (size >= 999.5e6) return minus(x.toExponential(0).replace("e+", "e"));
  if (size >= 999.5e3) return minus(`${(x / 1e6).toFixed(size >= 9.95e6 ? 0 : 1)}M`);
  if (size >= (x < 0 ? 9999.5 : 99999.5)) return minus(`${(x / 1e3).toFixed(0)}k`);
  const whole = Math.round(x);
  if (x === whole || (whole && Math.abs(x - whole) < 1e-12 * size)) return minus(String(whole + 0)); // a sum of shares is 1
  if (size < 0.0005) return "≈0";
  if (size < 0.005) return minus(x.toFixed(3).replace("-0", "-"));
  return minus(x.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2));
}

// As it is, for whoever edits it or copies it.
const exact = (x) => String(Number(x.toPrecision(12)));

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/, LARGEST = 1e6;

// A number and no complaint, or null and the reason why the text is not one.
function read(text) {
  text = String(text).trim().replaceAll("−", "-");
  if (!text) return [null, "The cell was empty."];
  if (/^[+-]?\d+,\d+$/.test(text)) return [null, `${text} has a comma: write ${text.replace(",", ".")}.`];
  if (!NUMBER.test(text)) return [null, `“${text.slice(0, 20)}” is not a number.`];
  if (Math.abs(Number(text)) > LARGEST) return [null, `${text.slice(0, 20)} is too large: at most a million.`];
  return [Number(text), ""];
}

function mix(x) { // lowbias32, as in board.py
  x = (x + 0x9e3779b9) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

function randomMatrix(rows, columns, seed, place, [lowest, highest, step]) {
  const count = Math.round((highest - lowest) / step) + 1;
  const hash = (k) => mix((mix((mix(seed) ^ place) >>> 0) ^ k) >>> 0);
  return grid(rows, columns, (i, j) => lowest + step * Math.floor((hash(i * columns + j) * count) / 2 ** 32));
}
