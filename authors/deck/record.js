// What is left of a lecture: one page that holds each question with its bars, what was mistaken, and the minutes.
// It knows counts and no person, and nothing is written unless the lecturer saves it.

import { make } from "../pages/kit.js";
import { CLICKED, isAtTitle } from "./clock.js";
import { current, inside, settings, storeOf } from "./page.js";
import { planName, planOf } from "./plan.js";

let since = null; // when this slide came

// ----------------------------------------------------------------------------------------------------- its minutes

// The deck's own window counts, from the click that sets the speaker's clock, or else from the second slide on.
export function startTiming(order) {
  if (inside) return;
  let here = null;
  const tell = () => {
    if (here && since) order({ do: "spent", slide: here.dataset.cell, seconds: (Date.now() - since) / 1000 });
  };
  const arrive = () => {
    tell();
    here = current();
    since = isAtTitle(here) && !since ? null : Date.now();
  };
  for (const change of ["ready", "slidechanged"]) Reveal.on(change, arrive);
  window.addEventListener("pagehide", tell);
  window.addEventListener(CLICKED, () => {
    if (!isAtTitle(here)) return;
    order({ do: "begin" });
    since = Date.now();
  });
}

export function minutesOf(slide, spent) {
  const now = slide === current() && since ? (Date.now() - since) / 1000 : 0;
  const { cell, number } = slide.dataset;
  const planned = planOf(slide).seconds / 60;
  return { slide: Number(number), ask: plain(storeOf(slide).ask), planned, spent: ((spent[cell] ?? 0) + now) / 60 };
}

// -------------------------------------------------------------------------------------------------------- the file

// questions: [{id, slide, ask, rounds: [{answered, of, right}], bars: [{value, is, slip, says, many}]}], where many has
// a number for each round, is says whether the bar is the right one; slides as `minutesOf` has them.
export function saveLecture(questions, slides) {
  const on = new Date().toLocaleDateString("sv");
  const record = { lesson: settings.name, title: document.title, on, plan: planName(), questions, slides };
  const name = `${settings.name}-${on}`;
  const page = new Blob([fileOf(record, name)], { type: "text/html" });
  const link = make("a", { href: URL.createObjectURL(page), download: `${name}.html` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

const plain = (html) => make("p", { innerHTML: html }).textContent;
const percent = (share) => `${Math.round(100 * share)} %`;
const minutes = (many) => many.toFixed(1);
const table = (head, rows) =>
  make(
    "table",
    {},
    make("tr", {}, ...head.map((textContent) => make("th", { textContent }))),
    ...rows.map((row) => make("tr", {}, ...row.map((textContent) => make("td", { textContent })))),
  );

function fileOf(record, name) {
  const questions = record.questions.flatMap(section);
  const spent = record.slides.reduce((sum, slide) => sum + slide.spent, 0);
  const planned = record.slides.reduce((sum, slide) => sum + slide.planned, 0);
  const rows = record.slides.filter((slide) => slide.spent || slide.planned);
  const body = make(
    "body",
    {},
    make("h1", { textContent: record.title }),
    make("p", {
      textContent: `${record.on}. ${minutes(spent)} minutes; planned were ${minutes(planned)} (${settings.plans[record.plan]}).`,
    }),
    make(
      "p",
      {},
      "As tables: ",
      csvLink(`${name}-counts.csv`, countsOf(record)),
      ", ",
      csvLink(`${name}-minutes.csv`, timesOf(record)),
    ),
    ...(questions.length ? questions : [make("p", { textContent: "No question was answered." })]),
    make("h2", { textContent: "Minutes on each slide" }),
    table(
      ["slide", "", "spent", "planned"],
      rows.map(({ slide, ask, ...of }) => [slide, ask, minutes(of.spent), minutes(of.planned)]),
    ),
    make("p", {
      className: "small",
      textContent:
        "Counts alone: it is not known who answered what. Answers that no known mistake leads to are counted together.",
    }),
    Object.assign(make("script", { type: "application/json", id: "lecture" }), {
      textContent: JSON.stringify(record).replaceAll("<", "\\u003c"),
    }),
  );
  const title = escaped(`${record.title}, ${record.on}`);
  return `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>\n<style>${STYLE}</style>\n${body.outerHTML}\n</html>\n`;
}

function section({ ask, slide, rounds, bars }) {
  const picture = barsAsPicture(ask, bars);
  const shares = rounds.map(({ right }) => percent(right)).join(", then ");
  const many = rounds.map(({ answered, of }) => `${answered}${of > answered ? ` of ${of}` : ""}`).join(", then ");
  const slips = bars.filter(({ says, many: counts }) => says && counts.some(Boolean));
  return [
    make("h2", { textContent: `${slide}. ${ask}` }),
    make("p", { textContent: `${shares} right; ${many} answered.` }),
    make("div", { className: "bars", innerHTML: picture }),
    make(
      "ul",
      {},
      ...slips.map(({ value, says }) =>
        make("li", {}, make("b", { textContent: `${value}: ` }), make("span", { innerHTML: says })),
      ),
    ),
    make("p", { className: "small" }, link(`slide-${slide}.svg`, "image/svg+xml", picture, "The picture")),
  ];
}

const link = (download, type, text, textContent = download) =>
  make("a", { download, textContent, href: `data:${type};charset=utf-8,${encodeURIComponent(text)}` });
const csvLink = (name, rows) => link(name, "text/csv", `\ufeff${rows.map(line).join("")}`); // the mark is for Excel
const line = (row) => `${row.map(quoted).join(",")}\r\n`;
const quoted = (field) => (/[",\n]/.test(field) ? `"${String(field).replaceAll('"', '""')}"` : field);

function countsOf({ questions }) {
  const rows = questions.flatMap(({ id, slide, ask, bars }) =>
    bars.map(({ value, is, slip, many }) => [id, slide, ask, value, is ? "right" : "", slip, many[0], many[1] ?? ""]),
  );
  return [["question", "slide", "asks", "answer", "right", "mistake", "first vote", "second vote"], ...rows];
}

function timesOf({ slides }) {
  const rows = slides.map(({ slide, ask, spent, planned }) => [slide, ask, minutes(spent), minutes(planned)]);
  return [["slide", "asks", "minutes spent", "minutes planned"], ...rows];
}

// A bar for each answer, in the order of the slide; where there were two votes the first is thin, above the second.
function barsAsPicture(ask, bars) {
  const most = Math.max(1, ...bars.flatMap(({ many }) => many));
  const high = 44;
  const left = 40 + 9 * Math.max(...bars.map(({ value }) => value.length)); // where bars begin
  const rows = bars.map(({ value, is, slip, many }, i) => {
    const at = 16 + i * high;
    const wide = (count) => Math.round((300 * count) / most);
    const last = many.at(-1);
    const first =
      many.length > 1 ? `<rect class="first" x="${left}" y="${at}" width="${wide(many[0])}" height="5"/>` : "";
    const name = escaped(value);
    return `<text x="${left - 10}" y="${at + 24}" text-anchor="end">${is ? "✓ " : ""}${name}</text>${first}
<rect class="${is ? "right" : "wrong"}" x="${left}" y="${at + 7}" width="${wide(last)}" height="22"/>
<text x="${left + 10 + wide(last)}" y="${at + 24}">${many.join(" → ")}${slip ? `, ${escaped(slip)}` : ""}</text>`;
  });
  const size = `viewBox="0 0 ${left + 600} ${bars.length * high + 24}" role="img" aria-label="${escaped(ask)}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}><style>${PAINT}</style>${rows.join("")}</svg>`;
}

const escaped = (text) => make("p", { textContent: text }).innerHTML.replaceAll('"', "&quot;");

const PAINT =
  "svg{font:16px system-ui,sans-serif;background:#fff}text{fill:#17202e}.right{fill:#1f5fbf}.wrong{fill:#b9c1cc}" +
  ".first{fill:#56606e}@media (prefers-color-scheme:dark){svg{background:#14171c}text{fill:#eceff3}" +
  ".right{fill:#8ab6ff}.wrong{fill:#4c5665}.first{fill:#a9b3c0}}";
const STYLE =
  ":root{color-scheme:light dark}body{max-width:50rem;margin:2rem auto;padding:0 1rem;font:1.05rem/1.5 system-ui," +
  "sans-serif}h1,h2{line-height:1.25}h2{margin:2.2rem 0 .4rem;font-size:1.25rem}svg{width:100%;border-radius:6px}" +
  "td,th{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top}td:nth-child(n+3),th:nth-child(n+3)" +
  "{text-align:right}.bars{overflow-x:auto}.bars svg{min-width:560px;max-height:20rem}.small{font-size:.9rem}";
