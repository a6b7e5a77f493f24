"""One wrong line: a function as it is written, with one place in it written otherwise."""

import linecache

from ..exercises.engine.source import source_of


def with_line(function, right, wrong):
    """A copy of the function in which `wrong` stands in place of `right`, which stands in it once.

    Raises: ValueError where it does not stand there once.
    """
    source = source_of(function)
    if source.count(right) != 1:
        raise ValueError(f"{right!r} stands {source.count(right)} times in {function.__name__}, not once.")
    source = source.replace(right, wrong)
    name = f"<{function.__name__}, with {wrong!r}>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name  # for tracebacks, and a copy's copy
    names = dict(function.__globals__)
    exec(compile(source, name, "exec"), names)
    return names[function.__name__]
