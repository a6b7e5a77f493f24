// Beside the notebook: what stands in the lesson, a dot for each guess and line, and the lessons.

import { made } from "./made.js";
import { keepIn, textIn } from "./store.js";

const MARK =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="20"><g class="jp-icon3" style="fill: none" stroke="#616161">' +
  '<path d="M5 25C5 3 27 3 27 25" stroke-width="5"/><path d="M5 25C5 13 17 13 17 25" stroke-width="2.5"/></g></svg>';
const ID = "attention-lesson";
const MET = "attention:met";
const FRAMES = 30; // in which JupyterLab brings a notebook to the front
const OPEN_ONE = "Open a lesson of the course.";
const ROOM = 1000; // px of a window in which the contents leave enough of it to the lesson

export class LessonsSide {
  constructor({ app, shell, restorer, tools, lessonOf }) {
    Object.assign(this, { app, shell, tools, lessonOf });
    this.node = made("div", { className: "attn-side-inner" }, made("p", {}, OPEN_ONE));
    this.widget = new tools.Widget({ node: this.node });
    this.widget.id = ID;
    this.widget.addClass("attn-side");
    this.widget.title.caption = "Lesson";
    this.widget.title.icon = new tools.LabIcon({ name: "attention:lesson", svgstr: MARK });
    this.widget.onAfterShow = () => this.lesson && this.draw(this.lesson); // what is hidden cannot be scrolled
    app.shell.add(this.widget, "left", { rank: 50 });
    restorer?.add(this.widget, ID);
  }

  /** Show the lesson of this panel, as soon as the page has time for it. */
  show(panel) {
    const lesson = this.lessonOf(panel);
    document.body.classList.toggle("attn-in-front", Boolean(lesson));
    if (this.lesson?.isLeft) this.forget();
    if (!lesson) return;
    this.greet();
    this.lesson = lesson;
    this.isDue ||= requestAnimationFrame(() => {
      this.isDue = 0;
      if (this.lesson) this.draw(this.lesson);
    });
  }

  /** The first time it opens by itself, where there is room; from then on the side bar is as it was left. */
  greet() {
    if (this.wasMet || textIn("localStorage", MET)) return;
    this.wasMet = true;
    keepIn("localStorage", MET, "yes");
    this.app.restored?.then(() => {
      if (window.innerWidth >= ROOM) this.app.shell.activateById(ID);
      else this.shell?.collapseLeft();
    });
  }

  /** The lesson was closed: nothing of it stands here. */
  forget() {
    this.lesson = this.shape = this.shown = null;
    this.node.replaceChildren(made("p", {}, OPEN_ONE));
  }

  draw(lesson) {
    if (lesson.isLeft || lesson.notebook.isDisposed) return;
    const sections = sectionsOf(lesson);
    const shape = JSON.stringify([lesson.name, lesson.heading, sections.map((one) => [one.title, one.marks.length])]);
    if (this.shape !== shape || this.shown !== lesson) this.build(lesson, sections);
    if (this.shown !== lesson) this.isBegun = false;
    if (!this.isBegun && this.widget.isVisible) {
      this.node.scrollTop = 0;
      this.isBegun = true;
    }
    Object.assign(this, { shape, shown: lesson });
    const marks = sections.flatMap((one) => one.marks);
    this.count.textContent = `${howMany(marks)} of ${marks.length} guesses and lines`;
    const seen = lesson.place.sectionSeen();
    const isElsewhere = this.seen !== seen;
    this.seen = seen;
    sections.forEach((one, k) => {
      const { link, dots } = this.rows[k];
      link.toggleAttribute("aria-current", false);
      if (one.id === seen) link.setAttribute("aria-current", "true");
      if (one.id === seen && isElsewhere) bring(link, this.node);
      dots.setAttribute("aria-label", `${howMany(one.marks)} of ${one.marks.length} done`);
      one.marks.forEach((mark, i) => dots.children[i].classList.toggle("done", Boolean(mark.isDone)));
    });
  }

  build(lesson, sections) {
    this.count = made("p", {});
    this.rows = sections.map((one) => {
      const dots = made("span", { className: "attn-dots", role: "img" }, ...one.marks.map(() => made("i")));
      dots.hidden = !one.marks.length;
      const go = () => this.inFront(lesson, () => lesson.goTo(one.cell, one.id ? "start" : "center"));
      const link = this.link([made("span", {}, one.title), dots], go);
      return { link, dots };
    });
    const nav = made("nav", {}, made("ol", {}, ...this.rows.map(({ link }) => made("li", {}, link))));
    nav.setAttribute("aria-label", "In this lesson");
    const { next } = lesson;
    const onwards =
      next &&
      this.link([made("small", {}, "Next lesson"), made("span", {}, `${next.number} ${next.title}`)], () =>
        lesson.open(next),
      );
    if (onwards) onwards.className = "attn-go";
    const wasOpen = this.node.querySelector(".attn-all")?.open ?? false;
    const all = made("details", { className: "attn-all", open: wasOpen }, made("summary", {}, "All lessons"));
    for (const one of this.tools.course.lessons) {
      const words = [made("b", {}, String(one.number)), made("span", {}, one.title)];
      const link = this.link(words, () => lesson.open(one));
      if (one === lesson.here) link.setAttribute("aria-current", "page");
      all.append(link);
    }
    const tools = made(
      "p",
      { className: "attn-tools" },
      this.tool("A−", "Smaller", () => this.inFront(lesson, () => lesson.zoom(-1))),
      this.tool("A+", "Larger", () => this.inFront(lesson, () => lesson.zoom(1))),
      this.tool("Present", "Nothing but the lesson, and larger (Ctrl+Shift+.)", () =>
        this.inFront(lesson, () => lesson.present()),
      ),
    );
    const footer = made("div", { className: "attn-onwards" }, ...(onwards ? [onwards] : []), all);
    const header = made("div", { className: "attn-where" }, made("h2", {}, lesson.heading), this.count);
    this.node.replaceChildren(header, nav, footer, tools);
  }

  link(words, act) {
    const one = made("button", { type: "button" }, ...words);
    one.addEventListener("click", act);
    return one;
  }
  tool(words, title, act) {
    return Object.assign(this.link([words], act), { title });
  }
  /** Do this with the lesson of which the bar tells; another notebook may stand before it. */
  async inFront({ panel }, act) {
    const { shell } = this.app;
    if (shell.currentWidget !== panel) shell.activateById(panel.id);
    for (let frame = 0; frame < FRAMES && shell.currentWidget !== panel; frame += 1) {
      await new Promise(requestAnimationFrame);
    }
    act();
  }
}

/** Into view within this; what is around it stays where it is. */
function bring(link, within) {
  const [box, view] = [link, within].map((one) => one.getBoundingClientRect());
  if (box.top < view.top || box.bottom > view.bottom) within.scrollTop += box.top - view.top - view.height / 3;
}

const howMany = (marks) => marks.filter((one) => one.isDone).length;

function sectionsOf(lesson) {
  const sections = new Map(); // id of its heading, undefined before the first → what stands of it beside the notebook
  for (const { id, section, second, kind, cell } of lesson.parts) {
    const isAsked = ["question", "filled"].includes(kind) && !second;
    if (!sections.has(section?.id) && (section || isAsked)) {
      const whole = section?.title ?? "Before you begin";
      const title = whole.replace(/[,.:]?\s*\(?on a second reading\)?/i, "") || whole; // it may be all that it says
      sections.set(section?.id, { id: section?.id, title, cell, marks: [] });
    }
    if (isAsked) sections.get(section?.id).marks.push(lesson.heads.get(id));
  }
  return [...sections.values()];
}
