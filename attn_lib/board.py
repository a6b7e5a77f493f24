"""Board: named matrices on a page. The heatmap is the editor; every result comes from a function in Python."""

import html
import math
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import anywidget
import torch
import traitlets

from .colours import COLOURS

HERE = Path(__file__).parent
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
LARGEST = 1e6  # beyond it float32 results would be noise


@dataclass(frozen=True)
class Panel:
    """One matrix: `kind` names its colour, `how` says which cells a result comes from, `group` where it stands.

    how is ("product", a, b): row of a times column of b; ("match", a, b): row of a times row of b; ("times", a):
    an entry of a, scaled; ("fill", a, mask); ("softmax", a): a row of a; ("total", a): the sum of a row of a;
    ("share",): a row of weights, read out;
    ("weigh", a, b, control): each entry of the row of a that the control names times a row of b.
    toggle: cells are switches, 1 or 0. compact: colours without numbers. share: the colour scale is 0 to 1.
    """

    name: str
    kind: str = "input"
    title: str = ""
    rows: tuple = ()
    columns: tuple = ()
    group: int = 0
    editable: bool = False
    toggle: bool = False
    compact: bool = False
    share: bool = False
    how: tuple = ()


@dataclass(frozen=True)
class Control:
    """A choice among a few values, shown as a slider or as a menu."""

    name: str
    title: str
    values: tuple
    start: object
    slider: bool = False


@dataclass(frozen=True)
class Task:
    """What to bring about, and a function of the board that says whether it is done."""

    text: str
    done: Callable = field(repr=False)


class Board(anywidget.AnyWidget):
    """A page of matrices: some can be edited, the others are what `compute` makes of them.

    start: name → tensor for every editable panel; compute(**inputs, **controls) returns name → tensor for the other
    panels, and name → word for lines of text. A name with ":head" behind it numbers the cells by head.
    Raises: ValueError for an editable panel without a start or a start without a panel.
    """

    _esm = HERE / "board.js"
    _css = HERE / "board.css"

    title = traitlets.Unicode().tag(sync=True)
    panels = traitlets.List().tag(sync=True)
    controls = traitlets.List().tag(sync=True)
    colours = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)  # all that changes, in one message

    def __init__(self, panels, compute, start=None, *, controls=(), task=None, title="Board"):
        self._panels = {panel.name: panel for panel in panels}
        self._compute, self._task = compute, task
        self._controls = {control.name: control for control in controls}
        start = {name: torch.as_tensor(value, dtype=torch.float32).clone() for name, value in (start or {}).items()}
        editable = {panel.name for panel in panels if panel.editable}
        if editable != set(start):
            raise ValueError(f"editable panels are {sorted(editable)}, start has {sorted(start)}")
        self._start = {"inputs": start, "controls": {control.name: control.start for control in controls}}
        self._now = _copy(self._start)
        self._past, self._future, self._gesture = [], [], None
        self._results, self._text, self._problem, self._errors = {}, {}, "", []
        self._seed, self._answered = 0, 0
        super().__init__(
            title=title,
            panels=[asdict(panel) for panel in panels],
            controls=[asdict(control) for control in controls],
            colours=dict(COLOURS),
        )
        self.on_msg(lambda _, message, buffers: self.handle(message))
        self._show("")

    # ------------------------------------------------------------------------------------ read back

    @property
    def inputs(self):
        """The matrices as they stand, name → tensor: copies, so that nothing done to them reaches the board."""
        return {name: tensor.clone() for name, tensor in self._now["inputs"].items()}

    @property
    def results(self):
        """The computed matrices, name → tensor."""
        return {name: tensor.clone() for name, tensor in self._results.items()}

    @property
    def settings(self):
        """What the controls are set to, name → value."""
        return dict(self._now["controls"])

    @property
    def start(self):
        """The matrices that the reset button brings back."""
        return {name: tensor.clone() for name, tensor in self._start["inputs"].items()}

    @property
    def done(self):
        """Whether the board's task is done; a board without one is never done."""
        return bool(self._task and not self._problem and self._task.done(self))

    def copy_as_code(self):
        """The inputs as a cell to paste: `import torch` and one assignment for each matrix."""
        lines = ["import torch", ""]
        for name, tensor in self._now["inputs"].items():
            rows = ",\n    ".join(str([_tidy(x) for x in row]) for row in tensor.tolist())
            lines.append(f"{name} = torch.tensor([\n    {rows},\n])")
        return "\n".join(lines)

    # ------------------------------------------------------------------------------- what the page asks

    def handle(self, message):
        """Do what the page asks for: edit, set, undo, redo, reset or random; bad input changes nothing."""
        self._errors = []
        done = {"edit": self._edit, "set": self._set, "undo": self._undo, "redo": self._redo}
        done |= {"reset": self._reset, "random": self._random}
        said = done[message["type"]](message)
        self._answered = message.get("id", self._answered)
        self._show(said)

    def _edit(self, message):
        """Put texts into cells, all or none: message has panel and cells, a list of [row, column, text]."""
        name, cells = message["panel"], message["cells"]
        tensor = self._now["inputs"][name].clone()
        for row, column, text in cells:
            kept = _tidy(tensor[row, column].item()) if row < tensor.size(0) and column < tensor.size(1) else None
            if kept is None:
                first = cells[0]
                size = f"{cells[-1][0] - first[0] + 1} × {max(c[1] for c in cells) - first[1] + 1}"
                fits = f"{tensor.size(0) - first[0]} × {tensor.size(1) - first[1]}"
                return self._refuse(name, first, f"A block of {size} does not fit here, where {fits} cells are left.")
            value, complaint = _read(text)
            if complaint:
                return self._refuse(name, (row, column), f"{complaint} {kept} stays.")
            tensor[row, column] = value
        if torch.equal(tensor, self._now["inputs"][name]):
            return ""
        self._remember(message.get("gesture"))
        self._now["inputs"][name] = tensor
        if len(cells) > 1:
            return f"{len(cells)} cells of {name} changed."
        row, column, _ = cells[0]
        return f"{name} row {row + 1} column {column + 1} is now {_tidy(tensor[row, column].item())}."

    def _refuse(self, name, cell, complaint):
        self._errors = [{"panel": name, "row": cell[0], "column": cell[1], "text": complaint}]
        return complaint

    def _set(self, message):
        control = self._controls[message["control"]]
        value = message["value"]
        if value not in control.values:
            return f"{control.title} cannot be {value!r}."
        self._remember(message.get("gesture"))
        self._now["controls"][control.name] = value
        return f"{control.title} is now {value}."

    def _remember(self, gesture=None):
        if gesture is None or gesture != self._gesture:  # one drag, or one held key, is undone at once
            self._past.append(_copy(self._now))
            self._future.clear()
        self._gesture = gesture

    def _undo(self, message):
        return self._travel(self._past, self._future, "Undone.", "There is nothing to undo.")

    def _redo(self, message):
        return self._travel(self._future, self._past, "Done again.", "There is nothing to do again.")

    def _travel(self, source, target, moved, stuck):
        self._gesture = None
        if not source:
            return stuck
        target.append(self._now)
        self._now = source.pop()
        return moved

    def _reset(self, message):
        self._remember()
        self._now = _copy(self._start)
        return "Back to the example."

    def _random(self, message):
        self._remember()
        self._seed += 1
        generator = torch.Generator().manual_seed(self._seed)
        for name, tensor in self._now["inputs"].items():
            if self._panels[name].toggle:
                drawn = torch.rand(tensor.shape, generator=generator).lt(0.6).float()
            else:
                drawn = torch.randint(-3, 4, tensor.shape, generator=generator).float()
            self._now["inputs"][name] = drawn
        return f"Random numbers, seed {self._seed}."

    # --------------------------------------------------------------------------------------- show

    def _show(self, said):
        try:
            with torch.no_grad():
                made = self._compute(**self.inputs, **self._now["controls"])
            self._results = {name: value.detach() for name, value in made.items() if isinstance(value, torch.Tensor)}
            self._text = {name: value for name, value in made.items() if isinstance(value, str)}
            self._problem = ""
        except Exception as error:  # a traceback here would be seen by nobody
            self._problem = f"This cannot be computed ({error}). The results are those from before."
        values = {**self._now["inputs"], **self._results}
        self.state = {
            "values": {name: _for_json(tensor.tolist()) for name, tensor in values.items()},
            "settings": dict(self._now["controls"]),
            "text": self._text,
            "errors": self._errors,
            "problem": self._problem,
            "said": said,
            "seed": self._seed,
            "answered": self._answered,
            "can_undo": bool(self._past),
            "can_redo": bool(self._future),
            "task": self._task.text if self._task else "",
            "done": self.done,
            "code": self.copy_as_code(),
        }

    def __repr__(self):
        return f"{self.title}: {', '.join(self._panels)}"

    def _repr_mimebundle_(self, **options):
        """The live board where there is a kernel, and the matrices as plain tables where there is none."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/plain": repr(self), "text/html": self._tables()}, metadata

    def _tables(self):
        tables = []
        for name, tensor in {**self._now["inputs"], **self._results}.items():
            if name in self._panels and tensor.ndim == 2:
                panel = self._panels[name]
                head = "".join(f"<th scope='col'>{html.escape(str(c))}</th>" for c in panel.columns)
                rows = []
                for i, row in enumerate(tensor.tolist()):
                    label = html.escape(str(panel.rows[i])) if i < len(panel.rows) else str(i + 1)
                    cells = "".join(f"<td>{x:.4g}</td>" for x in row)
                    rows.append(f"<tr><th scope='row'>{label}</th>{cells}</tr>")
                head = f"<tr><th></th>{head}</tr>" if head else ""
                tables.append(
                    f"<table><caption>{html.escape(panel.title or name)}</caption>{head}{''.join(rows)}</table>"
                )
        return f"<div><p>{html.escape(self.title)}: run the cell to move these numbers.</p>{''.join(tables)}</div>"


def _copy(now):
    return {"inputs": {n: t.clone() for n, t in now["inputs"].items()}, "controls": dict(now["controls"])}


def _read(text):
    """A number and no complaint, or None and the reason why the text is not one."""
    text = str(text).strip().replace("−", "-")
    if not text:
        return None, "The cell was empty."
    if re.fullmatch(r"[+-]?\d+,\d+", text):
        return None, f"{text} has a comma: write {text.replace(',', '.')}."
    if not NUMBER.fullmatch(text):
        return None, f"“{text[:20]}” is not a number."
    if abs(float(text)) > LARGEST:
        return None, f"{text[:20]} is too large: at most a million."
    return float(text), ""


def _tidy(x):
    return int(x) if math.isfinite(x) and x == int(x) else float(f"{x:.6g}")


def _for_json(value):
    """Nested lists in which nan and infinities, which JSON has not, are words."""
    if isinstance(value, list):
        return [_for_json(part) for part in value]
    return _tidy(value) if math.isfinite(value) else str(value)
