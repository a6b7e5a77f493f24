// What the tests ask of the boards' modules, as globals of a page without a kernel.

import { evaluate, sources } from "../../workbench/board/page/arithmetic.js";
import { CONDITIONS } from "../../workbench/board/page/conditions.js";
import { Engine } from "../../workbench/board/page/engine.js";
import { counted, explained, plainText, spelledOut } from "../../workbench/board/page/explain.js";
import { exact, randomMatrix, readCell, readNumber, readRows, written } from "../../workbench/board/page/numbers.js";
import { OPERATIONS } from "../../workbench/board/page/operations.js";
import { RealEngine } from "../../workbench/board/page/real/engine.js";
import { StoryEngine } from "../../workbench/board/page/story/engine.js";

const bytesOf = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));

// The traits that Python sends, as a page has them where nobody answers.
function modelOf(text) {
  const traits = JSON.parse(text);
  traits.frames = Object.fromEntries(Object.entries(traits.frames).map(([name, frame]) => [name, bytesOf(frame)]));
  return { alone: true, get: (name) => traits[name], set() {}, on() {}, save_changes() {} };
}

const engineOf = (text) => new Engine(modelOf(text));

// What a story board's page reads: logits and maps by place, and the shares that the next word is drawn from.
function storyOf(text) {
  const engine = new StoryEngine(modelOf(text));
  const n = engine.tokens.length;
  const rows = (flat) =>
    Array.from({ length: n }, (_, i) => [...flat.subarray((i * flat.length) / n, ((i + 1) * flat.length) / n)]);
  return {
    logits: rows(engine.logits),
    maps: engine.maps.map(rows),
    drawn: [...engine.drawn(n - 1)],
    verdict: engine.verdict,
  };
}

// Lists of numbers for JSON, which has no nan and no infinity.
function words(x) {
  if (Array.isArray(x) || ArrayBuffer.isView(x)) return Array.from(x, words);
  if (typeof x !== "number" || Number.isFinite(x)) return x;
  return { NaN: "nan", Infinity: "inf", "-Infinity": "-inf" }[String(x)];
}

const valuesOf = (engine) => Object.fromEntries(engine.steps.map(({ name }) => [name, words(engine.values[name])]));

// A board of a language model as a page has it behind which Python is slow: it answers when a test says so.
let realModel = null;
function realOf(text) {
  const heard = {};
  realModel = { ...modelOf(text), alone: false, on: (event, then) => (heard[event] = then), heard };
  window.engineOfReal = new RealEngine(realModel);
  return stateOfReal();
}
function stateOfReal() {
  const { text, isWaiting, words, reading } = window.engineOfReal;
  return { text, isWaiting, words, drawn: reading.text };
}
function answerReal(text) {
  realModel.get = modelOf(text).get;
  realModel.heard["change:reply"]();
  return stateOfReal();
}

Object.assign(window, {
  realOf,
  stateOfReal,
  answerReal,
  storyOf,
  engineOf,
  valuesOf,
  Engine,
  OPERATIONS,
  CONDITIONS,
  evaluate,
  sources,
});
Object.assign(window, { explained, counted, spelledOut, plainText });
Object.assign(window, { exact, randomMatrix, readCell, readNumber, readRows, written });
