"""The pictures of slides: drawings of numbers that the notebook has computed.

The first cell of a slide has in its metadata "deck" the name of a drawing, `picture`, and `numbers`, an expression in
the notebook's own names, a dict or a list of them, one for each step. `course.py refresh` computes it when the slide's
cells have run and saves it beside, as `steps`: so slides show what ran.
"""

import json
import math

import torch

from workbench.display.drawings import HEIGHT, draw, draw_narrow, plain

from ..pages.notes import BEGINS
from ..pages.outputs import run_here


def by_slide(notebook):
    """A notebook's slides, each a list of its cells; the first begins with the notebook."""
    slides = []
    for cell in notebook.cells:
        if not slides or cell.metadata.get("slideshow", {}).get("slide_type") in BEGINS:
            slides.append([])
        slides[-1].append(cell)
    return slides


def drawn(notebook):
    """Id of a slide's first cell → its drawing, and that for a phone or None where there is no room for it."""
    found, decks = {}, {cell.id: cell.metadata.get("deck", {}) for cell in notebook.cells}
    for first, *others in by_slide(notebook):
        deck = decks[first.id]
        if "picture" in deck:
            tags = {tag for cell in (first, *others) for tag in cell.metadata.get("tags", [])}
            steps = steps_of(deck, decks)
            wide = draw(deck["picture"], *steps, height=room(tags))
            found[first.id] = wide, draw_narrow(deck["picture"], *steps)
    return found


def steps_of(deck, decks):
    """A picture's steps; those of an album are pictures of other slides, named by their first cells' ids."""
    if "again" not in deck:
        return json.loads(deck["steps"])
    pictures = [[decks[id]["picture"], json.loads(decks[id]["steps"])] for id in deck["again"]]
    return [{"pictures": pictures, "open": k} for k in range(len(pictures) + 1)]


def room(tags):
    """How high a picture may be, above the hall's guess or the line that it dictates."""
    return 330 if "blank" in tags else 426 if "predict" in tags else HEIGHT


def save_numbers(notebook):
    """Compute the numbers of all pictures anew, and keep them in the notebook."""
    due = {slide[-1].id: slide[0] for slide in by_slide(notebook) if "numbers" in slide[0].metadata.get("deck", {})}

    def compute(cell, names):
        if cell.id in due:
            deck = due[cell.id].metadata["deck"]
            numbers = eval(f"({deck['numbers']})", {**names, "torch": torch, "math": math})
            steps = short(plain(numbers if isinstance(numbers, (list, tuple)) else [numbers]))
            deck["steps"] = json.dumps(steps, ensure_ascii=False)  # one line of the file

    if due:
        run_here(notebook, after=compute)


def short(value):
    """With as many digits as a drawing shows, and as JSON takes it."""
    if isinstance(value, dict):
        return {name: short(one) for name, one in value.items()}
    if isinstance(value, list):
        return [short(one) for one in value]
    if isinstance(value, float):
        return (
            float(f"{value:.6g}")
            if math.isfinite(value)
            else "NaN"
            if math.isnan(value)
            else "∞"
            if value > 0
            else "−∞"
        )
    return value
