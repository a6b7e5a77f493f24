"""A page with a deck: where it stands, how somebody gets about in it, and what is wrong with its slides."""

from contrast import CONTRAST
from lab_page import TOO_SMALL

PROJECTOR, PHONE = (1280, 720), (390, 844)
PATIENCE = 60_000  # ms for what the kernel has to do on a machine that is busy

SLIDE = "section.present > section.present "
NUMBER = "Reveal.getSlides().indexOf(Reveal.getCurrentSlide()) + 1"
NO_FOCUS = "document.activeElement === document.body"
COLOUR = "(node) => getComputedStyle(node).color"
FITS = "(body) => body.scrollHeight <= body.clientHeight + 1 || body.style.overflowY === 'auto'"

# Every slide, first as it comes up and then with all that can come: what is seen too early, cut, shrunk, small, beyond
# the edge, narrow, faint or without a heading. Of all slides or of one, named by its number.
LOOK_AT_ALL = f"""(only) => {{
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
    Reveal.slide(h, v);
    const say = (what, found = "") => wrong.push(`slide ${{i + 1}}: ${{what}} ${{found}}`);
    const question = slide.querySelector(".cell[data-question]");
    const answers = question && [question.querySelector(".outputs.saved")];
    for (let next = question; (next = next?.nextElementSibling); ) answers.push(next);
    if (answers?.some(seen)) say("answers a question before it is asked");
    if (question && !answers[0].textContent.trim()) say("has no answer to its question");
    const hidden = [...slide.querySelectorAll(".fragment:not(.visible)")];
    for (const part of hidden) part.classList.add("visible");
    const scale = Reveal.getScale(), box = slide.getBoundingClientRect();
    const [body, heading] = [".body", ".heading"].map((name) => slide.querySelector(name));
    if (!heading.textContent.trim()) say("has no heading");
    const top = (heading.getBoundingClientRect().top - box.top) / scale;
    if (i && Math.abs(top - (usual ??= top)) > 1) say("has a heading that jumps to", top);
    if (box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1) say("is cut");
    if (body.scrollHeight > body.clientHeight + 1) say("is longer than the screen");
    const parts = [...slide.querySelectorAll(".heading, .cell *")];
    const beyond = parts.find((node) => {{
      const own = node.getBoundingClientRect();
      if (!own.width || !own.height || node.closest("details:not([open])")) return false;
      return own.right > box.right + 1 || own.bottom > box.bottom + 1;
    }});
    if (beyond) say("has something beyond the edge:", beyond.outerHTML.slice(0, 80));
    const small = tooSmall(parts, scale);
    if (innerWidth >= 1280 && small.length) say("is hard to read:", small[0]);
    for (const img of slide.querySelectorAll(".cell img")) {{
      if (img.matches(".drawing") && img.getBoundingClientRect().width < box.width / 2) say("has a small drawing");
      const letter = smallestLetter(img);
      if (innerWidth >= 1280 && letter < 18) say("has letters that are small:", `${{letter}} px in ${{img.alt}}`);
    }}
    const told = [...slide.querySelectorAll("*")].filter((node) => [...node.childNodes].some(isText) && seen(node));
    for (const node of told) contrast(node, getComputedStyle(node));
    for (const words of faint.splice(0)) say("has words that are faint:", words);
    for (const part of hidden) part.classList.remove("visible");
  }}
  Reveal.slide(0, 0);
  return wrong;
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
    """A finger's, to the left where `by` is negative, and up where `down` is."""
    finger = page.context.new_cdp_session(page)
    for kind, at in [("Start", 0), *(("Move", part / 8) for part in range(1, 9)), ("End", None)]:
        points = [] if at is None else [{"x": x + at * by, "y": y + at * down}]
        finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    finger.detach()
