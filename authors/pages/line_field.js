// The field in which a learner writes a line of their own where no Python runs: on the site and on a deck of one's own.

import { all, make } from "./kit.js";

const SIGNS = ["_", "@", "(", ")", "[", "]", "<", "=", "-", ":", "~", "*"]; // which a phone's keyboard hides
const SHOWN = { rows: 3, columns: 8 }; // of a value that has more
const ON_A_PHONE = { rows: 2, columns: 3 };
const STATE = { right: ["✓", "right"], wrong: ["✗", "wrong"], error: ["✗", "wrong"] };

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
/** Words with `code` in them as HTML. */
const marked = (text) => escaped(text).replace(/`([^`]+)`/g, "<code>$1</code>");

/**
 * A form.own-line that answers. ready() brings `{ lines, lesson }`, what judges and what was recorded; before is what
 * was kept; done() has the ids of lines that are right; keep(state) and typed(text) keep what was written; again is
 * HTML that says where to read again.
 */
export function setUpLine(form, { ready, before, done, keep, typed, again = "" }) {
  const editor = form.querySelector("textarea");
  const check = form.querySelector("button:not([type])");
  const { line, name } = form.dataset;
  if (before?.text) editor.value = before.text;
  let loading = null;
  const load = () => {
    loading ??= ready().then(
      (parts) => {
        const anyLine = `${name} = torch.ones(2, 2)[0] @ torch.ones(2, 2)`;
        setTimeout(() => parts.lines.judge(line, anyLine, parts.lesson), 50); // so that the learner's own is not the slow first one
        return parts;
      },
      () => {
        loading = null; // it is tried again
        return null;
      },
    );
    return loading;
  };

  function say(verdict, isNew) {
    const [sign, kind] = STATE[verdict.status] ?? ["…", ""];
    const words = verdict.slip ? verdict.says : marked(verdict.says);
    const more = [verdict.again, verdict.status === "wrong" && again].filter(Boolean).join(" ");
    form.querySelector(".verdict").innerHTML = `${sign} ${words}`;
    form.querySelector(".verdict").className = `verdict ${kind}`;
    form.querySelector(".more").innerHTML = more;
    form
      .querySelector(".both")
      .replaceChildren(...(isNew && verdict.yours !== undefined ? bothTables(verdict, form.clientWidth < 500) : []));
    if (verdict.at !== undefined && isNew) point(verdict.at);
  }
  function point(at) {
    editor.focus();
    editor.setSelectionRange(at, Math.min(at + 1, editor.value.length));
  }
  async function judge() {
    check.disabled = true;
    const parts = await load();
    check.disabled = false;
    if (!parts)
      return say({ status: "unknown", says: "What compares your line could not be loaded. Try again." }, true);
    editor.value = parts.lines.completed(editor.value, name);
    grow();
    const verdict = parts.lines.judge(line, editor.value, parts.lesson, done());
    say(verdict, true);
    const { status, says, slip } = verdict;
    typed(editor.value);
    if (status === "right" || status === "wrong")
      keep({ text: editor.value, right: status === "right", said: { status, says, slip } });
    return verdict;
  }

  const grow = () => {
    editor.style.height = "auto";
    if (editor.scrollHeight) editor.style.height = `${editor.scrollHeight + 2}px`;
  };
  function put(text) {
    if (document.activeElement !== editor) editor.focus();
    const { selectionStart: from, selectionEnd: to } = editor;
    editor.setRangeText(text, from, to, "end");
    editor.dispatchEvent(new Event("input", { bubbles: true }));
  }
  const signs = form.querySelector(".signs");
  for (const sign of SIGNS) {
    const button = make("button", { type: "button", textContent: sign, "aria-label": sign });
    button.addEventListener("pointerdown", (event) => event.preventDefault()); // the phone's keyboard stays
    button.addEventListener("click", () => put(sign));
    signs.append(button);
  }
  check.addEventListener("click", (event) => {
    event.preventDefault();
    judge();
  });
  editor.addEventListener("focus", () => {
    load();
    setTimeout(() => {
      const isAtStart = editor.selectionStart === 0 && editor.selectionEnd === 0; // where Tab leads
      if (isAtStart) editor.setSelectionRange(editor.value.length, editor.value.length);
    });
  });
  editor.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.shiftKey || event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    judge();
  });
  editor.addEventListener("input", () => {
    grow();
    typed(editor.value);
  });
  form.querySelector(".copy").addEventListener("click", async ({ target }) => {
    const label = target.textContent;
    try {
      await navigator.clipboard.writeText(editor.value);
      target.textContent = "Copied";
    } catch {
      editor.focus();
      editor.select();
      target.textContent = "Marked: copy it";
    }
    target.addEventListener("blur", () => (target.textContent = label), { once: true });
  });
  if (before?.said) say(before.said, false);
  new ResizeObserver(grow).observe(form); // as it becomes visible, and when the screen turns
}

// ------------------------------------------------------------------------------------------- two values, side by side

const depth = (x) => (Array.isArray(x) ? 1 + depth(x[0]) : 0);

/** The first matrices in which two values differ, and which of each value it is. */
function matrices(yours, expected) {
  const place = [];
  const haveOneShape = (a, b) => JSON.stringify(shapeOf(a)) === JSON.stringify(shapeOf(b));
  let [mine, other] = [yours, expected];
  const isAlike = haveOneShape(mine, other);
  while (depth(mine) > 2) {
    const at = isAlike
      ? Math.max(
          0,
          mine.findIndex((part, i) => words(part, 3) !== words(other[i], 3)),
        )
      : 0;
    place.push(at);
    mine = mine[at];
    if (isAlike) other = other[at];
  }
  while (depth(other) > 2) [other] = other;
  return [rows(mine), rows(other), isAlike && place.length ? ` [${place.join(", ")}]` : ""];
}
const shapeOf = (x) => (Array.isArray(x) ? [x.length, ...(x.length ? shapeOf(x[0]) : [])] : []);
const rows = (x) => (depth(x) === 2 ? x : [depth(x) ? x : [x]]);

const words = (x, decimals) => (Array.isArray(x) ? `[${x.map((one) => words(one, decimals))}]` : number(x, decimals));
function number(x, decimals) {
  if (typeof x === "boolean") return x ? "True" : "False";
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x > 0 ? "∞" : "−∞";
  if (Number.isInteger(x) && Math.abs(x) < 1e6) return String(x).replace("-", "−");
  const fits = Math.abs(x) >= 10 ** -decimals && Math.abs(x) < 1000;
  return (fits ? x.toFixed(decimals) : x.toExponential(2)).replace(/-/g, "−");
}

/** The learner's value and the right one, with as many decimals as tell them apart, and what differs outlined. */
function bothTables({ yours, expected }, isNarrow) {
  const [mine, other, where] = matrices(yours, expected);
  const decimals = [3, 5, 7].find((d) => words(mine, d) !== words(other, d)) ?? 3;
  const size = (x) => `(${shapeOf(x).join(", ")}${shapeOf(x).length === 1 ? "," : ""})`;
  const isOther = (one, there) =>
    one === undefined || there === undefined || number(one, decimals) !== number(there, decimals);
  const places = shownPlaces(mine, other, isOther, isNarrow);
  const table = (matrix, counterpart, title) => {
    const cell = (i, j) => {
      const [text, differs] = [number(matrix[i][j], decimals), isOther(matrix[i][j], counterpart[i]?.[j])];
      return make("td", { className: differs ? "differs" : "", textContent: differs ? `≠ ${text}` : text });
    };
    const header = (i) => make("th", { textContent: i });
    const columns = places.columns.filter((j) => j < matrix[0].length);
    const lines = places.rows
      .filter((i) => i < matrix.length)
      .map((i) => make("tr", {}, ...(places.leftOut ? [header(i)] : []), ...columns.map((j) => cell(i, j))));
    if (places.leftOut) lines.unshift(make("tr", {}, make("td", { className: "corner" }), ...columns.map(header)));
    const caption = make("caption", { textContent: title });
    return make("div", { className: "value" }, make("table", {}, caption, make("tbody", {}, ...lines)));
  };
  return [
    table(mine, other, `yours${where}, ${size(yours)}`),
    table(other, mine, `expected${where}, ${size(expected)}`),
    ...(places.leftOut ? [make("p", { className: "how", textContent: places.leftOut })] : []),
  ];
}

/** Which rows and columns are shown: all where they are few, otherwise the first that differ; and what that leaves out. */
function shownPlaces(mine, other, isOther, isNarrow) {
  const counts = [Math.max(mine.length, other.length), Math.max(mine[0]?.length ?? 0, other[0]?.length ?? 0)];
  const [everyRow, everyColumn] = counts.map((count) => [...Array(count).keys()]);
  const differs = (i, j) => isOther(mine[i]?.[j], other[i]?.[j]);
  const choice = (every, most, isOfInterest, name) => {
    if (every.length <= most + 1) return { shown: every, words: [] };
    const different = every.filter(isOfInterest);
    const shown = (different.length ? different : every).slice(0, most);
    const those = `${name}s${different.length ? " that differ" : ""}`;
    const count = different.length || every.length;
    return {
      shown,
      words: count > shown.length ? [`${shown.length} of the ${count} ${those}`] : [`the ${name}s that differ`],
    };
  };
  const most = isNarrow ? ON_A_PHONE : SHOWN;
  const rows = choice(everyRow, most.rows, (i) => everyColumn.some((j) => differs(i, j)), "row");

  const columns = choice(everyColumn, most.columns, (j) => rows.shown.some((i) => differs(i, j)), "column");
  const parts = [...rows.words, ...columns.words];
  return {
    rows: rows.shown,
    columns: columns.shown,
    leftOut: parts.length ? `Shown: ${parts.join(", and of these ")}.` : "",
  };
}

export const ownLines = (within = document) => all("form.own-line", within);
