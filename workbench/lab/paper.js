// A lesson on paper: all of it, as it stands, and nothing of JupyterLab around it. The style sheet does what it can with
// two classes; what it cannot do is to bring cells to the page that JupyterLab has not drawn yet.

const SETTLED = 8; // frames in which nothing has grown any more
const FRAMES = 300;
const PAPER = 680; // px between the margins that lab.css sets, on A4

/** Whatever prints this window, the browser's menu too, prints the lesson in front. */
export function printsLessons(lessonInFront) {
  const { dataset } = document.body;
  let marked = [];
  let theme = null; // a board, too, reads off this which colours count
  window.addEventListener("beforeprint", () => {
    const lesson = lessonInFront();
    if (!lesson || marked.length) return;
    marked = wayTo(lesson.notebook.node);
    theme = dataset.jpThemeLight;
    dataset.jpThemeLight = "true";
    for (const node of marked) node.classList.add("attn-printed");
    for (const board of lesson.notebook.node.querySelectorAll(".attn-board")) fit(board);
  });
  window.addEventListener("afterprint", () => {
    if (!marked.length) return;
    dataset.jpThemeLight = theme;
    for (const node of marked) node.classList.remove("attn-printed");
    marked = [];
  });
}

/** A board that is wider than paper is laid out as on the screen, and smaller. */
function fit(board) {
  const { left } = board.getBoundingClientRect();
  const rights = [...board.querySelectorAll("*")].map((one) => one.getBoundingClientRect().right);
  const isWider = Math.max(...rights) - left > PAPER;
  board.style.setProperty("--fits", isWider ? PAPER / board.offsetWidth : 1);
}

/** From the page's body down to this node. */
function wayTo(node) {
  const way = [];
  for (let one = node; one && one !== document.documentElement; one = one.parentElement) way.push(one);
  return way;
}

/** JupyterLab's own print, Ctrl+P, has nbconvert make a page of the file; that of a lesson is what one sees. */
export function takePrint(lesson) {
  const { panel, tools } = lesson;
  const { symbol } = tools.Printing ?? {};
  if (!symbol) return () => {};
  panel[symbol] = () => () => print(lesson);
  return () => delete panel[symbol];
}

async function print({ notebook }) {
  const config = notebook.notebookConfig;
  notebook.notebookConfig = { ...config, windowingMode: "defer" }; // in which a cell that was drawn stays
  window.addEventListener("afterprint", () => Object.assign(notebook, { notebookConfig: config }), { once: true });
  for (const k of notebook.widgets.keys()) notebook.renderCellOutputs(k);
  await Promise.all(notebook.widgets.map(({ ready }) => ready));
  await drawn(notebook.viewportNode ?? notebook.node);
  window.print();
}

/** Formulas and pictures come a little later. */
async function drawn(node) {
  let height = 0;
  for (let frame = 0, still = 0; frame < FRAMES && still < SETTLED; frame += 1) {
    await new Promise(requestAnimationFrame);
    still = node.scrollHeight === height ? still + 1 : 0;
    height = node.scrollHeight;
  }
}
