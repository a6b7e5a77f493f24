// The plugin: every notebook of the course that opens is made a lesson; others are left as they are.

import { takeOver } from "./actions.js";
import { Lesson } from "./lesson.js";
import { printsLessons } from "./paper.js";
import { afterReload } from "./present.js";
import { LessonsSide } from "./side.js";

/** The plugin, of JupyterLab's packages, which `take` brings by name; `base` is the folder of all that is served. */
export async function pluginOf(take, base) {
  const menus = take("@jupyterlab/mainmenu").catch(() => ({})); // without it Present stands beside the lesson only
  const apputils = take("@jupyterlab/apputils").catch(() => ({})); // without it Ctrl+P prints as in other notebooks
  const [notebooks, application, widgets, components, messaging, { IMainMenu }, { Printing }, form, course] =
    await Promise.all([
      take("@jupyterlab/notebook"),
      take("@jupyterlab/application"),
      take("@lumino/widgets"),
      take("@jupyterlab/ui-components"),
      take("@lumino/messaging"),
      menus,
      apputils,
      import(new URL("questions/form.js", base)),
      fetch(new URL("course.json", base)).then((answer) => answer.json()),
    ]);
  const tools = {
    ...notebooks,
    ...widgets,
    ...messaging,
    LabIcon: components.LabIcon,
    Printing,
    form: form.default,
    course,
  };
  const needed = ["INotebookTracker", "NotebookActions", "runCell", "Widget", "LabIcon"];
  const missing = needed.filter((name) => !tools[name]);
  if (missing.length) throw new Error(`This JupyterLab has no ${missing.join(", ")}: lessons look as other notebooks.`);
  return {
    id: "attention:lab",
    description: "Lessons of the course look and behave as lessons.",
    autoStart: true,
    requires: [notebooks.INotebookTracker],
    optional: [application.ILabShell, application.ILayoutRestorer, ...(IMainMenu ? [IMainMenu] : [])],
    activate: (app, tracker, shell, restorer, menu) => activate(app, tracker, { shell, restorer, menu }, tools),
  };
}

function activate(app, tracker, { shell, restorer, menu }, tools) {
  const lessons = new Map(); // panel → Lesson
  const runs = new WeakMap(); // the context of a notebook → what all its views know of Python
  const side = new LessonsSide({ app, shell, restorer, tools, lessonOf: (panel) => lessons.get(panel) });

  async function meet(panel) {
    await panel.context.ready;
    if (panel.isDisposed || !panel.model.getMetadata("course") || lessons.has(panel)) return;
    const changed = () => panel === tracker.currentWidget && side.show(panel);
    const lesson = new Lesson(panel, { app, shell, tools, runs, changed, left: () => forget(panel) });
    lessons.set(panel, lesson);
    panel.disposed.connect(() => forget(panel));
    side.show(tracker.currentWidget);
  }
  function forget(panel) {
    lessons.get(panel)?.leave();
    lessons.delete(panel);
    side.show(tracker.currentWidget);
  }
  const lessonIn = (notebook) => [...lessons.values()].find((lesson) => lesson.notebook === notebook);
  tools.NotebookActions.executionScheduled.connect((_, { notebook, cell }) => lessonIn(notebook)?.scheduled(cell));
  tools.NotebookActions.executed.connect((_, { notebook, ...told }) => lessonIn(notebook)?.heard(told));
  takeOver(tools.NotebookActions, lessonIn);
  app.restored.then(() => afterReload(app.shell));
  tracker.widgetAdded.connect((_, panel) => meet(panel));
  tracker.currentChanged.connect((_, panel) => side.show(panel));
  tracker.forEach(meet);
  commands(app, tracker, lessons);
  const inFront = () =>
    shell && shell.currentWidget !== tracker.currentWidget ? null : lessons.get(tracker.currentWidget);
  printsLessons(inFront);
  menu?.viewMenu.addGroup(["present", "larger", "smaller"].map((name) => ({ command: `attention:${name}` })));
  const shows = (isByKeys) => () => document.body.classList.toggle("attn-keys", isByKeys); // where keys go
  window.addEventListener("keydown", shows(true), true);
  window.addEventListener("pointerdown", shows(false), true);
}

const COMMAND_MODE = ".attn-lesson .jp-Notebook.jp-mod-commandMode:not(.jp-mod-readWrite) .jp-Cell";
const LINE = ".attn-lesson .jp-Notebook.jp-mod-editMode .attn-line";

function commands(app, tracker, lessons) {
  const here = () => lessons.get(tracker.currentWidget);
  function add(name, label, execute, keys = [], selectors = []) {
    const command = `attention:${name}`;
    app.commands.addCommand(command, { label, execute, isVisible: () => Boolean(here()) });
    for (const key of keys) {
      for (const selector of selectors) app.commands.addKeyBinding({ command, keys: [key], selector });
    }
  }
  const cell = (which) => `${COMMAND_MODE}${which}:focus`;
  const asked = [cell(".attn-asks"), cell(".attn-line"), LINE];
  const opened = cell(":has(.jp-showHiddenCellsButton)");
  add("enter", "Lesson: into the form", () => here().enter(), ["Enter"], [cell(".attn-asks"), cell(".attn-closed")]);
  add("answer", "Lesson: answer and go on", () => here().runActive(true), ["Shift Enter"], asked);
  add("check", "Lesson: answer", () => here().runActive(false), ["Ctrl Enter"], asked);
  // JupyterLab's own arrows pass over cells whose code is folded, and its Shift+Enter opens a folded section
  add("below", "Lesson: the cell below", () => here().step(1), ["ArrowDown", "J"], [cell("")]);
  add("above", "Lesson: the cell above", () => here().step(-1), ["ArrowUp", "K"], [cell("")]);
  add("past", "Lesson: past what is folded", () => here().step(1), ["Shift Enter"], [opened]);
  add("leave", "Lesson: leave presenting", () => here().present(), ["Escape"], [`.attn-presenting ${cell("")}`]);
  add("present", "Lesson: present", () => here()?.present(), ["Accel Shift ."], [".attn-lesson", ".attn-side"]);
  add("larger", "Lesson: larger", () => here().zoom(1));
  add("smaller", "Lesson: smaller", () => here().zoom(-1));
}
