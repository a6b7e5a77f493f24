"""What only the board of notebook 14 computes: pairs written into a state. The page's half stands beside it."""

import math
from enum import StrEnum

from attn_lib.linear import read_state, write_state

from ..operations import Role, operation, row_words


class Rule(StrEnum):
    """What is written of a pair, in the words of the board's menu."""

    SUM = "the value (sum)"
    HALF = "half the error"
    DELTA = "the error (delta rule)"


RATES = {Rule.HALF: 0.5, Rule.DELTA: 1.0}  # without one the value itself is written


@operation(words=lambda *_: ([], []))
def state_after(keys, numbers, *, writes, pairs, rule, gate):
    """The state, (1, d), after so many writes of the first pairs, one after the other and round again."""
    state, rate = keys.new_zeros(keys.size(1), 1), RATES.get(rule)
    keep, rate = keys.new_tensor(gate), rate if rate is None else keys.new_tensor(rate)
    for k in range(writes):
        state = write_state(state, keys[k % pairs], numbers[k % pairs], keep, rate)
    return state.mT


@operation(words=row_words, kind=lambda *_: "output")
def read_by_each(keys, state, *, pairs):
    """What each of the first keys reads, (n, 1); nan for the others."""
    read = read_state(state.mT, keys)
    read[pairs:] = math.nan
    return read


@operation(role=Role.PICTURE)
def lines_and_path(keys, numbers, state, *, writes, pairs, rule, gate):
    """A picture: of each pair the line of all states that keep it, and the way of the state."""
    return keys.new_empty(0, 0)
