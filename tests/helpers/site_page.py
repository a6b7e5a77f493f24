"""The site as a browser shows it: where its pages are, what is wrong with one, and what a visitor does there."""

from http.server import SimpleHTTPRequestHandler
from pathlib import Path

from contrast import CONTRAST

from authors.lessons import lessons

LESSONS = [lesson.name for lesson in lessons()]
SERVED = "/"  # of the server where the windows below are, whose first page needs no name
SCREENS = {"laptop, light": ((1366, 768), "light"), "phone, dark": ((390, 844), "dark")}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *told):
        pass


class Kept(Quiet):
    """Lets browsers keep what they fetched, as servers do: then they read and compile no script twice."""

    def end_headers(self):
        self.send_header("Cache-Control", "max-age=3600")
        super().end_headers()

    def send_error(self, code, *told):
        page = (Path(self.directory) / "404.html").read_bytes()
        self.send_response(code)
        self.end_headers()
        self.wfile.write(page)


def address_of(name):
    return SERVED + (f"notebooks/{name}.html" if name in LESSONS else f"{name}.html")


# Everything that shows, looked at once: the texts whose contrast with what is painted behind them is below 4.5, each
# look of text on each ground once; those on the screen on which something else lies; what scrolls and can neither be
# reached with the keyboard nor holds anything that can; and what is reached and scrolls nowhere.
LOOK = (
    f"() => {{ {CONTRAST}"
    + """
  const covered = [], unreached = [], needless = [], small = [];
  const words = document.createRange();
  const scale = (node) => { // of a drawing's letters
    const { b, d } = node instanceof SVGElement ? node.getScreenCTM() : { b: 0, d: 1 };
    return Math.hypot(b, d);
  };
  const least = (node) => { // an index may be smaller, and has to be smaller than the letter that bears it
    const below = ":is(msub, msup, msubsup, munder, mover) > :nth-child(n + 2)", index = node.closest(below);
    if (node.closest("pre.fits")) return 12; // numbers in columns, which would break otherwise
    if (!index) return 14.5;
    if (index.parentElement.closest(below)) return 13; // an index's own
    const [own, bears] = [index, index.parentElement.firstElementChild].map((one) => getComputedStyle(one).fontSize);
    return parseFloat(own) > 0.85 * parseFloat(bears) ? Infinity : 13;
  };
  const isClear = (node) => { // a button over a picture's words, say
    const { backgroundColor, backgroundImage } = getComputedStyle(node);
    return backgroundColor === "rgba(0, 0, 0, 0)" && backgroundImage === "none" && !node.textContent.trim();
  };
  const isCovered = (text, node) => { // its first line, at its middle, if that is on the screen
    words.selectNodeContents(text);
    const { left, top, width, height } = words.getClientRects()[0] ?? new DOMRect(-1);
    const seen = document.elementFromPoint(left + width / 2, top + height / 2);
    if (!seen || seen.contains(node) || isClear(seen) || node.closest(".unseen")) return false;
    return !seen.closest(".foot"); // which is to lie there, and may be scrolled away
  };
  const onScreen = ({ top, bottom }) => bottom > 0 && top < innerHeight;
  const shows = (node) => node.checkVisibility() || getComputedStyle(node).display === "contents";
  const filter = (node) => (shows(node) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT);
  const all = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT, filter);
  while (all.nextNode()) {
    const node = all.currentNode, style = getComputedStyle(node);
    const texts = [...node.childNodes].filter((child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
    if (texts.length) contrast(node, style);
    const isRead = texts.length && !node.closest(".unseen, [role=status]");
    if (isRead && parseFloat(style.fontSize) * scale(node) < least(node)) {
      small.push(short(node));
    }
    if (texts.length && onScreen(node.getBoundingClientRect()) && texts.some((text) => isCovered(text, node))) {
      covered.push(short(node));
    }
    const broad = node.scrollWidth > node.clientWidth, scrolls = /auto|scroll/.test(style.overflow);
    if (scrolls && (node.scrollWidth > node.clientWidth + 13 || node.scrollHeight > node.clientHeight + 13)) {
      const within = "a, button, input, select, summary, [tabindex='0']";
      if (node.tabIndex < 0 && !node.querySelector(within)) unreached.push(short(node));
    }
    if (!(scrolls && broad) && node.matches(":is(p, pre, .output div)[tabindex='0']:not(.attn-board *)")) {
      needless.push(short(node));
    }
  }
  const cut = (document.querySelector("main")?.scrollWidth ?? 0) - 12; // a board's own room stands out
  const wider = Math.max(document.documentElement.scrollWidth, cut) - innerWidth;
  return { faint, covered, small, unreached, needless, "wider by": wider, looks: looks.size };
}"""
)
TWO_FRAMES = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"


def show_on(page, screen, motion="reduce"):
    """Give the window the size and the theme of a screen, and the boards a moment to take their room."""
    (width, height), scheme = SCREENS[screen]
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(media="screen", color_scheme=scheme, reduced_motion=motion)
    page.evaluate(TWO_FRAMES)


def seen_by(page):
    """What is too faint, covered, too wide or out of reach on this screen."""
    found = page.evaluate(LOOK)
    assert found.pop("looks") > 2
    return found


def first_question(page):
    """The first question of notebook 1: the new row of bank, (0.5, 1.5)."""
    form = page.locator("#guess-new-bank")
    return form, form.locator("input"), form.get_by_role("status")


def ask(line, guess):
    line.fill(guess)
    line.press("Enter")


def edit(page, number, place="W_q row 1 column 1"):
    cell = page.get_by_label(place, exact=True)
    cell.fill(str(number))
    cell.press("Enter")
    page.get_by_role("status").get_by_text(f"{place} is now {number}.".replace("-", "−")).wait_for()


def come_to(page, board):
    """The first such board of a page, though boards wake only as they come near."""
    wake(page)
    return page.locator(board).first


def unfold(page):
    """Open what waits under the headings of second readings."""
    page.evaluate("document.querySelectorAll('details.second-reading').forEach((fold) => (fold.open = true))")


def wake(page):
    """Come near each board."""
    unfold(page)
    for place in page.locator(".saved-board").all():
        place.scroll_into_view_if_needed()
        place.locator(".attn-board, .attn-figure").first.wait_for(state="attached")
