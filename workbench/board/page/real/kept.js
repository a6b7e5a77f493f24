// The sentences that a page without a kernel has, as kept.py writes them: readings of each, with all heads, without
// each of them, and without some together.

const PARTS = 4000; // of 1, in which a share is kept

/** The bytes of a trait, whichever way they came. */
export const bytesOf = (data) => new Uint8Array(data.buffer ?? data, data.byteOffset ?? 0, data.byteLength);

const triangle = (n) => (n * (n + 1)) / 2;

/** Text → { heads that are out } → a reading, or undefined; a promise, as the browser unpacks in its own time. */
export async function unpacked(bytes, heads) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const all = new Uint8Array(await new Response(stream).arrayBuffer());
  const size = new DataView(all.buffer).getUint32(0, true);
  let at = 4 + size;
  function take(count) {
    at += count;
    return all.slice(at - count, at);
  }
  const sentences = new Map();
  for (const record of JSON.parse(new TextDecoder().decode(all.subarray(4, 4 + size)))) {
    const maps = take(heads * triangle(record.pieces.length));
    const columns = record.words.length + (record.pair.length ? 1 : 0);
    const rows = 1 + heads + record.groups.length;
    const shares = Array.from(new Uint16Array(take(2 * rows * columns).buffer), (part) => part / PARTS);
    sentences.set(record.text, { ...record, maps, columns, shares });
  }
  return sentences;
}

/** Which row of a sentence's shares has what is said without these heads; −1 if none has. */
export function rowFor({ groups }, out, heads) {
  if (!out.length) return 0;
  if (out.length === 1) return 1 + out[0];
  const group = groups.findIndex((one) => String(one) === String(out));
  return group < 0 ? -1 : 1 + heads + group;
}

/** The reading that Python would have answered with. */
export function readingOf(sentence, out, heads) {
  const { columns, shares, words, pair, pieces, maps, text } = sentence;
  const row = (k) => shares.slice(k * columns, (k + 1) * columns);
  const [now, whole] = [row(rowFor(sentence, out, heads)), row(0)];
  const likeliest = (of) => [...words.keys()].sort((a, b) => of[b] - of[a]).slice(0, 6);
  const shown = [...new Set([...likeliest(now), ...likeliest(whole)])].sort((a, b) => now[b] - now[a]);
  const wanted = pair.length ? [...shown, words.length] : shown;
  const missed = Float32Array.from({ length: heads * wanted.length }, (_, k) => {
    return row(1 + Math.floor(k / wanted.length))[wanted[k % wanted.length]];
  });
  return {
    text,
    out,
    pieces,
    maps,
    missed,
    next: shown.map((k) => [words[k], now[k], whole[k]]),
    pair: pair.length ? [...pair, now[words.length], whole[words.length]] : [],
  };
}
