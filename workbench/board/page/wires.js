// Connectors along the true dependencies, behind the panels and never through one: what a line seems to come out of is
// what the step is computed from. Lines go forwards only: one that ran back would cross all the others.

function wiresOf(view, flow) {
  const { engine, panels } = view, id = `tip${Math.random().toString(36).slice(2)}`;
  const lines = element("svg", { class: "lines", "aria-hidden": "true" });
  const arrowhead = element("path", { d: "M0,0 L8,4 L0,8 Z" });
  const tip = element("marker", { id, viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, arrowhead);
  flow.prepend(lines);

  function origins(name) { // the shown panels that a step depends on, through those that are not shown
    const { does, of, wires, now } = engine.panel[name];
    const names = wires ?? (does === "choose" ? [of[now.chosen]] : of);
    return names.flatMap((from) => (panels[from] && !panels[from].node.hidden ? [from] : engine.panel[from].does ? origins(from) : []));
  }

  function boxes() { // of the panels as they stand: left, right and y are their tables', the rest their titles' too
    const { left, top, width } = flow.getBoundingClientRect(), zoom = width / flow.offsetWidth || 1;
    return Object.fromEntries(Object.entries(panels).filter(([, { node }]) => !node.hidden).map(([name, { node }]) => {
      const whole = node.getBoundingClientRect(), table = node.lastElementChild.getBoundingClientRect();
      const box = { left: table.left - left, right: table.right - left, edge: whole.left - left, far: whole.right - left, top: whole.top - top, bottom: whole.bottom - top, y: (table.top + table.bottom) / 2 - top };
      for (const side in box) box[side] /= zoom;
      return [name, box];
    }));
  }

  return function draw() {
    const all = boxes(), paths = new Set();
    for (const { name } of engine.steps.filter((step) => all[step.name])) {
      const to = all[name], from = [...new Set(origins(name))].map((of) => all[of]);
      const others = Object.values(all).filter((box) => box !== to && !from.includes(box));
      const straight = from.some((box) => box.right <= to.left + 2 && Math.abs(box.y - to.y) < 14);
      for (const box of from.filter((box) => box.left < to.right)) paths.add(wire(box, to, [...others, ...from.filter((other) => other !== box)], straight));
    }
    lines.replaceChildren(element("defs", {}, tip), ...[...paths].map((d) => element("path", { d, class: "wire", "marker-end": `url(#${id})` })));
  };
}

// From one box to another, around all others; straight: at the height of the middle, as a line beside it does.
function wire(from, to, others, straight) {
  const inside = (x0, x1, y0, y1) => others.filter((box) => box.left < x1 && box.right > x0 && box.top < y1 && box.bottom > y0);
  const into = `H${to.left - 5}`;
  if (from.right <= to.left + 2) {
    const y = straight ? to.y : to.y + (from.y < to.y ? -6 : 6), half = Math.min(10, (to.left - from.right) / 2);
    const late = to.left - half - 8, aside = from.far + 3; // beside its own title, where there is room
    const early = aside > from.right + half && aside < late ? aside : from.right + half;
    const onTheWay = inside(early, to.left, y, y), before = inside(from.right, late, from.y, from.y);
    if (onTheWay.length && before.length) { // beneath what stands between them
      const floor = Math.max(...onTheWay.map((box) => box.bottom)) + 3;
      return `M${from.right + 1},${from.y} H${early} V${floor} H${to.left - half} V${y} ${into}`;
    }
    if (Math.abs(from.y - to.y) < 14) return `M${from.right + 1},${y} ${into}`;
    const [top, bottom] = [Math.min(y, from.y), Math.max(y, from.y)]; // a title may reach further than its table
    const titles = others.filter((box) => box.edge < early && box.far > early && box.top < bottom && box.bottom > top);
    const behind = others.filter((box) => box.edge < late + 2 && box.far > late && box.top < bottom && box.bottom > top);
    const turn = onTheWay.length ? Math.min(late, ...behind.map((box) => box.edge - 3)) : Math.max(early, ...titles.map((box) => box.far + 3));
    return `M${from.right + 1},${from.y} H${turn} V${y} ${into}`;
  }
  const x = Math.max(to.left + 12, Math.min(to.right - 12, (from.left + from.right) / 2));
  const [start, end] = to.top > from.bottom ? [from.bottom + 1, to.top - 5] : [from.top - 1, to.bottom + 5];
  const between = inside(x, x, Math.min(start, end), Math.max(start, end));
  if (!between.length) return `M${x},${start} V${end}`;
  const edge = Math.min(...[from, to, ...between].map((box) => box.edge)) - 6;
  const lower = ((from.bottom - from.y) / 2) * Math.sign(to.y - from.y); // not where lines come in
  return `M${from.left - 1},${from.y + lower} H${edge} V${to.y} ${into}`;
}
