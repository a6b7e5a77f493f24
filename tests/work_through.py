"""Work through a learner's copy as its kernel would, without a guess and with one."""

import ast
import contextlib
import io
import json
import os
import re

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from attn_lib import predict, show

ASKS = {"predict", "blank", "filled", "exercise", "nbval-ignore-output"}
JUDGES = re.compile(r"(check|hint|solution|progress)\(")


class Kernel:
    """A shell that notes what `predict` and `blank` are told."""

    def __init__(self):
        config = Config(HistoryManager={"enabled": False})  # of whoever runs the tests
        self.shell, self.asked = InteractiveShell.instance(colors="nocolor", config=config), []
        self.shell.display_formatter.mimebundle_formatter.enabled = False  # nobody looks at a picture here
        whole = predict._judge
        self.shell.showtraceback = lambda *_, **__: None

        def noted(kind, guess, truth, within, slips):
            wanted = predict._read(truth)
            apart = [name for name, x in slips.items() if not predict._same(predict._read(x, wanted), wanted, within)]
            self.asked.append(
                {
                    "truth": show.value(truth, 6),
                    "slips": apart,
                    "word": str(truth).lower(),
                    "is_choice": isinstance(wanted, str | bool) or wanted != wanted,  # nan is a word too
                    "among_slips": len(apart) < len(slips),
                }
            )
            return whole(kind, guess, truth, within, slips)

        predict._judge = noted

    def run(self, source, name):
        """What came of a cell: its error, or None, what it printed and showed, and what it asked."""
        self.asked.clear()
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            result = self.shell.run_cell(source, store_history=True, cell_id=name)
        error = result.error_before_exec or result.error_in_exec
        shown = repr(result.result) + str(getattr(result.result, "_repr_html_", str)())
        return error, out.getvalue() + (shown if error is None else str(error)), list(self.asked)


def given_up(source):
    return re.sub(r"^(guess|my_\w+) = .*\.\.\.[\]\)]*", r'\1 = "show"', source, count=1, flags=re.M)


def work_through(path):
    """Every cell in order; then the questions again, in order, backwards, and after all else was run backwards."""
    kernel, questions, errors, own = Kernel(), [], [], None
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source, tags = "".join(cell["source"]), cell["metadata"].get("tags", [])
        if cell["cell_type"] != "code":
            continue
        own = cell if "blank" in tags else own
        error, shown, asked = kernel.run(source, cell["id"])
        if {"predict", "filled"} & set(tags):
            question = {"id": cell["id"], "tags": tags, "stopped": type(error).__name__, "said": shown, "asked": asked}
            question["source"] = given_up(source)
            if "predict" in tags:
                error, question["given_up"], question["asked"] = kernel.run(question["source"], cell["id"])
                errors += [f"{cell['id']}: {error!r}"] if error else []
            else:
                errors += fill(kernel, question, own, cell)
            questions.append(question)
        elif error and "raises-exception" not in tags:
            errors.append(f"{cell['id']}: {error!r}")
    again = [question for question in questions if "predict" in question["tags"]]
    for order in (again, again[::-1], None, again):
        if order is None:
            rerun_backwards(kernel, path)
        for question in order or ():
            error, _, asked = kernel.run(question["source"], question["id"])
            question.setdefault("again", []).append(repr(error) if error else [q["truth"] for q in asked])
    return {"questions": questions, "errors": errors}


def fill(kernel, question, own, cell):
    """Give a line of one's own up, then write it as the course has it; notes what is shown, returns what went wrong."""
    mine, truth = (
        part.func if isinstance(part, ast.Call) else part
        for part in ast.parse(question["source"]).body[-1].value.args  # blank(my_keys, keys), blank(my_f(x), f(x))
    )
    lines = {"given_up": "".join(own["source"]).replace("...", '"show"', 1)}
    lines["right"] = f"{ast.unparse(mine)} = {ast.unparse(truth)}"
    wrong = []
    for which, line in lines.items():
        kernel.run(line, own["id"])
        error, question[which], _ = kernel.run(question["source"], cell["id"])
        wrong += [f"{cell['id']}, {which}: {error!r}"] if error else []
    return wrong


def rerun_backwards(kernel, path):
    """Run every cell of the lesson that asks nothing once more, from the last one to the first."""
    for cell in reversed(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        source, tags = "".join(cell["source"]), cell["metadata"].get("tags", [])
        if cell["cell_type"] == "code" and not ASKS & set(tags) and not JUDGES.match(source):
            kernel.run(source, cell["id"])


def in_this_process(path):
    """What came of working through a copy, in a process that does nothing else: its state is the notebook's alone."""
    os.chdir(path.parent)
    return work_through(path)
