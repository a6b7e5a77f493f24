"""The deck: a notebook as slides, one source for a file that works offline and for a lecture with a kernel."""
