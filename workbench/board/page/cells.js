// The cells of a table: a result that says where it came from, a switch, a number to type, step, drag or paste.

import { sources } from "./arithmetic.js";
import { element, used } from "./elements.js";
import { inSight } from "./explain.js";
import { exact, minus, range, readCell, readNumber, readRows, written } from "./numbers.js";
import { MOVES, walk } from "./walk.js";

const PIXELS_PER_STEP = 12; // of a number that is dragged
const LONG = 4; // signs: more stand close
const MOST = 5; // signs that a cell has room for

export function resultCell(view, panel, i, j) {
  const node = element("td", { class: "cell result", tabindex: "-1" });
  node.addEventListener("keydown", (event) => {
    if (event.target !== node || walk(view, panel.name, i, j, event)) return;
    if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.metaKey) return;
    const [from] = inSight(view, sources(view.engine.arithmetic(panel.name, i, j) ?? {}));
    if (from) view.go(...from);
    used(event);
  });
  const sign = (x) => (x ? "✓" : "✕");
  return {
    node,
    target: node,
    update(x, isNothing) {
      const shown = panel.kind === "mask" ? sign(x) : (!x && panel.zero) || written(x);
      const text = isNothing ? "" : shown;
      node.replaceChildren(text.length > LONG ? element("span", {}, text) : text);
      node.classList.toggle("long", text.length > LONG);
      node.setAttribute("aria-label", `${view.engine.label(panel.name, i, j)}: ${isNothing ? "not yet" : text}`);
    },
  };
}

export function switchCell(view, panel, i, j) {
  const { engine } = view;
  const button = element("button", { type: "button", class: "switch", tabindex: "-1" });
  const node = element("td", { class: "cell input" }, button);
  const turn = () => engine.edit(panel.name, [[i, j, String(1 - engine.values[panel.name][i][j])]]);
  paintable(view, panel.name, i, j, button, turn);
  return {
    node,
    target: button,
    update(x) {
      button.textContent = x === 1 ? "✓" : "✕";
      button.setAttribute("aria-pressed", String(x === 1));
      button.setAttribute("aria-label", engine.label(panel.name, i, j));
    },
  };
}

// A switch is turned by a click; a pointer that is drawn on, or Shift and an arrow, gives other switches what it shows.
function paintable(view, name, i, j, button, turn) {
  const { engine } = view;
  let stroke = null; // of a pointer: its cells, the last one first
  let strokes = 0; // each is one step of undo
  let isPainted = false; // a click follows what a pointer has done already
  const end = () => {
    stroke = null;
    setTimeout(() => {
      isPainted = false;
    });
  };
  const under = ({ clientX, clientY }) => {
    const [rows, columns] = view.panel(name).size();
    const cell = button.getRootNode().elementFromPoint(clientX, clientY)?.closest("td");
    const all = range(rows * columns).map((k) => [Math.floor(k / columns), k % columns]);
    return cell && all.find(([row, column]) => view.panel(name).spot(row, column) === cell);
  };
  const paint = () =>
    engine.edit(
      name,
      stroke.cells.map(([row, column]) => [row, column, stroke.value]),
      stroke.gesture,
    );
  button.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    strokes += 1;
    isPainted = true;
    const value = String(1 - engine.values[name][i][j]);
    stroke = { cells: [[i, j]], value, gesture: `paint ${name} ${i} ${j} ${strokes}` };
    button.setPointerCapture(event.pointerId);
    paint();
  });
  button.addEventListener("pointermove", (event) => {
    const to = stroke && under(event);
    const from = stroke?.cells[0];
    if (!to || String(to) === String(from)) return;
    const [down, right] = [to[0] - from[0], to[1] - from[1]];
    const steps = Math.max(Math.abs(down), Math.abs(right)); // a quick hand leaves cells out
    const way = range(steps).map((k) =>
      [0, 1].map((side) => from[side] + Math.round(([down, right][side] * (k + 1)) / steps)),
    );
    const cells = new Map([...way.reverse(), ...stroke.cells].map((cell) => [String(cell), cell]));
    const isMore = cells.size > stroke.cells.length;
    stroke.cells = [...cells.values()];
    if (isMore) paint();
  });
  button.addEventListener("pointerup", end);
  button.addEventListener("pointercancel", end);
  button.addEventListener("click", () => isPainted || turn());
  button.addEventListener("keydown", (event) => {
    const [down, right] = MOVES[event.key] ?? [];
    if (down === undefined || !event.shiftKey) return walk(view, name, i, j, event);
    const shown = String(engine.values[name][i][j]);
    if (view.go(name, i + down, j + right)) engine.edit(name, [[i + down, j + right, shown]]);
    used(event);
  });
}

export function numberCell(view, panel, i, j) {
  const { engine } = view;
  const { name } = panel;
  const typing = { type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", tabindex: "-1" };
  const input = element("input", { ...typing, "aria-label": engine.label(name, i, j) });
  const node = element("td", { class: "cell input" }, input);
  let clean = true; // what stands there is the number, all of it selected
  let held = 0; // how often an arrow key went down
  const valueNow = () => engine.held(name)[i][j];

  function selectAll() {
    if (clean && document.activeElement === input) input.select();
  }
  // While it is looked at only, a number that is longer than its cell is rounded as results are; in a hand it is whole.
  function fresh() {
    const whole = minus(exact(valueNow()));
    const isHeld = document.activeElement === input;
    input.value = isHeld || whole.length <= MOST ? whole : written(valueNow());
    input.title = input.value === whole ? "" : whole;
    clean = true;
    grow();
    selectAll();
  }
  function typed() {
    clean = false;
    grow();
  }
  function grow() {
    const { length } = input.value;
    node.classList.toggle("long", length > LONG);
    node.classList.toggle("grown", length > MOST);
    input.style.setProperty("--signs", length);
  }
  function commit() {
    if (clean) {
      if (input.title || input.value.length > MOST) fresh();
      return true;
    }
    clean = true;
    engine.edit(name, [[i, j, input.value]]);
    fresh();
    return !engine.error;
  }
  function put(number, gesture) {
    clean = true;
    engine.put(name, i, j, number, gesture);
    fresh();
  }
  function step(amount, gesture) {
    put((readCell(input.value)[0] ?? valueNow()) + amount, gesture);
  }
  function stepByKey(event) {
    if (!event.repeat) held += 1;
    const direction = event.key === "ArrowUp" ? 1 : -1;
    step(direction * (event.shiftKey ? 10 : 1), `hold ${name} ${i} ${j} ${held}`);
  }
  function enter(event) {
    if (commit() && !view.go(name, i + (event.shiftKey ? -1 : 1), j)) fresh();
  }
  function goOnTyping() {
    clean = false;
    input.setSelectionRange(99, 99);
  }
  function onKey(event) {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const moves = MOVES[event.key];
    if (event.altKey && moves) view.go(name, i + moves[0], j + moves[1]);
    else if (isPlain && /^Arrow(Up|Down)$/.test(event.key)) stepByKey(event);
    else if (isPlain && clean && /^(ArrowLeft|ArrowRight|Home|End)$/.test(event.key)) {
      walk(view, name, i, j, event);
      return;
    } else if (isPlain && event.key === "Enter") enter(event);
    else if (event.key === "Escape" && !clean) fresh();
    else if (event.key === "F2" && clean) goOnTyping();
    else {
      if (isPlain && event.key.length === 1) {
        selectAll();
        event.stopPropagation();
      }
      return;
    }
    used(event);
  }
  function onWheel(event) {
    if (document.activeElement !== input || event.ctrlKey) return; // a page that scrolls past changes nothing
    event.preventDefault();
    step(event.deltaY < 0 ? 1 : -1, `wheel ${name} ${i} ${j}`);
  }
  function onPaste(event) {
    const text = event.clipboardData.getData("text/plain").trimEnd();
    const rows = readRows(text);
    const isOne = rows ? rows.flat().length === 1 && readNumber(text) !== undefined : !/\s/.test(text);
    if (isOne) return; // as in any field
    event.preventDefault();
    clean = true;
    engine.paste(name, i, j, text);
    fresh();
  }

  input.addEventListener("beforeinput", selectAll); // a typed digit takes the place of all
  input.addEventListener("input", typed);
  input.addEventListener("focus", () => {
    if (clean && input.title) fresh();
    selectAll();
  });
  input.addEventListener("blur", commit);
  input.addEventListener("dblclick", typed);
  input.addEventListener("keydown", onKey);
  input.addEventListener("wheel", onWheel, { passive: false });
  input.addEventListener("paste", onPaste);
  input.addEventListener("click", () => setTimeout(selectAll)); // the press sets a caret before it and after it
  draggable(view, input, valueNow, put);
  return {
    node,
    target: input,
    update() {
      if (clean) fresh();
    },
    complain(isRefused) {
      if (isRefused === input.hasAttribute("aria-invalid")) return;
      input.parentElement?.classList.toggle("refused", isRefused);
      if (isRefused) {
        input.setAttribute("aria-invalid", "true");
        input.setAttribute("aria-errormessage", view.said.id);
      } else {
        input.removeAttribute("aria-invalid");
        input.removeAttribute("aria-errormessage");
      }
    },
  };
}

// Drawn sideways, a number goes up or down; one gesture is one step of undo.
function draggable(view, input, valueNow, put) {
  let drag = null;
  function drop() {
    drag = null;
    view.root.classList.remove("dragging");
  }
  input.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, from: valueNow(), moved: 0, gesture: `drag ${performance.now()}` };
  });
  input.addEventListener("pointermove", (event) => {
    if (drag && !(event.buttons & 1)) drag = null;
    if (!drag) return;
    const steps = Math.round((event.clientX - drag.x) / PIXELS_PER_STEP);
    if (steps === drag.moved) return;
    if (!drag.moved) input.setPointerCapture(event.pointerId);
    drag.moved = steps;
    view.root.classList.add("dragging");
    put(drag.from + steps, drag.gesture);
  });
  input.addEventListener("pointerup", drop);
  input.addEventListener("pointercancel", drop);
  input.addEventListener("dragstart", (event) => event.preventDefault());
}
