"""Which cells of a submission answer which exercise, and what they stand on.

An exercise is found by the names that its `check` asks for in the course's own notebook, or by the submission's own
`check("3.2", …)`. What runs is what these names stand on, in the order in which a kernel ran it: `needed.py`. The
lesson's lines come from the course's notebook, also where the submission leaves them out.
"""

import ast
import functools
import itertools
import json
import re
import symtable
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from .jupyter_syntax import as_python
from .names import Names
from .needed import Step, Steps
from .scripts import pieces_of, source_of

NOTEBOOKS = Path(__file__).resolve().parents[3] / "notebooks"
CALLS = {"check", "hint", "solution", "progress", "predict", "blank"}  # what a notebook says, not what it computes
LONGEST = 60_000  # characters of a cell


@dataclass
class Cell:
    """A cell, or one statement of it; of a code cell with the names that it binds, changes and uses."""

    source: str
    id: str = ""
    exercise: str = ""  # in the course's notebooks: the exercise that is answered here
    place: int = 0  # its number among all code cells
    kind: str = "code"  # or "markdown", "raw"
    tree: ast.Module | None = field(default=None, repr=False)
    error: str = ""  # why it cannot be read

    def __post_init__(self):
        try:
            if len(self.source) > LONGEST:
                raise SyntaxError(f"more than {LONGEST} characters in one cell")
            self.text = as_python(self.source) if self.kind == "code" else ""
            self.tree = ast.parse(self.text)
            self.names = Names(self.tree, symtable.symtable(self.text, "cell", "exec"))
        except SyntaxError as error:
            where = f" in line {error.lineno}" if error.lineno else ""
            self.error = f"{type(error).__name__}{where}: {error.msg}"
        except (ValueError, RecursionError, MemoryError) as error:
            self.error = f"{type(error).__name__}: {error}"
        if self.error:
            self.text, self.tree = "", ast.Module([], [])
            self.names = Names(self.tree, symtable.symtable("", "cell", "exec"))

    @property
    def binds(self):
        """The names that running it binds, or calling its functions."""
        return self.names.binds | self.names.global_later

    @functools.cached_property
    def code(self):
        """What of it is run: all but what a notebook says."""
        return self.text if not any(map(_is_call, self.tree.body)) else _without_calls(self.tree, self.text)

    @functools.cached_property
    def checks(self):
        """(id, arguments) of each `check` in it."""
        calls = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call)]
        checks = [call.args for call in calls if _name_of(call.func) == "check" and call.args]
        return [(getattr(first, "value", None), rest) for first, *rest in checks]

    @functools.cached_property
    def dump(self):
        """The syntax tree as text, equal for equal code whatever its layout; None if there is none."""
        return ast.dump(self.tree) if self.tree.body else None


def _name_of(node):
    return getattr(node, "id", getattr(node, "attr", None))


def _is_call(statement):
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and _name_of(statement.value.func) in CALLS
    )


def _without_calls(tree, text):
    calls = [statement for statement in tree.body if _is_call(statement)]
    others = [statement for statement in tree.body if not _is_call(statement)]
    if {line for call in calls for line in _lines_of(call)} & {line for other in others for line in _lines_of(other)}:
        return ast.unparse(ast.Module(others, []))  # several statements in one line
    lines = text.splitlines()
    for call in calls:
        first, *more = _lines_of(call)
        lines[first - 1] = "pass"
        for line in more:
            lines[line - 1] = ""
    return "\n".join(lines)


def _lines_of(statement):
    return range(statement.lineno, statement.end_lineno + 1)


# ------------------------------------------------------------------------------------------------------- the course


@dataclass
class Asked:
    """An exercise as its notebook asks for it."""

    id: str
    notebook: str  # "03_masking"
    names: list  # what check is given, as it is written there
    cell: Cell  # the exercise's cell, still unanswered


class Course:
    """The course's notebooks: which exercises they ask for, and the steps that their cells are made of."""

    def __init__(self, folder=NOTEBOOKS):
        self.asked, self._steps = {}, {}
        paths = sorted(Path(folder).glob("[0-9]*.ipynb"))
        cells = {path.stem: read_cells(path.read_text(encoding="utf-8")) for path in paths}
        self.texts = {cell.source.strip() for one in cells.values() for cell in one if cell.kind != "code"}
        self._cells = {name: [cell for cell in one if cell.kind == "code"] for name, one in cells.items()}
        for name, cells in self._cells.items():
            for before, cell in itertools.pairwise(cells):
                if id := before.exercise:
                    ((_, args),) = cell.checks
                    self.asked[id] = Asked(id, name, [ast.unparse(arg) for arg in args], before)
        names_asked_for = {(asked.notebook, name) for asked in self.asked.values() for name in asked.cell.binds}
        names = Counter(name for _, name in names_asked_for)
        self.shared = {name for name, notebooks in names.items() if notebooks > 1}  # in several: they tell nothing
        self.unanswered = {cell.dump for cells in self._cells.values() for cell in cells if cell.exercise}
        self._by_dump = {cell.dump: (name, cell) for name, cells in self._cells.items() for cell in cells}
        self.dumps = set(self._by_dump) - {None}

    def steps(self, notebook):
        """{number of a cell outside the exercises: its steps}, made when a submission needs them."""
        if notebook not in self._steps:
            cells = [cell for cell in self._cells[notebook] if not cell.exercise]
            self._steps[notebook] = {cell.place: _steps_of(cell, f"<notebook {notebook} {{}}>") for cell in cells}
        return self._steps[notebook]

    def steps_like(self, cell, notebook):
        """The steps of the course's own cell that a submission's cell is, of this notebook if it has such a one."""
        same = (one for one in self._cells[notebook] if one.dump == cell.dump)
        home, one = notebook, next(same, None)
        if one is None:
            home, one = self._by_dump[cell.dump]
        return home == notebook and one.place, self.steps(home).get(one.place, [])

    def edited(self, cell, notebook):
        """Whether a submission's cell is one of the notebook's, outside the exercises, that was changed."""
        return any(one.id == cell.id and one.id and not one.exercise for one in self._cells[notebook])


def _steps_of(cell, file, is_own=False):
    steps = []
    for line in lines_of(cell):
        is_import = isinstance(line.tree.body[0], ast.Import | ast.ImportFrom)
        steps.append(Step(file.format(line.place), line.code, line.names, is_own, is_import))
    return steps


def lines_of(cell):
    """Yield each statement of a cell as a `Cell`; an import yields one for each name."""
    for statement in cell.tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                one = type(statement)(**{**dict(ast.iter_fields(statement)), "names": [alias]})
                yield Cell(ast.unparse(one), cell.id, cell.exercise, cell.place)
        else:
            yield Cell(source_of(statement, cell.text), cell.id, cell.exercise, cell.place)


@functools.cache
def course():
    return Course()


# ------------------------------------------------------------------------------------------------------- a submission


def read_cells(text):
    """Return the cells of a notebook of any format; raises ValueError for anything else."""
    try:
        notebook = json.loads(text)
        sheets = notebook.get("worksheets") or [notebook]
        cells, place = [], 0
        for cell in (cell for sheet in sheets for cell in sheet["cells"]):
            source, kind = "".join(cell.get("source", cell.get("input", ""))), cell["cell_type"]
            metadata = cell.get("metadata", {})
            is_ours = "new_version_of" in metadata.get("course", {})  # `copies` set it beside the learner's own
            kind = kind if kind in ("code", "markdown", "raw") else "raw"
            if kind == "code" or not is_ours:
                id, exercise = str(cell.get("id", "")), str(metadata.get("exercise", ""))
                cells.append(Cell(source, id, exercise, place, kind))
            place += kind == "code"
        return cells
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("it is not a notebook") from error


def headings(text):
    """The first line of every Markdown cell of a notebook."""
    try:
        cells = json.loads(text)["cells"]
        return ["".join(cell["source"]).lstrip().split("\n")[0] for cell in cells if cell["cell_type"] == "markdown"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def split_script(text):
    """The cells of a .py, as an editor or a notebook's export has written it."""
    return [Cell(piece, place=place) for place, piece in enumerate(pieces_of(text))]


OTHER_NAME = "under another name"
OTHER_KINDS = {"markdown": "in a Markdown cell", "raw": "in a raw cell"}


@dataclass
class Answer:
    """A submission's answer to one exercise: the code to run, and the code to show."""

    exercise: str
    steps: list = field(default_factory=list)  # [file, source, whether it is the submission's own], in order
    expressions: list = field(default_factory=list)  # what check is given
    given: list = field(default_factory=list)  # for each part whether the course itself answers it
    shown: str = ""  # the submission's own source
    problem: str = ""  # why there is none: "not handed in", `OTHER_NAME`, of `OTHER_KINDS`, "SyntaxError in line 2: …"
    checked: object = None  # the `Answer` that its last `check` saw, where the answer was written anew below that


def answer_in(cells, id, of=None):
    """Return the `Answer` to an exercise that a submission's cells hold: the last one, with the last checked one."""
    answer, last = _answer_in(cells, id, of)
    checks = [cell.place for cell in cells if cell.place < last and any(other == id for other, _ in cell.checks)]
    if checks:
        earlier, _ = _answer_in([cell for cell in cells if cell.place <= checks[-1]], id, of)
        answer.checked = earlier if earlier.expressions else None
    return answer


def _answer_in(cells, id, of=None):
    """(the `Answer` that cells hold, the place of its last cell, -1 for none)."""
    of = of or course()
    asked = of.asked[id]
    code = [cell for cell in cells if cell.kind == "code"]
    expressions = asked.names
    own = _expressions_checked(code, id)
    unreadable = [cell for cell in code if cell.error and _is_about(cell, asked)]
    theirs = [cell for cell in code if cell.dump not in of.dumps]  # the rest is the course's own
    names = _names_in(expressions) & asked.cell.binds  # the others are the lesson's
    defining = _defining(theirs, names)
    if not defining and own and own != expressions:  # under a name of their own
        expressions = own
        names = _names_in(own) - asked.cell.binds
        defining = _defining(theirs, names)
    elif not defining:
        still_open = _defining(code, names)
        if unreadable and not (still_open and still_open[-1].place > unreadable[-1].place):
            return Answer(id, shown=unreadable[-1].source, problem=unreadable[-1].error), unreadable[-1].place
        renamed = [cell for cell in theirs if cell.id and cell.id == asked.cell.id and cell.tree.body]
        if renamed and not still_open:
            return Answer(id, shown=renamed[-1].source, problem=OTHER_NAME), -1
        for cell in cells:
            if cell.kind != "code" and _answer_inside(cell, asked.cell.binds, of):
                return Answer(id, shown=cell.source, problem=OTHER_KINDS[cell.kind]), -1
        return Answer(id, problem="" if still_open else "not handed in"), -1
    answer = Answer(
        id,
        steps=[[step.file, step.code, step.is_own] for step in _needed(code, defining, expressions, asked, of)],
        expressions=expressions,
        given=[text in asked.names and not _names_in([text]) & asked.cell.binds for text in expressions],
        shown="\n\n".join(cell.source for cell in defining) or f"check({id!r}, {', '.join(expressions)})",
    )
    return answer, defining[-1].place if defining else -1


def _needed(cells, defining, expressions, asked, of):
    """The steps that an answer stands on where it is checked: below its last `check`, or else at the end.

    A check above the answer's last cell says nothing of that.
    """
    of_lesson, present, steps, point, own_steps = of.steps(asked.notebook), set(), [], None, []
    defining_ids = {id(cell) for cell in defining}
    last = defining[-1].place if defining else -1
    for cell in cells:
        if cell.dump in of.unanswered:
            pass
        elif cell.dump in of.dumps:
            place, its_steps = of.steps_like(cell, asked.notebook)
            present.add(place)
            steps += its_steps
        elif cell.dump is not None and of.edited(cell, asked.notebook) and id(cell) not in defining_ids:
            steps += _steps_of(cell, f"<cell {cell.place + 1}>", is_own=True)
        elif cell.dump is not None:
            own_steps += [len(steps)] if id(cell) in defining_ids else []
            is_import = all(isinstance(one, ast.Import | ast.ImportFrom) for one in cell.tree.body)
            steps.append(Step(f"<cell {cell.place + 1}>", cell.code, cell.names, True, is_import))
        if cell.place >= last and any(id == asked.id for id, _ in cell.checks):
            point = len(steps)
    left_out = {place: its_steps for place, its_steps in of_lesson.items() if place not in present}
    above = [step for place, its_steps in left_out.items() if place < asked.cell.place for step in its_steps]
    below = [step for place, its_steps in left_out.items() if place > asked.cell.place for step in its_steps]
    point = len(above) + (len(steps) if point is None else point)
    own_steps = [len(above) + number for number in own_steps]
    return Steps([*above, *steps, *below]).needed_for(_names_in(expressions), own_steps, point)


def _expressions_checked(cells, id):
    """What the submission's last own `check` of an exercise is given, as source."""
    arguments = [args for cell in cells for other, args in cell.checks if other == id and args]
    return [ast.unparse(arg) for arg in arguments[-1]] if arguments else []


def _names_in(expressions):
    trees = [ast.parse(text) for text in expressions]
    return {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _defining(cells, names):
    return [cell for cell in cells if cell.binds & names]


def _is_about(cell, asked, names=None):
    """Whether a cell that cannot be read was to hold the answer."""
    return cell.id == asked.cell.id or any(
        re.search(rf"\b(def|class)\s+{name}\b|^\s*{name}\b[^=\n]*=", cell.source, re.M)
        for name in (asked.cell.binds if names is None else names)
    )


def _answer_inside(cell, names, of):
    """Whether a cell that is no code holds an answer that was meant to be run."""
    if cell.source.strip() in of.texts:
        return False
    fenced = re.findall(r"(?ms)^ *(?:```+|~~~+)[^\n]*\n(.*?)^ *(?:```+|~~~+)", cell.source)
    insides = (Cell(text) for text in fenced or [cell.source])
    return any(inside.binds & names and inside.dump not in of.dumps for inside in insides)


def _defines(cell, asked, names, of):
    """Whether a cell defines one of these names that an exercise asks for, or would if it could be read."""
    if cell.kind != "code":
        return _answer_inside(cell, names, of)
    return cell.binds & names or (cell.error and _is_about(cell, asked, names))


def exercises_in(cells, file_name="", heads=(), of=None):
    """The ids of all exercises of the notebooks that a submission holds anything of."""
    of = of or course()

    def defined(but):
        """The numbers of the notebooks that ask for a name that is defined here, and is none of these."""
        for id, asked in of.asked.items():
            names = asked.cell.binds - but
            if names and any(_defines(cell, asked, names, of) for cell in cells):
                yield id.split(".")[0]

    numbers = {id.split(".")[0] for cell in cells for id, _ in cell.checks if id in of.asked}
    numbers |= {*defined(but=of.shared)}
    if not numbers:
        stems = {asked.notebook for asked in of.asked.values()}
        numbers |= {stem.split("_")[0].lstrip("0") for stem in stems if stem in file_name}
        numbers |= {match[1] for head in heads[:1] if (match := re.match(r"#\s*(\d+)\.", head))}
    numbers = numbers or {*defined(but=set())}
    return [id for id in of.asked if id.split(".")[0] in numbers]
