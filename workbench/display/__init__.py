"""How things look: numbers and frames, figures, colours."""

from .. import extra  # noqa: F401 - first: it says what is not installed
