"""Grade a class: find its submissions, judge as many at once as there are cores, write tables and pages."""

import contextlib
import functools
import hashlib
import json
import os
import queue
import secrets
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

from .judge_process import JudgeProcess, Refused
from .report.by_hand import OVERRIDES_FILE, read_overrides
from .report.gradebooks import write_tables
from .report.pages import page_of, write_pages
from .report.points import late_rule, number, read_points, those_that_count
from .report.report import Report, Row
from .sandbox.host import CONFINED, ROOT, Limits, refuse_unconfined
from .submissions.class_list import read_roster
from .submissions.owners import WHO_FILE, Roster, assign_students, read_answers, write_questions
from .submissions.submission import choose, submissions_in
from .submissions.times import DEADLINES_FILE, TIMES_FILE, read_deadlines, read_times, set_times

DEPENDS_ON = "attn_lib", "workbench", "classroom/grade", "notebooks"  # what a verdict may change with
CACHE = ".judged"  # a folder beside the tables: what was judged once is not judged again
ENDED = "not judged: grading ended without a word while it ran. Look into it; --again judges it all the same"
UNJUDGED = "not judged: the judge's process ended. Grade once more"


def grade(
    folder, out=None, *, roster=None, points=None, deadline=None, best=False, limits=None, jobs=None, again=False,
    again_for=(), zeros=False, unconfined=False, show_progress=True,
):  # fmt: skip
    """Judge every submission under `folder` and write tables and pages into `out`; returns a `Report`.

    A student is a folder, `anna/01_by_hand.ipynb`, a .zip, or part of a file's name, `anna_01_by_hand.ipynb`. `out` is
    the folder `graded` in it unless given. A roster and points are CSV files, roster.csv and points.csv in the folder
    unless given; who.csv there says of files whose they are, times.csv when they came, deadlines.csv until when they
    may (`deadline` for all), overrides.csv what is given by hand. Of several versions the newest in time counts, or
    with `best` the one with most points. What was judged before, by the same edition of the course, is not judged again
    unless `again`, or for the ids of `again_for`, and what ran as grading was killed is not run again. Without
    bubblewrap nothing runs unless `unconfined`. Who answered nothing by the deadline has no points, or 0 with `zeros`.
    Raises: FileNotFoundError if there is no such folder or nothing in it, ValueError for a roster that is none,
    OSError if there is no bubblewrap.
    """
    folder, limits = Path(folder), limits or Limits()
    place = folder if folder.is_dir() else folder.parent
    roster, points = roster or _if_there(place / "roster.csv"), points or _if_there(place / "points.csv")
    submissions = submissions_in(folder, but=(roster, points))
    out = Path(out) if out else place / "graded"
    for submission in submissions:
        if not (submission.problem or again) and running_mark(submission, out / CACHE).exists():
            submission.problem = ENDED
        if not roster and submission.is_stray and submission.name.lower().endswith(".csv"):
            submission.problem += ". Your class, or a grading worksheet? Name it roster.csv"
    people = read_roster(roster) if roster else []
    report = Report(out=out, roster=roster, submissions=submissions, zeros=zeros)
    report.points, report.groups = read_points(points)
    answers, wrong_answers = read_answers(place / WHO_FILE, people, submissions)
    report.questions = assign_students(submissions, people, answers)
    report.people = list(dict.fromkeys([*people, *(one.student for one in submissions if not one.is_stray)]))
    who = functools.partial(_people_with, Roster(report.people), report.people)
    set_times(submissions, read_times(place / TIMES_FILE))
    report.deadlines, wrong_deadlines = read_deadlines(place / DEADLINES_FILE, who, deadline)
    report.overrides, wrong_overrides = read_overrides(place / OVERRIDES_FILE, who, report.points)
    report.late_rule = late_rule(points)
    readable = [submission for submission in submissions if not submission.problem]
    versions = choose(readable, lambda one, number: report.deadlines.lateness(one, number).late)
    picks = [pick for version in versions for pick in (version.picks if best else version.picks[:1])]
    once_more = {person for id in again_for for person in _student(who, id)}
    unique = list({id(submission): submission for submission in picks}.values())
    results, report.confinement = grade_all(
        unique, out / CACHE, limits, jobs, again or (lambda one: one.student in once_more), show_progress, unconfined
    )
    report.rows, others = _counting(versions, results, report, best)
    labels = report.labels()
    wrong_rows = wrong_answers + wrong_deadlines + wrong_overrides
    report.files = wrong_rows + _remarks(report, others, labels) + list(_how_late_nobody_knows(report))
    out.mkdir(parents=True, exist_ok=True)
    write_questions(out / WHO_FILE, report.questions, answers, labels)
    write_pages(report, out)
    write_tables(report, out, page_of(report))
    return report


def _people_with(roster, people, id):
    """The people that an id may mean, or, where nobody has ids, a name."""
    return roster.with_code(id) or [person for person in people if not person.apart and person.name == id]


def _student(who, id):
    people = who(id)
    if len(people) != 1:
        raise ValueError(f"{len(people) or 'no'} students have the id {id}")
    return people


def _counting(versions, results, report, best):
    """(rows of the versions that count, [(other file, why it does not)])."""
    rows, others = [], []
    for version in versions:
        rows_of = {id(pick): list(_rows(pick, version.number, results, report)) for pick in version.picks}
        counts, why = version.picks[0], None
        if best and len(version.picks) > 1:
            points = {id(pick): _points(rows_of[id(pick)], report) for pick in version.picks}
            counts = max(version.picks, key=lambda pick: points[id(pick)])  # of equal ones that which else would count
            why = f"has the most points, {number(points[id(counts)])}"
        rows += rows_of[id(counts)]
        others += version.others(counts, why)
    return rows, others


def _points(rows, report):
    """What a version comes to, with what lateness takes off."""
    points = {row.result["exercise"]: row.points * (1 - (report.late_rule.share_lost(row.late) or 0.0)) for row in rows}
    return sum(those_that_count(points, report.groups).values())


def _if_there(path):
    return path if path.is_file() else None


def _rows(submission, number, results, report):
    """The rows of a submission's answers to one notebook; one that was not judged has none, and a problem."""
    judged = results.get((submission.digest, submission.path), ())
    if judged is None:
        submission.problem = UNJUDGED
    late = report.deadlines.lateness(submission, number)
    for result in judged or ():
        if result["exercise"].split(".")[0] == number:
            of = report.points.get(result["exercise"], 0)
            yield Row(submission.student, submission.path, result, result["share"] * of, of, late)


def _remarks(report, others, labels):
    """(path, remark) for files that were not judged or do not count, and for those whose owner is not known."""
    questions = {question.person: question.in_words(labels) for question in report.questions}
    problems = [(one.path, one.problem) for one in report.submissions if one.problem]
    owned = [one for one in report.submissions if one.student in questions and not one.is_stray]
    unanswered = [(one.path, questions[one.student]) for one in owned]
    return [*problems, *((one.path, why) for one, why in others), *unanswered]


def _how_late_nobody_knows(report):
    """(path, remark) for files of which it is not known how late they are, and for those without any time."""
    for path, late in dict.fromkeys((row.file, row.late) for row in report.rows):
        if late.is_unclear:
            yield path, f"{late.in_words()}. {TIMES_FILE} may say when it came"
        elif report.late_rule.share_lost(late) is None:
            yield path, f"late, but nothing says how late, so nothing is taken off. {TIMES_FILE} may say when it came"
    counting = {row.file for row in report.rows if row.is_answered and not row.late.late and not row.late.is_unclear}
    timeless = [
        one.path for one in report.submissions if one.path in counting and not one.came and _has_due(one, report)
    ]
    if timeless:
        more = f" and {len(timeless) - 1} more" if len(timeless) > 1 else ""
        yield TIMES_FILE, f"has no time for {timeless[0]}{more}, nor has a worksheet: counted as in time"


def _has_due(submission, report):
    """Whether a deadline is asked of a file that no platform marks as late or leaves unmarked, as Canvas does."""
    marks = submission.owner is not None and submission.owner.platform == "canvas"
    return not marks and any(report.deadlines.due(submission.student, number)[0] for number in submission.notebooks())


# ------------------------------------------------------------------------------------------------ many at once


def grade_all(submissions, cache, limits, jobs=None, again=False, show_progress=True, unconfined=False):
    """Return {(digest, path): results} of all submissions, and the line that says how students' code was confined."""
    from tqdm import tqdm

    edition = edition_of_the_course() + repr(limits)
    results, to_do = {}, queue.SimpleQueue()
    for submission in submissions:
        key = hashlib.sha256(f"{edition}{submission.digest}{submission.name}".encode()).hexdigest()
        anew = again(submission) if callable(again) else again
        before = None if anew else _read_kept(cache / f"{key}.json")
        if before is None:
            to_do.put((submission, cache / f"{key}.json"))
        else:
            results[submission.digest, submission.path] = before
    how_many = to_do.qsize()
    if how_many and not unconfined:
        refuse_unconfined()  # before anything is written, or waited for
    cache.mkdir(parents=True, exist_ok=True)  # before the work: where nothing can be written is noticed now
    if not how_many:
        return results, ""
    jobs = min(jobs or cores(), -(-how_many // 5))  # a judge takes as long to start as some five submissions take
    from_cache = len(submissions) - how_many
    with tqdm(total=len(submissions), initial=from_cache, unit="hand-in", disable=not show_progress) as bar:
        judges = Judges(to_do, results, cache, bar)
        try:
            judges.work(jobs, limits, secrets.randbits(64), unconfined)
        finally:  # also where Ctrl-C has stopped it: none of them has ended it
            for submission in submissions:
                running_mark(submission, cache).unlink(missing_ok=True)
    if judges.refused:
        raise OSError(judges.refused[0])
    unjudged = [submission for submission in submissions if (submission.digest, submission.path) not in results]
    if unjudged:
        raise OSError(f"{len(unjudged)} hand-ins could not be judged; the next call goes on")
    return results, max(judges.confinements, default="", key=len)


@dataclass
class Judges:
    """Several judges at work: each takes submissions from one queue and puts what it finds into one dict."""

    to_do: queue.SimpleQueue  # of (submission, the file that keeps its results)
    results: dict
    cache: Path
    bar: object
    confinements: list = field(default_factory=list)
    refused: list = field(default_factory=list)

    def work(self, jobs, limits, seed, unconfined):
        """Judge all that is to do; stops early on Ctrl-C."""
        options = limits, seed, unconfined
        threads = [threading.Thread(target=self._judge_all, args=options, daemon=True) for _ in range(jobs)]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.2)  # in Python, so that Ctrl-C is heard
        finally:
            with contextlib.suppress(queue.Empty):
                while True:
                    self.to_do.get_nowait()

    def _judge_all(self, *options):
        try:
            with JudgeProcess(*options) as judge, contextlib.suppress(queue.Empty):
                self._announce(judge.confinement)
                while True:
                    self._judge_next(judge)
        except Refused as error:
            self.refused.append(str(error))

    def _announce(self, confinement):
        if confinement not in ("", CONFINED, *self.confinements):
            self.bar.write(confinement, file=sys.stderr)  # before anybody's code runs
        self.confinements.append(confinement)

    def _judge_next(self, judge):
        submission, file = self.to_do.get_nowait()
        running_mark(submission, self.cache).touch()
        results = judge.grade(submission)
        running_mark(submission, self.cache).unlink(missing_ok=True)
        self.results[submission.digest, submission.path] = results
        if results is not None:
            _keep(file, results)
        self.bar.update()


def running_mark(submission, cache):
    """The file that is there while a submission runs, and is left behind if it ends all of grading."""
    return cache / f"{hashlib.sha256(f'{submission.digest}{submission.path}'.encode()).hexdigest()}.runs"


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def edition_of_the_course():
    """A digest of every source that a verdict depends on."""
    digest = hashlib.sha256()
    for path in sources():
        digest.update(path.read_bytes())
    return digest.hexdigest()


def sources():
    """All Python files and notebooks in the folders of `DEPENDS_ON`, at any depth."""
    paths = (path for folder in DEPENDS_ON for path in (ROOT / folder).rglob("*"))
    return sorted(path for path in paths if path.suffix in (".py", ".ipynb"))


def _read_kept(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _keep(path, results):
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps(results), encoding="utf-8")
    os.replace(fresh, path)  # whole or not at all
