// What every page needs: all that a selector finds, new elements, and a memory that the browser may refuse.

export const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// A new element. role, and what has a hyphen as aria-label, is set as an attribute: every browser has those.
export function make(name, properties = {}, ...inside) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "role" || key.includes("-")) node.setAttribute(key, value);
    else node[key] = value;
  }
  node.append(...inside);
  return node;
}

const unkept = new Map(); // what the browser would not keep, as JSON: it lasts as long as the page

// A value under a name that holds the page's path, so that two editions on one host share nothing. Where the browser
// refuses "localStorage" or "sessionStorage", even to name it, as in frames of other sites, the page itself keeps it.
export function memory(where, name) {
  const place = `${where} ${name}`;
  return {
    name,
    get() {
      try {
        return JSON.parse(unkept.has(place) ? unkept.get(place) : window[where].getItem(name));
      } catch {
        return null;
      }
    },
    // Says whether the value will outlast the page.
    set(value) {
      const text = JSON.stringify(value);
      try {
        window[where].setItem(name, text);
        unkept.delete(place);
        return true;
      } catch {
        unkept.set(place, text);
        return false;
      }
    },
  };
}

// Whether anything that this page keeps will be there when it is opened again.
export function remembers() {
  try {
    window.localStorage.setItem("attention:try", "");
    window.localStorage.removeItem("attention:try");
    return true;
  } catch {
    return false;
  }
}
