// Elements of a page, and words on them.

const DRAWN = /^(svg|path|line|text|tspan|g|rect|circle|marker|defs)$/;

export function element(tag, attributes = {}, ...children) {
  const namespace = DRAWN.test(tag) ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml";
  const node = document.createElementNS(namespace, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false && value !== null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

export function button(text, act, title, label) {
  const node = element("button", { type: "button", title, "aria-label": label }, text);
  node.addEventListener("click", act);
  return node;
}

/** A small drawing of lines, 20 × 20; those that end where they began are filled. */
export function icon(paths) {
  const lines = paths.map((d) => element("path", { d, class: d.endsWith("Z") ? "full" : undefined }));
  return element("svg", { class: "icon", viewBox: "0 0 20 20", "aria-hidden": "true" }, ...lines);
}

export const newId = (letter) => `${letter}${Math.random().toString(36).slice(2)}`;

/** Words with *emphasis* and powers, e^(so), as they are seen. */
export function worded(text) {
  return text.split(/(\*[^*]+\*|\^\([^)]+\))/).map((part, k) => {
    if (k % 2 === 0) return part;
    return part[0] === "*" ? element("em", {}, part.slice(1, -1)) : element("sup", {}, part.slice(2, -1));
  });
}

/** Words where there is only text: emphasis in quotation marks. */
export const plainWords = (text) => text.replace(/\*([^*]+)\*/g, "“$1”");

/** An event that is nobody else's. */
export function used(event) {
  event.preventDefault();
  event.stopPropagation();
}
