// A small GPT in the page, as the course builds it: embeddings, blocks of attention and MLP before which there is a
// layer norm, and an output layer. Its numbers come as float16, 2 bytes each.

/** A float16 as a number: sign, 5 bits of exponent, 10 of fraction. */
function fromHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * 2 ** -24 * fraction;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * 2 ** (exponent - 25) * (1024 + fraction);
}

/** bytes: all weights one after the other; layout: [name, shape] of each, as Python lists them. */
export function weightsOf(bytes, layout) {
  const view = new DataView(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength);
  let at = 0;
  const next = () => fromHalf(view.getUint16(2 * at++, true));
  const read = ([name, shape]) => [name, Float64Array.from({ length: shape.reduce((a, b) => a * b) }, next)];
  return Object.fromEntries(layout.map(read));
}

// x has n rows of `from` numbers, weight has `to` rows of `from`, as torch has it; returns n rows of `to`.
function linear(x, weight, bias, n, from, to) {
  const y = new Float64Array(n * to);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < to; j++) {
      let sum = bias ? bias[j] : 0;
      for (let k = 0, a = i * from, b = j * from; k < from; k++, a++, b++) sum += x[a] * weight[b];
      y[i * to + j] = sum;
    }
  }
  return y;
}

function layerNorm(x, weight, bias, n, d, eps) {
  const y = new Float64Array(n * d);
  for (let i = 0; i < n; i++) {
    const row = x.subarray(i * d, (i + 1) * d);
    const mean = row.reduce((a, b) => a + b) / d;
    const variance = row.reduce((sum, one) => sum + (one - mean) ** 2, 0) / d;
    const scale = 1 / Math.sqrt(variance + eps);
    for (let k = 0; k < d; k++) y[i * d + k] = (row[k] - mean) * scale * (weight?.[k] ?? 1) + (bias?.[k] ?? 0);
  }
  return y;
}

// The error function: beyond 6 it is 1 to the last digit, before that its series has positive terms only.
function erf(x) {
  const size = Math.abs(x);
  if (size > 6) return Math.sign(x);
  let term = size;
  let sum = size;
  for (let k = 1; term > 1e-17 * sum; k++) {
    term *= (2 * size * size) / (2 * k + 1);
    sum += term;
  }
  return (Math.sign(x) * 2 * Math.exp(-size * size) * sum) / Math.sqrt(Math.PI);
}

const ACTIVATIONS = {
  gelu: (x) => (x / 2) * (1 + erf(x / Math.SQRT2)),
  relu: (x) => Math.max(0, x),
};

function add(x, y) {
  for (let k = 0; k < x.length; k++) x[k] += y[k];
}

/** Scores to shares, in place, from `start` to `end`. */
function softmax(row, start, end) {
  let most = -Infinity;
  for (let k = start; k < end; k++) most = Math.max(most, row[k]);
  let sum = 0;
  for (let k = start; k < end; k++) sum += row[k] = Math.exp(row[k] - most);
  for (let k = start; k < end; k++) row[k] /= sum;
}

// What a block's heads hear, n rows of d, and their maps; a head that is out is heard by nobody.
function attention({ weights, heads }, name, x, n, d, isOut) {
  const project = (which, from) =>
    linear(from, weights[`${name}.${which}.weight`], weights[`${name}.${which}.bias`], n, d, d);
  const [q, k, v] = ["q_proj", "k_proj", "v_proj"].map((which) => project(which, x));
  const width = d / heads;
  const heard = new Float64Array(n * d);
  const maps = [];
  for (let head = 0; head < heads; head++) {
    const map = new Float64Array(n * n);
    const from = head * width;
    for (let i = 0; i < n; i++) {
      for (let j = 0; j <= i; j++) {
        let score = 0;
        for (let c = 0; c < width; c++) score += q[i * d + from + c] * k[j * d + from + c];
        map[i * n + j] = score / Math.sqrt(width);
      }
      softmax(map, i * n, i * n + i + 1);
      if (isOut(head)) continue;
      for (let j = 0; j <= i; j++) {
        const share = map[i * n + j];
        for (let c = 0; c < width; c++) heard[i * d + from + c] += share * v[j * d + from + c];
      }
    }
    maps.push(map);
  }
  return [project("out_proj", heard), maps];
}

/**
 * Read a text: for each of its tokens the logits of the next one, and each head's map, heads of all blocks in a row.
 * out: the heads that are taken out.
 */
export function read(model, tokens, out = []) {
  const { weights, d, hidden, heads, blocks, activation, eps, vocabulary } = model;
  const n = tokens.length;
  const norm = (x, name, which) => layerNorm(x, weights[`${name}.weight`], weights[`${name}.bias`], n, d, eps[which]);
  const x = new Float64Array(n * d);
  tokens.forEach((token, i) => {
    for (let k = 0; k < d; k++) x[i * d + k] = weights.token[token * d + k] + weights.place[i * d + k];
  });
  const maps = [];
  for (let b = 0; b < blocks; b++) {
    const layer = (y, k, from, to) =>
      linear(y, weights[`${b}.mlp.${k}.weight`], weights[`${b}.mlp.${k}.bias`], n, from, to);
    const [heard, own] = attention(model, `${b}.attention`, norm(x, `${b}.norm1`, 2 * b), n, d, (head) =>
      out.includes(b * heads + head),
    );
    maps.push(...own);
    add(x, heard);
    add(x, layer(layer(norm(x, `${b}.norm2`, 2 * b + 1), 0, d, hidden).map(ACTIVATIONS[activation]), 2, hidden, d));
  }
  const said = norm(x, "norm", eps.length - 1);
  const logits = linear(said, weights["says.weight"], weights["says.bias"], n, d, vocabulary.length);
  return { logits, maps };
}

/** What comes next, in shares: logits divided by the temperature, only the `top` largest of them (0: all). */
export function sharesOf(logits, temperature = 1, top = 0) {
  const least = top ? [...logits].sort((a, b) => b - a)[Math.min(top, logits.length) - 1] : -Infinity;
  const shares = Float64Array.from(logits, (logit) => (logit >= least ? logit / temperature : -Infinity));
  softmax(shares, 0, shares.length);
  return shares;
}

/** The word at which the sum of shares passes `lot`, a number from 0 to 1. */
export function drawnFrom(shares, lot) {
  let sum = 0;
  for (let place = 0; place < shares.length; place++) {
    sum += shares[place];
    if (sum > lot) return place;
  }
  return shares.indexOf(Math.max(...shares)); // they sum to less than 1 by what was rounded
}
