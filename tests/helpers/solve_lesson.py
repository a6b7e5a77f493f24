"""Work through a lesson's questions as a learner would, in the kernel that has just run its notebook.

shared.py has the kernel run this file after the notebook's last cell.
"""

import ast
import dis
import json
import os
import re
import sys
from collections import Counter
from itertools import chain, pairwise
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple
from unittest import mock

from IPython import get_ipython
from IPython.utils.capture import capture_output

from workbench.display import show
from workbench.places import COPY_VARIABLE
from workbench.predict import NotYet, Prediction

FORM = "application/vnd.jupyter.widget-view+json"


class Wrong(Exception):
    """What is wrong, in lines that IPython shows without a traceback."""

    def _render_traceback_(self):
        return [str(self)]


class Came(NamedTuple):
    """What came of a cell."""

    error: Exception | None
    value: Any = None  # of its last line
    printed: str = ""


def work_through(path):
    """Raise `Wrong` if something is wrong with the questions of the notebook at path, which this kernel has run."""
    cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    with mock.patch.dict(os.environ, {COPY_VARIABLE: "1"}):  # as in a learner's copy
        if wrong := [f"{cell['id']}: {words}" for cell, words in what_is_wrong(code)]:
            raise Wrong("\n".join(wrong))


def run(source):
    """Run a cell's source in this kernel, out of sight."""
    shell, values = get_ipython(), []
    value_shown = mock.patch.object(sys, "displayhook", values.append)
    error_shown = mock.patch.object(shell, "_showtraceback")
    with capture_output() as seen, value_shown, error_shown:
        result = shell.run_cell(source)
    error = result.error_before_exec or result.error_in_exec
    drawn = "".join(str(output.data) for output in seen.outputs if FORM not in output.data)
    return Came(error, values[0] if values else None, seen.stdout + seen.stderr + drawn)


def what_is_wrong(cells):
    """Each cell with which something is wrong, and what.

    Questions are answered in order, and backwards after all else was run backwards.
    """
    questions = [cell for cell in cells if "predict" in tags(cell)]
    lines = [(own, filled) for own, filled in pairwise(cells) if "filled" in tags(filled)]
    others = [cell for cell in cells if not {"predict", "measured", "nbval-ignore-output"} & set(tags(cell))]
    for cell in [*questions, *(filled for _, filled in lines)]:
        yield from each(cell, stops_without_a_guess(run(text(cell))))
    for cell in questions:
        came = run(given_up(cell))
        yield from each(cell, shows_the_answer_that_was_saved(came, cell))
        if isinstance(came.value, Prediction):
            yield from each(cell, knows_wrong_answers_by_name(came.value))
            yield from each(cell, reads_its_own_answers(came.value))
    for own, filled in lines:
        yield from each(filled, takes_the_courses_own_line(own, filled))
    for cell in reversed(those_that_may_differ(others, cells)):
        yield from each(cell, runs_again(run(text(cell)), cell))
    for cell in reversed(questions):
        yield from each(cell, shows_the_answer_that_was_saved(run(given_up(cell)), cell, "all else, both backwards"))


def each(cell, wrong):
    return [(cell, words) for words in wrong]


def those_that_may_differ(some, cells):
    """Those of some cells that take or leave a name that stands for several things, or for what is used up by use.

    The others, run again, do what they did before, which takes lesson 13 half a minute.
    """
    names = [names_in(text(cell)) for cell in cells]
    times = Counter(chain.from_iterable(leaves for _, leaves in names))
    several = {name for name, number in times.items() if number > 1}
    several |= {name for name, value in get_ipython().user_ns.items() if hasattr(value, "__next__")}
    for takes, leaves in names:
        if takes & several:
            several |= leaves
    taken = set().union(*(takes for takes, _ in names))
    both = zip(cells, names, strict=True)
    return [cell for cell, (takes, leaves) in both if cell in some and (takes | leaves & taken) & several]


def names_in(source):
    """The names that a cell takes from other cells, and those that it leaves."""
    codes, takes, leaves = [compile(source, "cell", "exec")], set(), set()
    for code in codes:
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        steps = list(dis.get_instructions(code))
        takes |= {step.argval for step in steps if step.opname in ("LOAD_NAME", "LOAD_GLOBAL")}
        leaves |= {step.argval for step in steps if step.opname == "STORE_NAME" and code is codes[0]}
    return takes - leaves, leaves


# ----------------------------------------------------------------------------- rules: each yields what is wrong


def stops_without_a_guess(came):
    """Run All stops at the question, with one line that says how to give up, and nothing is told."""
    if not isinstance(came.error, NotYet):
        yield f"without a guess it does not stop: {came.error!r}"
    elif '"show"' not in str(came.error) or "\n" in str(came.error):
        yield f"without a guess it does not say in one line how to give up: {came.error}"
    if came.printed:
        yield f"without a guess it shows more than a form: {came.printed}"


def shows_the_answer_that_was_saved(came, cell, after="the notebook"):
    """Whenever it is run again, whoever gives up is shown the answer that the notebook was saved with."""
    saved = "".join(cell["outputs"][0]["data"]["text/plain"]).removeprefix("No guess entered yet. ")
    if repr(came.value) != f"{saved}.":
        yield f"who gives up after {after} is shown {came.error or came.value!r}; saved was {saved!r}"


def knows_wrong_answers_by_name(asked):
    """At least two slips that are no answers; of yes and no, only one can be wrong."""
    question = asked.for_a_page()
    needed = 1 if asked.question.options.keys() == {"yes", "no"} and len(question["leaves"]) == 1 else 2
    if len(question["slips"]) < needed:
        yield f"only {len(question['slips'])} of its slips {list(asked.slips)} are wrong answers"


def reads_its_own_answers(asked):
    """What is right is read as right, and each slip as that slip, as numbers and as text."""
    question, answers = asked.question, {"": asked.truth, **asked.slips}
    slips = {name: slip for name, slip in asked.slips.items() if name not in question.options}
    wrong = {slip["name"] for slip in asked.for_a_page()["slips"]}
    for name, answer in answers.items():
        for entered in (answer, show.value(answer, 12)):
            read = Prediction(question, entered, asked.truth, slips)
            if read.slip != name if name in wrong else read.status != "right":
                yield f"{entered!r} is read as {read.slip or read.status}, not as {name or 'right'}"


def takes_the_courses_own_line(own, filled):
    """Who gives up goes on and is shown the course's; who writes what the course has is told that it is right."""
    mine, truth = (
        part.func if isinstance(part, ast.Call) else part
        for part in ast.parse(text(filled))
        .body[-1]
        .value.args[1:]  # blank("…", my_keys, keys), blank("…", my_f(x), f(x))
    )
    for line, wanted in (
        (text(own).replace("...", '"show"'), "The answer:"),
        (f"{ast.unparse(mine)} = {ast.unparse(truth)}", "Right"),
    ):
        run(line)
        came = run(text(filled))
        if not repr(came.value).startswith(wanted):
            yield f"after {line!r} it does not say {wanted!r}: {came.error or came.value!r}"


def runs_again(came, cell):
    """After the whole lesson each cell can be run once more."""
    if came.error and "raises-exception" not in tags(cell):
        yield f"run again after those below it, it fails: {came.error!r}"


def given_up(cell):
    return re.sub(r"^guess = .*\.\.\.[\])]*", 'guess = "show"', text(cell))


def text(cell):
    return "".join(cell["source"])


def tags(cell):
    return cell["metadata"].get("tags", [])
