"""A class that a learner wrote in one notebook, for later ones: kept as a file of Python beside the copies.

Why a file and not an object? A class cannot be pickled out of a notebook, and a learner can read a file, change it and
import it. It holds the class as it was written, and what it uses of its notebook: imports, functions, plain numbers.
"""

import ast
import builtins
import inspect
import linecache
import re
import sys
import types

from ..progress import place
from ..shared_json import replace
from .engine.exercise import find
from .engine.stub import is_unattempted

HEADER = '# Kept by check("{id}") when it was right. The next right answer replaces this file.\n'
PLAIN = (int, float, str, bool, type(None))


class CannotKeep(Exception):
    """Why a class cannot live outside its notebook, as a clause."""


def keep(id, made_of, folder=None):
    """Write a class and what it uses into a file; returns a sentence for the learner."""
    file = _file(made_of.__name__, folder)
    try:
        source = standing_alone(made_of)
        if file.is_file() and not file.read_text(encoding="utf-8", errors="replace").startswith(HEADER.format(id=id)):
            raise CannotKeep(f"there is a file `{file.name}` of yours already")
        replace(file, HEADER.format(id=id) + source)
    except CannotKeep as error:
        return f"Later notebooks cannot go on with your class: {error}."
    except OSError:
        return "Later notebooks cannot go on with your class: this folder cannot be written to."
    return f"Your class is kept in `{file.name}`; later notebooks go on with it."


def your_own(id, otherwise=None):
    """The learner's class or function for an exercise, or else another; returns it and its name, and prints which.

    It is the one of that name in this notebook, or the class that `check` has kept; only one that is right. The other
    is a class of the library; without one, it is what the exercise compares with.
    """
    exercise = find(id)
    name = exercise.asks.split("(")[0]
    if otherwise is None:
        otherwise, others = exercise.reference, f"the course's {name}"
    else:
        others = f"{otherwise.__module__.partition('.')[0]}.{otherwise.__name__}"
    in_notebook = _names_of_the_notebook().get(name)
    try:
        made_of = in_notebook if _is_written(in_notebook) else _load(name)
    except Exception as error:
        print(f"{_file(name).name} cannot be read ({type(error).__name__}: {error}), so this is {others}.")
        return otherwise, others
    if made_of is None:
        print(f"Exercise {id} is not done yet, so this is {others}.")
    elif exercise.judge(made_of).status != "correct":
        print(f'Your {name} is not right, as check("{id}", {name}) says, so this is {others}.')
    else:
        print(f"This is your own {name}, of exercise {id}.")
        return made_of, name
    return otherwise, others


def _is_written(thing):
    return (isinstance(thing, type) or inspect.isfunction(thing)) and not is_unattempted(thing)


def _names_of_the_notebook():
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell.user_ns if shell else {}


def _file(name, folder=None):
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    return place(folder).with_name(f"{snake}.py")


def _load(name):
    """The class in the file that was kept, or None."""
    file = _file(name)
    if not file.is_file():
        return None
    source = file.read_text(encoding="utf-8")
    module = types.ModuleType(file.stem)
    exec(compile(source, str(file), "exec"), vars(module))
    return getattr(module, name, None)


# ------------------------------------------------------------------------------------------- a class and what it uses


def standing_alone(made_of):
    """The source of a class of a notebook that runs by itself; raises CannotKeep where there is none."""
    imports, parts = [], []
    _collect(made_of, _globals_of(made_of), imports, parts, set())
    return "\n".join(sorted(imports)) + "\n\n\n" + "\n\n\n".join(parts) + "\n"


def _globals_of(made_of):
    functions = filter(inspect.isfunction, vars(made_of).values())
    return next((code.__globals__ for code in functions), {})  # {}: all that it does is inherited


def _collect(thing, names, imports, parts, done):
    """Add the source of a class or function, below all that it uses."""
    done.add(thing.__name__)
    definition, source = _definition_of(thing)
    names_used = {
        node.id for node in ast.walk(definition) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    for name in sorted(names_used & names.keys() - done - vars(builtins).keys()):
        value = names[name]
        done.add(name)
        if (line := _import_of(name, value)) is not None:
            imports.append(line)
        elif isinstance(value, PLAIN):
            parts.append(f"{name} = {value!r}")
        elif inspect.isfunction(value) or inspect.isclass(value):
            if value.__name__ != name:
                raise CannotKeep(f"it uses `{name}`, which is another name of `{value.__name__}`")
            _collect(value, names, imports, parts, done)
        elif name not in _bound_in(definition):
            raise CannotKeep(f"it reads `{name}` of the notebook")
    parts.append(source)


def _bound_in(definition):
    """Names that the code binds itself: arguments and variables."""
    bound = {node.arg for node in ast.walk(definition) if isinstance(node, ast.arg)}
    return bound | {
        node.id for node in ast.walk(definition) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _import_of(name, value):
    """The line that imports a value under a name, or None for what was made in the notebook."""
    if inspect.ismodule(value):
        return f"import {value.__name__}" if value.__name__ == name else f"import {value.__name__} as {name}"
    module, own = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if module in (None, "__main__") or getattr(sys.modules.get(module), str(own), None) is not value:
        return None
    return f"from {module} import {own}" if own == name else f"from {module} import {own} as {name}"


def _definition_of(thing):
    """The syntax tree of a class or function, and its source, comments and all."""
    parts = [thing] if inspect.isfunction(thing) else vars(thing).values()
    for code in filter(inspect.isfunction, parts):
        file, line = code.__code__.co_filename, code.__code__.co_firstlineno
        lines = linecache.getlines(file)
        for node in ast.walk(_parse("".join(lines))):
            if getattr(node, "name", None) == thing.__name__ and node.lineno <= line <= node.end_lineno:
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                return node, "".join(lines[first - 1 : node.end_lineno]).rstrip()
    raise CannotKeep(f"the source of `{thing.__name__}` is not to be had")


def _parse(source):
    try:
        return ast.parse(source)
    except SyntaxError:  # of a file that was changed since it was imported
        return ast.Module([], [])
