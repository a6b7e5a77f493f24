// The state of a story board, once for all its views: words and settings, and what the model makes of them.

import { Journal } from "../journal.js";
import { lotOf } from "../numbers.js";
import { CONDITIONS } from "./conditions.js";
import { verdictOn } from "./grammar.js";
import { drawnFrom, read, sharesOf, weightsOf } from "./model.js";

export const HOTTEST = 2;
export const COLDEST = 0.1;
const SEEDS = 9999;
const END = -1; // of places and of the words that are one's own: as far as the text goes

const isCount = (x, least, most) => Number.isInteger(x) && x >= least && x <= most;
const isAmong = (list) => (x) => list.includes(x);

/** Whether a state is one that hands could have made on this board. */
export function fits(state, { vocabulary, places, heads, blocks }) {
  const { inputs, settings } = state ?? {};
  const words = inputs?.text;
  if (!Array.isArray(words) || words.length >= places || !settings) return false;
  const { place, temperature, top, out, head, seed, yours } = settings;
  return (
    words.every(isAmong(vocabulary.slice(1))) &&
    isCount(place, END, words.length) &&
    isCount(yours, END, words.length) &&
    isCount(head, END, heads * blocks - 1) &&
    isCount(top, 0, vocabulary.length) &&
    isCount(seed, 1, SEEDS) &&
    typeof temperature === "number" &&
    temperature >= COLDEST &&
    temperature <= HOTTEST &&
    Array.isArray(out) &&
    out.every((one) => isCount(one, 0, heads * blocks - 1))
  );
}

export class StoryEngine extends Journal {
  constructor(model) {
    super(model);
    const spec = model.get("spec");
    this.gpt = { ...spec, weights: weightsOf(model.get("frames").weights, spec.layout) };
    this.vocabulary = spec.vocabulary;
    this.grammar = spec.grammar;
    this.number = new Map(spec.vocabulary.map((word, place) => [word, place]));
    this.before = null; // what came at the end, before a word was replaced or a head turned
    this.heads = spec.heads * spec.blocks;
    this.most = spec.places - 1; // words
    this.begin();
  }

  get words() {
    return this.state.inputs.text;
  }

  get place() {
    const { place } = this.state.settings;
    return place === END ? this.words.length : place;
  }

  get yours() {
    const { yours } = this.state.settings;
    return yours === END ? this.words.length : yours;
  }

  word(place) {
    return place ? this.words[place - 1] : this.vocabulary[0];
  }

  // ---- computing

  compute() {
    const asked = String([this.words, this.state.settings.out]);
    if (asked !== this.asked) {
      this.tokens = [0, ...this.words.map((word) => this.number.get(word))];
      Object.assign(this, read(this.gpt, this.tokens, this.state.settings.out));
      this.verdict = this.grammar ? verdictOn(this.words, this.grammar) : { left: null, faults: [], isWhole: false };
      this.asked = asked;
    }
    const holds = this.task?.conditions.every(([kind, ...rest]) => CONDITIONS[kind](this, ...rest));
    if (holds && !this.proof) this.proof = structuredClone(this.state);
  }

  logitsAt(place) {
    const count = this.vocabulary.length;
    return this.logits.subarray(place * count, (place + 1) * count);
  }

  /** Shares of the word after a place, as the model says them, or as they are drawn from. */
  shares(place) {
    return sharesOf(this.logitsAt(place));
  }

  drawn(place) {
    const { temperature, top } = this.state.settings;
    return sharesOf(this.logitsAt(place), temperature, top);
  }

  /** What a head gives to each place up to `place`. */
  heard(head, place) {
    const n = this.tokens.length;
    return this.maps[head].subarray(place * n, place * n + place + 1);
  }

  isOut(head) {
    return this.state.settings.out.includes(head);
  }

  /** The words that come next, most likely first. */
  likely(place) {
    const shares = this.drawn(place);
    return this.vocabulary.map((word, k) => ({ word, share: shares[k] })).sort((a, b) => b.share - a.share);
  }

  // ---- changing

  rewrite(text, place, said, more = {}, gesture = null) {
    if (text.length > this.most) return this.moved(null, `The model has room for ${this.most} words.`);
    this.remember(gesture);
    const before = text.length === this.words.length ? this.shares(text.length) : null;
    const settings = { ...this.state.settings, yours: END, ...more, place: place >= text.length ? END : place };
    this.before = before;
    super.moved({ inputs: { text }, settings }, said);
    return undefined;
  }

  insert(at, words, gesture) {
    const text = [...this.words.slice(0, at), ...words, ...this.words.slice(at)];
    this.rewrite(text, at + words.length, "", {}, gesture);
  }

  replace(at, word) {
    const old = this.words[at];
    if (old === word) return this.choose(at + 1);
    this.rewrite(this.words.with(at, word), this.words.length, `*${old}* is now *${word}*.`);
    return undefined;
  }

  remove(at) {
    const old = this.words[at];
    const text = this.words.filter((_, k) => k !== at);
    this.rewrite(text, at, `*${old}* is gone.`);
  }

  /** Say this word at a place: after the last it is added, elsewhere it takes the place of the word that follows. */
  say(place, word) {
    if (place < this.words.length) this.replace(place, word);
    else this.insert(place, [word]);
  }

  choose(place) {
    if (place === this.place) return;
    const settings = { ...this.state.settings, place: place >= this.words.length ? END : place };
    this.remember("place");
    this.moved({ ...this.state, settings }, "");
  }

  set(name, value, said = "", gesture = null) {
    if (value === this.state.settings[name]) return;
    this.remember(gesture);
    this.moved({ ...this.state, settings: { ...this.state.settings, [name]: value } }, said);
  }

  turn(head) {
    const { out } = this.state.settings;
    const now = this.isOut(head) ? out.filter((one) => one !== head) : [...out, head].sort((a, b) => a - b);
    const others = out.filter((one) => one !== head);
    const both = others.length ? `, as ${others.length > 1 ? "are" : "is"} ${others.join(", ")}` : "";
    this.remember();
    this.before = this.shares(this.words.length);
    const settings = { ...this.state.settings, out: now };
    super.moved({ ...this.state, settings }, `Head ${head} is ${this.isOut(head) ? "back" : `out${both}`}.`);
  }

  moved(state, said, error) {
    const isOther = state && (state.inputs !== this.state.inputs || state.settings.out !== this.state.settings.out);
    if (isOther) this.before = null;
    super.moved(state, said, error);
  }

  prepare(sets) {
    super.prepare(sets, "");
  }

  // ---- writing on

  /** One word more, drawn with the seed's lot of this place; false at the end of the text. */
  writeWord(gesture) {
    const { seed } = this.state.settings;
    const end = this.words.length;
    if (end >= this.most) return false;
    const token = drawnFrom(this.drawn(end), lotOf(seed, end));
    if (!token) {
      if (this.gesture !== gesture) this.moved(null, `With seed ${seed} the text ends here.`);
      return false;
    }
    this.rewrite([...this.words, this.vocabulary[token]], END, "", { yours: this.yours }, gesture);
    return true;
  }

  /** Back to what was written by hand, with the next seed. */
  another() {
    const seed = (this.state.settings.seed % SEEDS) + 1;
    this.rewrite(this.words.slice(0, this.yours), END, "", { seed });
  }

  // ---- words that are none

  /** The words of a typed text that the model knows, up to the first that it does not, and what is left of it. */
  understood(typed) {
    const signs = this.vocabulary.slice(1).filter((word) => /^[^\p{L}\p{N}\p{M}]+$/u.test(word));
    const apart = signs.reduce((text, sign) => text.replaceAll(sign, ` ${sign} `), typed);
    const parts = apart.split(/\s+/).filter(Boolean);
    const isOpen = parts.length > 0 && !/\s$/.test(apart); // its last word may go on
    const closed = isOpen ? parts.slice(0, -1) : parts;
    const known = closed.map((part) => this.known(part));
    const first = known.indexOf(null);
    if (first >= 0) {
      const rest = `${parts.slice(first).join(" ")}${isOpen ? "" : " "}`;
      return { words: known.slice(0, first), rest, strange: parts[first] };
    }
    return { words: known, rest: isOpen ? parts.at(-1) : "", strange: "" };
  }

  known(part) {
    const forms = [part, part.toLowerCase(), part.normalize("NFC")];
    return forms.find((form) => this.number.get(form) > 0) ?? null;
  }

  /** The words nearest to a draft: those that begin so, most likely first, then those with the fewest changes. */
  nearest(draft, place) {
    const wanted = draft.toLowerCase();
    const shares = this.drawn(place);
    const far = (word) => (word.startsWith(wanted) ? 0 : changes(wanted, word.toLowerCase()));
    const all = this.vocabulary.slice(1).map((word, k) => ({ word, share: shares[k + 1], far: far(word) }));
    return all.sort((a, b) => a.far - b.far || b.share - a.share);
  }
}

// How many signs are to be changed, put in or left out to make one word of another (Levenshtein).
function changes(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, j) => j);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[other.length];
}
