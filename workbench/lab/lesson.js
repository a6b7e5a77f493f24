// A notebook of the course: which of its cells have run, what runs before a question is judged, where Run All stops.
//
// Nothing runs because a page was opened or scrolled. Check, Compare and the buttons that say so run, in order, what
// stands above and has not run since Python began: the course's cells, the learner's lines and exercises; never a
// check, a hint or a cell that is not the course's, and no second reading but the one that the question stands in.

import { Bar } from "./bar.js";
import { ALONE, described, exampleIn, namesIn } from "./cells.js";
import { named } from "./ears.js";
import { Code, End, Exercise, Fold, Hint, Line, Question, Told } from "./heads.js";
import { takePrint } from "./paper.js";
import { Place } from "./place.js";
import { present, zoomed } from "./present.js";
import { storeOf } from "./store.js";

const JUDGED = { filled: "line", check: "exercise" }; // what judges → what it judges
const QUIETLY = { silent: true, store_history: false };

/** What is known of Python, shared by all views of one notebook. */
class Runs {
  ran = new Set(); // ids of cells that ran to their end, since Python began
  tried = new Set(); // that were run from here, whatever came of it
  waiting = new Set(); // that JupyterLab has sent to Python
  coming = new Set(); // that Run All is on its way to
  course = new Set(); // that are the course's own
  kept = {}; // question → what was entered
  sources = new Map(); // id of an exercise → its code when it ran from here
  views = new Set();
  isKnown = false; // whether Python has said all this
  turn = Promise.resolve();

  /** One after the other, as Python works. */
  inTurn(act) {
    const done = this.turn.then(act);
    this.turn = done.catch(() => {});
    return done;
  }
  /** Whether this is going to run anyway. */
  willRun(id) {
    return this.waiting.has(id) || this.coming.has(id);
  }
  begin() {
    for (const one of [this.ran, this.tried, this.waiting, this.coming, this.sources]) one.clear();
    this.isKnown = false;
  }
}

export class Lesson {
  constructor(panel, { app, shell, tools, runs, changed, left }) {
    Object.assign(this, { panel, app, shell, tools, changed, left });
    Object.assign(this, { notebook: panel.content, session: panel.sessionContext });
    if (!runs.has(panel.context)) runs.set(panel.context, new Runs());
    this.runs = runs.get(panel.context);
    this.runs.views.add(this);
    this.store = storeOf(panel.context.path);
    this.stops = 0; // how often something was stopped
    this.heads = new Map(); // id → what stands at a cell
    this.names = new Map(); // cell → what ends its being named
    panel.addClass("attn-lesson");
    const back = () => this.notebook.activeCell?.node.focus({ preventScroll: true });
    this.bar = new Bar(tools, () => this.stop(), back);
    panel.contentHeader?.addWidget(this.bar.widget);
    this.place = new Place(this);
    this.leavePrint = takePrint(this);
    this.listen();
    this.look();
    this.ask();
  }

  listen() {
    const { session, notebook } = this;
    const pairs = [
      [notebook.model.cells.changed, () => queueMicrotask(() => this.look())],
      [session.kernelChanged, () => this.begun()],
      [session.statusChanged, (_, status) => /restarting$/.test(status) && this.begun(true)],
      [session.connectionStatusChanged, (_, status) => status === "connected" && this.ask()],
    ];
    for (const [signal, act] of pairs) signal.connect(act);
    const look = () => document.visibilityState === "visible" && this.ask();
    document.addEventListener("visibilitychange", look);
    const recall = ({ key }) => key === this.store.key && this.recall();
    window.addEventListener("storage", recall);
    this.unlisten = () => {
      window.removeEventListener("storage", recall);
      for (const [signal, act] of pairs) signal.disconnect(act);
      document.removeEventListener("visibilitychange", look);
    };
  }

  /** The page is JupyterLab's again. */
  leave() {
    if (this.isLeft) return;
    this.isLeft = true;
    this.runs.views.delete(this);
    this.unlisten();
    this.place.end();
    this.leavePrint();
    for (const head of [...this.heads.values(), this.end]) head?.remove();
    if (this.panel.isDisposed) return;
    this.bar.widget.dispose();
    for (const unname of this.names.values()) unname();
    this.panel.removeClass("attn-lesson");
    for (const { cell } of this.parts) {
      for (const name of [...cell.node.classList].filter((one) => one.startsWith("attn-"))) cell.removeClass(name);
    }
  }

  // ------------------------------------------------------------------------------------------------------ the cells

  get cells() {
    return this.notebook.widgets;
  }

  /** Say of each cell what it is, and put what belongs there at those that have more than code. */
  look() {
    if (this.notebook.isDisposed || this.isLeft) return;
    const cells = this.cells;
    const known = new Map(this.parts?.map((part) => [part.id, part])); // others hold on to them
    const descriptions = described(
      cells.map(({ model }) => ({
        id: model.id,
        type: model.type,
        source: model.sharedModel.getSource(),
        metadata: model.sharedModel.getMetadata(),
      })),
    );
    const ids = new Set(descriptions.map(({ id }) => id));
    const isChanged = this.parts && (this.parts.length !== ids.size || !this.parts.every(({ id }) => ids.has(id)));
    this.parts = descriptions.map((part, k) => Object.assign(known.get(part.id) ?? {}, part, { cell: cells[k] }));
    this.parts.forEach((part, k) => {
      if (part.kind) part.cell.addClass(`attn-${part.kind}`);
      if (!this.names.has(part.cell)) this.names.set(part.cell, named(part.cell, part.kind));
      part.cell.toggleClass("attn-long", part.isLong);
      part.cell.toggleClass("attn-second", Boolean(part.second));
      const head = this.heads.get(part.id);
      if (head?.cell !== part.cell) {
        head?.remove();
        this.heads.delete(part.id);
        const newHead = this.headOf(part);
        if (newHead) this.heads.set(part.id, newHead);
      }
      if (JUDGED[part.kind]) this.heads.get(part.id).pair(this.judgedBy(part, k), this.parts[k - 1]);
    });
    const last = this.parts.at(-1);
    if (this.next && this.end?.cell !== last?.cell) {
      this.end?.remove();
      this.end = new End(this, last, this.next, () => this.open(this.next));
    }
    this.refresh();
    if (isChanged) this.ask(); // the file may have a deleted cell for two minutes more
  }

  /** Where this notebook stands among the lessons, and the one after it. */
  get here() {
    const name = this.name.replace(/\.ipynb$/, "");
    return this.tools.course.lessons.find((one) => one.name === name);
  }
  get next() {
    const { lessons } = this.tools.course;
    return this.here && lessons[lessons.indexOf(this.here) + 1];
  }
  get name() {
    return this.panel.context.path.split("/").pop();
  }
  /** What the lesson calls itself. */
  get heading() {
    return /^# (.+)/m.exec(this.cells[0]?.model.sharedModel.getSource() ?? "")?.[1] ?? this.name;
  }
  open({ name }) {
    const folder = this.panel.context.path.split("/").slice(0, -1);
    return this.app.commands.execute("docmanager:open", { path: [...folder, `${name}.ipynb`].join("/") });
  }

  /** The learner's line or exercise that this cell, number k, judges; cells of their own may stand between. */
  judgedBy({ kind, section }, k) {
    const mine = this.parts.slice(0, k).findLast((part) => [JUDGED[kind], kind].includes(part.kind));
    return mine?.kind === JUDGED[kind] && mine.section?.id === section?.id ? mine : null;
  }
  judgeOf(part) {
    return [...this.heads.values()].find(({ mine }) => mine === part);
  }

  headOf(part) {
    if (part.kind === "question") return new Question(this, part, exampleIn(part.cell.model.sharedModel.getSource()));
    if (part.kind === "filled") return new Line(this, part);
    if (part.kind === "answer" || part.kind === "imports") return new Fold(this, part);
    if (part.kind === "check") return new Exercise(this, part);
    if (part.kind === "hint") return new Hint(this, part);
    if (part.kind === "told") return new Told(this, part);
    return part.kind ? new Code(this, part) : null;
  }

  /** Show how things stand, of all cells or of those of this id. */
  refresh(only = null) {
    for (const { id, cell, kind } of this.parts) {
      if (!kind || kind === "told" || (only && id !== only)) continue;
      this.heads.get(id)?.refresh();
      // of a page that was left without being saved, Python has run cells whose outputs nobody sees
      cell.toggleClass("attn-ran", this.runs.ran.has(id) && cell.model.executionCount !== null);
      cell.toggleClass("attn-waiting", this.runs.waiting.has(id));
    }
    this.changed();
  }
  refreshAll(only = null) {
    for (const view of this.runs.views) view.refresh(only);
  }

  partOf(cell) {
    return this.parts.find((part) => part.cell === cell);
  }

  /** The cells that run before this one may: those of the course above that have not. */
  due(target) {
    const { course, ran } = this.runs;
    if (!course.has(target.id)) return [];
    return this.parts.slice(0, this.parts.indexOf(target)).filter((part) => {
      if (ALONE.has(part.kind) || !course.has(part.id)) return false;
      return !(part.second && part.second !== target.second) && !ran.has(part.id);
    });
  }

  /** Whether this part waits for a guess or a line that nobody has entered. */
  waitsFor(part) {
    return this.heads.get(part.id)?.isUnanswered ?? false;
  }

  // --------------------------------------------------------------------------------------------------------- Python

  /** Python is new, or another one. */
  begun(isRestarted = false) {
    this.runs.begin();
    this.wasRestarted ||= isRestarted;
    this.refresh();
    return this.ask();
  }

  /** What has run in Python, which may have been here before this page, and which cells are the course's. */
  async ask() {
    const known = await this.askPython();
    if (!known || this.isLeft) return;
    const { isKnown: wasKnown, ran: before } = this.runs;
    const hadRun = known.course.some((id) => before.has(id));
    if (wasKnown && hadRun && !known.ran.length) return this.begun(true); // started again on another page
    Object.assign(this.runs, {
      ran: new Set(known.ran),
      course: new Set(known.course),
      kept: known.kept,
      isKnown: true,
    });
    if (wasKnown && before.size !== this.runs.ran.size) this.refreshAll(); // another page was at work
    if (wasKnown) return;
    for (const head of this.heads.values()) head.remember?.();
    this.warmUp();
    this.greet();
    this.refreshAll();
  }

  /** Another page of this browser has the lesson open, too, and an answer was given there. */
  recall() {
    for (const head of this.heads.values()) head.recall?.();
    this.changed();
  }

  /** What Python answers: { course, ran, kept }, or null where none is there or it knows of no such copy. */
  async askPython() {
    await this.session.ready;
    const kernel = this.session.session?.kernel;
    if (!kernel || this.isLeft) return null;
    const here = JSON.stringify(this.parts.map(({ id }) => id));
    const answer = `__import__("workbench.lab").lab.state_of_page(${JSON.stringify(this.name)}, ${here})`;
    try {
      const { content } = await kernel.requestExecute({ ...QUIETLY, code: "", user_expressions: { answer } }).done;
      if (content.status !== "ok") return null;
      const known = content.user_expressions.answer.data?.["application/json"];
      if (known?.course) return known;
    } catch {
      return null; // it ended meanwhile: the next one is asked
    }
    console.info(`attention: ${this.name} says that it is the course's, and its kernel knows of no such copy.`);
    this.left();
    return null;
  }

  /** What every lesson imports is loaded while its first lines are read: installed code, nothing of the notebook. */
  async warmUp() {
    await this.panel.revealed;
    this.session.session?.kernel?.requestExecute({ ...QUIETLY, code: '__import__("workbench.lab").lab.warm_up()' });
  }

  /** Say that Python is new, where a reader could think otherwise. */
  greet() {
    const wasRun = this.parts.filter(({ cell }) => cell.model.type === "code" && cell.model.executionCount !== null);
    const isNew = wasRun.length > 0 && !wasRun.some(({ id }) => this.runs.ran.has(id));
    const words = this.wasRestarted
      ? "Python has been started again, and knows nothing of this notebook."
      : "Python is new here: it has run nothing of this notebook yet.";
    this.bar.show(isNew && { words, label: "Run it down to here", act: () => this.runDown() });
  }

  /** Hand over an entry, which the cell of the question will find. */
  tell(question, text) {
    const words = [question, text].map((one) => JSON.stringify(one)).join(", ");
    const code = `__import__("workbench.lab").lab.enter(${words})`;
    return this.session.session.kernel.requestExecute({ ...QUIETLY, code }).done;
  }

  run(part) {
    const options = {
      cell: part.cell,
      notebook: this.notebook.model,
      notebookConfig: this.notebook.notebookConfig,
      sessionContext: this.session,
      onCellExecutionScheduled: () => part.cell.addClass("attn-waiting"),
      onCellExecuted: (told) => this.heard(told, true),
    };
    return this.tools.runCell(options).catch(() => false);
  }

  /** End what a button has begun. */
  stop() {
    this.stops += 1;
    this.session.session?.kernel?.interrupt();
  }

  /** Run what is due above, if this needs it, and then this; the part that stopped it, or null. */
  runTo(target, how = {}) {
    how.say?.("Waiting for Python …", true);
    const begun = this.stops;
    return this.runs.inTurn(() => this.runNow(target, how, () => this.stops !== begun));
  }

  async runNow(target, { before = null, again = [], say = () => {}, needs = () => true }, isStopped) {
    await this.ask();
    if (!this.runs.isKnown || this.isLeft) return target;
    const above = this.due(target).filter((part) => !again.includes(part) && needs(part));
    const due = [...above, ...again, target];
    try {
      for (const [k, part] of due.entries()) {
        say(due.length > 2 ? `Running what stands above, ${k + 1} of ${due.length} …` : "Running …", true);
        if (part === target) await before?.();
        const isAsked = this.waitsFor(part) && !(part === target && before);
        const isAbove = part !== target && !again.includes(part);
        const goesOn = isAbove && ["answer", "exercise"].includes(part.kind);
        if (isStopped()) return part;
        if (!isAsked && ((await this.run(part)) || goesOn) && !isStopped()) continue;
        if (part !== target && !isStopped()) this.stoppedAt(part, "First");
        return part;
      }
      return null;
    } finally {
      say("");
    }
  }

  /** Run All and its kin: in order, without hints and without checks that nobody has pressed yet. */
  runMany(cells) {
    const begun = this.stops;
    return this.runs.inTurn(async () => {
      await this.ask();
      if (!this.runs.isKnown || this.isLeft) return false;
      const parts = cells.map((cell) => this.partOf(cell)).filter(Boolean);
      for (const { id } of parts) this.runs.coming.add(id);
      const stopped = await this.runThrough(parts, () => this.stops !== begun);
      this.runs.coming.clear();
      this.bar.show(null);
      if (stopped) this.stoppedAt(stopped, "Run All stops here:");
      else this.select(this.cells.indexOf(parts.at(-1)?.cell));
      return !stopped;
    });
  }

  async runThrough(parts, isStopped) {
    let passed = null; // the second reading whose first question is not answered: nothing on the first way needs it
    for (const [k, part] of parts.entries()) {
      const { cell, kind, second } = part;
      this.runs.coming.delete(part.id);
      if (cell.model.type === "markdown") cell.rendered = true;
      const isOld = kind === "check" && !cell.model.outputs.length;
      if (cell.model.type !== "code" || kind === "hint" || isOld || (second && second === passed)) continue;
      this.bar.say(`Running cell ${k + 1} of ${parts.length} …`, true);
      if (!isStopped() && !this.waitsFor(part) && (await this.run(part)) && !isStopped()) continue;
      if (second && !isStopped()) passed = second;
      else return part;
    }
    return null;
  }

  async runDown() {
    const seen = this.place.firstSeen();
    const place = this.parts[seen].cell;
    const mayRun = ({ id, kind, second }) => !second && !ALONE.has(kind) && this.runs.course.has(id);
    const last = this.parts.slice(0, seen + 1).findLast(mayRun) ?? this.parts.find(mayRun);
    this.bar.say("Running …", true);
    const stopped = last && (await this.runTo(last, { say: (...words) => words[0] && this.bar.say(...words) }));
    this.bar.show(null);
    if (last && stopped === last && this.waitsFor(last)) this.stoppedAt(last, "");
    else if (!stopped) place.node.scrollIntoView?.({ block: "start" });
  }

  // -------------------------------------------------------------------------------------------------- what has run

  scheduled(cell) {
    this.runs.waiting.add(cell.model.id);
    cell.addClass("attn-waiting");
    this.bar.show(null);
  }

  heard({ cell, success, error }, isOurs = false) {
    const part = this.partOf(cell);
    this.runs.waiting.delete(cell.model.id);
    if (!part || cell.model.type !== "code") return;
    this.wasRestarted = false;
    for (const view of this.runs.views) view.bar.outdate();
    this.runs.tried.add(part.id);
    this.runs.ran[success ? "add" : "delete"](part.id);
    this.refreshAll(part.id);
    const judge = this.judgeOf(part);
    if (judge) this.refreshAll(judge.part.id);
    if (part.kind === "exercise") this.outdateBelow(part);
    if (error?.errorName === "NotYet" && !isOurs) this.stoppedAt(part, "");
    if (success && part.kind === "line" && !isOurs) this.compare(part);
    if (success && part.kind === "filled" && this.heads.get(part.id)?.isKnown) this.reveal(part, true);
  }

  /**
   * Other code of an exercise has run: what cells of the course below have printed with it is of an earlier try, and so
   * is what its check has said, unless nothing ran before: then it may be of this very code, on another day.
   */
  outdateBelow(exercise) {
    if (!this.isChanged(exercise)) return;
    const judge = this.runs.sources.has(exercise.id) && this.judgeOf(exercise)?.part;
    this.runs.sources.set(exercise.id, sourceOf(exercise));
    for (const part of this.parts.filter(
      (one) => one === judge || (this.runs.course.has(one.id) && uses(one, exercise)),
    )) {
      for (const view of this.runs.views) view.heads.get(part.id)?.outdate();
    }
  }
  isChanged(exercise) {
    return this.runs.sources.get(exercise.id) !== sourceOf(exercise);
  }
  /** The exercises that a cell of code uses and that Python has not had as they stand now. */
  changedFor(part) {
    return this.parts.filter((one) => one.kind === "exercise" && uses(part, one) && this.isChanged(one));
  }

  /** The learner's line ran: what compares it runs too, if nothing above it is missing. */
  compare(line) {
    const filled = this.judgeOf(line)?.part;
    if (filled && !this.runs.willRun(filled.id) && !this.waitsFor(filled) && !this.due(filled).length) this.run(filled);
  }

  /** What answers this question or line is open from now on; where it was answered just now, its pictures are drawn. */
  async reveal(asked, isNew) {
    for (const part of this.parts.slice(this.parts.indexOf(asked) + 1)) {
      const isText = part.cell.model.type === "markdown";
      if (part.section !== asked.section || !(isText || part.kind === "answer")) return;
      if (part.kind === "told") this.heads.get(part.id).unfold();
      if (part.kind !== "answer" || !isNew || this.runs.willRun(part.id) || this.due(part).length) continue;
      if (asked.kind === "question" && this.runs.ran.has(part.id)) continue; // another guess changes no picture
      if (!this.runs.course.has(part.id)) continue;
      const head = this.heads.get(part.id);
      head?.say?.("Running …", true);
      await this.runs.inTurn(() => this.run(part));
      head?.say?.("");
      if (!part.cell.model.outputs.length) part.cell.inputHidden = false; // there is nothing to see but the code
    }
  }

  /** Run All, or what was due, has stopped at a question, a line or an error: go there and say why. */
  async stoppedAt(part, why) {
    const head = this.heads.get(part.id);
    const goal = head?.goal?.cell ?? part.cell;
    this.select(this.cells.indexOf(goal));
    await this.goTo(goal);
    await goal.ready;
    if (this.waitsFor(part)) head.stop(why);
  }

  /** Why nothing below this part was run. */
  reason(part) {
    return this.waitsFor(part) ? "First what is asked above." : "A cell above ended in an error. Mend it first.";
  }

  // --------------------------------------------------------------------------------------------------------- moving

  select(k) {
    if (k < 0) return;
    this.notebook.activeCellIndex = k;
    this.notebook.deselectAll();
  }

  async goTo(cell, align = "center") {
    await this.notebook.scrollToItem(this.cells.indexOf(cell), align).catch(() => {});
    cell.node.scrollIntoView({ block: align });
  }

  /** To the next cell that can be seen, in command mode; also where its code is folded. */
  step(by, from = this.notebook.activeCellIndex) {
    let k = from + by;
    while (this.cells[k]?.isHidden) k += by;
    if (!this.cells[k]) return;
    this.notebook.mode = "command";
    this.select(k);
    this.notebook.scrollToItem(k, "smart").catch(() => {});
    this.cells[k].node.focus({ preventScroll: true });
  }

  get activeHead() {
    return this.heads.get(this.notebook.activeCell?.model.id);
  }
  enter() {
    this.activeHead?.focus();
  }
  /** What Shift+Enter does where a form or a button stands for a cell; `isOnwards` goes on from there. */
  async runActive(isOnwards) {
    const k = this.notebook.activeCellIndex;
    const part = this.parts[k];
    const head = (part.kind === "line" && this.judgeOf(part)) || this.heads.get(part.id);
    if (part.kind === "hint" && isOnwards) return this.step(1); // nobody who only goes on has asked for it
    const isDone = await head.act(isOnwards);
    if (isDone && isOnwards) this.step(1, this.cells.indexOf(head.cell));
  }

  zoom(by) {
    this.place.hold(() => zoomed(this.panel.node, by));
  }
  present() {
    this.place.hold(() => present(this));
  }
}

const sourceOf = (part) => part.cell.model.sharedModel.getSource();

/** Whether a cell of code names what an exercise defines. */
const uses = (part, exercise) =>
  part.kind === "code" && namesIn(sourceOf(exercise)).some((name) => new RegExp(`\\b${name}\\b`).test(sourceOf(part)));
