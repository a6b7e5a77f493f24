// The page's half of what n07_how_attention_learns.py computes.

import { everyLeaf, minusOf, number, told } from "../page/arithmetic.js";
import { sum, trimmed } from "../page/numbers.js";
import { dot, flip, like, product, register, softmaxOf } from "../page/operations.js";

// One step downhill; each is kept in float32, as in Python: the path can be chaotic, and last bits differ.
function descended(weights, inputs, pulls, rate) {
  const [features, ways] = [flip(inputs), flip(pulls)];
  return like(weights, (x, i, j) => Math.fround(x - rate * dot(features[i], ways[j])));
}

register({
  gradient_descent: {
    does([startQ, startK, inputs, wish], { steps, rate, keys_too, which }) {
      const wished = wish.map((row) => sum(Array.from(row)));
      let [ofQueries, ofKeys] = [startQ, startK];
      for (let k = 0; k < steps; k++) {
        const queries = product.does([inputs, ofQueries], {});
        const keys = product.does([inputs, ofKeys], {});
        const weights = product.does([queries, keys], { transpose: "b" }).map(softmaxOf);
        const toScores = like(weights, (weight, i, j) => weight * wished[i] - wish[i][j]);
        const toQueries = product.does([toScores, keys], {});
        const toKeys = product.does([toScores, queries], { transpose: "a" });
        ofQueries = descended(ofQueries, inputs, toQueries, rate);
        ofKeys = descended(ofKeys, inputs, toKeys, rate * keys_too);
      }
      return which ? ofKeys : ofQueries;
    },
    because(leaves, { steps, which }, i, j, matrices, value) {
      const start = leaves[which](i, j);
      if (!steps) return told("no step yet:", start);
      const words = `at the start, minus ${steps === 1 ? "one step" : `${steps} steps`}:`;
      return told(words, minusOf(start, number(start.value - value)), ...everyLeaf(leaves, matrices));
    },
    says(names, { steps, rate, which }) {
      const after = `${names[which]} after ${steps} step${steps === 1 ? "" : "s"}`;
      const how = "each time, the weights are computed anew, and the gradient times the rate is subtracted";
      return `${after} at a learning rate of ${trimmed(rate, 4)}: ${how}.`;
    },
  },
});
