// What every kind of board shares: a state, once for all its views, with undo and a task, of which Python is told.

export const PATIENCE = 4000; // ms after which Python is said not to have been told
const KEPT = 20; // steps of undo that a page without Python keeps
const NOT_TOLD = "Python has not been told: it is busy, or it was restarted.";
const UNTOLD = `${NOT_TOLD} Run the cell of this board again to go on with it.`;

/**
 * A kind of board has a `compute`, which takes `state` and sees to `proof`; it calls `begin` once it is made.
 * @typedef {{ inputs: Record<string, any>, settings: Record<string, any> }} State by their names
 */
export class Journal {
  constructor(model) {
    this.model = model;
    const { heading, task, tries, start, large } = model.get("spec");
    Object.assign(this, { heading, task, tries, start, large });
    this.past = [];
    this.future = [];
    this.views = new Set();
    this.said = ""; // what is said of the last change
    this.error = null; // what was refused, and where
    this.untold = ""; // why Python does not know
    this.problem = ""; // why it cannot be computed
    this.gesture = null;
    this.proof = null; // the state in which the task was seen done
    this.holds = true; // whether what the task asks for is there now, of a kind of board that says so
    this.answer = null;
  }

  begin() {
    this.adopt(this.model.get("state"));
    this.model.on("change:state", () => this.overtake());
    this.model.on("change:reply", () => this.answered());
  }

  adopt(state) {
    // what Python, or another page before this one, says
    const known = state?.inputs && state?.settings ? state : { ...this.start, revision: 0 };
    this.revision = known.revision;
    this.answer = known.answer ?? null;
    this.proof = known.proof ?? this.proof;
    this.past = known.past ?? this.past;
    this.state = { inputs: known.inputs, settings: known.settings };
    this.compute();
  }

  overtake() {
    // another page or Python has changed something, unless it is one's own words coming back
    const state = this.model.get("state");
    if (state?.revision === this.revision) return;
    this.remember();
    this.adopt(state);
    this.said = ""; // it was said of another state
    this.show();
  }

  // ---- the task

  get reached() {
    return Boolean(this.proof);
  }

  get done() {
    return this.reached && (!this.task.why || this.answer === this.task.right);
  }

  reason(answer) {
    this.answer = answer;
    this.tell();
    this.said = this.done ? "Right." : "That is not it. Look again at what moved.";
    this.show();
  }

  // ---- changing: one gesture is one step of undo

  remember(gesture = null) {
    if (gesture === null || gesture !== this.gesture) {
      this.past.push(this.state);
      this.future = [];
    }
    this.gesture = gesture;
  }

  moved(state, said, error = null) {
    if (state) {
      this.state = state;
      this.compute();
      this.tell();
    }
    this.said = said;
    this.error = error;
    this.show();
  }

  travel(from, to, moved, stuck) {
    this.gesture = null;
    if (!from.length) return this.moved(null, stuck);
    to.push(this.state);
    this.moved(from.pop(), moved);
  }

  undo() {
    this.travel(this.past, this.future, "Undone.", "There is nothing to undo.");
  }

  redo() {
    this.travel(this.future, this.past, "Redone.", "There is nothing to redo.");
  }

  reset() {
    this.remember();
    this.proof = null;
    this.answer = null;
    this.moved(this.start, "Back to the example.");
  }

  prepare({ inputs, settings }, said) {
    // as a phrase has it
    this.remember();
    const { start } = this;
    this.moved({ inputs: { ...start.inputs, ...inputs }, settings: { ...start.settings, ...settings } }, said);
  }

  /** What a number of a phrase sets; all else stays as it is. */
  drag({ inputs, settings }, said, gesture) {
    this.remember(gesture);
    const { state } = this;
    this.moved({ inputs: { ...state.inputs, ...inputs }, settings: { ...state.settings, ...settings } }, said);
  }

  // ---- Python: it is told after the page has been painted, and answers with the same revision. A page without it is
  // told at once, with what it keeps for whoever comes back: it may be left in the next moment.

  show() {
    for (const view of this.views) view();
  }

  told() {
    return { revision: this.revision, ...this.state, proof: this.proof, answer: this.answer };
  }

  tell() {
    this.revision += 1;
    clearTimeout(this.sending);
    if (this.model.alone) return this.send({ past: this.past.slice(-KEPT) });
    this.sending = setTimeout(() => {
      try {
        this.send({ fresh: !this.proof });
        this.clock ??= setTimeout(() => this.missed(), PATIENCE);
      } catch {
        this.missed();
      }
    });
  }

  send(more) {
    this.model.set("state", { ...this.told(), ...more });
    this.model.save_changes();
  }

  missed() {
    this.untold = UNTOLD;
    this.clock = null;
    this.show();
  }

  answered() {
    const { revision, problem } = this.model.get("reply");
    if (revision !== this.revision) return;
    clearTimeout(this.clock);
    this.clock = null;
    this.untold = problem;
    this.show();
  }
}
