"""The learner's end of a class: verdicts that the teacher sees while it works, and a button for handing in.

The hub sets LIVE_VARIABLE and HAND_IN_VARIABLE, each to a folder; where one is not set, nothing is told and there is
no button. The teacher looks at the first with `course.py grade --live` and fetches from the second, as
classroom/hub/collect.py does.
A laptop that is on no hub comes in with `join`, by the address and the code that `grade --live --laptops` shows.
"""

import contextlib
import datetime
import getpass
import html
import json
import os
import re
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

from .display.moments import moment_in_words, zone_of
from .display.show import framed
from .places import DEADLINES_VARIABLE, HAND_IN_VARIABLE, LIVE_VARIABLE, NAME_VARIABLE
from .progress import place

PATIENCE = 2  # seconds that a check may wait for the teacher's table
SESSION = "JPY_SESSION_NAME"  # Jupyter sets it to the file that a kernel was started for
CHECK = re.compile(r"""\bcheck\(\s*["'](\d+\.\d+)["']""")
ANSWER = re.compile(r"^(?:def (my_\w+)\(|(my_\w+) =)", re.M)
WHAT = (
    "Save first (Ctrl+S): your teacher gets the notebook as it is saved, and other students cannot read it. Press "
    "again whenever you like: earlier versions are kept, and the newest that comes in time counts."
)


TEACHER_SEES = "Your teacher sees this result and which mistake it names, not your code."


def tell(verdict):
    """Tell the teacher's table of a verdict, where a class has one; returns the sentence that tells the learner so."""
    folder = os.environ.get(LIVE_VARIABLE)
    if not folder:
        return _send(verdict)
    name = re.sub(r"[^\w.@-]", "_", os.environ.get(NAME_VARIABLE) or getpass.getuser())
    line = {"time": round(time.time(), 1), "exercise": verdict.exercise, "status": verdict.status}
    try:
        with open(os.path.join(folder, f"{name}.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps({**line, "misconception": verdict.misconception}) + "\n")
    except OSError:
        return None
    return TEACHER_SEES


# ------------------------------------------------------------------------------------ a laptop in a class, by a code


class Joined:
    """What a learner reads who has come in, or could not."""

    def __init__(self, message, kind):
        self.message, self.kind = message, kind

    def __repr__(self):
        return self.message

    def _repr_html_(self):
        return framed(html.escape(self.message), self.kind)


def join(address, code):
    """Let the teacher's table know, until the day ends, what `check` says here: under an animal's name, not yours."""
    try:
        there = _post(address, "join", {"code": str(code)})
        entry = {"address": address, "token": there["token"], "name": there["name"], "day": _today()}
        _joined_file().write_text(json.dumps(entry), encoding="utf-8")
    except (OSError, ValueError, KeyError, TypeError) as error:
        return Joined(f"You are not in the class: {_why(error)}", "wrong")
    return Joined(
        f"You are “{entry['name']}” today. Under this name your teacher sees, when you check an exercise, whether it "
        "is right and which mistake is named, not your code and not who you are. leave() ends it.",
        "right",
    )


def leave():
    """Send the teacher's table nothing any more."""
    _joined_file().unlink(missing_ok=True)
    return Joined("Your teacher's table is told nothing more.", "open")


def _send(verdict):
    """Tell the table that this laptop has joined today; returns the sentence that says so, None without one."""
    try:
        entry = json.loads(_joined_file().read_text(encoding="utf-8"))
        if entry["day"] != _today():
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    result = {"exercise": verdict.exercise, "status": verdict.status, "misconception": verdict.misconception or ""}
    try:
        _post(entry["address"], "told", {"token": entry["token"], **result})
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"Your teacher does not see this result: {_why(error)}"
    return f"As “{entry['name']}”: your teacher sees this result and which mistake it names, not your code."


def _post(address, what, content):
    """Send to the teacher's table, past any proxy, since it is in this room; returns what it answers."""
    if not re.fullmatch(r"[\w.\-\[\]:]+:\d+", address):
        raise ValueError(f"{address!r} is no address with a port, as in 192.168.1.5:8000.")
    request = urllib.request.Request(f"http://{address}/{what}", json.dumps(content).encode())
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request, timeout=PATIENCE) as answer:
        return json.loads(answer.read(10_000))


def _why(error):
    if isinstance(error, urllib.error.HTTPError):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            return str(json.loads(error.read(1000))["says"])
    if isinstance(error, OSError):
        return "nothing answers at that address. Is this laptop in the same network, and the table still open?"
    return str(error)


def _joined_file():
    return place().with_name(".class.json")


def _today():
    return datetime.date.today().isoformat()


# ----------------------------------------------------------------------------------------------------- handing in


def show_button(number):
    """Display the button below what the cell that runs shows, once, where handing in is prepared."""
    if not os.environ.get(HAND_IN_VARIABLE):
        return
    from IPython import get_ipython  # which a grader's process needs not import
    from IPython.display import display

    events = get_ipython().events

    def below(*_):
        events.unregister("post_run_cell", below)
        display(button(number))

    if not any(getattr(one, "__qualname__", "") == below.__qualname__ for one in events.callbacks["post_run_cell"]):
        events.register("post_run_cell", below)


def button(number):
    """The button, and below it what it does and did, as a widget; the number is the notebook's, for its deadline."""
    import ipywidgets

    until = deadline_in_words(number)
    words = ipywidgets.HTML(framed(" ".join(filter(None, [until, WHAT]))))
    press = ipywidgets.Button(description="Hand in this notebook", layout={"width": "max-content"})

    def pressed(_):
        folder = Path(os.environ[HAND_IN_VARIABLE]).expanduser()
        kind, sentences = hand_in(Path(os.environ.get(SESSION, "")), folder, cells_run())
        words.value = framed(html.escape(sentences), kind)

    press.on_click(pressed)
    return ipywidgets.VBox([press, words, *([_on_the_own_clock(until)] if until else [])])


def _on_the_own_clock(sentence):
    """When the moment in a sentence is by the clock of whoever reads it, which this machine does not know."""
    import anywidget
    import traitlets

    from .board import modules

    class OnTheOwnClock(anywidget.AnyWidget):
        _esm = modules.joined(Path(__file__).with_name("deadline.js"))
        sentence = traitlets.Unicode().tag(sync=True)

    return OnTheOwnClock(sentence=sentence)


def deadline_in_words(number):
    """Until when this learner's notebook is taken, as the class's hub tells it; "" where there is no deadline.

    The zone is the one that the teacher gave it in, or this machine's.
    """
    try:
        deadlines = json.loads(Path(os.environ[DEADLINES_VARIABLE]).read_text(encoding="utf-8"))
        due = datetime.datetime.fromisoformat(deadlines[f"{int(number):02}"])
    except (KeyError, OSError, ValueError, TypeError):
        return ""
    due = due if due.tzinfo else due.astimezone()
    over = datetime.datetime.now().astimezone() >= due.replace(second=0) + datetime.timedelta(minutes=1)
    when = f"{due:%A}, {moment_in_words(due)}"
    return f"The deadline was {when}: what you hand in now is late." if over else f"Hand in by {when}."


def cells_run():
    """What this kernel was given to run, in order."""
    from IPython import get_ipython

    return get_ipython().history_manager.input_hist_raw


def hand_in(notebook, folder, ran=()):
    """Copy a saved notebook into folder/NUMBER/; returns the kind of frame and the sentences that say what happened.

    ran: the cells that were run, in order: answers among them that the file does not have are named.
    """
    try:
        content = notebook.read_bytes()
        when_saved = datetime.datetime.fromtimestamp(notebook.stat().st_mtime).astimezone()
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
    sentences = (
        f"{'Handed in' if new else 'Handed in already'}: notebook {number}, {notebook.name}, as saved (by a clock of "
        f"{zone_of(when_saved)}) at {when_saved:%H:%M:%S}."
    )
    unsaved = _unsaved(ran, cells)
    if unsaved:
        sentences += (
            f" Not in it, because it was run and not saved: {', '.join(unsaved)}. Save (Ctrl+S) and press again."
        )
    return ("open" if unsaved else "right"), sentences


def exercises_in(cells):
    """The exercises that cells say they answer; where none says it, as in a notebook of one's own, those checked."""
    ids = [id for cell in cells if (id := cell.get("metadata", {}).get("exercise"))]
    return ids or [id for cell in cells for id in CHECK.findall("".join(cell["source"]))]


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
