// What a screen reader hears of a lesson: what each cell is. JupyterLab names cells by their type, editors not at all.

const NAMES = {
  question: "A question",
  line: "Your line",
  filled: "Compares your line with the course's",
  answer: "Belongs to the answer",
  exercise: "An exercise, your code",
  check: "The check of the exercise",
  hint: "A hint",
  imports: "What is imported",
};

/** Name this cell and what is in it, now and whenever JupyterLab has named it otherwise; returns what ends that. */
export function named(cell, kind) {
  const { node } = cell;
  node.setAttribute("role", "article"); // a notebook is a feed
  function name() {
    if (NAMES[kind]) node.setAttribute("aria-label", NAMES[kind]);
    const editor = node.querySelector(".cm-content");
    editor?.setAttribute("aria-label", cell.model.type === "code" ? "Code" : "Text");
    node.querySelector(".jp-collapseHeadingButton")?.setAttribute("aria-label", "Fold what is under this heading");
  }
  name();
  const describe = () => !cell.isDisposed && describePictures(cell);
  node.addEventListener("load", describe, true); // of a picture, whenever JupyterLab draws it
  let watcher = null;
  cell.ready.then(() => {
    if (cell.isDisposed) return;
    name();
    describe();
    watcher = new MutationObserver(name);
    watcher.observe(node.querySelector(".jp-Cell-inputWrapper") ?? node, { childList: true, subtree: true });
    cell.outputArea?.outputLengthChanged.connect(name);
  });
  return () => {
    watcher?.disconnect();
    node.removeEventListener("load", describe, true);
    if (cell.isDisposed) return;
    cell.outputArea?.outputLengthChanged.disconnect(name);
    node.removeAttribute("role");
    if (NAMES[kind]) node.removeAttribute("aria-label");
  };
}

/** What the output says of its picture; JupyterLab draws it without. */
function describePictures({ model, outputArea }) {
  outputArea?.widgets.forEach(({ node }, k) => {
    const picture = node.querySelector(".jp-RenderedImage img:not([alt])");
    const { data, metadata } = model.outputs.get(k) ?? {};
    if (picture) picture.alt = metadata?.["image/png"]?.alt ?? data?.["text/plain"] ?? "";
  });
}
