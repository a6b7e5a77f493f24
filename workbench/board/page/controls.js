// What changes a board as a whole: undo and redo, a menu of what is seldom needed, its choices and sliders.

import { button, element, icon, newId, used } from "./elements.js";

const PICTURES = {
  undo: ["M8 4 3.5 8.5 8 13", "M3.5 8.5H12a4.5 4.5 0 0 1 0 9H8"],
  redo: ["M12 4l4.5 4.5L12 13", "M16.5 8.5H8a4.5 4.5 0 0 0 0 9h4"],
  more: ["M4 10h.01", "M10 10h.01", "M16 10h.01"],
};

/** refit: after larger type the board has to be laid out anew. */
export function toolsOf(view, refit) {
  const { engine, root } = view;
  const undo = button(icon(PICTURES.undo), () => engine.undo(), "Undo the last change (Ctrl+Z)", "Undo");
  const redo = button(icon(PICTURES.redo), () => engine.redo(), "Do it again (Ctrl+Y)", "Redo");
  const canEdit = engine.panels.some((panel) => panel.editable);
  const code = codeOf(view);
  const random = item("Random", () => engine.random(), "New random numbers, of the next seed");
  const large = item("Large type", enlarge, "Larger type");
  large.setAttribute("role", "menuitemcheckbox");
  const others = (engine.model.more ?? []).map(({ words, act }) => item(words, async () => view.say(await act())));
  const items = [item("Reset", startAgain, "Back to the example"), random, large, code.item, ...others];
  const menu = menuOf(items);
  const attributes = { class: "tools", role: "toolbar", "aria-label": "Board" };
  const node = element("div", attributes, undo, redo, menu.button, menu.node, code.node);
  random.hidden = code.item.hidden = !canEdit;

  function startAgain() {
    view.rest();
    engine.reset();
  }
  function enlarge() {
    root.classList.toggle("large");
    update();
    refit();
  }
  function update() {
    undo.disabled = !engine.past.length;
    redo.disabled = !engine.future.length;
    random.textContent = engine.seed ? `Random ${engine.seed}` : "Random"; // the number is the seed
    large.setAttribute("aria-checked", String(root.classList.contains("large")));
  }
  return { node, update };
}

function item(words, act, title) {
  const node = button(words, act, title);
  node.setAttribute("role", "menuitem");
  node.tabIndex = -1;
  return node;
}

/** "…" and what it opens: arrows walk, Escape and a press elsewhere close it. */
function menuOf(items) {
  const node = element("div", { class: "menu", role: "menu", "aria-label": "More", hidden: true }, ...items);
  const opener = button(icon(PICTURES.more), () => show(node.hidden), "More", "More");
  const shown = () => items.filter((one) => one.getClientRects().length);
  opener.setAttribute("aria-haspopup", "menu");

  function show(isOpen) {
    node.hidden = !isOpen;
    opener.setAttribute("aria-expanded", String(isOpen));
    node.parentElement?.classList.toggle("open", isOpen);
    if (isOpen) shown()[0].focus({ preventScroll: true });
  }
  function close() {
    show(false);
    opener.focus();
  }
  function walk(event) {
    const all = shown();
    const at = all.indexOf(event.target);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (to !== undefined) all.at(to % all.length).focus();
    else if (event.key === "Escape") close();
    else if (event.key === "Tab") return show(false);
    else return;
    used(event);
  }
  for (const one of items) one.addEventListener("click", () => close(), { capture: true }); // before what it does
  node.addEventListener("keydown", walk);
  node.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget !== opener && !node.contains(relatedTarget)) show(false);
  });
  show(false);
  return { node, button: opener };
}

function codeOf(view) {
  const { engine } = view;
  const area = element("textarea", { readonly: true, rows: "12", "aria-label": "The matrices as Python code" });
  const copy = button("Copy", async () => {
    area.select();
    try {
      await navigator.clipboard.writeText(area.value);
    } catch {
      document.execCommand("copy");
    }
    node.close();
    view.say("Copied. Paste it into a cell.");
  });
  const close = button("Close", () => node.close());
  const title = element("h2", {}, "As code");
  const node = element("dialog", { "aria-label": "As code" }, title, area, element("p", {}, copy, " ", close));
  node.addEventListener("keydown", (event) => event.stopPropagation()); // nothing else hears it
  function open() {
    area.value = engine.code();
    node.showModal();
    area.setSelectionRange(0, 0);
    area.scrollTop = 0;
  }
  return { node, item: item("As code", open, "The matrices as Python code") };
}

/** The menus and sliders of a board. */
export function controlsOf(view) {
  const chosen = view.engine.controls.filter((control) => control.values.length > 1);
  const controls = chosen.map((control) => controlOf(view, control));
  const node = element("div", { class: "choices" }, ...controls.map((control) => control.node));
  node.hidden = !controls.length;
  return {
    node,
    update() {
      for (const control of controls) control.update();
    },
  };
}
function controlOf({ engine }, control) {
  const { name, title, values, slider, ends } = control;
  const id = newId("c");
  const output = element("output", { for: id });
  const options = values.map((value, place) => element("option", { value: place }, String(value)));
  const input = slider
    ? element("input", { id, type: "range", min: "0", max: String(values.length - 1), step: "1" })
    : element("select", { id }, ...options);
  const set = () => engine.set(name, values[input.value], slider ? `slide ${name}` : null);
  input.addEventListener(slider ? "input" : "change", set);
  const node = element("span", { class: "control" }, element("label", { for: id }, title), input);
  if (slider) node.append(output);
  // as it is seen: what lies behind the last block that there is changes nothing
  function shownNow() {
    const value = engine.state.settings[name];
    if (!ends.length) return value;
    const [by, lasts] = ends;
    const last = values.indexOf(lasts[engine.control[by].values.indexOf(engine.state.settings[by])]);
    input.max = String(last);
    return values[Math.min(last, values.indexOf(value))];
  }
  return {
    node,
    update() {
      const value = shownNow();
      input.value = String(values.indexOf(value));
      output.textContent = String(value);
      if (slider) input.setAttribute("aria-valuetext", String(value));
    },
  };
}
