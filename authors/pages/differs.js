// In what a wrong answer differs from the right one, in the words of workbench/predict.py's `_difference`: said of a
// guess and of a line in a page. Whoever changes one changes the other, and tests compare them.

const INFINITE = { "∞": Infinity, "−∞": -Infinity };
const asNumber = (x) => INFINITE[x] ?? x;

/** Whether two numbers are the same, within what is allowed. */
export function isNear(x, y, within) {
  if (!Number.isFinite(x) || !Number.isFinite(y)) return Object.is(x, y);
  return Math.abs(x - y) <= within + 1e-9 * Math.abs(y);
}

const notRight = (wrong, whole) => `${wrong} of ${whole} ${wrong === 1 ? "is" : "are"} not right.`;

/** What can be said without the answer; both are lists, equally long, of numbers, of words, or of True and False. */
export function difference(answer, right, within) {
  const areFlags = (list) => list.length > 0 && list.every((x) => typeof x === "boolean");
  if (areFlags(right) && !areFlags(answer)) return "True and False are asked for, and yours has numbers.";
  if (right.length === 1 && right[0] === "nan") return "It is not a number that comes out.";
  if (answer.length === 1 && answer[0] === "nan") return "A number does come out.";
  const [mine, wanted] = [answer.map(asNumber), right.map(asNumber)];
  const isSame = (x, i) => (typeof x === "number" ? isNear(x, wanted[i], within) : x === wanted[i]);
  const wrong = mine.filter((x, i) => !isSame(x, i)).length;
  const areWords = [...mine, ...wanted].some((x) => typeof x !== "number");
  if (areFlags(wanted) || (areWords && wanted.length > 1)) return notRight(wrong, wanted.length);
  if (areWords) return "That is not what happens. Can you say why?";
  if (mine.every((x, i) => isNear(-x, wanted[i], within))) return "The size is right, the sign is not.";
  if (wanted.length === 1) return mine[0] > wanted[0] ? "That is too large." : "That is too small.";
  const up = (list) => [...list].sort((a, b) => a - b);
  if (up(mine).every((x, i) => isNear(x, up(wanted)[i], within))) return "The right numbers, in another order.";
  if (wrong < wanted.length) return notRight(wrong, `${wanted.length} numbers`);
  return wrong > 2 ? "None of the numbers is right." : "Neither of the two numbers is right.";
}
