// What somebody would find wrong with a board as it stands on a page: each check takes its root and names what is wrong.

const isSeen = (node) => node.getClientRects().length > 0;
const boxOf = (node) => node.getBoundingClientRect();
const point = (node, type) => node.dispatchEvent(new MouseEvent(type));
const press = (node, key) => node.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const areOver = (one, other, by = 0) =>
  one.left < other.right && one.right > other.left && one.top < other.bottom - by && one.bottom > other.top + by;

function reset(root) {
  root.querySelector("[title='Back to the example']").click();
  document.activeElement.blur();
}

/** Every line by the panels where it begins and ends, or null where it hangs in the air, and whether it has a tip. */
function linesOf(root) {
  const panels = [...root.querySelectorAll(".panel")].filter(isSeen);
  const at = ({ x, y }, line) => {
    const end = new DOMPoint(x, y).matrixTransform(line.getScreenCTM());
    const away = panels.map((panel) => {
      const { left, right, top, bottom } = boxOf(panel);
      return Math.hypot(Math.max(left - end.x, 0, end.x - right), Math.max(top - end.y, 0, end.y - bottom));
    });
    const nearest = Math.min(...away);
    return nearest < 9 ? panels[away.indexOf(nearest)].dataset.name : null;
  };
  return [...root.querySelectorAll(".wire")].map((line) => {
    const ends = [0, line.getTotalLength()].map((along) => at(line.getPointAtLength(along), line));
    return [...ends, line.hasAttribute("marker-end")];
  });
}

// ---- it fits

function sticksOut(root) {
  const { left, right } = boxOf(root);
  const parts = [...root.querySelectorAll(".panel, .axis > span, .wire, .tools, .control, .task, .foot")];
  const isOut = (box) => box.width && (box.left < left - 0.5 || box.right > right + 0.5);
  const out = parts
    .filter((node) => isOut(boxOf(node)))
    .map((node) => node.dataset.name ?? node.outerHTML.slice(0, 60));
  return root.scrollWidth > root.clientWidth + 1 ? [...out, "more than its width"] : out;
}

function numbersAreCut(root) {
  const words = document.createRange();
  const isCut = (cell) => {
    words.selectNodeContents(cell);
    return boxOf(words).width > cell.clientWidth;
  };
  return [...root.querySelectorAll("td.result")]
    .filter((cell) => isSeen(cell) && isCut(cell))
    .map((cell) => cell.ariaLabel);
}

// Words above a matrix's rows that lie on what stands to the left of it.
function wordsLieOnOthers(root) {
  const others = [...root.querySelectorAll(".panel :is(tbody, .head b, .small-head)")].filter(isSeen);
  return [...root.querySelectorAll(".axis > span")].filter(isSeen).flatMap((word) => {
    const lies = (node) => node.closest(".panel") !== word.closest(".panel") && areOver(boxOf(word), boxOf(node), 2);
    return others.filter(lies).map((node) => `${word.closest(".panel").dataset.name} on ${node.textContent}`);
  });
}

// Titles, tables and words that a line runs through: it would seem to come out of a panel that has no part in it.
function linesRunThrough(root) {
  const drawn = [...root.querySelectorAll(".panel :is(.head, table, canvas, svg, .axis > span)")].map((node) => [
    node,
    boxOf(node),
  ]);
  const isIn = ({ x, y }, box) =>
    x > box.left + 0.5 && x < box.right - 0.5 && y > box.top + 0.5 && y < box.bottom - 0.5;
  return [...root.querySelectorAll(".wire")].flatMap((line) => {
    const through = new Set();
    for (let along = 0; along <= line.getTotalLength(); along += 3) {
      const place = line.getPointAtLength(along).matrixTransform(line.getScreenCTM());
      for (const [node, box] of drawn) if (isIn(place, box)) through.add(node);
    }
    return [...through].map((node) => `${node.closest(".panel").dataset.name} ${node.tagName}`);
  });
}

// Lines whose tip points past the panel where they end, or stands at a line that leaves it: which of both does it mean?
function tipsAreWrong(root) {
  const boxes = Object.fromEntries(
    [...root.querySelectorAll(".panel")].map((panel) => [panel.dataset.name, boxOf(panel)]),
  );
  const ends = linesOf(root);
  const lines = [...root.querySelectorAll(".wire")].map((line, k) => {
    const along = Array.from({ length: line.getTotalLength() / 3 }, (_, at) => line.getPointAtLength(3 * at));
    const [before, tip] = [1, 0].map((back) => line.getPointAtLength(line.getTotalLength() - back));
    return { from: ends[k][0], to: ends[k][1], along, before, tip, toScreen: line.getScreenCTM() };
  });
  return lines.flatMap(({ from, to, before, tip, toScreen }) => {
    const ahead = new DOMPoint(19 * tip.x - 18 * before.x, 19 * tip.y - 18 * before.y).matrixTransform(toScreen);
    const { left, right, top, bottom } = boxes[to];
    const isPast = ahead.x < left || ahead.x > right || ahead.y < top || ahead.y > bottom;
    const leaving = lines.filter((other) => other.from === to).flatMap((other) => other.along);
    const isMixed = leaving.some(({ x, y }) => Math.hypot(x - tip.x, y - tip.y) < 10);
    return isPast || isMixed ? [`${from} to ${to}`] : [];
  });
}

// While cells are looked at and have the focus, nothing below the board may move.
function heightChanges(root) {
  const heights = [];
  const take = () => heights.push(boxOf(root).height);
  const words = () => root.querySelector(".why").textContent.length + root.querySelector(".hint").textContent.length;
  take();
  for (const panel of root.querySelectorAll(".panel")) {
    const cells = [...panel.querySelectorAll("td.cell, .small-head")];
    if (!isSeen(panel) || !cells.length) continue;
    let most = 0;
    for (const cell of cells.filter((_, k) => k % 5 === 0 || k === cells.length - 1)) {
      point(cell, "mouseenter");
      if (words() <= most) continue; // each look at a size costs a layout
      most = words();
      take();
    }
    point(cells.at(-1), "mouseleave");
    (cells.at(-1).querySelector("input, button") ?? cells.at(-1)).focus();
    take();
    document.activeElement.blur();
  }
  return Math.max(...heights) - Math.min(...heights) < 0.5 ? [] : heights;
}

// Of the last result of each panel, while it is asked about: its sum is cut, out of sight, or over what it speaks of.
function sumsAreHidden(root) {
  const isFolded = root.matches(".folded");
  return [...root.querySelectorAll(".panel")].flatMap((panel) => {
    const cell = [...panel.querySelectorAll("td.result")].findLast((one) => one.textContent && isSeen(one));
    if (!cell) return [];
    cell.focus();
    if (isFolded) cell.scrollIntoView({ block: "nearest" });
    else root.scrollIntoView();
    const why = root.querySelector(".why");
    const wrong = [];
    if (!why.hidden) {
      const line = boxOf(root.querySelector(".line"));
      const end = boxOf(why.lastElementChild);
      if (end.bottom > line.bottom + 1 || end.right > line.right + 1) wrong.push("cut");
      if (line.top < 0 || line.bottom > innerHeight + 1) wrong.push("out of sight");
      const spoken = [cell, ...(isFolded ? [] : root.querySelectorAll(".lit"))];
      if (spoken.some((node) => areOver(line, boxOf(node), 1))) wrong.push("over what it speaks of");
    }
    document.activeElement.blur();
    return wrong.map((one) => `${panel.dataset.name}: ${one}`);
  });
}

// While a number is changed, all that is said of it is seen; of each panel the one with the longest name is changed.
function wordsAreCut(root) {
  const told = root.querySelector(".line .told");
  const cut = [...root.querySelectorAll(".panel")].flatMap((panel) => {
    const inputs = [...panel.querySelectorAll("td.cell input")].filter(isSeen);
    if (!inputs.length) return [];
    const input = inputs.reduce((one, other) => (other.ariaLabel.length > one.ariaLabel.length ? other : one));
    input.focus();
    press(input, "ArrowUp");
    return told.scrollHeight > told.clientHeight + 1 ? [told.textContent] : [];
  });
  reset(root);
  return cut;
}

// While the steps are played, the arithmetic of one lies on nothing that the next one reads.
function sumsAreInTheWay(root) {
  root.scrollIntoView({ block: "center" });
  const wrong = [];
  const player = root.querySelector(".player");
  const count = player.hidden ? -1 : Number(player.querySelector("input").max);
  for (let k = 0, why = null; k <= count; k += 1) {
    root.querySelector("[aria-label='Step on']").click();
    for (const table of root.querySelectorAll("table:has(.lit)")) {
      if (why && areOver(boxOf(table.querySelector("tbody")), why))
        wrong.push(`${k}: ${table.closest(".panel").dataset.name}`);
    }
    const shown = root.querySelector(".why:not([hidden])");
    why = shown && boxOf(shown);
  }
  reset(root);
  return wrong;
}

// ---- it is reached

// Every cell, whose switch or number fills it, buttons, menus, sliders; not the numbers within a sum, which are words.
function tooSmallToTouch(root) {
  if (!matchMedia("(pointer: coarse)").matches) return [];
  root.querySelector("td.input input")?.focus(); // the buttons that change it
  const touched = [...root.querySelectorAll("td.cell, button:not(.leaf, .switch), select, [type=range]")];
  const isSmall = ({ width, height }) => width && (width < 44 || height < 44);
  const small = touched.filter((node) => isSmall(boxOf(node))).map((node) => node.outerHTML.slice(0, 90));
  document.activeElement.blur();
  return small;
}

// A panel is one stop of Tab, and the right arrow comes along its row to the next: on a window of any size alike.
function notReachedByKeys(root) {
  if (innerWidth < 1366 || innerHeight < 768) return [];
  const isFocused = (cell) => document.activeElement === cell;
  return [...root.querySelectorAll(".panel")].flatMap((panel) => {
    if (!isSeen(panel) || !panel.querySelector("[tabindex]")) return [];
    const cells = [...panel.querySelectorAll("td.result, td input, .switch")];
    const stops = () => panel.querySelectorAll("[tabindex='0']").length;
    const before = stops();
    cells[0]?.focus();
    const row = panel.querySelector("tbody tr")?.querySelectorAll("td").length ?? 0;
    const isReached = cells.slice(0, row + 1).every((cell) => {
      const isHere = isFocused(cell);
      press(cell, "ArrowRight");
      return isHere;
    });
    cells.at(-1)?.focus();
    document.activeElement.blur();
    const isLeftAtLast = !cells.length || cells.at(-1).tabIndex === 0;
    return before === 1 && stops() === 1 && isReached && isLeftAtLast ? [] : [panel.dataset.name];
  });
}

const CHECKS = {
  sticksOut,
  numbersAreCut,
  wordsLieOnOthers,
  linesRunThrough,
  tipsAreWrong,
  tooSmallToTouch,
  notReachedByKeys,
  heightChanges,
  sumsAreHidden,
  sumsAreInTheWay,
  wordsAreCut,
};

/** What is wrong with each board of the page: its section's id → what, for those of which there is anything; but one check. */
function wrongWithBoards(but = "") {
  const found = [...document.querySelectorAll(".attn-board.matrices")].map((root) => {
    const checks = Object.entries(CHECKS).filter(([name]) => name !== but);
    const wrong = checks.map(([name, check]) => [name, check(root)]);
    return [root.closest("section").id, Object.fromEntries(wrong.filter(([, which]) => which.length))];
  });
  return Object.fromEntries(found.filter(([, wrong]) => Object.keys(wrong).length));
}

Object.assign(window, { linesOf, wrongWithBoards });
