"""trace: see every tensor operation inside your own code, with its shapes; or where two versions part.

t = trace(attention, q, k, v)      # shows itself: lines, operations, shapes, surprises, an error if there was one
t[5], t["5.2"]                     # one step with its numbers; "5.2" is inside a call
t.show(5)                          # its heatmap
trace(mine, theirs, q, k, v)       # side by side, and the first operation whose result differs
apart(layers, others, x)           # how far apart two stacks of layers are, after each layer
"""

from .. import extra  # noqa: F401 - first: it says what is not installed
from .layers import apart
from .run import Comparison, Trace, trace

__all__ = ["Comparison", "Trace", "apart", "trace"]
