"""JavaScript: `contrast(node, style)` puts a node whose text has a contrast below 4.5 with its ground into `faint`."""

CONTRAST = """
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const paint = (colour, alpha) => {
    canvas.globalAlpha = alpha;
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
  };
  const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const light = (layers, colour, alpha) => {
    for (const layer of layers) paint(layer, 1);
    paint(colour, alpha);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((c) => linear(c / 255));
    return 0.05 + 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  // What is painted behind a node: a list of layers for each colour of a gradient, its opacity, the colours seen on it.
  const known = new Map([[null, { grounds: [[]], alpha: 1, seen: new Set() }]]);
  const ground = (node) => {
    if (!known.has(node)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(node), below = ground(node.parentElement);
      const ends = backgroundImage.match(/(color|rgba?)[(][^)]*[)]/g);
      const bare = !ends && opacity === "1" && backgroundColor === "rgba(0, 0, 0, 0)";
      const under = (layers) => (/^rgb[(]/.test(backgroundColor) ? [] : layers).concat(backgroundColor);
      const grounds = () => below.grounds.flatMap((layers) => (ends ?? [[]]).map((end) => under(layers).concat(end)));
      known.set(node, bare ? below : { grounds: grounds(), alpha: below.alpha * opacity, seen: new Set() });
    }
    return known.get(node);
  };
  const looks = new Set(), faint = [];
  const short = (node) => node.outerHTML.slice(0, 100);
  const contrast = (node, style) => {
    if (node.closest(":disabled")) return; // what cannot be used need not be read, says WCAG 1.4.3
    const colour = node instanceof SVGElement ? style.fill : style.color, { grounds, alpha, seen } = ground(node);
    if (seen.has(colour)) return;
    seen.add(colour);
    for (const layers of grounds) {
      const look = [...layers, colour, alpha].join();
      if (looks.has(look)) continue;
      looks.add(look);
      const [low, high] = [light(layers, colour, alpha), light(layers, colour, 0)].sort((a, b) => a - b);
      if (high / low < 4.5) faint.push(`${(high / low).toFixed(2)} ${short(node)}`);
    }
  };
"""
