// A number that is written as it is worked out: 4*768*769, 2^8, 2.36 million. This file mirrors
// workbench/questions/expression.py, and a test compares them.

import { readNumber } from "../../workbench/board/page/numbers.js";

const COUNTS = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");
const WORDS = new Map([...COUNTS.map((word, n) => [word, n]), ["once", 1], ["twice", 2]]);
const FACTORS = new Map([
  ["half", 1 / 2],
  ["halve", 1 / 2],
  ["third", 1 / 3],
  ["quarter", 1 / 4],
  ["fourth", 1 / 4],
  ["fifth", 1 / 5],
  ["sixth", 1 / 6],
  ["eighth", 1 / 8],
  ["tenth", 1 / 10],
  ["hundred", 1e2],
  ["thousand", 1e3],
  ["k", 1e3],
  ["million", 1e6],
  ["mio", 1e6],
  ["mln", 1e6],
  ["m", 1e6],
  ["billion", 1e9],
]);
const FUNCTIONS = { sqrt: Math.sqrt, "√": Math.sqrt, ln: Math.log, log: Math.log, exp: Math.exp };
const VALUES = new Map([...WORDS, ...FACTORS, ["e", Math.E], ["π", Math.PI], ["pi", Math.PI]]);
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const TIMES = ["*", "×", "·", "x", "time"];
const TOKEN = /\s*(?:([\d.,]*\d[\d.]*(?:e[+-]?\d+)?)|(\*\*|[-+*/^()×·√π%]|[a-z]+))/y;
const DEEPEST = 20; // brackets in each other

class NoExpression extends Error {}

/** The value of a text in lower case, or undefined. */
export function calculated(text, options) {
  try {
    return whole(tokensOf(text, options));
  } catch (error) {
    if (error instanceof NoExpression) return undefined;
    throw error;
  }
}

function refuse() {
  throw new NoExpression();
}

function tokensOf(entered, options) {
  if (/\d-\d/.test(entered)) refuse(); // from 3 to 4, more likely than 3 minus 4
  const text = entered
    .replace(
      /[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+/g,
      (power) => `^${power.replace(/./g, (sign) => (sign === "⁻" ? "-" : RAISED.indexOf(sign)))}`,
    )
    .trim()
    .replace(/([\d)])\s*(x|times|fold)$/, "$1");
  const tokens = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const [, number, sign] = TOKEN.exec(text) ?? refuse();
    tokens.push(number ? (readNumber(number, options) ?? refuse()) : withoutPlural(sign));
  }
  return tokens.filter((token) => token !== "a" && token !== "of").reverse();
}

const withoutPlural = (word) => (WORDS.has(word) || FACTORS.has(word) ? word : word.replace(/s$/, ""));

function whole(tokens) {
  const next = (isOne) => (tokens.length && isOne(tokens.at(-1)) ? tokens.pop() : undefined);
  const one = (...signs) => next((token) => signs.includes(token));
  let depth = 0;

  function chain(part, does) {
    let result = part();
    for (let sign = one(...Object.keys(does)); sign !== undefined; sign = one(...Object.keys(does))) {
      result = does[sign](result, part());
    }
    return result;
  }
  const times = Object.fromEntries(TIMES.map((sign) => [sign, (x, y) => x * y]));
  const sum = () => chain(product, { "+": (x, y) => x + y, "-": (x, y) => x - y });
  const product = () => chain(signed, { ...times, "/": (x, y) => (y ? x / y : refuse()) });

  function signed() {
    const sign = one("-", "+");
    if (sign) return signed() * (sign === "-" ? -1 : 1);
    return power();
  }
  function power() {
    const base = atom();
    return one("^", "**") ? finite(base ** signed()) : base;
  }
  function atom() {
    depth += 1;
    if (!tokens.length || depth > DEEPEST) refuse();
    let result = valueOfAtom(tokens.pop());
    depth -= 1;
    for (let factor = next((t) => FACTORS.has(t)); factor; factor = next((t) => FACTORS.has(t))) {
      result *= FACTORS.get(factor);
    }
    return result;
  }
  function valueOfAtom(token) {
    if (typeof token === "number") return token;
    if (token in FUNCTIONS) return finite(FUNCTIONS[token](atom()));
    if (token === "(") {
      const inside = sum();
      return one(")") ? inside : refuse();
    }
    return VALUES.get(token) ?? refuse();
  }
  const result = sum();
  return tokens.length ? refuse() : result;
}

const finite = (x) => (Number.isFinite(x) ? x : refuse());
