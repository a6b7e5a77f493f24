"""A whole class: which hand-ins there are, as many judged at once as there are cores, and what was judged is kept."""

import contextlib
import hashlib
import json
import os
import queue
import secrets
import subprocess
import sys
import threading
from dataclasses import asdict
from pathlib import Path

from . import judge
from .report.pages import write_pages
from .report.report import Report, Row, write_tables
from .sandbox.host import CONFINED, ROOT, Limits, best_host, refuse_unconfined
from .submissions import find
from .submissions.owners import FILE, read_answers, who_is_who, write_questions
from .submissions.roster import read_points, read_roster

HERE = Path(__file__).resolve().parent
KEPT = ".judged"  # a folder beside the tables: what was judged once is not judged again
ENDED = "not judged: grading ended without a word while it ran. Look into it; --again judges it all the same"

UNJUDGED = "not judged: the judge's process ended. Grade once more"


def grade(
    folder, out=None, *, roster=None, points=None, limits=None, jobs=None, again=False, zeros=False, unconfined=False,
    show_progress=True,
):  # fmt: skip
    """Judge every hand-in under `folder` and write tables and pages into `out`; returns a `Report`.

    A student is a folder, `anna/01_by_hand.ipynb`, a .zip, or part of a file's name, `anna_01_by_hand.ipynb`. `out` is
    the folder `graded` in it unless given. A roster and points are CSV files, roster.csv and points.csv in the folder
    unless given; who.csv there says of files whose they are. What was judged before, by the same edition of the course,
    is not judged again unless `again`, and what ran as grading was killed is not run again. Without bubblewrap nothing
    runs unless `unconfined`. Who handed in nothing has no points, or 0 with `zeros`.
    Raises: FileNotFoundError if there is no such folder or nothing in it, ValueError for a roster that is none,
    OSError if there is no bubblewrap.
    """
    folder, limits = Path(folder), limits or Limits()
    place = folder if folder.is_dir() else folder.parent
    roster, points = roster or _there(place / "roster.csv"), points or _there(place / "points.csv")
    found = find.find(folder, but=(roster, points))
    out = Path(out) if out else place / "graded"
    for hand_in in found:
        if not (hand_in.problem or again) and note_of(hand_in, out / KEPT).exists():
            hand_in.problem = ENDED
        if not roster and hand_in.is_stray and hand_in.name.lower().endswith(".csv"):
            hand_in.problem += ". Your class, or a grading worksheet? Name it roster.csv"
    people = read_roster(roster) if roster else []
    report = Report(out=out, roster=roster, hand_ins=found, zeros=zeros)
    report.points, report.groups = read_points(points)
    answers, wrong = read_answers(place / FILE, people, found)
    report.questions = who_is_who(found, people, answers)
    chosen, others = find.choose([hand_in for hand_in in found if not hand_in.problem])
    unique = list({id(hand_in): hand_in for hand_in, _ in chosen}.values())
    results, report.words = judge_all(unique, out / KEPT, limits, jobs, again, show_progress, unconfined)
    for hand_in, number in chosen:
        found_in_it = results[hand_in.digest, hand_in.path]
        if found_in_it is None:
            hand_in.problem = UNJUDGED
        for result in found_in_it or ():
            if result["exercise"].split(".")[0] == number:
                of = report.points.get(result["exercise"], 0)
                report.rows.append(Row(hand_in.student, hand_in.path, result, result["share"] * of, of))
    report.files = wrong + [(hand_in.path, hand_in.problem) for hand_in in found if hand_in.problem]
    report.files += [(hand_in.path, why) for hand_in, why in others]
    there = [hand_in.student for hand_in in found if not hand_in.is_stray]
    report.people = list(dict.fromkeys([*people, *there]))
    labels = report.labels()
    asked = {question.person: question.in_words(labels) for question in report.questions}
    report.files += [
        (hand_in.path, asked[hand_in.student]) for hand_in in found if hand_in.student in asked and not hand_in.is_stray
    ]
    write_questions(out / FILE, report.questions, answers, labels)
    write_tables(report, out)
    write_pages(report, out)
    return report


def _there(path):
    return path if path.is_file() else None


# ------------------------------------------------------------------------------------------------ many at once


def judge_all(chosen, kept, limits, jobs=None, again=False, show_progress=True, unconfined=False):
    """{(digest, path): results} of all, and the line that says how students' code was confined."""
    from tqdm import tqdm

    edition = edition_of_the_course() + repr(limits)
    results, to_do = {}, queue.SimpleQueue()
    for hand_in in chosen:
        key = hashlib.sha256(f"{edition}{hand_in.digest}{hand_in.name}".encode()).hexdigest()
        before = None if again else _read_kept(kept / f"{key}.json")
        if before is None:
            to_do.put((hand_in, kept / f"{key}.json"))
        else:
            results[hand_in.digest, hand_in.path] = before
    words, refused, left = [], [], to_do.qsize()
    if left and not unconfined:
        Judge.may_start()
    kept.mkdir(parents=True, exist_ok=True)  # before the work: where nothing can be written is noticed now
    if not left:
        return results, ""
    jobs = min(jobs or cores(), -(-left // 5))  # a judge takes as long to start as some five hand-ins take
    seed = secrets.randbits(64)
    with tqdm(total=len(chosen), initial=len(chosen) - left, unit="hand-in", disable=not show_progress) as bar:

        def work():
            try:
                with Judge(limits, seed, unconfined) as judge, contextlib.suppress(queue.Empty):
                    if judge.words not in ("", CONFINED, *words):
                        tqdm.write(judge.words, file=sys.stderr)  # before anybody's code runs
                    words.append(judge.words)
                    while True:
                        hand_in, file = to_do.get_nowait()
                        note_of(hand_in, kept).touch()
                        found, finished = judge.judge(hand_in)
                        note_of(hand_in, kept).unlink(missing_ok=True)
                        results[hand_in.digest, hand_in.path] = found
                        if finished:
                            _keep(file, found)
                        bar.update()
            except Refused as error:
                refused.append(str(error))

        threads = [threading.Thread(target=work, daemon=True) for _ in range(jobs)]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.2)  # in Python, so that Ctrl-C is heard
        finally:  # also where Ctrl-C has stopped it: none of them has ended it
            with contextlib.suppress(queue.Empty):
                while True:
                    to_do.get_nowait()
            for hand_in in chosen:
                note_of(hand_in, kept).unlink(missing_ok=True)
    if refused:
        raise OSError(refused[0])
    missing = [hand_in for hand_in in chosen if (hand_in.digest, hand_in.path) not in results]
    if missing:
        raise OSError(f"{len(missing)} hand-ins could not be judged; the next call goes on")
    return results, max(words, default="", key=len)


def note_of(hand_in, kept):
    """A file that is there while a hand-in runs, and stays if it ends grading."""
    return kept / f"{hashlib.sha256(f'{hand_in.digest}{hand_in.path}'.encode()).hexdigest()}.runs"


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def edition_of_the_course():
    """A digest of all that a verdict depends on."""
    digest, folders = hashlib.sha256(), (ROOT / "attn_lib", ROOT / "workbench", HERE, ROOT / "notebooks")
    for path in sorted([path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".ipynb")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _read_kept(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _keep(path, results):
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps(results), encoding="utf-8")
    os.replace(fresh, path)  # whole or not at all


class Refused(Exception):
    """Students' code could not be confined, and nobody said that it may run all the same."""


class Judge:
    """A judge in a process of its own: should it end, its hand-in is said to be unjudged, and it starts anew."""

    command = (sys.executable, "-m", "authors.grade.grade_class")
    may_start = staticmethod(refuse_unconfined)  # asked before anything is written, or is waited for

    def __init__(self, limits, seed, unconfined=False):
        self.options = json.dumps({"limits": asdict(limits), "seed": seed, "unconfined": unconfined})
        self.process, self.words = None, ""

    def __enter__(self):
        with contextlib.suppress(OSError, ValueError, KeyError):  # each hand-in tries again
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
        told = json.loads(self.process.stdout.readline())
        if "refused" in told:
            self._stop()
            raise Refused(told["refused"])
        self.words = told["words"]

    def _stop(self):
        if self.process is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()  # which ends it
            self.process.stdout.close()
            self.process.wait()
            self.process = None

    def judge(self, hand_in):
        """(results, or None if its process ended, and whether they are to be kept)."""
        asked = {"name": hand_in.name, "cells": find.cells_as_data(hand_in), "heads": hand_in.heads}
        try:
            if self.process is None:
                self._start()
            self.process.stdin.write(json.dumps(asked) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())["results"], True
        except (OSError, ValueError, KeyError):
            self._stop()
            return None, False


def main(options):
    """The judge's process: a hand-in in each line that comes in, its results in each that goes out."""
    out, sys.stdout = sys.stdout, sys.stderr
    judge.draw_probes(options["seed"])
    try:
        host, words = best_host(Limits(**options["limits"]), unconfined=options["unconfined"])
    except OSError as error:
        return print(json.dumps({"refused": str(error)}), file=out, flush=True)
    with host:
        print(json.dumps({"words": words}), file=out, flush=True)
        for line in sys.stdin:
            asked = json.loads(line)
            cells = find.cells_from_data(asked["cells"])
            hand_in = find.HandIn("", asked["name"], cells=cells, heads=asked["heads"])
            print(json.dumps({"results": judge.judge(hand_in, host)}), file=out, flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
