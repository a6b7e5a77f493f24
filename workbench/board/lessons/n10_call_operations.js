// The page's half of what n10_call_operations.py computes.

import { number, over, plus, rowOf, times, told } from "../page/arithmetic.js";
import { range, sum } from "../page/numbers.js";
import { register } from "../page/operations.js";

const WEIGHTS = 6.7e9;
const [LAYERS, HEADS, HEAD_DIM] = [32, 32, 128];
const BYTES_A_SECOND = 3e12;
const PRODUCTS_A_SECOND = 5e14;
const GIGA = 1e9;

const attendedTo = ({ prompt, window }) => Math.min(prompt, window);
const numbersOfToken = (stored) => 2 * LAYERS * stored * HEAD_DIM; // keys and values in the cache
const paceOf = (i) => (i ? PRODUCTS_A_SECOND : BYTES_A_SECOND);
const totals = (matrix) => matrix.map((row) => sum(Array.from(row)));

register({
  bytes_read: {
    does: (_, options) => {
      const cache = options.texts * attendedTo(options) * numbersOfToken(options.stored) * (options.bits / 8);
      return [[(2 * WEIGHTS) / GIGA, cache / GIGA]];
    },
    because(_leaves, options, _i, j) {
      if (!j) return told("billions of weights, two bytes each:", times(number(WEIGHTS / GIGA), number(2)));
      const bytes = (numbersOfToken(options.stored) * options.bits) / 8;
      const parts = [options.texts, attendedTo(options), bytes / GIGA].map(number);
      return told("texts, tokens, GB for a token:", times(...parts));
    },
    says: () => "What one call reads from memory: all weights once, and the whole cache of each text.",
  },
  products_made: {
    does: (_, options) => {
      const tokens = options.texts * options.tokens;
      const attended = 2 * LAYERS * HEADS * HEAD_DIM * attendedTo(options);
      return [[(tokens * WEIGHTS) / GIGA, (tokens * attended) / GIGA]];
    },
    because(_leaves, options, _i, j) {
      const tokens = number(options.texts * options.tokens);
      if (!j) return told("new tokens, billions of weights:", times(tokens, number(WEIGHTS / GIGA)));
      const each = number((2 * LAYERS * HEADS * HEAD_DIM) / GIGA);
      return told(
        "new tokens, tokens attended to, billions for each:",
        times(tokens, number(attendedTo(options)), each),
      );
    },
    says: () =>
      "What one call multiplies: each weight once for a token, and a score and an average for each old token.",
  },
  milliseconds: {
    does: (matrices) => matrices.map(([row], i) => Array.from(row, (x) => (x * GIGA * 1000) / paceOf(i))),
    because: (leaves, _options, i, j) => over(leaves[i](0, j), number(paceOf(i) / GIGA / 1000)),
    says: ([read, made]) => `The times that ${read} and ${made} take: divided by what the card does in a millisecond.`,
  },
  longer: {
    does: ([matrix]) => [[Math.max(...totals(matrix))]],
    because([leaf], _options, _i, _j, [matrix]) {
      const whole = totals(matrix);
      const slowest = whole.indexOf(Math.max(...whole));
      const others = range(matrix.length).filter((i) => i !== slowest);
      return told("", plus(rowOf(leaf, matrix, slowest)), ...others.flatMap((i) => rowOf(leaf, matrix, i)));
    },
    says: ([times]) => `The longer row of ${times}: while the card reads it multiplies.`,
  },
});
