"""The pictures of slides, drawn of what the notebook has computed."""

import torch

from workbench.display.drawings import HEIGHT, draw, draw_narrow

from .slides import OnBoard


class Pictures:
    """Draws each slide's picture while a notebook runs: `wide` and `narrow`, by the slides' names.

    `boards` has what slides with a board show on it.
    """

    def __init__(self, pairs):
        self.by_last_cell = {cells[-1].id: (slide, cells) for slide, cells in pairs}
        self.steps, self.wide, self.narrow, self.boards = {}, {}, {}, {}

    def made(self):
        """What was made so far: each slide's steps, its drawing, that for a phone or None, and what its board shows."""
        return self.steps, self.wide, self.narrow, self.boards

    def __call__(self, cell, names):
        """When a cell has run: if it is the last of its slide, the picture is drawn."""
        slide, cells = self.by_last_cell.get(cell.id, (None, []))
        with torch.random.fork_rng(devices=[]):  # what a slide draws at random changes nothing in the notebook
            steps = slide.steps(names, self.steps) if slide else []
        if isinstance(steps, OnBoard):
            self.boards[slide.name] = steps
        elif steps:
            tags = {tag for cell in cells for tag in cell.metadata.get("tags", [])}
            self.steps[slide.name] = steps
            try:
                self.wide[slide.name] = draw(*steps, height=room(tags))
                self.narrow[slide.name] = draw_narrow(*steps)
            except Exception as error:
                raise slide.error(f"its picture cannot be drawn: {error}") from error


def room(tags):
    """How high a picture may be, above the hall's guess or the line that it dictates."""
    return 330 if "blank" in tags else 426 if "predict" in tags else HEIGHT
