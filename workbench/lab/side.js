// Beside the notebook: what stands in the lesson, a dot for each guess and line, and the lessons.

import { made } from "./made.js";

const MARK =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="20"><g class="jp-icon3" style="fill: none" stroke="#616161">' +
  '<path d="M5 25C5 3 27 3 27 25" stroke-width="5"/><path d="M5 25C5 13 17 13 17 25" stroke-width="2.5"/></g></svg>';
const ID = "attention-lesson";
const MET = "attention:met";
const ROOM = 1000; // px of a window in which the contents leave enough of it to the lesson

export class LessonsSide {
  constructor({ app, shell, restorer, tools, lessonOf }) {
    Object.assign(this, { app, shell, tools, lessonOf });
    this.node = made("div", { className: "attn-side-inner" }, made("p", {}, "Open a lesson of the course."));
    this.widget = new tools.Widget({ node: this.node });
    this.widget.id = ID;
    this.widget.addClass("attn-side");
    this.widget.title.caption = "Lesson";
    this.widget.title.icon = new tools.LabIcon({ name: "attention:lesson", svgstr: MARK });
    app.shell.add(this.widget, "left", { rank: 50 });
    restorer?.add(this.widget, ID);
  }

  /** Show the lesson of this panel, as soon as the page has time for it. */
  show(panel) {
    const lesson = this.lessonOf(panel);
    document.body.classList.toggle("attn-in-front", Boolean(lesson));
    if (!lesson) return;
    this.greet();
    this.lesson = lesson;
    this.isDue ||= requestAnimationFrame(() => {
      this.isDue = 0;
      this.draw(this.lesson);
    });
  }

  /** The first time it opens by itself, where there is room; from then on the side bar is as it was left. */
  greet() {
    if (this.wasMet || localStorage.getItem(MET)) return;
    this.wasMet = true;
    localStorage.setItem(MET, "yes");
    this.app.restored?.then(() => {
      if (window.innerWidth >= ROOM) this.app.shell.activateById(ID);
      else this.shell?.collapseLeft();
    });
  }

  draw(lesson) {
    if (lesson.isLeft || lesson.notebook.isDisposed) return;
    const { opening, sections } = sectionsOf(lesson);
    const shape = JSON.stringify([lesson.name, lesson.heading, sections.map((one) => [one.title, one.marks.length])]);
    if (this.shape !== shape || this.shown !== lesson) this.build(lesson, sections);
    Object.assign(this, { shape, shown: lesson });
    const marks = [...opening, ...sections.flatMap((one) => one.marks)];
    this.count.textContent = `${howMany(marks)} of ${marks.length} guesses and lines`;
    const seen = lesson.place.sectionSeen();
    sections.forEach((one, k) => {
      const { link, dots } = this.rows[k];
      link.toggleAttribute("aria-current", false);
      if (one.id === seen) link.setAttribute("aria-current", "true");
      dots.setAttribute("aria-label", `${howMany(one.marks)} of ${one.marks.length} done`);
      one.marks.forEach((mark, i) => dots.children[i].classList.toggle("done", Boolean(mark.isDone)));
    });
  }

  build(lesson, sections) {
    this.count = made("p", {});
    this.rows = sections.map((one) => {
      const dots = made("span", { className: "attn-dots", role: "img" }, ...one.marks.map(() => made("i")));
      dots.hidden = !one.marks.length;
      const link = this.link([made("span", {}, one.title), dots], () => lesson.goTo(one.cell, "start"));
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
      this.tool("A−", "Smaller", "smaller"),
      this.tool("A+", "Larger", "larger"),
      this.tool("Present", "Nothing but the lesson, and larger (Ctrl+Shift+.)", "present"),
    );
    const footer = made("div", { className: "attn-onwards" }, ...(onwards ? [onwards] : []), all, tools);
    const header = made("div", { className: "attn-where" }, made("h2", {}, lesson.heading), this.count);
    this.node.replaceChildren(header, nav, footer);
  }

  link(words, act) {
    const one = made("button", { type: "button" }, ...words);
    one.addEventListener("click", act);
    return one;
  }
  tool(words, title, command) {
    const one = this.link([words], () => this.app.commands.execute(`attention:${command}`));
    return Object.assign(one, { title });
  }
}

const howMany = (marks) => marks.filter((one) => one.isDone).length;

function sectionsOf(lesson) {
  const sections = new Map(); // id of its heading → what stands of it beside the notebook
  const opening = []; // what is asked before the first heading
  for (const { id, section, second, kind, cell } of lesson.parts) {
    if (!section) {
      if (kind === "question") opening.push(lesson.heads.get(id));
      continue;
    }
    if (!sections.has(section.id)) {
      const title = section.title.replace(/[,.:]?\s*\(?on a second reading\)?/i, "");
      sections.set(section.id, { id: section.id, title, cell, marks: [] });
    }
    if (["question", "filled"].includes(kind) && !second) sections.get(section.id).marks.push(lesson.heads.get(id));
  }
  return { opening, sections: [...sections.values()] };
}
