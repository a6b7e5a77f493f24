// A result that a hand may write over: until then it is as any other, then a number to type, step or drag, and the one
// filled cell of its panel.

import { numberCell, resultCell } from "./cells.js";
import { button } from "./elements.js";

export function pinCell(view, panel, i, j) {
  const { engine } = view;
  const result = resultCell(view, panel, i, j);
  const number = numberCell(view, panel, i, j);
  const { node } = result;
  let isOpen = false; // to be written over, and not yet changed
  const isYours = () => engine.isPinned(panel.name, i, j);
  const isField = () => isOpen || isYours();

  function open() {
    if (isField()) return;
    isOpen = true;
    update(engine.values[panel.name][i][j]);
    number.target.focus();
  }
  function close() {
    isOpen = false;
    update(engine.values[panel.name][i][j]);
  }
  function update(x, blank) {
    node.classList.toggle("yours", isYours());
    node.classList.toggle("result", !isField());
    if (!isField()) {
      const hadFocus = document.activeElement === number.target; // which would fall to the page around the board
      result.update(x, blank);
      if (hadFocus) node.focus();
      return;
    }
    if (number.target.parentNode !== node) node.replaceChildren(number.target);
    node.removeAttribute("aria-label");
    number.update(x);
  }
  node.addEventListener("dblclick", open);
  number.target.addEventListener("blur", close); // what was typed is taken by then
  node.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (event.target !== node || ctrlKey || metaKey || altKey) return;
    if (/^([\d.,−-]|F2)$/.test(key)) open(); // the sign is then typed into the field that has the focus
  });
  return {
    node,
    get target() {
      return isField() ? number.target : node;
    },
    update,
    complain: number.complain,
  };
}

/** The way back from what a hand wrote over a panel; meanwhile its note would not be true. */
export function letGoOf({ engine, go }, { name, title }, note) {
  const act = () => {
    const [[i, j]] = engine.pinnedIn(name);
    engine.letGo(name);
    go(name, i, j);
  };
  const node = button("yours · let go", act, `Let ${title} be computed again`);
  node.className = "let-go";
  return {
    node,
    update() {
      node.hidden = !engine.pinnedIn(name).length;
      note.hidden = !node.hidden;
    },
  };
}
