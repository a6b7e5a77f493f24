"""Board: named matrices and a list of steps. The page computes and draws them; Python is told, and is the judge."""

import html
import json
import math
from dataclasses import replace

import torch

from ..display import show
from . import modules
from .live import OF_LESSONS, PAGE, STYLE, LiveBoard
from .parts import CONDITIONS, Input, Step

LARGEST = 1e6  # of a number that may be typed
MOST = 16 * 256 * 256  # numbers in a film: what a page can hold
EDITABLE = 32 * 32


class Board(LiveBoard):
    """A page of matrices: some can be edited, the steps follow from them.

    figure: a picture of `figures.py` that stands for the matrices; they are one press away, and the state is the same.

    inputs: name → tensor or `Input`; steps: (name, operation) or `Step`, each on earlier names; tries: phrase → the
    inputs and controls that it sets, all others as at the start, or a `Drag` for its number in braces: a button or a
    number to drag here, and wherever a page shows the phrase in bold. Read back what stands there with `inputs`,
    `results`, `settings` and `done`.
    Raises: ValueError for a name that is used twice or not there yet, for a film or matrix that is too large, for a
    control without its start among its values, for a phrase that sets what cannot be; TypeError for an input that
    holds no numbers.
    """

    _esm = modules.joined(PAGE / "page.js", before=OF_LESSONS)
    _css = STYLE

    def __init__(self, inputs, steps, controls=(), task=None, title="Board", large=False, tries=None, figure=None):
        self.title, self._task, self._figure = title, task, figure
        self._steps = [step if isinstance(step, Step) else Step(*step) for step in steps]
        self._controls = {control.name: control for control in controls}
        self._given = {name: _given(name, value) for name, value in inputs.items()}
        self._start = {name: given.tensor for name, given in self._given.items() if given.editable}
        self._check_names()
        self._settings = {c.name: c.values[0] if c.start is None else c.start for c in controls}
        self._pinnable = {step.name for step in self._steps if step.pin}
        self._now, self._values = dict(self._start), {}  # what is pinned is there too: nan where it is not
        frames = {name: g.tensor.numpy().tobytes() for name, g in self._given.items() if g.tensor.ndim == 3}
        self._begin(tries, frames, large=large)

    def _check_names(self):
        seen = list(self._given)
        for step in self._steps:
            for name in step.operation.of:
                if name not in seen:
                    raise ValueError(f"step {step.name!r} needs {name!r}, before it there are {seen}")
            seen.append(step.name)
        seen += self._controls
        twice = {name for name in seen if seen.count(name) > 1}
        if twice:
            raise ValueError(f"names are used twice: {sorted(twice)}")
        for c in self._controls.values():
            if c.start is not None and c.start not in c.values:
                raise ValueError(f"control {c.name!r} starts at {c.start!r}, its values are {c.values}")

    # ------------------------------------------------------------------------------------------------- read back

    @property
    def inputs(self):
        """The matrices as they stand, name → float64 tensor: copies, nothing done to them reaches the board."""
        return {name: self._now[name].clone() for name in self._start}

    @property
    def pinned(self):
        """The results that a hand has written over, name → {(row, column): number}."""
        return {name: _places(self._now[name]) for name in self._pinnable & set(self._now)}

    @property
    def results(self):
        """Every step's matrix, name → float64 tensor."""
        return {step.name: self._values[step.name].clone() for step in self._steps}

    def _with(self, values):
        """What stands there with these inputs and controls; of a result, {(row, column): number} is written over it."""
        state = self._as_state(self._revision + 1)
        for name, value in values.items():
            if name in self._start:
                state["inputs"][name] = torch.as_tensor(value).tolist()
            elif name in self._controls:
                state["settings"][name] = value
            elif name in self._pinnable:
                state["inputs"][name] = _as_rows(name, self._values[name].shape, value)
            else:
                raise ValueError(f"{name!r} is no input or control; there are {[*self._start, *self._controls]}")
        return state

    def _read(self, state):
        inputs = {}
        for name, start in self._start.items():
            rows = state["inputs"][name]
            if [len(row) for row in rows] != [start.size(1)] * start.size(0):
                raise ValueError(f"{name} is not {start.size(0)} × {start.size(1)}")
            for x in (x for row in rows for x in row):
                fits = x in (0, 1) if self._given[name].toggle else abs(x) <= LARGEST  # nan is not
                if isinstance(x, bool) or not isinstance(x, int | float) or not fits:
                    raise ValueError(f"{name} cannot hold {str(x)[:20]}")
            inputs[name] = torch.tensor(rows, dtype=torch.float64)
        for name in self._pinnable & set(state["inputs"]):
            pins = _read_pins(name, state["inputs"][name])
            if not pins.isnan().all():
                inputs[name] = pins
        settings = {}
        for name, control in self._controls.items():
            value = state["settings"][name]
            if isinstance(value, bool) or value not in control.values:
                raise ValueError(f"{control.title} cannot be {str(value)[:20]}")
            settings[name] = value
        return inputs, settings

    def _compute(self):
        """Compute every step; returns "" or why it cannot be done, and then the values are those from before."""
        numbers = {name: self._controls[name].number(value) for name, value in self._settings.items()}
        values = {name: given.tensor for name, given in self._given.items()}
        values |= {name: self._now[name] for name in self._start}
        pins = {name: self._now[name] for name in self._pinnable & set(self._now)}
        try:
            with torch.no_grad():
                for step in self._steps:
                    values[step.name] = torch.as_tensor(step.operation.compute(values, numbers)).double()
                    if step.name in pins:
                        values[step.name] = _written_over(values[step.name], pins[step.name])
            holds = (
                self._task
                and not pins
                and all(  # a task is done by what is computed
                    CONDITIONS[kind](values, numbers, self._start, *rest) for kind, *rest in self._task.conditions
                )
            )
        except Exception as error:
            return f"This cannot be computed ({show.error(error)})."
        self._values, self._reached = values, self._reached or bool(holds)
        return ""

    def _as_state(self, revision):
        state = super()._as_state(revision)
        pins = {name: _as_rows(name, self._now[name].shape, places) for name, places in self.pinned.items()}
        return {**state, "inputs": {**state["inputs"], **pins}}

    # ------------------------------------------------------------------------------------------------- describe

    def _describe(self, large):
        panels = {name: _input_panel(name, given) for name, given in self._given.items()}
        for step in self._steps:
            panels[step.name] = _step_panel(step, panels)
        task = None
        if self._task:
            task = {k: getattr(self._task, k) for k in ("text", "conditions", "why", "answers", "right", "because")}
        controls = [
            {"name": c.name, "title": c.title, "values": c.values, "slider": c.slider, "ends": c.ends}
            | {"numbers": [c.number(v) for v in c.values]}
            for c in self._controls.values()
        ]
        start = {"inputs": {n: t.tolist() for n, t in self._start.items()}, "settings": dict(self._start_settings)}
        described = {"heading": self.title, "panels": list(panels.values()), "controls": controls, "task": task}
        described |= {"tries": self.tries, "figure": self._figure and self._figure.described()}
        return json.loads(json.dumps(described | {"start": start, "large": large}))

    def __repr__(self):
        shown = [panel["title"] for panel in self.spec["panels"] if not panel["hidden"]]
        return f"{self.title}: {'; '.join(title for title in shown if title)}"

    def tables(self, words="run the cell to move these numbers."):
        """The shown matrices as plain tables side by side, of a film only its size."""
        made = []
        for panel in self.spec["panels"]:
            matrix = self._values[panel["name"]]
            only_at_times = panel["when"] and panel["name"] not in self._given
            if panel["hidden"] or only_at_times or 0 in matrix.shape:
                continue
            if matrix.ndim == 3:
                made.append(f"<p>{html.escape(panel['title'])}: {' × '.join(map(str, matrix.shape))} numbers.</p>")
                continue
            rows = panel["rows"]
            if panel.get("sparse"):
                there = (~matrix.isnan().all(dim=1)).nonzero().flatten()
                matrix, rows = matrix[there], [rows[i] for i in there]
            table = show.matrix_as_html(
                matrix, panel["title"], row_names=rows, column_names=panel["columns"], decimals=2
            )
            made.append(f'<div style="display: inline-block; vertical-align: middle; margin: 0 1em 0 0">{table}</div>')
        return f"<div><p>{html.escape(self.title)}: {words}</p>{''.join(made)}</div>"


def random_matrix(shape, seed, place=0, draw=(-1, 1, 0.5)):
    """The matrix that *Random* with this seed puts into the board's input number `place`: the same on every page.

    draw is lowest, highest, step. Each number comes from a 32-bit hash of seed, place and its own place in reading
    order ("lowbias32", https://nullprogram.com/blog/2018/07/31/).
    """
    lowest, highest, step = draw
    count = round((highest - lowest) / step) + 1
    rows, columns = shape
    hashes = [_mix(_mix(_mix(seed) ^ place) ^ k) for k in range(rows * columns)]
    return torch.tensor([lowest + step * (h * count >> 32) for h in hashes], dtype=torch.float64).reshape(rows, columns)


def _mix(x):
    x = (x + 0x9E3779B9) & 0xFFFFFFFF
    x = ((x ^ x >> 16) * 0x7FEB352D) & 0xFFFFFFFF
    x = ((x ^ x >> 15) * 0x846CA68B) & 0xFFFFFFFF
    return x ^ x >> 16


def _given(name, value):
    """An Input with a tensor of its own: of float64, or as it is if it is a film."""
    given = value if isinstance(value, Input) else Input(value)
    tensor = given.tensor if isinstance(given.tensor, torch.Tensor) else torch.as_tensor(given.tensor)
    if tensor.is_complex() or tensor.ndim not in (2, 3):
        raise TypeError(f"{name} must hold real numbers in two dimensions or three, got shape {tuple(tensor.shape)}")
    most = MOST if tensor.ndim == 3 else EDITABLE if given.editable else MOST
    if tensor.numel() > most:
        size = " × ".join(map(str, tensor.shape))
        raise ValueError(f"{name} is {size} = {tensor.numel():,} numbers, a board holds at most {most:,}")
    tensor = tensor.detach().cpu()
    if tensor.ndim == 3:
        tensor = tensor.to(tensor.dtype if tensor.dtype == torch.float64 else torch.float32, copy=True).contiguous()
    elif tensor.dtype == torch.float32:  # 0.4 stays 0.4, and does not become 0.4000000059604645
        tensor = torch.tensor([[float(str(x)) for x in row] for row in tensor.numpy()], dtype=torch.float64)
    else:
        tensor = tensor.to(torch.float64, copy=True)
    return replace(given, tensor=tensor, editable=given.editable and tensor.ndim == 2)


def _read_pins(name, rows):
    """What is written over a result: a number, or None where it stays as it is computed, which becomes nan."""
    for x in (x for row in rows for x in row if x is not None):
        if isinstance(x, bool) or not isinstance(x, int | float) or not abs(x) <= LARGEST:
            raise ValueError(f"{name} cannot hold {str(x)[:20]}")
    return torch.tensor([[math.nan if x is None else x for x in row] for row in rows], dtype=torch.float64)


def _written_over(matrix, pins):
    if matrix.shape != pins.shape:
        raise ValueError(f"numbers of {tuple(pins.shape)} cannot be written over {tuple(matrix.shape)}")
    return torch.where(pins.isnan(), matrix, pins)


def _as_rows(name, shape, places):
    """What is written over a result as a page has it: rows, with None where it stays as it is computed."""
    rows, columns = shape
    if missed := [place for place in places if place not in {(i, j) for i in range(rows) for j in range(columns)}]:
        raise ValueError(f"{name} is {rows} × {columns} and has no place {missed[0]}")
    return [[places.get((i, j)) for j in range(columns)] for i in range(rows)]


def _places(pins):
    """What is written over a result, (row, column) → number."""
    return {(i, j): x for i, row in enumerate(pins.tolist()) for j, x in enumerate(row) if not math.isnan(x)}


def _panel(thing, name):
    """An input or a step for the page, as far as they are alike."""
    own = ("kind", "at", "note", "gap", "parts", "when", "hidden")
    panel = {what: getattr(thing, what) for what in own} | {"name": name, "title": thing.title or name}
    panel |= {"rows": list(map(str, thing.rows or ())), "columns": list(map(str, thing.columns or ()))}
    return panel | {"does": "", "role": "", "of": (), "options": {}}


def _input_panel(name, given):
    own = ("editable", "toggle", "draw")
    is_film = given.tensor.ndim == 3
    return _panel(given, name) | {
        **{what: getattr(given, what) for what in own},
        "shape": list(given.tensor.shape),
        "single": given.tensor.dtype == torch.float32,
        "values": [] if is_film else _for_json(given.tensor),
    }


def _step_panel(step, panels):
    """A step for the page; colour and words come from what it is computed from, unless they are given."""
    operation, options = step.operation, step.operation.options
    record, given = operation.record, [panels[name] for name in operation.of]
    panel = _panel(step, step.name) | {"does": operation.does, "role": record.role, "of": operation.of}
    panel |= {"wires": step.wires, "sparse": step.sparse, "tiles": step.tiles, "pin": step.pin}
    panel |= {"blinks": step.blinks, "zero": step.zero, "strip": step.strip}
    rows, columns = record.words(given, options)
    panel["rows"] = rows if step.rows is None else panel["rows"]
    panel["columns"] = columns if step.columns is None else panel["columns"]
    panel["kind"] = step.kind or record.kind(given, options)
    panel["at"] = step.at or (1 + max([(one["at"] or (1,))[0] for one in given], default=0), 1)
    return panel | {"options": {k: str(v) if v in (math.inf, -math.inf) else v for k, v in options.items()}}


def _for_json(matrix):
    """Rows of numbers in which nan and infinities, which JSON has not, are words."""
    return [[x if math.isfinite(x) else str(x) for x in row] for row in matrix.tolist()]
