"""A judge in a process of its own, so that several work at once and one that ends takes only its submission along."""

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import asdict

from . import grade_answer
from .sandbox.host import ROOT, Limits, best_host
from .submissions.submission import Submission, cells_as_data, cells_from_data


class Refused(Exception):
    """Students' code cannot be confined here, and `unconfined` was not asked for."""


class JudgeProcess:
    """A process that judges one submission after the other; if it ends, a new one is started for the next."""

    command = (sys.executable, "-m", "classroom.grade.judge_process")

    def __init__(self, limits, seed, unconfined=False):
        self.options = json.dumps({"limits": asdict(limits), "seed": seed, "unconfined": unconfined})
        self.process, self.confinement = None, ""

    def __enter__(self):
        with contextlib.suppress(OSError, ValueError, KeyError):  # each submission tries again
            self._start()
        return self

    def __exit__(self, *error):
        self._stop()

    def _start(self):
        self.process = subprocess.Popen(
            [*self.command, self.options],
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        first = json.loads(self.process.stdout.readline())
        if "refused" in first:
            self._stop()
            raise Refused(first["refused"])
        self.confinement = first["confinement"]

    def _stop(self):
        if self.process is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()  # which ends it
            self.process.stdout.close()
            self.process.wait()
            self.process = None

    def grade(self, submission):
        """Return the answers' results, a dict for each, or None if the process ended."""
        request = {"name": submission.name, "cells": cells_as_data(submission), "heads": submission.heads}
        try:
            if self.process is None:
                self._start()
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())["results"]
        except (OSError, ValueError, KeyError):
            self._stop()
            return None


def main(options):
    """Read a submission from each line of stdin and write its results as a line to stdout."""
    out, sys.stdout = sys.stdout, sys.stderr  # what students' code prints is no result
    grade_answer.draw_probes(options["seed"])
    try:
        host, confinement = best_host(Limits(**options["limits"]), unconfined=options["unconfined"])
    except OSError as error:
        return print(json.dumps({"refused": str(error)}), file=out, flush=True)
    with host:
        print(json.dumps({"confinement": confinement}), file=out, flush=True)
        for line in sys.stdin:
            request = json.loads(line)
            cells = cells_from_data(request["cells"])
            submission = Submission("", request["name"], cells=cells, heads=request["heads"])
            results = [asdict(answer) for answer in grade_answer.graded_answers(submission, host)]
            print(json.dumps({"results": results}), file=out, flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
