"""Takes README's pictures from the real thing: `python -m authors.pictures`, or only those named behind it.

Site and deck are built, JupyterLab is started, a class of twelve is graded and a cell is run; a browser then does
what a person would, and its window is kept. Look at every picture afterwards. Needs Chromium, and bubblewrap for the
class's answers.
"""

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from classroom.grade.grade_class import grade
from workbench import copies

from .browsers import browser_here
from .deck import build as deck
from .lessons import ROOT
from .site import sphinx_site

IMG = ROOT / "img"
SHADES = {"light": "", "dark": "-dark"}  # of a page, and what a picture's name then ends with
POINTER = """(() => {
  const pointer = document.createElement("div");
  pointer.style.cssText = `position: fixed; z-index: 99; width: 26px; height: 26px; margin: -13px; border-radius: 50%;
    border: 3px solid; background: #80808044; pointer-events: none; left: -50px`;
  document.body.append(pointer);
  addEventListener("mousemove", (event) => {
    pointer.style.left = `${event.clientX}px`;
    pointer.style.top = `${event.clientY}px`;
  }, true);
})()"""  # a browser's window is kept without its own


def main(names):
    """Take the pictures of these names, or all, into img/; returns an exit code."""
    pictures = {"moving": moving, "door": door, "verdict": verdict, "slide": slide, "class": class_page}
    if unknown_names := [name for name in names if name not in pictures]:
        sys.exit(f"no picture is called {unknown_names[0]}; there are: {', '.join(pictures)}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_here(), args=["--no-sandbox"])
        for name in names or pictures:
            if name == "door" and sphinx_site.build(sphinx_site.BUILD):
                sys.exit("the site has faults, see above")
            for shade in SHADES:
                with tempfile.TemporaryDirectory() as folder:
                    pictures[name](browser, Path(folder), shade)
            print(f"img: {name}", flush=True)
    return 0


@contextmanager
def window(browser, path, width, height, shade, **settings):
    """A page of a browser on a file, light or dark and with nothing that moves by itself."""
    look = {"color_scheme": shade, "reduced_motion": "reduce", "viewport": {"width": width, "height": height}}
    page = browser.new_page(**look | settings)
    page.goto(path.as_uri())
    yield page
    page.close()


# ---------------------------------------------------------------------------------------------------------- moving


class Film:
    """What a window shows at each moment, as an animated picture."""

    def __init__(self, page):
        self.page, self.frames, self.lasts = page, [], []

    def take(self, seconds):
        image = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        self.frames.append(image)
        self.lasts.append(round(1000 * seconds))

    def type(self, place, text):
        place.fill("")
        for i in range(len(text)):
            place.fill(text[: i + 1])
            self.take(0.25)

    def save(self, path):
        first, *rest = self.frames
        look = {"save_all": True, "append_images": rest, "duration": self.lasts, "loop": 0}
        first.save(path, "WEBP", quality=82, method=6, **look)


def moving(browser, folder, shade):
    """In a learner's lesson 1 a guess gets its verdict, a wrong one first; then a number is moved."""
    with jupyterlab(folder, shade) as address:
        look = {"color_scheme": shade, "reduced_motion": "reduce"}
        page = browser.new_page(**look, viewport=dict(zip(("width", "height"), FILM, strict=True)))
        page.goto(address)
        opening = page.get_by_role("button", name="river")
        opening.wait_for()
        question = page.get_by_text("Before you begin.").filter(visible=True).first
        question.wait_for()  # words are drawn after forms
        page.get_by_text("| Idle").filter(visible=True).first.wait_for()  # Python has begun
        question.evaluate("(words) => words.scrollIntoView({ block: 'center' })")
        page.evaluate(POINTER)
        film = Film(page)
        film.take(1.6)
        opening.hover()
        film.take(0.8)
        opening.click()
        page.locator(".verdict").get_by_text("✓").filter(visible=True).first.wait_for()
        film.take(2.2)
        guess(page, film)
        move_a_number(page, film)
        page.close()
    film.save(IMG / f"moving{SHADES[shade]}.webp")


def door(browser, _, shade):
    """The site's first page, shown with a link that is shared, where there is one shade only."""
    if shade == "light":
        with window(browser, sphinx_site.BUILD / "site/index.html", 1200, 630, shade) as page:
            page.screenshot(path=IMG / "door.png")


@contextmanager
def jupyterlab(folder, shade, lesson="01_by_hand"):
    """The address of a fresh copy of a lesson in a JupyterLab as `course.py lab` starts it, light or dark."""
    (folder / "notebooks").mkdir()
    shutil.copy(ROOT / f"notebooks/{lesson}.ipynb", folder / "notebooks")
    copies.bring_up_to_date(folder)
    themes = folder / "settings/@jupyterlab/apputils-extension/themes.jupyterlab-settings"
    themes.parent.mkdir(parents=True)
    themes.write_text(json.dumps({"theme": f"JupyterLab {shade.title()}"}))
    own = {"JUPYTERLAB_SETTINGS_DIR": themes.parents[2], "JUPYTERLAB_WORKSPACES_DIR": folder / "workspaces"}
    own |= {"JUPYTER_RUNTIME_DIR": folder / "runtime", "JUPYTER_CONFIG_DIR": folder / "config"}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0", "--ip=127.0.0.1"]
    server = subprocess.Popen(
        [*command, f"--ServerApp.root_dir={folder}"],
        env=os.environ | {name: str(path) for name, path in own.items()},
        stderr=subprocess.DEVNULL,
    )
    try:
        while not (notes := list(folder.glob("runtime/jpserver-*.json"))):
            time.sleep(0.2)
        running = json.loads(notes[0].read_text())
        yield f"{running['url']}lab/tree/my/{lesson}.ipynb?token={running['token']}"
    finally:
        server.terminate()
        server.wait()


def guess(page, film):
    question = page.locator("[aria-label='A question']").nth(1)
    for text, sign, seconds in (("1, 3", "✗", 3.6), ("0.5, 1.5", "✓", 3.2)):
        question.evaluate("(cell) => cell.scrollIntoView({ block: 'center' })")
        entry = question.get_by_role("textbox", name="Your guess")
        entry.click()
        film.take(1.2)
        film.type(entry, text)
        question.get_by_role("button", name="Check").filter(visible=True).click()
        question.locator(".verdict").get_by_text(sign).filter(visible=True).first.wait_for()
        film.take(seconds)


def move_a_number(page, film):
    """The figure below the question is run, and its neighbour taken from river towards coins."""
    figure = page.locator(".jp-CodeCell", has_text="bank_figure()").first
    figure.evaluate("(cell) => cell.scrollIntoView({ block: 'start' })")
    figure.hover()
    film.take(0.8)
    figure.get_by_role("button", name="Run this cell").click()
    thumb = figure.locator(".thumb").first
    thumb.wait_for()
    thumb.scroll_into_view_if_needed()
    film.take(1.6)
    box = thumb.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] - 4  # below its number, which is read
    page.mouse.move(x, y)
    film.take(0.8)
    page.mouse.down()
    for step in range(1, 13):
        page.mouse.move(x - 9 * step, y)
        film.take(0.14)
    page.mouse.up()
    film.take(2.8)


FILM = 1000, 640


# --------------------------------------------------------------------------------------------------------- stills


def still(page, name, shade, **what):
    """Keep the window, in as few colours as it needs."""
    image = Image.open(io.BytesIO(page.screenshot(**what))).convert("RGB")
    image.save(IMG / f"{name}{SHADES[shade]}.webp", "WEBP", quality=84, method=6)


MASK = "return torch.ones(n_queries, n_keys).tril().bool()"  # its triangle starts at the wrong corner


def verdict(browser, folder, shade):
    """What a learner's lesson 3 says of an answer with a mistake that has a name."""
    with jupyterlab(folder, shade, "03_masking") as address:
        look = {"color_scheme": shade, "reduced_motion": "reduce", "device_scale_factor": 2}
        page = browser.new_page(**look, viewport={"width": 1180, "height": 1500})
        page.goto(address)
        page.get_by_text("| Idle").filter(visible=True).first.wait_for()  # Python has begun
        page.get_by_role("navigation", name="In this lesson").get_by_role("button", name="Exercises").click()
        answer = page.locator(".jp-CodeCell", has_text="def my_causal_mask").first
        answer.wait_for()
        answer.locator(".cm-content").get_by_text("...").click()
        for key in ("Home", "Shift+End"):
            page.keyboard.press(key)
        page.keyboard.insert_text(MASK)
        check = answer.locator("xpath=following-sibling::*[1]")
        check.get_by_role("button", name="Check").click()
        output = check.locator(".jp-OutputArea-output", has_text="The mask starts at the wrong corner")
        output.wait_for()
        page.mouse.move(0, 0)
        task, says = (one.bounding_box() for one in (answer.locator("xpath=preceding-sibling::*[1]"), output))
        top, below = task["y"] - 8, says["y"] + says["height"] + 16
        still(page, "verdict", shade, clip={"x": says["x"] - 40, "y": top, "width": 820, "height": below - top})
        page.close()


def slide(browser, folder, shade):
    """The first question of notebook 3 as a hall sees it, with its answer."""
    (folder / "slides.html").write_text(deck.page(ROOT / "notebooks/03_masking.ipynb"), encoding="utf-8")
    with window(browser, folder / "slides.html", 1280, 720, shade) as page:
        page.wait_for_function("window.Reveal && Reveal.isReady()")
        for key in ("2", "Enter", "ArrowRight"):
            page.keyboard.press(key)
        page.wait_for_function(
            "document.querySelector('section.present .heading').textContent.startsWith('A score of 0')"
        )
        page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished)).then(() => {})")
        still(page, "slide", shade)


PADDING = {
    "right": "(torch.arange(max_len) < lengths[:, None])[:, None]",
    "turned": "(torch.arange(max_len) >= lengths[:, None])[:, None]",
}
CAUSAL = {"right": "torch.ones(n_queries, n_keys).tril(n_keys - n_queries).bool()"}
CAUSAL |= {"corner": "torch.ones(n_queries, n_keys).tril().bool()", "turned": "~" + CAUSAL["right"]}
SOFTMAX = {
    "right": "torch.where(mask, scores, -torch.inf).softmax(-1).nan_to_num(0.0)",
    "nan": "torch.where(mask, scores, -torch.inf).softmax(-1)",
    "late": "scores.softmax(-1) * mask",
}
CLASS = {
    "Ada Marsh": ("right", "right", "right"),
    "Ben Okafor": ("right", "corner", "nan"),
    "Chloé Roux": ("right", "corner", "late"),
    "Dao Linh": ("right", "right", "nan"),
    "Emeka Obi": ("turned", "corner", "right"),
    "Fatima Zaidi": ("right", "right", "right"),
    "Goran Ilić": ("right", "corner", "late"),
    "Hana Sato": ("right", "right", "nan"),
    "Iris Blom": ("turned", "turned", "nan"),
    "Jonas Frey": ("right", "corner", "right"),
    "Kaito Mori": ("right", "right", "nan"),
    "Lena Vogt": ("right", "right", "right"),
}
HAND_IN = """\
import torch


def my_padding_mask(lengths, max_len):
    return {}


def my_causal_mask(n_queries, n_keys):
    return {}


def my_masked_softmax(scores, mask):
    return {}
"""


def class_page(browser, folder, shade):
    """What a lecturer sees of a class of twelve, whose answers are made up and judged in earnest."""
    handed_in = folder / "class"
    for name, (padding, causal, softmax) in CLASS.items():
        path = handed_in / name / "notebook_3.py"
        path.parent.mkdir(parents=True)
        path.write_text(HAND_IN.format(PADDING[padding], CAUSAL[causal], SOFTMAX[softmax]), encoding="utf-8")
    grade(handed_in, handed_in)
    with window(browser, handed_in / "class.html", 1100, 900, shade) as page:
        below = page.get_by_role("heading", name="Each student").bounding_box()["y"]
        still(page, "class", shade, clip={"x": 0, "y": 0, "width": 1100, "height": below - 8})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
