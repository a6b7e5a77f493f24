// What the tests ask of the boards' modules, as globals of a page without a kernel.

import { evaluate, sources } from "../../workbench/board/page/arithmetic.js";
import { CONDITIONS } from "../../workbench/board/page/conditions.js";
import { Engine } from "../../workbench/board/page/engine.js";
import { counted, explained, plainText, spelledOut } from "../../workbench/board/page/explain.js";
import { exact, randomMatrix, readCell, readNumber, readNumbers, written } from "../../workbench/board/page/numbers.js";
import { OPERATIONS } from "../../workbench/board/page/operations.js";
import { wire } from "../../workbench/board/page/wires.js";

const bytesOf = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));

// A board's engine on the traits that Python sends, as a page has it where nobody answers.
function engineOf(text) {
  const traits = JSON.parse(text);
  traits.frames = Object.fromEntries(Object.entries(traits.frames).map(([name, frame]) => [name, bytesOf(frame)]));
  return new Engine({ alone: true, get: (name) => traits[name], set() {}, on() {}, save_changes() {} });
}

// Lists of numbers for JSON, which has no nan and no infinity.
function words(x) {
  if (Array.isArray(x) || ArrayBuffer.isView(x)) return Array.from(x, words);
  if (typeof x !== "number" || Number.isFinite(x)) return x;
  return { NaN: "nan", Infinity: "inf", "-Infinity": "-inf" }[String(x)];
}

const valuesOf = (engine) => Object.fromEntries(engine.steps.map(({ name }) => [name, words(engine.values[name])]));

Object.assign(window, { engineOf, valuesOf, Engine, OPERATIONS, CONDITIONS, evaluate, sources, wire });
Object.assign(window, { explained, counted, spelledOut, plainText });
Object.assign(window, { exact, randomMatrix, readCell, readNumber, readNumbers, written });
