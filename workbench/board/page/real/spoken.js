// What stands there, in a line.

import { percent } from "../numbers.js";
import { nameOf } from "./next.js";

const LEAST = 0.01; // of a change that is told
const NAMED = 3; // heads; of more only their number is told

// A head stays off while other texts are read.
function offOf(engine) {
  const { out } = engine.state.settings;
  if (!out.length) return "";
  return out.length > NAMED
    ? ` ${out.length} heads are off.`
    : ` Off: ${out.map((head) => engine.nameOf(head)).join(", ")}.`;
}

export function effectOf(engine) {
  if (engine.isWaiting) return engine.text ? "…" : "";
  const [first, second] = engine.next;
  if (!first) return "";
  const word = ({ piece }) => `*${nameOf(piece)}*`;
  const isMoved = ({ share, whole }) => Math.abs(share - whole) >= LEAST;
  const told = (row) => (isMoved(row) ? `${percent(row.whole)} → ${percent(row.share)}` : percent(row.share));
  const { pair } = engine;
  const of = pair ? ` Of *${pair.one}* and *${pair.other}* the first has ${told(pair)}.` : "";
  const before = engine.next.reduce((one, other) => (other.whole > one.whole ? other : one));
  const fallen = before.piece !== first.piece ? ` ${word(before)} ${told(before)}.` : "";
  const others = second && second.share >= 0.05 ? `, ${word(second)} ${told(second)}` : "";
  return `Next: ${word(first)} ${told(first)}${others}.${fallen}${of}${offOf(engine)}`;
}
