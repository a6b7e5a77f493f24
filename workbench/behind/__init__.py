"""What runs behind a lesson, one file each: data, steps of training, faults to find; its second reading shows it."""

from ..exercises.engine.source import source_of


def written(*definitions):
    """How functions and classes are written, docstrings left out: what a lesson prints of what it called."""
    return "\n\n".join(source_of(definition).strip("\n") for definition in definitions)
