"""The kinds of items: in each file a function draws one from a `random.Random`, or returns None for numbers that do
not serve."""

from . import by_hand, lessons, what_moves, which_line, which_mask, which_shape

KINDS = {
    "hand": by_hand.draw,
    "line": which_line.draw,
    "mask": which_mask.draw,
    "shape": which_shape.draw,
    "moves": what_moves.draw,
    "lesson": lessons.draw,
}
