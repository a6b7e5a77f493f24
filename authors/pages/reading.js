// A guess read in a page without Python. This file mirrors workbench/questions/reader.py: whoever changes one changes
// the other, and a test compares them.

import { readNumber, written } from "../../workbench/board/page/numbers.js";
import { calculated } from "./expression.js";

const SIGNS = { "−": "-", "–": "-", "∞": "inf", "½": "0.5", "’": "'", "\u00a0": " ", "\u2009": " ", "\u202f": " " };
const WAYS = [/[;\n]/, /[;\n,]/, /[;\n]|,\s+|\s+/, /[;\n,\s]+/]; // 0,06; 0,47 | 1, 2 | 0,06, 0,47 | 1,2 3
const CLOSES = { "]": "[", ")": "(", "}": "{" };

// Text with one sign for each thing: -, inf, x, %, commas.
function tidy(text) {
  return text
    .replace(/(\d)½/g, "$1.5") // no look behind: Safari below 16.4 would read nothing of this file
    .replace(/[−–∞½’\u00a0\u2009\u202f]/g, (sign) => SIGNS[sign])
    .toLowerCase()
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
    .replace(/^[ =≈~]+|[ .]+$/g, "");
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
  return asAsked(question, readNumber(without(part, skip), { words: true, thousands: whole }));
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

const inOrder = (question, found) =>
  found && question.form === "set" ? [...new Set(found)].sort((a, b) => a - b) : found;

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
  const asEntered = text;
  text = tidy(text)
    .replace(/torch\.size|tensor|[[\](){}"]/g, " ")
    .replace(/\band\b|&/g, ", ")
    .replace(/(\d)\s*[x×*]\s*(?=\d)/g, "$1, ")
    .replace(/^[ ,;]+|[ ,;]+$/g, "");
  if (question.form === "set" && !text && asEntered.trim()) return []; // brackets with nothing between them
  const found = WAYS.map((way) =>
    text
      .split(way)
      .filter((part) => part.trim())
      .map((part) => one(question, skip, part)),
  )
    .filter((parts) => parts.length && !parts.includes(undefined))
    .map((parts) => parts.flat());
  const fits = found.find((parts) => question.size === null || parts.length === question.size);
  return inOrder(question, fits ?? workedOut(question, asEntered, skip) ?? found[0]);
}

// An answer as a list of numbers and words, of a matrix one of its rows; undefined if it is none that is asked for.
export function read(question, text) {
  if (question.form !== "matrix") return inText(question, text);
  if (!isBalanced(text)) return undefined;
  let rows = [...text.matchAll(/[[({]([^[\](){}]*)[\])}]/g)].map((found) => found[1]);
  if (rows.length < 2) rows = (rows[0] ?? text).split(/[;\n]/);
  const found = rows.filter((row) => row.replace(/[ ,]/g, "")).map((row) => inText(question, row));
  return found.length && found.every((row) => row && row.length === found[0].length) ? found : undefined;
}

/** Why what was entered is no answer to the question, in a sentence, or "". */
export function refusal(question, text) {
  if (read(question, text)) return "";
  const areOthers = read({ ...question, whole: false, range: null }, text); // numbers, but not those that are asked for
  return areOthers ? question.refuses : `That could not be read. ${question.asks}`;
}
