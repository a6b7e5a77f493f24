// Keys that walk inside a panel.

import { used } from "./elements.js";

export const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Goes where the key leads from this cell; true where the key was one of them. */
export function walk(view, name, i, j, event) {
  const [rows, columns] = view.panel(name).size();
  const ends = { Home: [i, 0], End: [i, columns - 1] };
  const by = MOVES[event.key];
  let [row, column] = by ? [i + by[0], j + by[1]] : (ends[event.key] ?? []);
  if (row === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return false;
  if (column < 0 && row > 0)
    [row, column] = [row - 1, columns - 1]; // in the order of reading
  else if (column >= columns && row < rows - 1) [row, column] = [row + 1, 0];
  view.go(name, row, column);
  used(event);
  return true;
}
