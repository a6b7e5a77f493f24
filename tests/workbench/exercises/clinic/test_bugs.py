"""The lines of a bug: a learner may name each whose change mends it, and no other."""

import contextlib
import itertools
import keyword
import re

from known_bugs import BUGS, alike, calls_of, each_bug, outcome, part

from workbench.exercises import check
from workbench.exercises.clinic.anonymous import compiled


@each_bug
def test_a_line_may_be_named_if_its_change_fixes_it_and_no_other(id):
    bug = BUGS[id]
    lines, expected = bug.source.splitlines(), [outcome(bug.called(bug.fixed), args) for args in calls_of(bug)]

    def is_fixed(source):
        with contextlib.suppress(Exception):
            code = bug.called(compiled(source, "<changed>"))
            return all(alike(outcome(code, args), right) for args, right in zip(calls_of(bug), expected, strict=True))

    for fix in bug.fixes:
        assert part(check(id, ..., ..., compiled(bug.source_with(fix), "<fix>")), "Mended").startswith("✓"), fix
        for line, change in fix.items() if len(fix) > 1 else ():
            assert not is_fixed(bug.source_with({line: change}))
    for line in set(range(2, len(lines) + 1)) - set(bug.lines):
        for changed in small_changes(lines[line - 1]):
            assert not is_fixed("\n".join([*lines[: line - 1], changed, *lines[line:]])), (line, changed)


def small_changes(line):
    """What somebody may try in a line: exchange neighbouring names, count one more or less, leave something out."""
    words = [word for word in re.finditer(r"[^\W\d]\w*", line) if not keyword.iskeyword(word[0])]
    for one, other in itertools.pairwise(words):
        yield line[: one.start()] + other[0] + line[one.end() : other.start()] + one[0] + line[other.end() :]
    for number in re.finditer(r"\b\d+\b", line):
        for by in (1, -1):
            yield line[: number.start()] + str(int(number[0]) + by) + line[number.end() :]
    if "~" in line:
        yield line.replace("~", "")
    yield re.sub(r"\S.*", "pass", line)
