// The state of a board on which a language model reads: the page asks, Python answers, and what was answered to another
// question than the one that stands there now is not drawn. A page without Python has answers to a few sentences.

import { Journal, PATIENCE } from "../journal.js";
import { CONDITIONS } from "./conditions.js";
import { bytesOf, readingOf, rowFor, unpacked } from "./kept.js";

const END = -1; // of places: the last one
const KEPT = 30; // answers, so that Undo need not ask again
const CLOSES = /^[.,;:!?…'’)\]}]/; // no space comes before these
const SPLIT = /\s*\S+/g; // a text whose pieces are not known yet

const CAN_UNPACK = "DecompressionStream" in globalThis;
const TOO_OLD = "This browser shows the first sentence only; a newer one has the others, and each head turned off.";

const isPlace = (x) => Number.isInteger(x) && x >= END;

/** Whether a state is one that a page without a kernel can show. */
export function fits(state, { texts, blocks, heads }) {
  const { inputs, settings } = state ?? {};
  if (!texts.includes(inputs?.text) || !settings) return false;
  const { asks, hears, head, out, shows, word, pair } = settings;
  return (
    [asks, hears, head].every(isPlace) &&
    head < blocks * heads &&
    Array.isArray(out) &&
    out.every((one) => Number.isInteger(one) && one >= 0 && one < blocks * heads) &&
    ["heard", "missed"].includes(shows) &&
    typeof word === "string" &&
    Array.isArray(pair)
  );
}

export class RealEngine extends Journal {
  constructor(model) {
    super(model);
    const { blocks, heads, most, texts } = model.get("spec");
    Object.assign(this, { blocks, inBlock: heads, heads: blocks * heads, most, texts });
    this.isAlone = Boolean(model.alone); // no Python behind it
    this.answers = new Map(); // question → reading
    this.reading = null; // what is drawn
    this.progress = 0;
    this.verdict = { faults: [], left: null }; // as a board of stories has one
    this.yours = Number.POSITIVE_INFINITY;
    this.take();
    this.begin();
    model.on("change:progress", () => {
      this.progress = model.get("progress");
      this.isAlive();
      this.show();
    });
    if (this.isAlone && CAN_UNPACK) {
      unpacked(bytesOf(model.get("frames").kept), this.heads).then((sentences) => {
        this.sentences = sentences;
        this.compute();
        this.show();
      });
    }
  }

  // ---- what stands there

  get text() {
    return this.state.inputs.text;
  }

  /** Where each piece begins and ends; of what is still being read, where its words do. */
  get spans() {
    if (!this.isWaiting) return this.reading?.pieces ?? [];
    const { pieces, text } = this.reading ?? { pieces: [], text: "" };
    const known = pieces.filter(([, to]) => this.text.startsWith(text.slice(0, to)));
    const from = known.at(-1)?.[1] ?? 0;
    const words = this.text.slice(from).matchAll(SPLIT);
    return [...known, ...Array.from(words, ({ index, 0: word }) => [from + index, from + index + word.length])];
  }

  /** The pieces as they are read, without the space before them. */
  get words() {
    return this.spans.map(([from, to]) => this.text.slice(from, to).trim() || shownSign(this.text.slice(from, to)));
  }

  /** Whether a piece goes on with the word before it. */
  isJoined(place) {
    const [from, to] = this.spans[place];
    return place > 0 && !/^\s/.test(this.text.slice(from, to));
  }

  word(place) {
    return this.words[place] ?? "";
  }

  get place() {
    return this.placeOf("asks");
  }

  placeOf(name) {
    const place = this.state.settings[name];
    const last = this.spans.length - 1;
    if (name === "hears") return place > last ? END : place;
    return place === END || place > last ? last : place;
  }

  /** The pieces that come next, likeliest first: piece, its share, and its share with all heads. */
  get next() {
    return (this.reading?.next ?? []).map(([piece, share, whole]) => ({ piece, share, whole }));
  }

  get pair() {
    const [one, other, share, whole] = this.reading?.pair ?? [];
    return one && Number.isFinite(share) ? { one, other, share, whole } : null; // before any word there is no share
  }

  nameOf(head) {
    return `${Math.floor(head / this.inBlock)}.${head % this.inBlock}`;
  }

  isOut(head) {
    return this.state.settings.out.includes(head);
  }

  get maps() {
    return Array.from({ length: this.heads });
  }

  /** What a head gives to each place up to `place`, as shares. */
  heard(head, place) {
    const n = this.reading.pieces.length;
    const row = (head * n * (n + 1)) / 2 + (place * (place + 1)) / 2;
    return Array.from(this.reading.maps.subarray(row, row + place + 1), (byte) => byte / 255);
  }

  /** Whom a head hears most, the first piece left aside, as there a head rests that has nothing to say. */
  hearsMost(head) {
    const row = this.heard(head, this.place);
    const others = row.slice(1);
    const share = Math.max(0, ...others);
    return others.length ? { to: 1 + others.indexOf(share), share } : { to: 0, share: row[0] };
  }

  /** For each head the number that the grid shows: a share that is heard, or what the chosen bar loses without it. */
  get cells() {
    if (this.state.settings.shows === "missed") return this.losses();
    const hears = this.placeOf("hears");
    const share = (head) => (hears === END ? this.hearsMost(head).share : (this.heard(head, this.place)[hears] ?? 0));
    return Array.from({ length: this.heads }, (_, head) => share(head));
  }

  /** Which bar's loss is shown: a row of `next`, or the pair, whose column comes last. */
  get column() {
    const { word } = this.state.settings;
    const place = this.next.findIndex(({ piece }) => piece === word);
    if (place >= 0) return place;
    if (this.pair) return this.next.length;
    const whole = this.next.map((row) => row.whole);
    return whole.indexOf(Math.max(...whole));
  }

  /** The share of the chosen bar with all heads. */
  get whole() {
    return this.next[this.column]?.whole ?? this.pair?.whole;
  }

  /** What the chosen bar loses without each head. */
  losses() {
    const { column, whole } = this;
    const columns = this.next.length + (this.pair ? 1 : 0);
    return Array.from({ length: this.heads }, (_, head) => whole - this.reading.missed[head * columns + column]);
  }

  /** Whether all heads are still being taken out, one at a time. */
  get isCounting() {
    return this.state.settings.shows === "missed" && !this.reading?.missed?.length;
  }

  // Python is at work, and has heard what it was told: the time in which it is to answer begins anew.
  isAlive() {
    clearTimeout(this.clock);
    this.clock = this.isCounting ? setTimeout(() => this.missed(), PATIENCE) : null;
    this.untold = "";
  }

  // ---- asking

  get question() {
    return JSON.stringify([this.text, this.state.settings.out, this.state.settings.pair]);
  }

  compute() {
    const answer = (this.isAlone && this.keptAnswer()) || this.answers.get(this.question);
    this.isWaiting = !answer;
    this.problem = this.isWaiting && this.isAlone && !CAN_UNPACK ? TOO_OLD : "";
    if (answer) this.reading = answer;
    if (answer) this.judge();
  }

  judge() {
    this.holds = Boolean(this.task?.conditions.every(([kind, ...rest]) => CONDITIONS[kind](this, ...rest)));
    if (this.holds && !this.proof) this.proof = structuredClone(this.state);
  }

  keptAnswer() {
    const sentence = this.sentences?.get(this.text);
    return sentence && readingOf(sentence, this.state.settings.out, this.heads);
  }

  /** Python's answer, to whatever question it was. */
  take() {
    const { reading } = this.model.get("reply");
    if (!reading) return;
    const { maps, missed } = this.model.get("frames");
    const losses = bytesOf(missed);
    const question = JSON.stringify([reading.text, reading.out, reading.pair.slice(0, 2)]);
    const before = this.answers.get(question)?.missed ?? null;
    this.answers.delete(question);
    this.answers.set(question, {
      ...reading,
      maps: bytesOf(maps).slice(),
      missed: losses.length ? new Float32Array(losses.slice().buffer) : before,
    });
    if (this.answers.size > KEPT) this.answers.delete(this.answers.keys().next().value);
  }

  answered() {
    this.take();
    const { text, asked } = this.model.get("reply").reading ?? {};
    if (asked === this.text) this.shorten(text);
    const had = this.proof;
    this.compute();
    if (this.proof && !had) this.tell(); // what was seen here first
    super.answered();
    this.show();
  }

  // Python had room for the beginning only; what is left waits to be taken in.
  shorten(text) {
    this.rest = { after: text, words: this.text.slice(text.length).trim() };
    this.state = { ...this.state, inputs: { text } };
    this.said = `${this.noRoom} The rest waits in the field.`;
  }

  /** The words for which there was no room after the text that stands there. */
  get left() {
    return this.rest?.after === this.text ? this.rest.words : "";
  }

  // ---- changing

  set(settings, said = "", gesture = null) {
    const { state } = this;
    if (Object.entries(settings).every(([name, value]) => String(value) === String(state.settings[name]))) return;
    this.remember(gesture);
    this.moved({ ...state, settings: { ...state.settings, ...settings } }, said);
  }

  choose(place) {
    const asks = place >= this.spans.length - 1 ? END : place;
    this.set({ asks }, `*${this.word(place)}* asks.`, "asks");
  }

  rewrite(text, said, gesture = null) {
    if (this.isAlone && !this.texts.includes(text)) return this.refuse("In JupyterLab the model reads what you write.");
    this.remember(gesture);
    const settings = { ...this.state.settings, asks: END, word: "" };
    this.moved({ inputs: { text }, settings }, said);
    return true;
  }

  refuse(why) {
    this.moved(null, why);
    return false;
  }

  get isFull() {
    return this.spans.length >= this.most;
  }

  get noRoom() {
    return `The board has room for ${this.most} pieces.`;
  }

  /** Words that were typed where so many signs stand before them; returns how many stand before what follows. */
  insert(at, typed) {
    if (this.isFull) return this.refuse(this.noRoom);
    const before = this.text.slice(0, at);
    const isClose = !before || /\s$/.test(before) || CLOSES.test(typed);
    const now = `${before}${isClose ? "" : " "}${typed}`;
    return this.rewrite(now + this.text.slice(at), "") && now.length;
  }

  append(typed) {
    return this.insert(this.text.length, typed);
  }

  /** A piece as the model has it, its space with it. */
  say(piece, gesture) {
    return this.isFull ? this.refuse(this.noRoom) : this.rewrite(`${this.text}${piece}`, "", gesture);
  }

  /** As insert, in place of a piece. */
  replace(place, typed) {
    const [from, to] = this.spans[place];
    const space = /^\s*/.exec(this.text.slice(from, to))[0];
    const now = `${this.text.slice(0, from)}${space}${typed}`;
    return this.rewrite(now + this.text.slice(to), "") && now.length;
  }

  remove(place) {
    this.cut(...this.spans[place]);
  }

  cut(from, to, gesture) {
    const rest = this.text.slice(0, from) + this.text.slice(to);
    return this.rewrite(from ? rest : rest.trimStart(), "", gesture);
  }

  empty() {
    return this.rewrite("", "The text is empty.");
  }

  press(head) {
    if (this.state.settings.head !== head) this.set({ head }, "", "head");
    else this.turn(head);
  }

  turn(head) {
    const { out } = this.state.settings;
    const others = out.filter((one) => one !== head);
    const now = this.isOut(head) ? others : [...out, head].sort((a, b) => a - b);
    const sentence = this.isAlone && this.sentences?.get(this.text);
    const isKept = !sentence || rowFor(sentence, now, this.heads) >= 0;
    const taken = isKept ? now : [head];
    const names = taken.filter((one) => one !== head).map((one) => this.nameOf(one));
    const both = names.length ? `, as ${names.length > 1 ? "are" : "is"} ${names.join(", ")}` : "";
    const alone = isKept ? "" : " The others are back: in JupyterLab you may turn off as many as you like.";
    const said = taken.includes(head)
      ? `Head ${this.nameOf(head)} is off${both}.`
      : `Head ${this.nameOf(head)} is back.`;
    this.set({ out: taken, head }, said + alone);
  }

  prepare(sets) {
    super.prepare(sets, "");
  }
}

// A piece of nothing but white space, or of part of a sign.
function shownSign(text) {
  return text === "\n" ? "⏎" : text ? "␣" : "·";
}
