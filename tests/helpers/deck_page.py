"""A page with a deck: where it stands, how somebody gets about in it, and what is wrong with its slides."""

import time

from contrast import CONTRAST
from lab_page import TOO_SMALL

PROJECTOR, PHONE = (1280, 720), (390, 844)
PATIENCE = 60_000  # ms for what the kernel has to do on a machine that is busy

SLIDE = "section.present > section.present "
NUMBER = "Reveal.getSlides().indexOf(Reveal.getCurrentSlide()) + 1"
NO_FOCUS = "document.activeElement === document.body"
COLOUR = "(node) => getComputedStyle(node).color"
FITS = "(body) => body.scrollHeight <= body.clientHeight + 1 || body.style.overflowY === 'auto'"

# Every slide, first as it comes up and then at each step to its last: what is seen too early, cut, shrunk, small,
# beyond the edge, narrow, faint, wordy or without a heading. Of all slides or of one, named by its number.
LOOK_AT_ALL = f"""async (only) => {{
  {TOO_SMALL}
  {CONTRAST}
  const seen = (node) => node.checkVisibility({{ visibilityProperty: true, opacityProperty: true }});
  // Of a drawing: matplotlib draws letters as shapes of 100 units, an exponent within them smaller; diagrams have text.
  const smallestLetter = (img) => {{
    const svg = new DOMParser().parseFromString(atob(img.src.split(",")[1]), "image/svg+xml").documentElement;
    const [, , width, height] = svg.getAttribute("viewBox").split(/[ ,]+/).map(Number);
    const scale = (node) => {{
      const own = node.getAttribute("transform")?.match(/scale\\(([\\d.]+)/);
      return Number(own?.[1] ?? 1) * (node === svg ? 1 : scale(node.parentElement));
    }};
    const sizes = [...svg.querySelectorAll("g[transform*=scale] use")].map((letter) => 100 * scale(letter));
    for (const node of svg.querySelectorAll("[font-size]")) sizes.push(parseFloat(node.getAttribute("font-size")));
    const box = img.getBoundingClientRect();
    return Math.min(...sizes) * Math.min(box.width / width, box.height / height);
  }};
  const isText = (child) => child.nodeType === Node.TEXT_NODE && child.data.trim();
  const wrong = [];
  let usual; // where a heading begins
  for (const [i, slide] of Reveal.getSlides().entries()) {{
    if (only && i + 1 !== only) continue;
    const {{ h, v }} = Reveal.getIndices(slide);
    Reveal.slide(h, v, -1);
    // a board fits itself to its slide in the frame in which it comes
    if (slide.querySelector(".saved-board")) for (const _ of "ab") await new Promise(requestAnimationFrame);
    const say = (what, found = "") => wrong.push(`slide ${{i + 1}}: ${{what}} ${{found}}`);
    const part = (name) => slide.querySelector(`:scope > .${{name}}`);
    const [body, heading, picture] = ["body", "heading", "picture"].map(part);
    const scale = Reveal.getScale(), box = slide.getBoundingClientRect();
    const hasDrawer = slide.matches(".drawn.codes"); // which lies over the picture, and scrolls
    // Of a slide that has a question for its heading, at any of its steps.
    const lookAtStep = () => {{
      const drawing = picture?.querySelector("svg"), head = heading.getBoundingClientRect();
      if (!drawing && !slide.querySelector(".saved-board, .outputs svg, .outputs img")) say("shows nothing");
      const read = ".heading, .picture text:not(.code, .small *), .choice"; // no drawer, no small picture
      const shown = [...slide.querySelectorAll(read)].map((one) => one.textContent);
      const words = shown.join(" ").replaceAll(/\\bnan\\b/gi, "").match(/\\p{{L}}{{2,}}/gu) ?? [];
      if (words.length > 25) say("has too many words:", words.length);
      if (heading.scrollWidth > heading.clientWidth + 1) say("has a heading that does not fit");
      const hasFoot = body?.offsetHeight && !hasDrawer && !slide.matches(".plotted, .boarded");
      const foot = hasFoot ? body.getBoundingClientRect().top : Infinity;
      const drawn = [...(drawing?.querySelectorAll("text, rect") ?? [])].map((one) => one.getBoundingClientRect());
      if (drawn.some(({{ height, bottom }}) => height && bottom > foot + 2 * scale)) say("covers its picture");
      for (const text of picture?.querySelectorAll("text:not(.small *)") ?? []) {{
        const own = text.getBoundingClientRect(), size = parseFloat(getComputedStyle(text).fontSize);
        const long = drawing.getScreenCTM().a / scale;
        if (size * long < 23.9) say("has small letters:", `${{size * long}} px: ${{text.textContent}}`);
        if (own.left < box.left || own.right > box.right || own.top < head.bottom - 8 * scale) {{
          say("has letters beyond its picture:", text.textContent);
        }}
        const below = !hasDrawer && [...body.querySelectorAll(".guess, .own-line, .source")].find(seen);
        if (below && own.bottom > below.getBoundingClientRect().top + 4 * scale) say("covers:", text.textContent);
      }}
    }};
    const question = slide.querySelector(".cell[data-question]");
    if (question?.querySelector(".saved").textContent) say("answers a question before it is asked");
    const before = [heading.textContent, document.body.textContent];
    const isDrawn = slide.matches(".drawn");
    if (isDrawn) lookAtStep();
    while (Reveal.availableFragments().next && Reveal.nextFragment()) if (isDrawn) lookAtStep();
    if (slide.querySelector(".saved-board")) for (const _ of "abcd") await new Promise(requestAnimationFrame);
    const claims = isDrawn && heading.textContent !== before[0];
    if (claims && before[1].includes(heading.textContent)) say("tells its claim too early");
    if (question && !question.querySelector(".saved").textContent.trim()) say("has no answer to its question");
    if (!heading.textContent.trim()) say("has no heading");
    const top = (heading.getBoundingClientRect().top - box.top) / scale;
    if (i && Math.abs(top - (usual ??= top)) > 1) say("has a heading that jumps to", top);
    if (box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1) say("is cut");
    if (body.scrollHeight > body.clientHeight + 1 && !hasDrawer) say("is longer than the screen");
    const parts = [...slide.querySelectorAll(".heading, .cell *")];
    const beyond = parts.find((node) => {{
      const own = node.getBoundingClientRect();
      if (!own.width || !own.height || node.closest("details:not([open])")) return false;
      return own.right > box.right + 1 || (own.bottom > box.bottom + 1 && !hasDrawer);
    }});
    if (beyond) say("has something beyond the edge:", beyond.outerHTML.slice(0, 80));
    const small = tooSmall(parts.filter((part) => !part.closest("svg")), scale);
    if (innerWidth >= 1280 && small.length) say("is hard to read:", small[0]);
    for (const img of [...slide.querySelectorAll(".cell img")].filter(seen)) {{
      if (img.matches(".drawing") && img.getBoundingClientRect().width < box.width / 2) say("has a small drawing");
      const letter = smallestLetter(img);
      if (innerWidth >= 1280 && letter < 18) say("has letters that are small:", `${{letter}} px in ${{img.alt}}`);
    }}
    const told = [...slide.querySelectorAll(":not(svg, svg *)")];
    const hasText = (node) => [...node.childNodes].some(isText) && !node.closest(":disabled");
    const readable = told.filter((node) => hasText(node) && seen(node));
    for (const node of readable) contrast(node, getComputedStyle(node));
    for (const words of faint.splice(0)) say("has words that are faint:", words);
    while (Reveal.availableFragments().prev && Reveal.prevFragment());
  }}
  Reveal.slide(0, 0);
  return [...new Set(wrong)];
}}"""

BACK_TO_THE_START = """() => {
  document.activeElement.blur();
  const shown = document.querySelectorAll(".fragment.visible");
  for (const part of shown) part.classList.remove("visible", "current-fragment");
  Reveal.slide(0, 0);
}"""


def until(page, condition, arg=None):
    """Wait until it is so; asked at each frame, as usual, a page would draw sixty a second meanwhile."""
    page.wait_for_function(condition, arg=arg, polling=50)


def until_slide(page, number):
    until(page, f"(n) => {NUMBER} === n", number)


def jump(page, number):
    for digit in str(number):
        page.keyboard.press(digit)
    page.keyboard.press("Enter")
    until_slide(page, number)


def number_of(page):
    return page.evaluate(NUMBER)


def slide_with(page, selector, nth=0):
    """The number of the first slide, or of a later one, that holds such an element."""
    found = "(s) => Reveal.getSlides().flatMap((slide, i) => (slide.querySelector(s) ? [i + 1] : []))"
    return page.evaluate(found, selector)[nth]


def swipe(page, x, y, by=0, down=0):
    """A finger's, to the left where `by` is negative, and up where `down` is; it rests before it lifts."""
    finger = page.context.new_cdp_session(page)
    began = time.time() - 2  # with the times of a busy machine, the page would scroll on by itself
    moves = [("Move", part / 8, part / 50) for part in range(1, 9)]
    for kind, at, when in [("Start", 0, 0), *moves, ("End", None, 1)]:
        points = [] if at is None else [{"x": x + at * by, "y": y + at * down}]
        touch = {"type": f"touch{kind}", "touchPoints": points, "timestamp": began + when}
        finger.send("Input.dispatchTouchEvent", touch)
    finger.detach()
