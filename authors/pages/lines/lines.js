// What a page loads when the first of its fields for a line is touched: `attnLines`.

export { completed, judge, worked } from "./judge.js";
