"""Whether an answer is still to be written.

Why is a stub known by its bytecode? A function still to be written, `def my_mask(n): ...`, with a docstring or `pass`,
has source that a notebook may not give, and calling it would run code that a learner has half written.
"""

import dis

from torch import nn


def is_unattempted(answer):
    """Whether it is still the stub: `...`, None, a list of them, or a function or class whose body does nothing."""
    if isinstance(answer, list | tuple):
        return any(part is None or part is Ellipsis for part in answer)
    if answer is None or answer is Ellipsis:
        return True
    if isinstance(answer, type):
        return _is_only_a_head(answer)
    code = getattr(answer, "__code__", None)
    return code is not None and _does_nothing(code)


def _is_only_a_head(made_of):
    """Whether a class, `class MyAttention(nn.Module): ...`, does nothing that `nn.Module` does not."""
    codes = [code for part in vars(made_of).values() if (code := getattr(part, "__code__", None))]
    return made_of.__bases__ in ((object,), (nn.Module,)) and all(map(_does_nothing, codes))


def _does_nothing(code):
    idle = {"RESUME", "NOP", "RETURN_VALUE"}
    constants = {"LOAD_CONST", "RETURN_CONST"}
    return all(
        step.opname in idle or (step.opname in constants and step.argval in (None, Ellipsis))
        for step in dis.get_instructions(code)
    )
