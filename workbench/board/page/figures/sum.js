// "Why? The sum": the row of the word that asks, each share from its pairs of numbers.

import { button, element, newId } from "../elements.js";
import { exact, fixed, inParts, minus, sum, trimmed, written } from "../numbers.js";

const shortPower = (x) => (x < 99999.5 ? fixed(x, 1) : written(x));

export function sumOf(view, asker, words) {
  const { engine, figure, root } = view;
  const node = element("div", { class: "sum", id: newId("s"), hidden: true });
  const open = button("Why? The sum", toggle);
  open.setAttribute("aria-expanded", "false");
  open.setAttribute("aria-controls", node.id);

  function toggle() {
    node.hidden = !node.hidden;
    open.setAttribute("aria-expanded", String(!node.hidden));
    update();
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!node.hidden) node.scrollIntoView({ block: "nearest", behavior: isStill ? "auto" : "smooth" });
  }

  function chip(name, x, place = null, text = trimmed(x, 2)) {
    const isYours = place && engine.isPinned(...place);
    return element("span", { class: `chip ${engine.panel[name].kind}${isYours ? " yours" : ""}` }, text);
  }

  function pairs(query, key, j) {
    const { queries, keys } = figure;
    return key.flatMap((x, n) => {
      const isYours = engine.isPinned(keys, j, n);
      const both = [chip(queries, query[n]), "·", chip(keys, x, [keys, j, n], isYours ? minus(exact(x)) : undefined)];
      return [n ? " + " : "", element("span", { class: "pair" }, ...both)];
    });
  }

  function rows() {
    const { queries, keys, values, scores, weights } = figure;
    const at = asker();
    const { values: all } = view;
    const shares = inParts(all[weights][at], 1000).map((parts) => parts / 1000); // they sum to 1 as they are read
    return words.map((text, j) => {
      const score = all[scores][at][j];
      return element(
        "tr",
        {},
        element("th", { scope: "row" }, text),
        element("td", {}, ...pairs(all[queries][at], all[keys][j], j)),
        element("td", {}, trimmed(score, 2)),
        element("td", { class: "roomy" }, shortPower(Math.exp(score))),
        element("td", {}, chip(weights, 0, null, fixed(shares[j], 3))),
        element("td", { class: "roomy" }, ...spaced(all[values][j].map((x) => chip(values, x)))),
      );
    });
  }

  const spaced = (nodes) => nodes.flatMap((one, k) => (k ? [" ", one] : [one]));

  function foot() {
    const at = asker();
    const powers = view.values[figure.scores][at].map(Math.exp);
    const outputs = view.values[figure.outputs][at].map((x) => chip(figure.outputs, x, null, fixed(x, 2)));
    return element(
      "tr",
      {},
      element("td", { colspan: 3 }, "together"),
      element("td", { class: "roomy" }, shortPower(sum(powers))),
      element("td", {}, "1.000"),
      element("td", { class: "roomy" }, ...spaced(outputs)),
    );
  }

  function head() {
    const of = (kind, text) => element("span", { class: kind }, text);
    const names = [
      ["", element("span", { class: "unseen" }, "word")],
      ["", of("query", "query"), " · ", of("key", "key")],
      ["", "score"],
      ["roomy", "e", element("sup", {}, "score")],
      ["", of("weights", "share")],
      ["roomy", of("value", "value")],
    ];
    const cells = names.map(([name, ...said]) => element("th", { scope: "col", class: name }, ...said));
    return element("tr", {}, ...cells);
  }

  function letGo() {
    const pinned = engine.steps.filter(({ name }) => engine.pinnedIn(name).length);
    return pinned.map(({ name }) => {
      const act = () => {
        engine.letGo(name);
        root.querySelector("input[type=range]").focus({ preventScroll: true });
      };
      return button("yours · let go", act, `Let ${engine.title(name)} be computed again`);
    });
  }

  function update() {
    if (node.hidden) return;
    const caption = element("caption", {}, "The row of ", element("i", { class: "query" }, words[asker()]));
    const parts = [element("thead", {}, head()), element("tbody", {}, ...rows()), element("tfoot", {}, foot())];
    const freed = letGo();
    node.replaceChildren(element("table", {}, caption, ...parts));
    if (freed.length) node.append(element("p", { class: "let-go" }, ...freed));
  }
  return { node, button: open, update };
}
