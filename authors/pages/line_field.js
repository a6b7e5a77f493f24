// The field in which a learner writes a line of their own where no Python runs: on the site and on a deck of one's own.

import { isNear } from "./differs.js";
import { all, make } from "./kit.js";

const SIGNS = ["_", "@", "(", ")", "[", "]", "<", "=", "-", ":", "~", "*"]; // which a phone's keyboard hides
const SHOWN = { rows: 3, columns: 8 }; // of a value that has more
const ON_A_PHONE = [
  { rows: 2, columns: 3 },
  { rows: 2, columns: 2, isStrict: true }, // where three are too wide
];
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
    form.querySelector(".both").replaceChildren();
    if (isNew && verdict.yours !== undefined) showBoth(verdict);
    if (verdict.at !== undefined && isNew) point(verdict.at);
  }
  function showBoth(verdict) {
    const place = form.querySelector(".both");
    for (const most of form.clientWidth < 500 ? ON_A_PHONE : [SHOWN]) {
      place.replaceChildren(...bothTables(verdict, most));
      if (all(".value", place).every((one) => one.scrollWidth <= one.clientWidth)) return;
    }
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

/** Of a value a matrix to show, and which of its matrices it is: the first in which it differs from another like it. */
function matrixOf(value, other, within) {
  const place = [];
  let [mine, theirs] = [value, other];
  while (depth(mine) > 2) {
    const at = theirs
      ? Math.max(
          0,
          mine.findIndex((part, i) => isOther(part, theirs[i], within)),
        )
      : 0;
    place.push(at);
    mine = mine[at];
    theirs = theirs?.[at];
  }
  return [rows(mine), place.length ? ` [${place.join(", ")}]` : ""];
}
/** Whether two values of one shape differ anywhere by more than is allowed. */
function isOther(mine, theirs, within) {
  if (Array.isArray(mine)) return mine.some((one, i) => isOther(one, theirs[i], within));
  const areNumbers = typeof mine === "number" && typeof theirs === "number";
  return areNumbers ? !isNear(mine, theirs, within) : mine !== theirs;
}
const shapeOf = (x) => (Array.isArray(x) ? [x.length, ...(x.length ? shapeOf(x[0]) : [])] : []);
const rows = (x) => (depth(x) === 2 ? x : [depth(x) ? x : [x]]);

function number(x, decimals) {
  if (typeof x === "boolean") return x ? "True" : "False";
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x > 0 ? "∞" : "−∞";
  if (Number.isInteger(x) && Math.abs(x) < 1e6) return String(x).replace("-", "−");
  const fits = Math.abs(x) >= 10 ** -decimals && Math.abs(x) < 1000;
  return (fits ? x.toFixed(decimals) : x.toExponential(decimals - 1)).replace(/-/g, "−");
}

/** The learner's value and the right one; where both have one shape, what differs is outlined, and its digits differ. */
function bothTables({ yours, expected, within }, most) {
  const isAlike = String(shapeOf(yours)) === String(shapeOf(expected));
  const [mine, where] = matrixOf(yours, isAlike && expected, within);
  const [other, there] = matrixOf(expected, isAlike && yours, within);
  const differs = (i, j) => isAlike && isOther(mine[i][j], other[i][j], within);
  const places = shownPlaces(mine, other, differs, most);
  const isTold = (d) =>
    places.rows.every((i) =>
      places.columns.every((j) => !differs(i, j) || number(mine[i][j], d) !== number(other[i][j], d)),
    );
  const decimals = [3, 5, 7].find(isTold) ?? 7;
  const size = (x) => `(${shapeOf(x).join(", ")}${shapeOf(x).length === 1 ? "," : ""})`;
  const table = (matrix, title) => {
    const cell = (i, j) => {
      const text = number(matrix[i][j], decimals);
      return make("td", differs(i, j) ? { className: "differs", textContent: `≠ ${text}` } : { textContent: text });
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
    table(mine, `yours${where}, ${size(yours)}`),
    table(other, `expected${there}, ${size(expected)}`),
    ...(places.leftOut ? [make("p", { className: "how", textContent: places.leftOut })] : []),
  ];
}

/** Which rows and columns are shown: all where they are few, otherwise the first that differ; and what that leaves out. */
function shownPlaces(mine, other, differs, most) {
  const counts = [Math.max(mine.length, other.length), Math.max(mine[0]?.length ?? 0, other[0]?.length ?? 0)];
  const [everyRow, everyColumn] = counts.map((count) => [...Array(count).keys()]);
  const choice = (every, limit, isOfInterest, name, spare = 1) => {
    if (every.length <= limit + spare) return { shown: every, words: [] };
    const different = every.filter(isOfInterest);
    const shown = (different.length ? different : every).slice(0, limit);
    const those = `${name}s${different.length ? " that differ" : ""}`;
    const count = different.length || every.length;
    return {
      shown,
      words: count > shown.length ? [`${shown.length} of the ${count} ${those}`] : [`the ${name}s that differ`],
    };
  };
  const rows = choice(everyRow, most.rows, (i) => everyColumn.some((j) => differs(i, j)), "row");
  const columns = choice(
    everyColumn,
    most.columns,
    (j) => rows.shown.some((i) => differs(i, j)),
    "column",
    most.isStrict ? 0 : 1,
  );
  const parts = [...rows.words, ...columns.words];
  return {
    rows: rows.shown,
    columns: columns.shown,
    leftOut: parts.length ? `Shown: ${parts.join(", and of these ")}.` : "",
  };
}

export const ownLines = (within = document) => all("form.own-line", within);
