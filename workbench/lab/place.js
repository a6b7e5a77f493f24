// Where in a lesson one reads, and the way back there.

import { zoomOf } from "./present.js";

const SETTLED = 4; // looks at which nothing has moved any more
const LOOKS = 20; // once the cell is there
const BETWEEN = 150; // ms
const FRAMES = 3; // in which JupyterLab fits itself to another size

export class Place {
  constructor(lesson) {
    this.lesson = lesson;
    const { notebook, panel } = lesson;
    const stock = notebook.scrollToItem.bind(notebook);
    notebook.scrollToItem = (k, align, ...rest) => {
      const cell = this.lesson.cells[k];
      return zoomOf(panel.node) === 1 || !cell?.node.isConnected ? stock(k, align, ...rest) : this.bring(cell, align);
    };
    this.comeBack();
  }

  end() {
    this.isOver = true;
    delete this.lesson.notebook.scrollToItem;
    clearTimeout(this.timer);
    this.scrolled?.removeEventListener("scroll", this.onScroll);
  }

  get scroller() {
    const { node } = this.lesson.notebook;
    return node.querySelector(".jp-WindowedPanel-outer") ?? node;
  }

  /** Show this cell. JupyterLab's own way adds up heights, and knows nothing of a zoom. */
  async bring({ node }, align) {
    const view = this.scroller.getBoundingClientRect();
    const box = node.getBoundingClientRect();
    if (["start", "center", "end"].includes(align)) return node.scrollIntoView({ block: align });
    const fills = box.top <= view.top && box.bottom >= view.bottom;
    if (!fills) node.scrollIntoView({ block: box.height > view.height ? "start" : "nearest" });
  }

  /** Do something that changes how large everything is; what is read stays where it is on the screen. */
  async hold(act) {
    const { notebook, cells } = this.lesson;
    const { scroller } = this;
    const view = scroller.getBoundingClientRect();
    const active = notebook.activeCell?.node.getBoundingClientRect();
    const isActiveSeen = active && active.top >= view.top && active.top < view.bottom;
    const cell = isActiveSeen ? notebook.activeCell : cells[this.firstSeen()];
    const offset = () => (cell ? cell.node.getBoundingClientRect().top - scroller.getBoundingClientRect().top : 0);
    const before = offset();
    act();
    for (let frame = 0; frame < FRAMES && !this.isOver; frame += 1) {
      await new Promise(requestAnimationFrame);
      scroller.scrollTop += offset() - before;
    }
    if (isActiveSeen && !this.isOver) this.bring(cell); // the window may show less now
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
    if (cell && notebook.activeCellIndex === 0) this.lesson.select(this.lesson.cells.indexOf(cell)); // keys go on there
    let hasBegun = false;
    const begin = () => {
      hasBegun = true;
    };
    const kinds = ["wheel", "pointerdown", "keydown"];
    for (const kind of kinds) notebook.node.addEventListener(kind, begin, { capture: true, once: true });
    const goes = cell && this.lesson.cells.indexOf(cell) > 0;
    for (let looks = 0, still = 0; goes && looks < LOOKS && still < SETTLED; ) {
      if (hasBegun || this.isOver || notebook.isDisposed) break;
      if (cell.node.isConnected) looks += 1; // before, JupyterLab has only begun to put the cells onto the page
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
