// What a change did, in words.

import { percent } from "../numbers.js";

const LOUD = 0.3; // what is said to be heard

/** A word as the page sets it, a mark of punctuation with quotation marks, so that it is not read as the sentence's own. */
const quoted = (word) => (/[\p{L}\p{N}]/u.test(word) ? `*${word}*` : `“*${word}*”`);

const most = (row) => row.indexOf(Math.max(...row));

/** What stands there now, in a line: the word that comes next, who is heard for it, and what a changed word changed. */
export function effectOf(engine) {
  const { place, words } = engine;
  const named = (word) => (word === engine.vocabulary[0] ? "the end" : quoted(word));
  const [first, second] = engine.likely(place);
  const both = second.share >= 0.05 ? `, ${named(second.word)} ${percent(second.share)}` : "";
  const next = `${place ? `After ${quoted(engine.word(place))}` : "To begin with"}: ${named(first.word)} ${percent(first.share)}${both}.`;
  const heads = engine.maps.map((_, head) => ({ head, row: engine.heard(head, place) }));
  // at the beginning there is nobody to be heard
  const loud = heads.filter(({ head, row }) => place && !engine.isOut(head) && Math.max(...row) >= LOUD);
  const heardAt = (to) => (to ? named(engine.word(to)) : "the beginning");
  const hears = ({ head, row }) => `head ${head} attends to ${heardAt(most(row))}, ${percent(Math.max(...row))}`;
  const heard = loud.map(hears).join("; ");
  const who = heard ? ` ${heard[0].toUpperCase()}${heard.slice(1)}.` : "";
  return `${changedAt(engine, words.length, named)}${next}${who}${verdictOf(engine)}`;
}

// What is wrong with a story, or that nothing is.
function verdictOf({ verdict, words }) {
  const { left, faults, isWhole } = verdict;
  if (left !== null) return left < words.length ? ` ✗ From ${quoted(words[left])} on it is no story of this kind.` : "";
  if (!faults.length) return isWhole ? " ✓ A sound story." : "";
  const each = faults.map(({ at, right, alike }) =>
    right ? `*${words[at]}* in place of *${right}*` : `*${words[at]}* after *${alike}*: these two are never alike`,
  );
  return ` ✗ ${[...new Set(each)].join("; ")}.`;
}

// The word whose share at the end has changed most, since a word was replaced or a head taken out or put back.
function changedAt(engine, end, named) {
  if (!engine.before) return "";
  const now = engine.shares(end);
  const changes = now.map((share, k) => Math.abs(share - engine.before[k]));
  const likeliest = most(now); // told rather than another that has changed as much
  const k = changes[likeliest] > Math.max(...changes) - 0.05 ? likeliest : most(changes);
  if (changes[k] < 0.01) return "The end stays as it was. ";
  return `At the end ${named(engine.vocabulary[k])} ${percent(engine.before[k])} → ${percent(now[k])}. `;
}
