// A moment is written as "3 May 2026, 23:59 (UTC+2)". Where the reader's clock says another time, that stands beside.

const MOMENT = /(\d{1,2} \p{L}+ \d{4}), (\d\d:\d\d) \(UTC(?:([+−])(\d{1,2})(?::(\d\d))?)?\)/gu;
const PARTS = { weekday: "long", day: "numeric", month: "long", hour: "2-digit", minute: "2-digit" };

// What the reader's clock says at the first moment of a text, "" where it says the same or there is none.
export function ownTime(text) {
  const [match] = text.matchAll(MOMENT);
  if (!match) return "";
  const [, day, time, sign, hours = "0", minutes = "0"] = match;
  const ahead = (sign === "−" ? -1 : 1) * (60 * hours + Number(minutes));
  const moment = new Date(Date.parse(`${day} ${time} UTC`) - 60000 * ahead);
  if (Number.isNaN(moment.getTime()) || -moment.getTimezoneOffset() === ahead) return "";
  return moment.toLocaleString("en-GB", PARTS);
}

// Puts it behind each moment in the texts below an element.
export function showOwnTimes(root) {
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    text.data = text.data.replace(MOMENT, (moment) => {
      const own = ownTime(moment);
      return own ? `${moment.slice(0, -1)}; on your clock ${own})` : moment;
    });
  }
}
