// What some browsers of the last five years lack, given to those that lack it. needs.py has the table of all that the
// pages need, with the versions that brought it; a test takes each away and uses the pages.

import { all, make } from "./kit.js";

const LOOKS = []; // needs.py puts in what is asked of CSS.supports, where nothing can be given

function give(owner, name, value) {
  if (!(name in owner)) Object.defineProperty(owner, name, { value, writable: true, configurable: true });
}

function at(i) {
  return this[i < 0 ? this.length + i : i];
}

function findLastIndex(test, that) {
  for (let i = this.length - 1; i >= 0; i--) if (test.call(that, this[i], i, this)) return i;
  return -1;
}

function findLast(test, that) {
  return this[findLastIndex.call(this, test, that)];
}

for (const prototype of [Array.prototype, Object.getPrototypeOf(Int8Array.prototype)]) {
  for (const method of [at, findLast, findLastIndex]) give(prototype, method.name, method);
}

const owns = Object.prototype.hasOwnProperty;
give(Object, "hasOwn", (one, name) => owns.call(one, name));

// Of what JSON can write, and NaN and ∞: a board's state is no more.
give(window, "structuredClone", function copy(one) {
  if (Array.isArray(one)) return one.map((part) => copy(part));
  if (one === null || typeof one !== "object") return one;
  return Object.fromEntries(Object.entries(one).map(([name, part]) => [name, copy(part)]));
});

give(Element.prototype, "checkVisibility", function checkVisibility() {
  return this.getClientRects().length > 0;
});

// A dialog is then a box in the page, which its buttons and Escape close.
const { prototype: dialog } = window.HTMLDialogElement ?? window.HTMLUnknownElement;
if (!("showModal" in dialog)) {
  give(dialog, "open", false);
  give(dialog, "showModal", function showModal() {
    this.open = true;
    this.setAttribute("open", "");
    this.querySelector("button")?.focus();
  });
  give(dialog, "close", function close() {
    this.open = false;
    this.removeAttribute("open");
  });
  const place = "position: fixed; z-index: 99; top: 5vh; left: 5vw; right: 5vw; max-height: 90vh; overflow: auto";
  const textContent = `dialog { ${place} } dialog:not([open]) { display: none }`;
  document.head.append(make("style", { textContent }));
  const closeOpen = () => all("dialog[open]").forEach((one) => one.close());
  window.addEventListener("keydown", ({ key }) => key === "Escape" && closeOpen(), true);
}

// A menu is then hidden by its class until its button is pressed.
if (!("popover" in HTMLElement.prototype)) {
  const menus = all("[popovertarget]").map((button) => [
    button,
    document.getElementById(button.getAttribute("popovertarget")),
  ]);
  const show = (open) => {
    for (const [button, menu] of menus) {
      menu.classList.toggle("closed", menu !== open);
      button.setAttribute("aria-expanded", menu === open);
    }
  };
  give(HTMLElement.prototype, "hidePopover", () => show());
  document.addEventListener("click", ({ target }) => {
    const [, pressed] = menus.find(([button]) => button.contains(target)) ?? [];
    if (pressed) show(pressed.classList.contains("closed") ? pressed : undefined);
    else if (!menus.some(([, menu]) => menu.contains(target))) show();
  });
  document.addEventListener("keydown", ({ key }) => key === "Escape" && show());
  give(HTMLElement.prototype, "popover", null); // who runs this a second time finds it done
  document.documentElement.classList.add("no-popover");
  show();
}

// Shades in pictures would be black: they are then their whole colour, as thin as it was to be mixed.
if (!CSS.supports("color", "color-mix(in srgb, red, blue)")) {
  const thin = (node, name) => {
    const [, colour, share] = /color-mix\(in srgb, (var\([\w-]+\)) (\d+)%/.exec(node.getAttribute(name)) ?? [];
    if (!colour) return;
    node.setAttribute(name, colour);
    node.setAttribute(`${name}-opacity`, share / 100);
  };
  const thinAll = () => {
    for (const name of ["fill", "stroke"]) for (const node of all(`[${name}*="color-mix"]`)) thin(node, name);
  };
  new MutationObserver(thinAll).observe(document, { childList: true, subtree: true });
  thinAll();
}

/** Whether this browser lacks something that the pages' looks, and nothing else, rest on. */
export const looksOlder = () => LOOKS.some((condition) => !CSS.supports(condition));
