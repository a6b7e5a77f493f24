"""What a notebook holds for whoever presents it: in the first cell of each slide, metadata "speaker".

{"minutes": 2, "say": "where to point, what to change live", "ask": "the question for the hall [its answer]"}
"""


def notes_of(cell):
    """The speaker metadata of a cell, complete."""
    return {"minutes": 0, "say": "", "ask": "", **cell.metadata.get("speaker", {})}


def slides(notebook):
    """The cells that begin a slide, in order."""
    kinds = ("slide", "subslide")
    return [cell for cell in notebook.cells if cell.metadata.get("slideshow", {}).get("slide_type") in kinds]


def minutes_before(notebook):
    """Cell id → minutes into the lesson at which its slide is planned to come up."""
    planned, total = {}, 0
    for cell in slides(notebook):
        planned[cell.id] = total
        total += notes_of(cell)["minutes"]
    return planned


def clock(minutes):
    """7.5 as 7:30."""
    return f"{int(minutes)}:{int(minutes % 1 * 60):02d}"
