"""The source of a definition as a lesson teaches it: without its docstring and its checks of arguments."""

import ast
import inspect
import textwrap


def source_of(function):
    """The source of a function or class without decorators, docstrings and argument checks, its comments kept."""
    return without_checks(textwrap.dedent(inspect.getsource(function)))


def without_checks(source):
    """The one definition in a text, as `source_of` gives it."""
    (definition,) = ast.parse(source).body
    dropped = set(range(1, definition.lineno))  # decorators
    for node in ast.walk(definition):
        if isinstance(node, ast.Expr) and (_is_check(node.value) or _is_text(node.value)):
            dropped |= set(range(node.lineno, node.end_lineno + 1))
    return "\n".join(line for i, line in enumerate(source.splitlines(), start=1) if i not in dropped)


def _is_check(node):
    return isinstance(node, ast.Call) and getattr(node.func, "id", "").startswith("check_")


def _is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
