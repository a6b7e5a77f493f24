"""Where the model is not here: the lesson can still be read from its first cell to its last, without an error.

`smollm()` then gives a stand-in. From there on, cells that ask for it, or for what such cells would have made, show
what the course printed there; a question is compared with the answer that the course saved. All else runs as ever.

Why not let such cells fail: each would end in a NameError, which says nothing of the model, stops Run All, and leaves
nothing of what JupyterLab had shown below the cell.
"""

import ast
import symtable

from IPython import get_ipython
from IPython.display import display

from .. import places

READ_ON = "Read on all the same: each cell that needs the model shows what the course printed there."
PRINTED = "The model is not here. With it, this cell printed:\n"
NOTHING = "The model is not here, so this cell does nothing."


class Absent:
    """Stands for the model in a notebook, and says why it is not here."""

    def __init__(self, words):
        self.words = words

    def __repr__(self):
        return f"{self.words} {READ_ON}"


def can_be_read_on():
    """Whether somebody reads a notebook now: no script and no test runs, and nothing is saved for others."""
    return get_ipython() is not None and not places.is_to_be_read()


def begin(words):
    """From the next cell on, read what the course saved; returns the stand-in."""
    end()
    get_ipython().ast_transformers.append(WithoutModel())
    return Absent(words)


def end():
    """The model is here, or is looked for again."""
    shell = get_ipython()
    if shell is not None:
        others = [one for one in shell.ast_transformers if not isinstance(one, WithoutModel)]
        shell.ast_transformers[:] = others


class WithoutModel:
    """Puts what the course saved in place of each cell that cannot run; IPython calls `visit` with every cell."""

    def __init__(self):
        self.unmade = set()  # what cells that could not run would have made

    def visit(self, cell):
        asks_for, makes = names_in(cell)
        if not any(self.is_missing(name) for name in asks_for):
            return cell
        self.unmade |= makes
        question = next(filter(None, map(question_asked, cell.body)), None)
        call = f"judged({question!r}, guess)" if question else "shown()"
        instead = f"__import__('workbench.smollm').smollm.absent.{call}"
        guess = [line for line in cell.body if question and isinstance(line, ast.Assign) and is_guess(line)]
        return ast.Module([*guess, *ast.parse(instead).body], cell.type_ignores)

    def is_missing(self, name):
        names = get_ipython().user_ns
        return isinstance(names[name], Absent) if name in names else name in self.unmade


def names_in(cell):
    """The names that a cell asks for and does not make itself, and those that it makes."""
    whole = symtable.symtable(ast.unparse(cell), "cell", "exec")
    makes = {symbol.get_name() for symbol in whole.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    asks_for = {symbol.get_name() for symbol in symbols_outside(whole)}
    return asks_for - makes, makes


def symbols_outside(table, *, is_whole=True):
    """The symbols that are read here, and in functions here, and belong to the notebook or to Python."""
    yield from (symbol for symbol in table.get_symbols() if symbol.is_referenced() and (is_whole or symbol.is_global()))
    for child in table.get_children():
        yield from symbols_outside(child, is_whole=False)


def question_asked(line):
    """The id of the question if this line calls `predict`."""
    call = getattr(line, "value", None)
    is_one = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "predict"
    return call.args[0].value if is_one else None


def is_guess(line):
    return [getattr(target, "id", "") for target in line.targets] == ["guess"]


# ------------------------------------------------------------------------------------------------ what the course saved


def shown():
    """Show what the course printed below the cell that runs now."""
    outputs = saved_outputs()
    print(PRINTED if outputs else NOTHING)
    for output in outputs:
        if "text" in output:
            print("".join(output["text"]), end="")
        else:
            display(joined(output["data"]), metadata=output["metadata"], raw=True)


def judged(question, guess):
    """Compare a guess with the answer that the course saved, as `predict` does with the true one."""
    from ..predict import predict

    texts = ["".join(output.get("data", {}).get("text/plain", "")) for output in saved_outputs()]
    answers = [text.partition("The answer: ")[2] for text in texts]
    return predict(question, guess, answers[0]) if any(answers) else print(NOTHING)


def joined(data):
    """A saved output's pictures and texts; a file keeps each as a list of lines."""
    return {kind: "".join(lines) if isinstance(lines, list) else lines for kind, lines in data.items()}


def saved_outputs():
    """What stands saved below the cell that runs, in the course's notebook, or else in this one."""
    notebook = places.notebook()
    if notebook is None:
        return []
    own = places.cells(notebook)
    here = places.running(own)
    of_the_course = places.cells(notebook.resolve().parent.parent / "notebooks" / notebook.name)
    same = [cell for cell in (*of_the_course, *own) if here is not None and cell["id"] == own[here]["id"]]
    return next((cell["outputs"] for cell in same if cell.get("outputs")), [])
