"""The learner's end of a class: verdicts that the teacher sees while it works, and a button for handing in.

The hub sets LIVE_VARIABLE and HAND_IN_VARIABLE, each to a folder; where one is not set, nothing is told and there is
no button. The teacher looks at the first with `course.py grade --live` and fetches from the second (deploy/collect.py).
"""

import datetime
import getpass
import html
import json
import os
import re
import time
from collections import Counter
from pathlib import Path

from .display.show import framed
from .places import HAND_IN_VARIABLE, LIVE_VARIABLE, NAME_VARIABLE

SESSION = "JPY_SESSION_NAME"  # Jupyter sets it to the file that a kernel was started for
CHECK = re.compile(r"""\bcheck\(\s*["'](\d+\.\d+)["']""")
ANSWER = re.compile(r"^(?:def (my_\w+)\(|(my_\w+) =)", re.M)
WHAT = (
    "Save first (Ctrl+S). The button copies the notebook as it is saved, with your code, text and outputs, for your "
    "teacher; other students cannot read it. You may press it again: the last one counts, the earlier ones are kept."
)


TOLD = "Your teacher sees this result and which mistake it names, not your code."


def tell(verdict):
    """Add a verdict to the learner's file in the folder of a class; returns the sentence that tells the learner so."""
    folder = os.environ.get(LIVE_VARIABLE)
    if not folder:
        return None
    name = re.sub(r"[^\w.@-]", "_", os.environ.get(NAME_VARIABLE) or getpass.getuser())
    line = {"time": round(time.time(), 1), "exercise": verdict.exercise, "status": verdict.status}
    try:
        with open(os.path.join(folder, f"{name}.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps({**line, "misconception": verdict.misconception}) + "\n")
    except OSError:
        return None
    return TOLD


def show_button():
    """Display the button, where handing in is prepared."""
    if found := button():
        from IPython.display import display  # which a grader's process needs not import

        display(found)


def button():
    """The button, and below it what it does and did, as a widget; None where HAND_IN_VARIABLE is not set."""
    if not os.environ.get(HAND_IN_VARIABLE):
        return None
    import ipywidgets

    words = ipywidgets.HTML(framed(WHAT))
    press = ipywidgets.Button(description="Hand in this notebook", layout={"width": "max-content"})

    def pressed(_):
        folder = Path(os.environ[HAND_IN_VARIABLE]).expanduser()
        kind, said = hand_in(Path(os.environ.get(SESSION, "")), folder, cells_run())
        words.value = framed(html.escape(said), kind)

    press.on_click(pressed)
    return ipywidgets.VBox([press, words])


def cells_run():
    """What this kernel was given to run, in order."""
    from IPython import get_ipython

    return get_ipython().history_manager.input_hist_raw


def hand_in(notebook, folder, ran=()):
    """Copy a saved notebook into folder/NUMBER/; returns the kind of frame and the sentences that say what happened.

    ran: the cells that were run, in order: answers among them that the file does not have are named.
    """
    try:
        content, saved = notebook.read_bytes(), datetime.datetime.fromtimestamp(notebook.stat().st_mtime)
        raw = json.loads(content)["cells"]
        cells = ["".join(cell["source"]).strip() for cell in raw]
        exercises = exercises_in(raw)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return "wrong", (
            f"Nothing was handed in: {notebook.name or 'this notebook'} cannot be read. If it was renamed, restart "
            "the kernel, run the cell above again and press the button there."
        )
    if not exercises:
        return "wrong", f"Nothing was handed in: {notebook.name} has no check of an exercise."
    number = int(Counter(id.split(".")[0] for id in exercises).most_common(1)[0][0])
    try:
        new = _keep(content, folder / f"{number:02}", notebook.name)
    except OSError as error:
        return "wrong", f"Nothing was handed in: the copy could not be written ({error.strerror}). Tell your teacher."
    said = (
        f"{'Handed in' if new else 'Handed in already'}: notebook {number}, {notebook.name}, as saved {saved:%H:%M:%S}."
    )
    missing = _unsaved(ran, cells)
    if missing:
        said += f" Not in it, because it was run and not saved: {', '.join(missing)}. Save (Ctrl+S) and press again."
    return ("open" if missing else "right"), said


def exercises_in(cells):
    """The exercises that cells say they answer; where none says it, as in a notebook of one's own, those checked."""
    told = [id for cell in cells if (id := cell.get("metadata", {}).get("exercise"))]
    return told or [id for cell in cells for id in CHECK.findall("".join(cell["source"]))]


def _keep(content, folder, name):
    """Write the copy under the present time, unless it is what the newest one holds; returns whether it did."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    earlier = sorted(folder.glob("*.ipynb"))
    if earlier and earlier[-1].read_bytes() == content:
        return False
    unfinished = folder / f".{os.getpid()}"
    unfinished.write_bytes(content)  # then renamed: half a file is never collected
    os.replace(unfinished, folder / f"{datetime.datetime.now():%Y-%m-%d %H.%M.%S.%f} {name}")
    return True


def _unsaved(ran, cells):
    """The learner's own names whose cell, as it was last run, is not in the saved notebook."""
    last = {one or other: cell.strip() for cell in ran for one, other in ANSWER.findall(cell)}
    return [name for name, cell in last.items() if cell not in cells]
