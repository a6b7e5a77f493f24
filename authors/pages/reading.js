// A guess read in a page without Python. This file mirrors workbench/questions/reader.py: whoever changes one changes
// the other, and a test compares them.

import { range, readNumber, written } from "../../workbench/board/page/numbers.js";
import { calculated } from "./expression.js";

const SIGNS = { "−": "-", "–": "-", "∞": "inf", "’": "'", "≅": "≈", "≃": "≈", "⟨": "(", "⟩": ")" };
Object.assign(SIGNS, { "\u00a0": " ", "\u2009": " ", "\u202f": " ", "½": " 1/2", "⅓": " 1/3", "⅔": " 2/3" });
Object.assign(SIGNS, { "¼": " 1/4", "¾": " 3/4", "⅕": " 1/5", "⅙": " 1/6" });
const SIGN = new RegExp(`[${Object.keys(SIGNS).join("")}]`, "g");
// What is said before an answer, and after it: I think 12; the answer is 12; n = 12; ca. 12; 12 in total
const BEFORE = [
  /^((i (think|guess|believe)|maybe|perhaps|probably|exactly|(my |the )?(answer|guess))\b( is\b|:|,)?\s+)+(?=\S)/,
  /^[a-z]\w*\s*=\s*(?=\S)/,
  /\b(ca?|appro?x?)\.\s*(?=[\d.-])/g,
];
const AFTER = /(\S),?\s+(i (think|guess|believe)|or so|in (total|all)|altogether)$/;
const TYPES = /\b(torch\.|np\.|numpy\.)?(size|shape|tensor|array|tuple|set)\b|[[\](){}"]/g;
const WAYS = [/[;\n]/, /[;\n,]/, /[;\n]|,\s+|\s+/, /[;\n,\s]+/]; // 0,06; 0,47 | 1, 2 | 0,06, 0,47 | 1,2 3
const CLOSES = { "]": "[", ")": "(", "}": "{" };

// Text with one sign for each thing: -, inf, x, %, commas.
function tidy(text) {
  const bare = text
    .replace(/(\d)½/g, "$1.5") // no look behind: Safari below 16.4 would read nothing of this file
    .replace(SIGN, (sign) => SIGNS[sign])
    .toLowerCase()
    .trim()
    .replace(/([\w)\].])\s*\|\s*(?=[\w([.+-])/g, "$1; ");
  return BEFORE.reduce((rest, phrase) => rest.replace(phrase, ""), bare)
    .replace(/^<(.*)>$/, "($1)")
    .replace(/[.!]+$/, "")
    .replace(AFTER, "$1")
    .replace(/\s*(%|per ?cent\b|pct\b)/g, "%")
    .replace(/\bminus\s+/g, "-")
    .replace(/(^|[^\d.])-\s+(?=[\d.])/g, "$1-")
    .replace(/(\d)\s*\/\s*(?=\d)/g, "$1/")
    .trim();
}

const singular = (word) => (word.length > 3 && /[^s]s$/.test(word) ? word.slice(0, -1) : word);

// Words as they are compared: lower case, without signs, plural and those that say nothing.
function phrase(text, skip) {
  const words = tidy(text)
    .replaceAll("'", "")
    .replace(/([\p{L}\p{N}_])-(?=[\p{L}\p{N}_])/gu, "$1 ")
    .replace(/[^\p{L}\p{N}_√-]+/gu, " ");
  return words
    .split(/\s+/)
    .filter(Boolean)
    .map(singular)
    .filter((word) => !skip.includes(word))
    .join(" ");
}

// A part without the words that say nothing of a number.
function without(text, skip) {
  return tidy(text)
    .replace(/\p{L}{2,}/gu, (word) => (skip.includes(singular(word)) ? "" : word))
    .replace(/^[ =≈~]+|[ .!]+$/g, "");
}

function isBalanced(text) {
  const waiting = [];
  for (const sign of text) {
    if ("[({".includes(sign)) waiting.push(sign);
    else if (sign in CLOSES && waiting.pop() !== CLOSES[sign]) return false;
  }
  return !waiting.length;
}

// What one part stands for, as a list, since "all" is several; undefined if it is nothing that is asked for.
function one(question, skip, part) {
  const { names, options, whole, size } = question;
  const words = phrase(part, skip);
  if (Object.hasOwn(names, words)) return names[words];
  if (options.length) return undefined;
  if (size === null && /\d[\s,_]+\d/.test(part)) return undefined; // 5 135 135, several numbers as likely as one
  const bare = without(part, skip);
  if (bare === "0/0" && Object.hasOwn(names, "nan")) return names.nan;
  const read = readNumber(bare, { words: true, thousands: whole });
  const isWorkedOut = read === undefined && ["numbers", "matrix"].includes(question.form);
  return asAsked(question, isWorkedOut ? calculated(bare, { thousands: whole }) : read);
}

// A number as a list, if it is such as the question asks for.
function asAsked({ whole, range }, number) {
  const fits =
    number !== undefined &&
    !Number.isNaN(number) &&
    (!whole || Number.isInteger(number)) &&
    (!range || (range[0] <= number && number <= range[1]));
  return fits ? [Number.isFinite(number) ? number : written(number)] : undefined;
}

const inOrder = (question, numbers) =>
  numbers && question.form === "set" ? [...new Set(numbers)].sort((a, b) => a - b) : numbers;

// The one number of a product, a power, a sum, or of words.
function workedOut(question, text, skip) {
  if (question.size !== 1 || question.options.length) return undefined;
  return asAsked(question, calculated(without(text, skip), { thousands: question.whole }));
}

// The numbers or words of a text, in the first way to part them that makes as many as there should be.
function inText(question, text) {
  const skip = question.skip.split(" ");
  const words = phrase(text, skip);
  if (Object.hasOwn(question.names, words)) return question.names[words];
  if (!isBalanced(text)) return undefined;
  if (question.form === "number") {
    text = text.replace(/^.*[=≈]\s*(?=\S)/s, ""); // 64 * 64 = 4096
    const most = question.whole && question.range && new RegExp(`(\\d)\\s*(/|(out )?of)\\s*${question.range[1]}$`);
    if (most) text = text.replace(most, "$1"); // 10 of 16
  }
  const asEntered = text;
  text = tidy(text)
    .replace(TYPES, " ")
    .replace(/\b(and|then)\b|&/g, ", ")
    .replace(/(\d)\s*([x×*·]|by)\s*(?=\d)/g, "$1, ");
  if (["set", "words"].includes(question.form)) text = text.replace(/[/+]/g, ", ").replace(/\bboth\s+(?=\S)/g, "");
  const isShared = question.size !== 1 && !question.whole && /^[^%]*\d%$/.test(text.trim()); // 6, 47, 47 %
  text = (isShared ? text.replace("%", "") : text).replace(/^[ ,;:]+|[ ,;:]+$/g, "");
  if (question.form === "set" && !text && asEntered.trim()) return []; // brackets with nothing between them
  const ways = /\d\s+[-−–]\s+[\d.]/.test(asEntered) ? WAYS.slice(0, 2) : WAYS; // 3 - 5 is hardly 3 and -5
  const readings = ways
    .map((way) =>
      text
        .split(way)
        .filter((part) => part.trim())
        .map((part) => one(question, skip, part)),
    )
    .filter((parts) => parts.length && !parts.includes(undefined))
    .map((parts) => parts.flat().map((x) => (isShared && typeof x === "number" ? x / 100 : x)));
  const fits = readings.find((parts) => question.size === null || parts.length === question.size);
  return inOrder(question, fits ?? workedOut(question, asEntered, skip) ?? readings[0]);
}

// An answer as a list of numbers and words, of a matrix one of its rows; undefined if it is none that is asked for.
export function read(question, text) {
  if (question.form !== "matrix") return inText(question, text);
  if (!isBalanced(text)) return undefined;
  let rows = [...text.matchAll(/[[({]([^[\](){}]*)[\])}]/g)].map((match) => match[1]);
  if (rows.length < 2) rows = (rows[0] ?? tidy(text)).split(/[;\n]/);
  let numbers = rows.filter((row) => row.replace(/[ ,]/g, "")).map((row) => inText(question, row));
  const { size } = question;
  const isInOneLine = numbers.length === 1 && numbers[0] && numbers[0].length % size === 0;
  if (isInOneLine) numbers = range(numbers[0].length / size).map((k) => numbers[0].slice(k * size, (k + 1) * size));
  return numbers.length && numbers.every((row) => row && row.length === numbers[0].length) ? numbers : undefined;
}

/** Why what was entered is no answer to the question, in a sentence, or "". */
export function refusal(question, text) {
  if (read(question, text)) return "";
  const areOthers = read({ ...question, whole: false, range: null }, text); // numbers, but not those that are asked for
  return areOthers ? question.refuses : `That could not be read. ${question.asks}`;
}
