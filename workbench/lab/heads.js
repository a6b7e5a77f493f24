// What stands at a cell besides its code: the form of a question, the buttons of a line of one's own, the line that
// folds code away, and what a board says that has no Python behind it.

import { Asked, readForm } from "./asked.js";
import { TOLD_HOW } from "./cells.js";
import { button, made } from "./made.js";

const FAILED = "Python stopped with an error. Its message is below.";
const UNRUN = "Python stopped with an error. Its message is above.";
const NO_PYTHON = "Python did not answer: choose Kernel, Restart Kernel, then try again.";
const MOMENT = 400; // ms that may pass without a word
const STOPPED = "Stopped; your guess stays here.";
const OLD = "Your code above has changed: run this cell again.";
const WIDGET = "application/vnd.jupyter.widget-view+json";
const DRAWN = ".jp-OutputArea-output > .lm-Widget";
const LOST = ".jp-OutputArea-output.jupyter-widgets";

class Head {
  constructor(lesson, part) {
    Object.assign(this, { lesson, part, cell: part.cell });
    this.words = made("p", { className: "attn-status", role: "status" });
    this.stopButton = button("Stop", () => lesson.stop(), "attn-quiet");
    this.stopButton.hidden = true;
    this.status = made("div", { className: "attn-said" }, this.words, this.stopButton);
    this.widgets = [];
  }
  /** Put this at the top of the cell, as soon as JupyterLab has made it, and that at its end. */
  place(top, end = null) {
    const { Widget } = this.lesson.tools;
    const widget = (content, name) => {
      const one = new Widget({ node: content });
      one.addClass(name);
      this.widgets.push(one);
      return one;
    };
    this.cell.ready.then(() => {
      if (this.cell.isDisposed || this.isRemoved) return;
      if (top) this.cell.layout.insertWidget(0, widget(top, "attn-head"));
      if (end) this.cell.layout.addWidget(widget(end, "attn-foot"));
      this.placed?.();
      this.refresh();
      if (this.hasWidget) this.watchWidget();
    });
  }
  /** It is drawn in a moment, unless Python has it no more: its cell has run again on a page that was not saved. */
  watchWidget() {
    const { node } = this.cell.outputArea;
    const look = () => {
      if (!this.isLost && !node.querySelector(DRAWN)) return;
      watcher.disconnect();
      this.refresh();
    };
    const watcher = new MutationObserver(look);
    watcher.observe(node, { childList: true, subtree: true, attributes: true, attributeFilter: ["class"] });
    look();
  }
  get hasWidget() {
    return this.outputs.some((one) => one.data?.[WIDGET]);
  }
  /** JupyterLab says in the widget's place that there is none. */
  get isLost() {
    const said = this.cell.outputArea?.node.querySelectorAll(LOST) ?? [];
    return [...said].some((one) => !one.children.length);
  }
  /** What an answer has brought is drawn in a moment: then bring it into view. */
  async bring() {
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
    if (!this.isRemoved && !this.cell.isDisposed) this.lesson.place.bring(this.cell);
  }
  /** Of what judges: the line or exercise above, which may go and come back; `neighbour` is the cell right above. */
  pair(mine, neighbour) {
    const isCard = mine && mine === neighbour;
    if (this.mine !== mine || !isCard) this.mine?.cell.removeClass("attn-begun");
    this.mine = mine;
    if (isCard) mine.cell.addClass("attn-begun");
    this.set("alone", !isCard);
  }
  remove() {
    this.isRemoved = true;
    this.end?.();
    for (const one of this.widgets) one.dispose();
  }
  /** What happens or stops here; while something runs, with a button that ends it. */
  say = (words, isRunning = false) => {
    this.show = () => {
      this.soon = clearTimeout(this.soon);
      this.words.textContent = words;
      this.stopButton.hidden = !isRunning;
    };
    if (isRunning && this.stopButton.hidden) this.soon ??= setTimeout(() => this.show(), MOMENT);
    else this.show();
  };
  /** From now on a screen reader hears what comes into the output; what was saved there nobody reads out. */
  beHeard() {
    this.cell.outputArea.node.setAttribute("aria-live", "polite");
  }
  /** The line or exercise above did not run through: Python says why, if there is one. */
  sayUnrun() {
    this.say(this.lesson.heads.get(this.mine.id)?.hasFailed ? UNRUN : NO_PYTHON);
  }
  /** What was to run again did not come to it: what stands here is no longer what Python would say. */
  outdate() {
    [this.old] = this.outputs;
    this.refresh();
  }
  get isOutdated() {
    return Boolean(this.old) && this.old === this.outputs[0];
  }
  get outputs() {
    const { outputs } = this.cell.model;
    return Array.from({ length: outputs?.length ?? 0 }, (_, k) => outputs.get(k));
  }
  get errors() {
    return this.outputs.filter((one) => one.type === "error").map((one) => one.toJSON().ename);
  }
  get asksStill() {
    return this.errors.includes("NotYet");
  }
  get hasFailed() {
    return this.errors.some((name) => name !== "NotYet");
  }
  get source() {
    return this.cell.model.sharedModel.getSource();
  }
  set(name, is) {
    this.cell.toggleClass(`attn-${name}`, Boolean(is));
  }
  /** Whether Python, as it is now, has had this cell. */
  get isLive() {
    const { ran, tried } = this.lesson.runs;
    return ran.has(this.part.id) || tried.has(this.part.id);
  }
  /** Where keys go from the cell. */
  focus() {
    const places = [...this.cell.node.querySelectorAll(":is(.attn-head, .attn-foot) :is(button, input, select)")];
    places.find((one) => one.checkVisibility())?.focus();
  }
  /** The line that shows or hides the code of this cell. */
  foldLine(words) {
    this.foldWords = words;
    this.line = button("", () => this.toggle(), "attn-fold");
    return this.line;
  }
  toggle() {
    this.cell.inputHidden = !this.cell.inputHidden;
    this.refreshFold();
  }
  get isClosed() {
    return this.cell.inputHidden;
  }
  refreshFold() {
    if (!this.line) return;
    this.set("closed", this.isClosed);
    this.line.textContent = this.isClosed ? this.foldWords : this.foldWords.replace("Show", "Hide");
    this.line.setAttribute("aria-expanded", String(!this.isClosed));
  }
  /** In the place of a saved board, whose widget has gone with its Python. */
  sleeper(act) {
    const words = made("span", {}, "What moves here sleeps until Python has run it.");
    return made("div", { className: "attn-asleep-words" }, words, button("Wake it", act));
  }
  refresh() {
    this.refreshFold();
    const isWaiting = this.lesson.runs.waiting.has(this.part.id);
    this.set("asleep", this.hasWidget && !isWaiting && (!this.isLive || this.isLost));
    this.set("known", this.lesson.runs.isKnown);
    this.set("failed", this.hasFailed);
    this.set("told-how", TOLD_HOW.test(this.source));
  }
}

/** A question: its form stands there before its cell has run, and the widget of its output takes over from it. */
export class Question extends Head {
  constructor(lesson, part, example) {
    super(lesson, part);
    part.cell.addClass("attn-asks");
    const { options = [], rows = [], drawing } = lesson.tools.course.questions[part.question] ?? {};
    const kept = lesson.store.get(part.question) ?? {};
    const question = { options, rows, size: rows.length || 1, asks: example };
    this.model = new Asked({ question, entered: "", verdict: "", is_open: true, ...kept }, (text) => this.answer(text));
    this.form = made("div", { className: "attn-form" });
    this.ended = lesson.tools.form.render({ model: this.model, el: this.form });
    this.form.addEventListener("keydown", (event) => this.onShiftEnter(event), true);
    const check = button("Check", () => this.act());
    const written = made("div", { className: "attn-written-words" }, "Your guess stands in this cell's code.", check);
    const top = made("div", { className: "attn-asked" }, this.form, written, this.status);
    if (drawing) top.append(made("div", { className: "attn-opening", innerHTML: drawing }));
    this.watcher = new MutationObserver(() => this.refresh());
    this.place(top, made("div", {}, this.foldLine("Show how it is computed")));
  }
  placed() {
    if (this.isDone) this.lesson.reveal(this.part, false);
    const what = { childList: true, subtree: true, attributes: true, attributeFilter: ["class"], characterData: true };
    this.watcher.observe(this.cell.outputArea.node, what);
  }
  get isWritten() {
    return /^guess = (?!.*\.\.\.)/m.test(this.source); // as in earlier editions, and where there are no forms
  }
  get isUnanswered() {
    return !this.isWritten && !this.lesson.runs.kept[this.part.question]?.length;
  }
  /** In its form: answer, and where that was it, go on. form.js would have JupyterLab run the cell. */
  onShiftEnter(event) {
    if (event.key !== "Enter" || !event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.isOnwards = true;
    (this.form.querySelector("form > button:not([type])") ?? event.target).click();
  }
  async answer(text) {
    const { lesson, part } = this;
    const isOnwards = this.isOnwards;
    this.isOnwards = false;
    this.model.put({ entered: text === "show" ? "" : text, verdict: "" });
    const isFocused = this.form.contains(document.activeElement);
    this.beHeard();
    this.form.inert = true;
    this.set("judging", true);
    const before = () => lesson.tell(part.question, text);
    const { stops } = lesson;
    const stopped = await lesson.runTo(part, { before, say: this.say }).catch(() => part);
    this.form.inert = false;
    this.set("judging", false);
    this.refresh();
    if (stopped && lesson.stops !== stops) this.say(STOPPED);
    else if (stopped && stopped !== part) this.say(`${lesson.reason(stopped)} Your guess stays here.`);
    else if (stopped && !this.asksStill) this.say(this.hasFailed ? FAILED : NO_PYTHON);
    if (stopped && stopped !== part) return;
    this.bring();
    if (isOnwards && this.isDone) lesson.step(1, lesson.cells.indexOf(this.cell));
    else if (isFocused && this.isDone) this.cell.node.focus({ preventScroll: true });
    else if (isFocused) setTimeout(() => this.focus()); // the widget has a moment to be drawn
  }
  /** As its cell, by Shift+Enter: with what stands in the form. */
  async act() {
    if (!this.isTaken && !this.isDone && this.isUnanswered) {
      if (this.form.querySelector("input")?.value.trim()) {
        this.isOnwards = true;
        this.form.querySelector("form > button:not([type])").click();
      } else this.stop("");
      return false;
    }
    return !(await this.lesson.runTo(this.part, { say: this.say }));
  }
  refresh() {
    super.refresh();
    if (!this.cell.outputArea) return;
    const now = this.isLive ? readForm(this.cell.outputArea.node.querySelector(".attn-guess")) : null;
    this.isTaken = Boolean(now);
    this.set("written", this.isWritten);
    this.set("taken", this.isTaken);
    const kept = now ?? this.model.now;
    this.set("revealed", this.isWritten || (kept.verdict && !kept.is_open));
    if (!now) return;
    if (!this.cell.hasClass("attn-judging")) this.say("");
    if (JSON.stringify(now) === JSON.stringify(this.lesson.store.get(this.part.question))) return;
    this.lesson.store.set(this.part.question, now);
    this.model.put(now);
    if (this.lesson.notebook.activeCell === this.cell) this.bring();
    this.lesson.changed();
    if (now.is_open) return;
    this.finish();
  }
  /** It is known now. If the first entry could not be read, its cell has not run to its end yet. */
  async finish() {
    const { lesson, part } = this;
    await lesson.runs.inTurn(() => lesson.runs.ran.has(part.id) || lesson.run(part));
    lesson.reveal(part, true);
  }
  /** This browser knows what was entered on another page of it. */
  recall() {
    const kept = this.lesson.store.get(this.part.question);
    if (!kept || this.isTaken || kept.verdict === this.model.now.verdict) return;
    this.model.put(kept);
    this.refresh();
    if (this.isDone) this.lesson.reveal(this.part, false);
  }
  /** Python knows what was entered here in another browser. */
  remember() {
    const entries = this.lesson.runs.kept[this.part.question] ?? [];
    if (!entries.length || this.model.now.entered || this.lesson.store.get(this.part.question)) return;
    const last = entries.at(-1);
    const { text, verdict = "", is_open = true } = typeof last === "string" ? { text: last } : (last ?? {}); // as form.py
    if (!text) return;
    this.model.put({ entered: text === "show" ? "" : text, verdict, is_open });
    this.wasDone = Boolean(verdict) && !is_open;
    if (this.wasDone) this.lesson.reveal(this.part, false);
  }
  get isDone() {
    const kept = this.lesson.store.get(this.part.question);
    return kept ? Boolean(kept.verdict) && !kept.is_open : Boolean(this.wasDone);
  }
  stop(why) {
    if (this.isWritten) return;
    if (why === "First") this.say("First your guess here, then what you wanted to run.");
    else this.say(why ? `${why} your guess first.` : "Your guess first.");
    this.focus();
    this.bring();
  }
  focus() {
    const place = this.isTaken ? this.cell.outputArea.node : this.form;
    place.querySelector("input, select, button")?.focus({ preventScroll: true });
  }
  end() {
    this.watcher.disconnect();
    this.ended?.();
  }
}

/** The course's own line, folded, with the buttons that compare the learner's with it. */
export class Line extends Head {
  constructor(lesson, part) {
    super(lesson, part);
    part.cell.addClass("attn-asks");
    this.giveUp = button("Show me", () => this.showMe(), "attn-quiet");
    const compare = button("Compare my line", () => this.act());
    const buttons = made("div", { className: "attn-buttons" }, compare, this.giveUp);
    const top = made("div", { className: "attn-compared" }, buttons, this.status);
    this.place(top, made("div", {}, this.foldLine("Show the course's line")));
  }
  get goal() {
    return this.mine;
  }
  /** A line that was right once stays done, whatever is tried afterwards. */
  get isDone() {
    return this.isKnown || Boolean(this.lesson.store.get(this.part.id));
  }
  get isUnanswered() {
    return /^(\w+ =|\s+return) \.\.\.\s*(#|$)/m.test(this.mineNow) || this.isElsewhere;
  }
  /** What the line is to give a value to. */
  get name() {
    return /\bblank\("[^"]*", (\w+)/.exec(this.source)?.[1];
  }
  /** The line says nothing of that name: a value that Python still has is of an earlier line. */
  get isElsewhere() {
    return Boolean(this.mine && this.name) && !new RegExp(`\\b${this.name}\\b`).test(this.mineNow);
  }
  get mineNow() {
    return this.mine?.cell.model.sharedModel.getSource() ?? "";
  }
  placed() {
    this.refresh();
    if (this.isDone) this.lesson.reveal(this.part, false);
  }
  async act() {
    if (this.isUnanswered) {
      this.refresh();
      this.stop("");
      return false;
    }
    this.beHeard();
    const stopped = await this.lesson.runTo(this.part, { again: this.mine ? [this.mine] : [], say: this.say });
    if (stopped && stopped !== this.part) this.outdate();
    if (stopped && stopped === this.mine) this.sayUnrun();
    else if (stopped && stopped !== this.part) this.say(this.lesson.reason(stopped));
    else if (stopped && this.asksStill) this.say(`Your line has run, but ${this.name ?? "what it gives"} is None.`);
    if (!stopped || stopped === this.mine) this.bring();
    return !stopped && this.isKnown;
  }
  async showMe() {
    const model = this.mine.cell.model.sharedModel;
    model.setSource(model.getSource().replace("...", '"show"'));
    if (await this.act()) this.cell.inputHidden = false; // many an answer is better read as a line than as its numbers
    this.refreshFold();
  }
  refresh() {
    super.refresh();
    const text = this.outputs.map((one) => one.data?.["text/plain"] ?? "").join("");
    this.isKnown = /^(Right|The answer)/.test(text);
    if (this.isKnown && !this.lesson.store.get(this.part.id)) this.lesson.store.set(this.part.id, true);
    const hasFailed = this.lesson.heads.get(this.mine?.id)?.hasFailed;
    const isNew = this.isUnanswered || hasFailed || this.isOutdated; // what stands there is of an earlier line
    this.set("open", this.asksStill || !this.outputs.length || isNew);
    this.set("revealed", hasFailed || (this.outputs.length && !this.asksStill));
    this.giveUp.hidden = this.isKnown || !this.isUnanswered || this.isElsewhere; // there are no dots to replace
  }
  stop(why) {
    const where = this.isElsewhere ? `Above, give ${this.name} a value.` : "Write it above, in place of ...";
    const words = `your line first. ${where}`;
    this.say(why && why !== "First" ? `${why} ${words}` : words[0].toUpperCase() + words.slice(1));
    this.takeDots();
    this.bring();
  }
  /** What is typed next stands in their place. */
  takeDots() {
    const { editor } = this.mine?.cell ?? {};
    if (!editor) return;
    const start = this.mineNow.indexOf("...");
    editor.focus();
    if (start >= 0) editor.setSelection({ start: editor.getPositionAt(start), end: editor.getPositionAt(start + 3) });
  }
}

/** Code that is folded away: a picture's, or what is imported. Only of the first does the file know. */
export class Fold extends Head {
  constructor(lesson, part) {
    super(lesson, part);
    this.isOnlySeen = part.kind === "imports";
    this.isShown = false;
    const line = this.foldLine(this.isOnlySeen ? "Show what is imported" : "Show how it is computed");
    if (this.isOnlySeen) this.place(made("div", {}, line));
    else
      this.place(
        null,
        made(
          "div",
          {},
          this.sleeper(() => lesson.runTo(part, { say: this.say })),
          this.status,
          line,
        ),
      );
  }
  toggle() {
    if (!this.isOnlySeen) return super.toggle();
    this.isShown = !this.isShown;
    this.refreshFold();
  }
  get isClosed() {
    return this.isOnlySeen ? !this.isShown : super.isClosed;
  }
}

/**
 * What is called below an exercise; the call itself is folded away. It needs the imports and what stands with the
 * exercise under one text, as a patient does, not the lesson.
 */
class Called extends Head {
  constructor(lesson, part) {
    super(lesson, part);
    part.cell.addClass("attn-asks");
    part.cell.addClass("attn-closed");
  }
  async act() {
    const { parts } = this.lesson;
    const text = parts.slice(0, parts.indexOf(this.part)).findLastIndex(({ cell }) => cell.model.type !== "code");
    const needs = (one) => one.kind === "imports" || (one.kind === "code" && parts.indexOf(one) > text);
    const again = this.mine ? [this.mine] : [];
    this.beHeard();
    const stopped = await this.lesson.runTo(this.part, { needs, again, say: this.say });
    if (stopped && stopped !== this.part) this.outdate();
    if (stopped && stopped === this.mine) this.sayUnrun();
    return !stopped;
  }
}

/** Below an exercise: a button that runs it and its check. */
export class Exercise extends Called {
  constructor(lesson, part) {
    super(lesson, part);
    const check = button("Check", () => this.act());
    this.place(
      made("div", { className: "attn-compared" }, made("div", { className: "attn-buttons" }, check), this.status),
    );
  }
  refresh() {
    super.refresh();
    this.set("open", this.isOutdated || this.lesson.heads.get(this.mine?.id)?.hasFailed); // what stands there is of an earlier try
  }
}

/** A hint, one more each time, and after the last the solution. */
export class Hint extends Called {
  constructor(lesson, part) {
    super(lesson, part);
    this.place(
      made(
        "div",
        {},
        button("Hint", () => this.act(), "attn-fold"),
        this.status,
      ),
    );
  }
  /**
   * Who asks for a hint reads it; Python folds them all, since Run All elsewhere asks for them, too. The solution stays
   * folded: one press too many is soon made.
   */
  async act() {
    const isShown = await super.act();
    if (!isShown || this.watcher) return isShown;
    const { node } = this.cell.outputArea;
    const open = () => {
      const last = [...node.querySelectorAll("details:not(.attn-solution *)")].at(-1);
      if (!last || "attnMet" in last.dataset) return;
      last.dataset.attnMet = ""; // from now on as its reader leaves it
      last.open = true;
    };
    this.watcher = new MutationObserver(open); // JupyterLab draws it later
    this.watcher.observe(node, { childList: true, subtree: true });
    open();
    return isShown;
  }
  end() {
    this.watcher?.disconnect();
  }
}

/** A paragraph that answers: it is folded by copies.py, and opens with what it answers. */
export class Told extends Head {
  unfold() {
    if (this.watcher) return;
    const open = () => {
      for (const fold of this.cell.node.querySelectorAll("details:not([data-attn-met])")) {
        fold.dataset.attnMet = ""; // from now on as its reader leaves it
        fold.open = true;
      }
    };
    this.watcher = new MutationObserver(open); // JupyterLab draws it later, and again
    this.watcher.observe(this.cell.node, { childList: true, subtree: true });
    open();
  }
  refresh() {}
  end() {
    this.watcher?.disconnect();
  }
}

/** A cell of code: a button in the margin that runs it, and what a board says that has no Python behind it any more. */
export class Code extends Head {
  constructor(lesson, part) {
    super(lesson, part);
    const act = () => lesson.runTo(part, { again: lesson.changedFor(part), say: this.say });
    this.runButton = button("▶", act, "attn-run");
    this.runButton.title = "Run (Shift+Enter)";
    this.runButton.setAttribute("aria-label", "Run this cell");
    const isMine = ["line", "exercise"].includes(part.kind); // what stands below it runs it
    this.place(isMine ? null : made("div", {}, this.runButton), made("div", {}, this.sleeper(act), this.status));
  }
  refresh() {
    super.refresh();
    this.set("old", this.isOutdated);
    if (this.isOutdated) this.say(OLD);
    else if (this.words.textContent === OLD) this.say("");
  }
}

/** Below the last cell: the way on. */
export class End extends Head {
  constructor(lesson, part, next, go) {
    super(lesson, part);
    const link = button("", go, "attn-next");
    link.append(made("small", {}, "Next lesson"), made("span", {}, `${next.number} ${next.title}`));
    this.place(null, made("div", { className: "attn-end" }, link));
  }
  refresh() {}
}
