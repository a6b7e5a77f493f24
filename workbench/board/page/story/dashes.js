// Each head's own kind of line: whole, dashes, dots, dashes and dots.

const KINDS = [[], [3, 2.4], [0.01, 1.9], [3.4, 2.1, 0.01, 2.1]]; // in widths of the line, whose ends are round

/** What a line of this width is broken into, if it is one of this head's. */
export const dashesOf = (head, width) => KINDS[head % KINDS.length].map((part) => (part * width).toFixed(2)).join(" ");
