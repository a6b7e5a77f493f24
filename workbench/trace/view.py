"""A run, a step or a comparison as HTML and as the same words in plain text; no colour carries meaning alone."""

import html
import itertools
import re

import torch

from ..display import show
from ..display.colours import RULE, on_any
from .record import Step

LINE_UP_TO, ROWS_UP_TO = 88, 150
PAIRS_UP_TO = 12  # of a comparison; of more, those that tell where the two part
FOLDED_FROM, LONGEST_TURN = 4, 40  # turns of a loop from which on they are folded, rows of one turn
WRONG = on_any("wrong")
CELL = "text-align: left; padding: 0.15em 0.9em 0.15em 0; vertical-align: baseline; border: none; background: none"
CODE = "font-family: var(--jp-code-font-family, ui-monospace, monospace); background: none; color: inherit; padding: 0"


# --------------------------------------------------------------------------------------------------- one step


class ShownStep(Step):
    """A step that shows itself: in words, on a page, and its numbers as a heatmap."""

    def __repr__(self):
        return step_as_text(self)

    def _repr_html_(self):
        return step_as_html(self)

    def show(self, index=None, *, query_tokens=None, key_tokens=None):
        """A heatmap of the result: `plots.heatmap` for weights, a colour table for other numbers.

        index picks the matrix of a result with more than two dimensions, (0, 0) and so on; the first one unless given.
        Raises: ValueError for a result that was too large to keep, IndexError for an index that is none.
        """
        if self.value is None:
            what = "raised an error" if self.error else "holds too many numbers to keep, or none that can be read"
            raise ValueError(f"step {self.number} {what}: there is nothing to draw")
        matrix = _matrix(self.value, index)
        if not _are_weights(matrix):
            return Numbers(self, index)
        from ..display.plots import heatmap

        title = f"Step {self.number}: {self.operation}{_where(self.value, index)}"
        return heatmap(matrix, query_tokens, key_tokens, title=title)


def shapes_of(step):
    """`(2, 4, 8), (2, 8, 4) → (2, 4, 4)`."""
    into = _shapes(step.inputs)
    if step.error or not step.outputs:
        return into
    out = _shapes(step.outputs)
    return f"{into} → {out}".lstrip()


def _shapes(shapes_and_dtypes):
    """Each shape once where many are the same, as those that are stacked after a loop."""
    words = []
    for shape, same in itertools.groupby(map(_shape, shapes_and_dtypes)):
        times = len(list(same))
        words += [shape] * times if times < FOLDED_FROM else [f"{times} × {shape}"]
    return ", ".join(words)


def _shape(shape_and_dtype):
    shape, dtype = shape_and_dtype
    plain = dtype in (torch.float32, torch.float64)
    text = str(tuple(shape)) if shape else "number"
    return text if plain else f"{text} {str(dtype).removeprefix('torch.')}"


def remarks_of(step):
    remarks = [f"⚠ {words}" for words in step.surprises]
    return [*remarks, f"✗ {step.error}"] if step.error and not step.inner else remarks


def hidden_remarks(step):
    """What is to be said about the operations inside a call that is folded."""
    inside = step.operations() if step.inner else []
    return [f"{words} ({part.number}: {part.operation})" for part in inside for words in remarks_of(part)]


def step_as_text(step):
    lines = [f"{step.number}  {step.operation}  {shapes_of(step)}", *(f"   {words}" for words in remarks_of(step))]
    if step.place.text:
        lines.insert(0, _line(step.place))
    lines += _matrix_as_text(step) if not step.inner else rows_as_text(step.inner, True)
    return "\n".join(lines)


def step_as_html(step):
    title = f"<code style='{CODE}'>{html.escape(step.number)} &nbsp; {html.escape(step.operation)}</code>"
    title += f" &nbsp; {html.escape(shapes_of(step))}"
    body = _line_as_html(step.place) + f"<div>{title}</div>"
    body += "".join(f"<div>{html.escape(words)}</div>" for words in remarks_of(step))
    if step.inner:
        body += _table(rows_of(step.inner, True), f"Inside {step.operation}")
    else:
        body += _matrix_as_html(step)
    return show.framed(body, "wrong" if step.surprises or step.error else "plain")


# -------------------------------------------------------------------------------------------------- the matrix


class Numbers:
    """A colour table of one matrix of a step's result."""

    def __init__(self, step, index):
        self.step, self.index = step, index

    def __repr__(self):
        return "\n".join([f"step {self.step.number}: {self.step.operation}", *_matrix_as_text(self.step, self.index)])

    def _repr_html_(self):
        title = html.escape(f"Step {self.step.number}: {self.step.operation}")
        return show.framed(f"<div>{title}</div>{_matrix_as_html(self.step, self.index)}")


def _are_weights(matrix):
    if not matrix.is_floating_point():
        return False
    sums = matrix.double().sum(-1)
    inside = bool(((matrix >= 0) & (matrix <= 1)).all())
    one = torch.isclose(sums, torch.ones_like(sums), atol=1e-3)
    return inside and bool((one | (sums == 0)).all()) and bool(one.any())


def _matrix(value, index):
    if value.ndim <= 2:
        return value.reshape(1, -1) if value.ndim < 2 else value
    index = (0,) * (value.ndim - 2) if index is None else index
    index = index if isinstance(index, tuple) else (index,)
    if len(index) != value.ndim - 2:
        raise IndexError(f"index {index} has {len(index)} numbers, a result of shape {tuple(value.shape)} needs "
                         f"{value.ndim - 2}")  # fmt: skip
    return value[index] if value.numel() else value.flatten(0, -2)


def _where(value, index):
    if value.ndim <= 2:
        return ""
    index = (0,) * (value.ndim - 2) if index is None else index
    return f" [{', '.join(map(str, index if isinstance(index, tuple) else (index,)))}]"


def _title(step, index):
    which = next((i for i, snapshot in enumerate(step.snapshots) if snapshot is step.snapshot), 0)
    of_several = f" {which + 1} of {len(step.snapshots)}" if which else ""
    return f"result{of_several}{_where(step.value, index)}"


def _summary(step):
    snapshot = step.snapshot
    if snapshot is None or snapshot.sample is None:
        return ""
    return f"too large to keep: from {show.number(snapshot.low)} to {show.number(snapshot.high)}"


def _matrix_as_text(step, index=None):
    if step.value is None:
        return [f"   {_summary(step)}"] if _summary(step) else []
    text = show.matrix_as_text(_matrix(step.value, index), _title(step, index))
    return [f"   {line}" for line in text.splitlines()]


def _matrix_as_html(step, index=None):
    if step.value is None:
        return f"<div>{_summary(step)}</div>"
    return show.matrix_as_html(_matrix(step.value, index), _title(step, index))


# ------------------------------------------------------------------------------------------------------- a run


def rows_of(steps, inner, depth=0, kinds=None):
    """The tree as rows ("line", depth, place), ("call", depth, step), ("step", depth, step) or ("fold", depth, text).

    Of a loop the first and the last turn are shown, unless something is to be said about one between them.
    """
    rows, last, i = [], None, 0
    kinds = {} if kinds is None else kinds  # step → its kind, worked out once, however deep it is
    turns = _turns([_kind(step, kinds) for step in steps])
    while i < len(steps):
        step = steps[i]
        if (step.place.file, step.place.number) != last and step.place.text:
            rows.append(("line", depth, step.place))
        last = (step.place.file, step.place.number)
        opens = step.inner and (step.own or inner)
        rows.append(("call" if opens else "step", depth, step))
        if opens:
            rows += rows_of(step.inner, inner, depth + 1, kinds)
        i += 1
        if i in turns:
            until, times = turns[i]
            operations = show.count(sum(len(part.operations()) for part in steps[i:until]), "operation")
            between = f"steps {steps[i].number} to {steps[until - 1].number}"
            rows.append(("fold", depth, f"… the same {show.count(times, 'time')} more: {operations}, {between}"))
            i, last = until, None
    return rows


def _turns(kinds):
    """Where loops can be folded: {step after the first turn: (first step of the last turn, how many turns between)}."""
    folds, i = {}, 0
    while i < len(kinds):
        period, end = _turn(kinds, i)
        if period:
            folds[i + period] = (end - period, (end - i) // period - 2)
            i = end
        else:
            i += 1
    return folds


def _turn(kinds, start):
    """The length of a turn that is repeated from here on, and where its last repetition ends."""
    for period in range(1, min(LONGEST_TURN, (len(kinds) - start) // FOLDED_FROM) + 1):
        end = start + period
        while end < len(kinds) and kinds[end] == kinds[end - period]:
            end += 1
        times = (end - start) // period
        if times >= FOLDED_FROM:
            return period, start + times * period
    return 0, start


def _kind(step, kinds):
    """What makes two steps turns of the same loop: their line and operation, whatever the numbers, and the remarks.

    A call is like no other if something is to be said about an operation inside it.
    """
    if step not in kinds:
        inside, remarks = tuple(_kind(part, kinds) for part in step.inner), tuple(remarks_of(step))
        has_remark = any(has_remark for *_, has_remark in inside) if inside else bool(remarks)
        name = re.sub(r"\d+", "#", step.operation), step.number if inside and has_remark else ""
        kinds[step] = step.place.file, step.place.number, name, remarks, inside, has_remark
    return kinds[step]


def rows_as_text(steps, inner=False):
    rows = rows_of(steps, inner)
    width = max((len(step.operation) + 6 * depth for kind, depth, step in rows if kind == "step"), default=0)
    width = min(width, 44)
    lines = []
    for kind, depth, thing in rows[:ROWS_UP_TO]:
        indent = "      " * depth
        if kind == "fold":
            lines.append(f"{indent}      {thing}")
            continue
        if kind == "line":
            lines.append(indent + _line(thing))
        elif kind == "call":
            lines.append(f"{indent}{thing.number:>4}  {thing.operation}:")
        else:
            operation = thing.operation.ljust(max(0, width - 6 * depth))
            inside = f"   ({_count(thing)} inside)" if thing.inner else ""
            lines.append(f"{indent}{thing.number:>4}  {operation}  {shapes_of(thing)}{inside}")
        if kind != "line":
            lines += [f"{indent}      {words}" for words in remarks_of(thing)]
        if kind == "step":
            lines += [f"{indent}      {words}" for words in hidden_remarks(thing)]
    if len(rows) > ROWS_UP_TO:
        lines.append(f"… and {len(rows) - ROWS_UP_TO} more rows")
    return lines


def run_as_text(run, inner=False):
    lines = [_headline(run), *rows_as_text(run.steps, inner)]
    lines += [f"      {run.note}"] if run.note else []
    if run.error and not any(step.error for step in run.operations):
        place = run.error_place
        lines += ([_line(place)] if place and place.text else []) + [f"      ✗ {run.error}"]
    return "\n".join(lines)


def run_as_html(run):
    body = _table(rows_of(run.steps, False), _headline(run))
    body += f"<div>{html.escape(run.note)}</div>" if run.note else ""
    if run.error and not any(step.error for step in run.operations):
        place = _line_as_html(run.error_place) if run.error_place else ""
        body += f"{place}<div style='white-space: pre-wrap'><b>✗ {html.escape(run.error)}</b></div>"
    return show.framed(body, "wrong" if run.error or run.surprises else "plain")


def _headline(run):
    parts = [f"{run.name}: {show.count(len(run.operations), 'operation')}"]
    if run.left_out:
        parts.append(f"{run.left_out} more not shown")
    if run.surprises:
        parts.append(show.count(len(run.surprises), "surprise"))
    if run.error:
        parts.append("then an error")
    return ", ".join(parts)


def _count(step):
    return show.count(len(step.operations()), "operation")


def _line(place):
    text = place.text if len(place.text) <= LINE_UP_TO else f"{place.text[: LINE_UP_TO - 1]}…"
    return f"line {place.number}  {text}" if place.own else text


def _line_as_html(place):
    if not place.text:
        return ""
    text = place.text if len(place.text) <= LINE_UP_TO else f"{place.text[: LINE_UP_TO - 1]}…"
    where = f"<span style='opacity: 0.75'>line {place.number}</span> &nbsp;" if place.own else ""
    return f"<div>{where}<code style='{CODE}; font-weight: bold'>{html.escape(text)}</code></div>"


def _table(rows, caption):
    cells = "".join(map(_row_as_html, rows[:ROWS_UP_TO]))
    if len(rows) > ROWS_UP_TO:
        cells += f"<tr><td colspan='3' style='{CELL}'>… and {len(rows) - ROWS_UP_TO} more rows</td></tr>"
    head = "".join(f"<th scope='col' style='{CELL}; opacity: 0.75'>{name}</th>" for name in HEAD)
    caption = (
        f"<caption style='caption-side: top; text-align: left; color: inherit; padding-bottom: 0.3em'><b>"
        f"{html.escape(caption)}</b></caption>"
    )
    style = "border-collapse: collapse; margin: 0; font-size: inherit"
    table = f"<table style='{style}'>{caption}<thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table>"
    return f"<div style='overflow-x: auto'>{table}</div>"


HEAD = ("step", "operation", "shapes in → out")


def _row_as_html(row):
    kind, depth, thing = row
    indent = f"padding-left: {1.4 * depth:g}em"
    if kind == "fold":
        return f"<tr><td></td><td colspan='2' style='{CELL}; {indent}; opacity: 0.75'>{html.escape(thing)}</td></tr>"
    if kind == "line":
        edge = "" if depth else f"; padding-top: 0.5em; border-top: 1px solid {RULE}"
        style = f"{CELL}; {indent}{edge}"
        return f"<tr><th scope='rowgroup' colspan='3' style='{style}'>{_line_as_html(thing)}</th></tr>"
    words = remarks_of(thing) + (hidden_remarks(thing) if kind == "step" else [])
    style = f"border-left: 4px solid {WRONG}; padding-left: 0.5em; white-space: pre-wrap; max-width: 46em"
    remarks = "".join(f"<div style='{style}'>{html.escape(text)}</div>" for text in words)
    operation = f"<code style='{CODE}'>{html.escape(thing.operation)}</code>"
    number = f"<th scope='row' style='{CELL}; {indent}; font-weight: normal; opacity: 0.75'>{thing.number}</th>"
    if kind == "call":
        return f"<tr>{number}<td colspan='2' style='{CELL}'>inside {operation}{remarks}</td></tr>"
    shapes = f"<td style='{CELL}; white-space: normal'>{html.escape(shapes_of(thing))}</td>"
    rows = f"<tr>{number}<td style='{CELL}'>{operation}</td>{shapes}</tr>"
    below = remarks
    if thing.inner:
        table = _table(rows_of(thing.inner, False), f"Inside {thing.operation}")
        below += f"<details><summary>{_count(thing)} inside</summary>{table}</details>"
    return rows + (f"<tr><td></td><td colspan='2' style='{CELL}; {indent}'>{below}</td></tr>" if below else "")


# ------------------------------------------------------------------------------------------------ a comparison


def comparison_as_text(comparison, every=False):
    lines = [_names(comparison), comparison.verdict, ""]
    rows = _aligned(comparison)
    cells = [(_cell_text(a), sign, _cell_text(b), note) for a, b, sign, note in rows]
    row_numbers = range(len(rows)) if every else _telling(rows)
    widths = [min(52, max((len(cells[i][side]) for i in row_numbers), default=1)) for side in (0, 2)]
    lines.append(f"{'A'.ljust(widths[0])}     {'B'.ljust(widths[1])}".rstrip())
    for i, left_out in _with_gaps(row_numbers, len(rows)):
        if left_out:
            lines.append(f"      … {show.count(len(rows[left_out]), 'row')}")
        elif i < ROWS_UP_TO:
            a, sign, b, note = cells[i]
            lines.append(f"{a.ljust(widths[0])}  {sign}  {b.ljust(widths[1])}  {note}".rstrip())
    for name, run in (("A", comparison.first), ("B", comparison.second)):
        lines += [f"{name} ⚠ step {step.number}, {step.operation}: {words}" for step, words in run.surprises]
        lines += [f"{name} ✗ {run.error}"] if run.error else []
        lines += [f"{name}: {run.note}"] if run.note else []
    return "\n".join(lines)


def comparison_as_html(comparison):
    rows = _aligned(comparison)
    row_numbers = _telling(rows)
    remarks = [
        f"<div style='border-left: 4px solid {WRONG}; padding-left: 0.5em'>{name} ⚠ step {step.number}, "
        f"{html.escape(f'{step.operation}: {words}')}</div>"
        for name, run in (("A", comparison.first), ("B", comparison.second))
        for step, words in run.surprises
    ]
    remarks += [
        f"<div><b>{name} ✗ {html.escape(run.error)}</b></div>"
        for name, run in (("A", comparison.first), ("B", comparison.second))
        if run.error
    ]
    remarks += [
        f"<div>{name}: {html.escape(run.note)}</div>"
        for name, run in (("A", comparison.first), ("B", comparison.second))
        if run.note
    ]
    head = "".join(f"<th scope='col' style='{CELL}'>{name}</th>" for name in ("A", "same?", "B", "where"))
    cells = []
    for i, left_out in _with_gaps(row_numbers, len(rows)):
        if left_out:
            inside = "".join(_pair_as_html(*row) for row in rows[left_out])
            folded = show.folded(f"… {show.count(len(rows[left_out]), 'row')}", f"<table>{inside}</table>")
            cells.append(f"<tr><td colspan='4' style='{CELL}'>{folded}</td></tr>")
        elif i < ROWS_UP_TO:
            cells.append(_pair_as_html(*rows[i]))
    caption = html.escape(_names(comparison))
    table = (
        "<div style='overflow-x: auto'><table style='border-collapse: collapse; margin: 0.5em 0; font-size: inherit'>"
        f"<caption style='caption-side: top; text-align: left; color: inherit'>{caption}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(cells)}</tbody></table></div>"
    )
    body = f"<div><b>{show.marked(comparison.verdict)}</b></div>{table}{''.join(remarks)}"
    return show.framed(body, "wrong" if comparison.difference else "plain")


def _pair_as_html(a, b, sign, note):
    mark = f"; border-top: 2px solid {WRONG}; border-bottom: 2px solid {WRONG}" if note else ""
    words = {"=": "same", "≠": "differs", "·": "on one side only"}[sign]
    return (
        f"<tr><td style='{CELL}{mark}'>{_cell_html(a)}</td>"
        f"<td style='{CELL}{mark}' title='{words}' aria-label='{words}'>{sign}</td>"
        f"<td style='{CELL}{mark}'>{_cell_html(b)}</td><td style='{CELL}{mark}'><b>{note}</b></td></tr>"
    )


def _telling(rows):
    """Which rows tell where two runs part: the last that agree, the one that parts, and what it all comes to.

    All of them where there are few, or where no row is marked.
    """
    parts = next((i for i, row in enumerate(rows) if row[3]), None)
    if len(rows) <= PAIRS_UP_TO or parts is None:
        return range(len(rows))
    agree = [i for i in range(parts) if rows[i][2] == "="]
    return sorted({*agree[-1:], parts, len(rows) - 1})


def _with_gaps(row_numbers, count):
    """(row, None) of each row that is shown, and (row, the slice of rows before it) where some are left out."""
    last = -1
    for i in [*row_numbers, count]:
        if i - last > 1:
            yield i, slice(last + 1, i)
        if i < count:
            yield i, None
        last = i


def _names(comparison):
    return f"A is {comparison.first.name}, B is {comparison.second.name}"


def _aligned(comparison):
    """Rows (a, b, sign, note); the row of the first difference carries the note."""
    rows, difference = [], comparison.difference
    parting_steps = (difference.first, difference.second) if difference else (None, None)
    for a, b, same in comparison.pairs:
        here = any(step is not None and any(step is f for f in parting_steps) for step in (a, b))
        sign = "=" if same else "≠" if a and b else "·"
        is_marked = any(row[3] for row in rows)
        rows.append((a, b, sign, "← here they part" if here and not is_marked else ""))
    return rows


def _cell_text(step):
    if step is None:
        return ""
    shapes = _shape(step.outputs[0]) if step.outputs else "✗"
    return f"{step.number:>4}  {step.operation}  {shapes}"


def _cell_html(step):
    if step is None:
        return ""
    shapes = html.escape(_shape(step.outputs[0]) if step.outputs else "✗")
    line = html.escape(step.place.text[:LINE_UP_TO])
    number = f"<span style='opacity: 0.75'>{step.number}</span>"
    return f"{number} &nbsp; <code style='{CODE}' title='{line}'>{html.escape(step.operation)}</code> &nbsp; {shapes}"
