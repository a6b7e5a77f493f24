"""The names of faults, of which a diagnosis is one; each fits several bugs, so that the list gives none away."""

from ...display import show

HEALTHY = "healthy"  # in place of a line, or of a name, where nothing ails a patient


class _Faults(dict):
    """Name → what it means; displayed as a table."""

    def __repr__(self):
        width = max(map(len, self))
        return "\n".join(f"{name:{width}}  {meaning}" for name, meaning in self.items())

    def _repr_html_(self):
        row = "<tr><th scope='row' style='{0}'><code>{1}</code></th><td style='{0}'>{2}</td></tr>"
        rows = [row.format("text-align: left", name, show.marked(meaning)) for name, meaning in self.items()]
        return f"<table><tbody>{''.join(rows)}</tbody></table>"


FAULTS = _Faults(
    {
        "not used": "something is computed or passed, and then it is not used",
        "wrong scale": "scores are multiplied or divided by the wrong number, or by none",
        "wrong axis": "an operation runs along the wrong axis, or a tensor is split along the wrong axis",
        "misaligned": "two tensors that belong together are matched at the wrong positions",
        "miscounted": "one too many or one too few, or counted from the wrong start",
        "wrong order": "the right steps, or the right entries, in the wrong order",
        "exchanged": "two things are exchanged",
        "too weak": "a number that should hide something does not hide it",
        "nothing left": "the code is wrong for a row in which every key is hidden",
        "not asked": "the result is right only under a condition, and the code does not check it",
    }
)
