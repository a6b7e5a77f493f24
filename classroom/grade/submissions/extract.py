"""Which cells of a submission answer which exercise, and which lines of the course they stand on.

An exercise is found by the names that its `check` asks for in the course's own notebook, or by the submission's own
`check("3.2", …)`. Of the submission only the cells count that define these names, and what else of its own they use.
The lesson's names come from the course's notebook, line by line as they are needed.
"""

import ast
import builtins
import functools
import itertools
import json
import re
import symtable
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parents[3] / "notebooks"
CALLS = {"check", "hint", "solution", "progress", "predict", "blank"}  # what a notebook says, not what it computes
BUILTIN = set(dir(builtins))
DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
LONGEST = 60_000  # characters of a cell


@dataclass
class Cell:
    """A code cell, or one statement of it, with the names that it binds, changes and uses."""

    source: str
    id: str = ""
    exercise: str = ""  # in the course's notebooks: the exercise that is answered here
    place: int = 0  # its number among all code cells
    tree: ast.Module | None = field(default=None, repr=False)
    error: str = ""  # why it cannot be read

    def __post_init__(self):
        text = re.sub(r"(?m)^(\s*)[%!].*$", r"\1pass", self.source)  # magics and commands of the notebook
        try:
            if len(text) > LONGEST:
                raise SyntaxError(f"more than {LONGEST} characters in one cell")
            self.tree = ast.parse(text)
            table = symtable.symtable(text, "cell", "exec")
        except SyntaxError as error:
            where = f" in line {error.lineno}" if error.lineno else ""
            self.error = f"{type(error).__name__}{where}: {error.msg}"
        except (ValueError, RecursionError, MemoryError) as error:
            self.error = f"{type(error).__name__}: {error}"
        if self.error:
            self.tree, self.binds, self.changes, self.uses, self.code = None, set(), set(), set(), ""
            return
        self.binds, self.changes = (
            (set().union(*names) for names in zip(*map(bound_by, self.tree.body), strict=True))
            if self.tree.body
            else (set(), set())
        )
        self.uses = used_in(table) - BUILTIN
        self.code = text if not any(map(_is_call, self.tree.body)) else _without_calls(self.tree, text)

    @functools.cached_property
    def checks(self):
        """(id, arguments) of each `check` in it."""
        calls = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call)] if self.tree else ()
        checks = [call.args for call in calls if _name_of(call.func) == "check" and call.args]
        return [(getattr(first, "value", None), rest) for first, *rest in checks]

    @functools.cached_property
    def dump(self):
        """The syntax tree as text, equal for equal code whatever its layout; None if it cannot be parsed."""
        return ast.dump(self.tree) if self.tree else None


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


def bound_by(statement):
    """Return the names that a top-level statement binds, and those of which it sets an attribute or an item."""
    if isinstance(statement, DEFINITION):
        return {statement.name}, set()
    names, changed = set(), set()
    for node in _outside_definitions(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(node.id)
        elif isinstance(node, DEFINITION):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            while isinstance(node, ast.Subscript | ast.Attribute):
                node = node.value
            changed |= {node.id} if isinstance(node, ast.Name) else set()
    return names, changed


def _outside_definitions(node):
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, DEFINITION):
            yield child
        elif not isinstance(child, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            yield from _outside_definitions(child)


def used_in(table):
    """Return the global names that a piece of code reads, in its inner functions too."""
    used = set()
    for symbol in table.get_symbols():
        outside = table.get_type() == "module" or symbol.is_global()
        if outside and symbol.is_referenced():
            used.add(symbol.get_name())
    return used.union(*map(used_in, table.get_children()))


# ------------------------------------------------------------------------------------------------------- the course


@dataclass
class Asked:
    """An exercise as its notebook asks for it."""

    id: str
    notebook: str  # "03_masking"
    names: list  # what check is given, as it is written there
    cell: Cell  # the exercise's cell, still unanswered


class Course:
    """The course's notebooks: which exercises they ask for, and which lines define the names these use."""

    def __init__(self, folder=NOTEBOOKS):
        self.asked, self._lines = {}, {}
        paths = sorted(Path(folder).glob("[0-9]*.ipynb"))
        self._cells = {path.stem: read_cells(path.read_text(encoding="utf-8")) for path in paths}
        for name, cells in self._cells.items():
            for before, cell in itertools.pairwise(cells):
                if id := before.exercise:
                    ((_, args),) = cell.checks
                    self.asked[id] = Asked(id, name, [ast.unparse(arg) for arg in args], before)
        asking = {(asked.notebook, name) for asked in self.asked.values() for name in asked.cell.binds}
        names = Counter(name for _, name in asking)
        self.shared = {name for name, notebooks in names.items() if notebooks > 1}  # in several: they tell nothing
        self.dumps = {cell.dump for cells in self._cells.values() for cell in cells}

    def binds(self, name, asked):
        return self._last(name, asked.notebook, asked.cell.place) is not None

    def lines_for(self, names, asked):
        """Return [file, source] of each line of the notebook that these names depend on, in order."""
        needed, open_ = {}, [(name, asked.cell.place) for name in names]
        while open_:
            name, before = open_.pop()
            line = self._last(name, asked.notebook, before)
            if line is not None and id(line) not in needed:
                needed[id(line)] = line
                open_ += [(other, line.place + 1) for other in line.uses]
        order = self._lines_of(asked.notebook)
        chosen = sorted(needed.values(), key=lambda line: next(i for i, other in enumerate(order) if other is line))
        return [[f"<notebook {asked.notebook} {line.place}>", line.code] for line in chosen]

    def _lines_of(self, notebook):
        """The statements of a notebook outside its exercises; taken apart only when a submission needs them."""
        if notebook not in self._lines:
            cells = [cell for cell in self._cells[notebook] if not cell.exercise]
            self._lines[notebook] = [line for cell in cells for line in lines_of(cell)]
        return self._lines[notebook]

    def _last(self, name, notebook, before):
        """Return the last line above a place that binds a name, or else the first below it."""
        binding = [line for line in self._lines_of(notebook) if name in line.binds]
        above = [line for line in binding if line.place < before]
        return above[-1] if above else binding[0] if binding else None


def lines_of(cell):
    """Yield each statement of a cell as a `Cell`; an import yields one for each name."""
    for statement in cell.tree.body if cell.tree else ():
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                one = type(statement)(**{**dict(ast.iter_fields(statement)), "names": [alias]})
                yield Cell(ast.unparse(one), cell.id, cell.exercise, cell.place)
        else:
            yield Cell(ast.get_source_segment(cell.source, statement), cell.id, cell.exercise, cell.place)


@functools.cache
def course():
    return Course()


# ------------------------------------------------------------------------------------------------------- a submission


def read_cells(text):
    """Return the code cells of a notebook of any format; raises ValueError for anything else."""
    try:
        notebook = json.loads(text)
        sheets = notebook.get("worksheets") or [notebook]
        raw = [cell for sheet in sheets for cell in sheet["cells"] if cell["cell_type"] == "code"]
        cells = []
        for cell in raw:
            source = cell.get("source", cell.get("input", ""))
            exercise = cell.get("metadata", {}).get("exercise", "")
            cells.append(("".join(source), str(cell.get("id", "")), str(exercise)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("it is not a notebook") from error
    return [Cell(source, id, exercise, place) for place, (source, id, exercise) in enumerate(cells)]


def headings(text):
    """The first line of every Markdown cell of a notebook."""
    try:
        cells = json.loads(text)["cells"]
        return ["".join(cell["source"]).lstrip().split("\n")[0] for cell in cells if cell["cell_type"] == "markdown"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def split_script(text):
    """The cells of a .py: between the marks of an export, or its top-level statements."""
    marks = re.compile(r"(?m)^# (?:%%|In\s?\[).*$")
    if marks.search(text):
        pieces = marks.split(text)
    else:
        whole = Cell(text)
        if whole.tree is None:
            pieces = re.split(r"(?m)^(?=\S)(?<=\n)", text)
        else:
            pieces = [ast.get_source_segment(whole.source, statement) for statement in whole.tree.body]
    return [Cell(piece.strip("\n"), place=place) for place, piece in enumerate(pieces) if piece and piece.strip()]


OTHER_NAME = "under another name"


@dataclass
class Answer:
    """A submission's answer to one exercise: the code to run, and the code to show."""

    exercise: str
    lesson: list = field(default_factory=list)  # [file, source] of the course
    cells: list = field(default_factory=list)  # [file, source] of the submission
    expressions: list = field(default_factory=list)  # what check is given
    given: list = field(default_factory=list)  # for each part whether the course itself answers it
    shown: str = ""  # the submission's own source
    problem: str = ""  # why there is none: "not handed in", `OTHER_NAME`, "SyntaxError in line 2: …"


def answer_in(cells, id, of=None):
    """Return the `Answer` to an exercise that a submission's cells hold."""
    of = of or course()
    asked = of.asked[id]
    expressions = asked.names
    own = _expressions_checked(cells, id)
    broken = [cell for cell in cells if cell.error and _is_about(cell, asked)]
    theirs = [cell for cell in cells if cell.dump not in of.dumps]  # the rest is the course's own
    names = _names_in(expressions) & asked.cell.binds  # the others are the lesson's
    defining = _defining(theirs, names)
    if not defining and own and own != expressions:  # under a name of their own
        expressions = own
        names = _names_in(own) - asked.cell.binds
        defining = _defining(theirs, names)
    elif not defining:
        left_open = _defining(cells, names)
        if broken and not (left_open and left_open[-1].place > broken[-1].place):
            return Answer(id, shown=broken[-1].source, problem=broken[-1].error)
        written = [cell for cell in theirs if cell.id and cell.id == asked.cell.id and cell.tree and cell.tree.body]
        if written and not left_open:
            return Answer(id, shown=written[-1].source, problem=OTHER_NAME)
        return Answer(id, problem="" if left_open else "not handed in")
    chosen = _with_helpers(defining, theirs, asked, of)
    uses = _names_in(expressions).union(*(cell.uses for cell in chosen))
    bound = set().union(*(cell.binds for cell in chosen))
    return Answer(
        id,
        lesson=of.lines_for(sorted(uses - bound), asked),
        cells=[[f"<cell {cell.place + 1}>", cell.code] for cell in chosen],
        expressions=expressions,
        given=[text in asked.names and not _names_in([text]) & asked.cell.binds for text in expressions],
        shown="\n\n".join(cell.source for cell in defining) or f"check({id!r}, {', '.join(expressions)})",
    )


def _expressions_checked(cells, id):
    """What the submission's last own `check` of an exercise is given, as source."""
    found = [args for cell in cells for other, args in cell.checks if other == id and args]
    return [ast.unparse(arg) for arg in found[-1]] if found else []


def _names_in(expressions):
    trees = [ast.parse(text) for text in expressions]
    return {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _defining(cells, names):
    return [cell for cell in cells if cell.binds & names]


def _is_about(cell, asked):
    """Whether a cell that cannot be read was to hold the answer."""
    return cell.id == asked.cell.id or any(
        re.search(rf"\b(def|class)\s+{name}\b|^\s*{name}\b[^=\n]*=", cell.source, re.M) for name in asked.cell.binds
    )


def _with_helpers(defining, cells, asked, of):
    """The cells, and those of the submission's own cells that they need and the lesson does not have, in its order."""
    chosen = {id(cell): cell for cell in defining}
    open_ = list(defining)
    while open_:
        cell = open_.pop()
        for name in cell.uses - set().union(*(c.binds for c in chosen.values())):
            if of.binds(name, asked):
                continue
            helpers = [other for other in cells if name in other.binds][-1:]
            helpers += [other for other in cells if name in other.changes] if helpers else []
            for helper in helpers:
                if id(helper) not in chosen:
                    chosen[id(helper)] = helper
                    open_.append(helper)
    return sorted(chosen.values(), key=lambda cell: cell.place)


def _names(cell, asked):
    """Whether a cell defines what an exercise asks for, or would if it could be read."""
    return cell.binds & asked.cell.binds or (cell.error and _is_about(cell, asked))


def exercises_in(cells, file_name="", heads=(), of=None):
    """The ids of all exercises of the notebooks that a submission holds anything of."""
    of = of or course()
    named = [id for id, asked in of.asked.items() if any(_names(cell, asked) for cell in cells)]
    numbers = {id.split(".")[0] for cell in cells for id, _ in cell.checks if id in of.asked}
    numbers |= {id.split(".")[0] for id in named if of.asked[id].cell.binds - of.shared}
    if not numbers:
        stems = {asked.notebook for asked in of.asked.values()}
        numbers |= {stem.split("_")[0].lstrip("0") for stem in stems if stem in file_name}
        numbers |= {match[1] for head in heads[:1] if (match := re.match(r"#\s*(\d+)\.", head))}
    numbers = numbers or {id.split(".")[0] for id in named}
    return [id for id in of.asked if id.split(".")[0] in numbers]
