// JupyterLab's ways to run many cells, in a lesson: in order, one by one, as far as everything asked above is answered.

/** In lessons "Run All" and its kin are the lesson's own; in all other notebooks, and where they are missing, as ever. */
export function takeOver(actions, lessonIn) {
  const ways = {
    runAll: (notebook) => notebook.widgets,
    runAllAbove: (notebook) => notebook.widgets.slice(0, notebook.activeCellIndex),
    runAllBelow: (notebook) => notebook.widgets.slice(notebook.activeCellIndex),
    runCells: (_, cells) => cells, // after "Restart Kernel and Run …"
  };
  for (const [name, cellsOf] of Object.entries(ways)) {
    const stock = actions[name];
    if (typeof stock !== "function") {
      console.warn(`attention: this JupyterLab has no ${name}; in lessons it runs hints, too.`);
      continue;
    }
    actions[name] = (notebook, ...rest) => {
      const lesson = lessonIn(notebook);
      return lesson ? lesson.runMany(cellsOf(notebook, ...rest)) : stock(notebook, ...rest);
    };
  }
}
