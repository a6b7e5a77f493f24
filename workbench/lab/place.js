// Where in a lesson one reads, and the way back there.

const SETTLED = 4; // looks at which nothing has moved any more
const LOOKS = 20;
const BETWEEN = 150; // ms

export class Place {
  constructor(lesson) {
    this.lesson = lesson;
    this.comeBack();
  }

  end() {
    this.isOver = true;
    clearTimeout(this.timer);
    this.scrolled?.removeEventListener("scroll", this.onScroll);
  }

  get scroller() {
    const { node } = this.lesson.notebook;
    return node.querySelector(".jp-WindowedPanel-outer") ?? node;
  }

  /** The number of the first cell that is seen. */
  firstSeen() {
    const { top } = this.scroller.getBoundingClientRect();
    const isSeen = ({ node }) => node.isConnected && node.getBoundingClientRect().bottom > top + 60;
    return Math.max(0, this.lesson.cells.findIndex(isSeen));
  }

  /** The section that is read. */
  sectionSeen() {
    const { top, height } = this.scroller.getBoundingClientRect();
    const k = this.lesson.cells.findLastIndex(({ node }) => {
      const box = node.getBoundingClientRect();
      return node.isConnected && box.height && box.top < top + height / 2;
    });
    return this.lesson.parts[Math.max(0, k)]?.section?.id;
  }

  /** To where this browser was, unless somebody moves first; what is above may still be drawn and shift it. */
  async comeBack() {
    const { panel, notebook, store } = this.lesson;
    await panel.revealed;
    if (this.isOver || notebook.isDisposed) return;
    const cell = this.lesson.cells.find(({ model }) => model.id === store.get("place"));
    let hasBegun = false;
    const begin = () => {
      hasBegun = true;
    };
    const kinds = ["wheel", "pointerdown", "keydown"];
    for (const kind of kinds) notebook.node.addEventListener(kind, begin, { capture: true, once: true });
    const goes = cell && this.lesson.cells.indexOf(cell) > 0;
    for (let looks = 0, still = 0; goes && looks < LOOKS && still < SETTLED; looks += 1) {
      if (hasBegun || this.isOver || notebook.isDisposed) break;
      const off = cell.node.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top;
      still = cell.node.isConnected && Math.abs(off) < 4 ? still + 1 : 0;
      if (!still) await this.lesson.goTo(cell, "start");
      await new Promise((done) => setTimeout(done, BETWEEN));
    }
    if (this.isOver || notebook.isDisposed) return;
    this.scrolled = this.scroller;
    this.scrolled.addEventListener("scroll", this.onScroll, { passive: true });
  }

  onScroll = () => {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const { notebook, panel, store, cells, changed } = this.lesson;
      if (this.isOver || notebook.isDisposed || !panel.isVisible) return;
      store.set("place", cells[this.firstSeen()]?.model.id);
      changed();
    }, BETWEEN);
  };
}
