"""Whose a file is: by the teacher's who.csv, a platform's number, or a name; what cannot be told is asked, not guessed.

A person is a platform's number; a name is a label, which two people may have.
"""

import csv
from dataclasses import dataclass
from pathlib import PurePosixPath

from ..tables import harmless, rows_of
from .class_list import Person, composed, words_of

WHO_FILE = "who.csv"


@dataclass
class Question:
    """Submissions that more than one student may have made, or nobody on the roster."""

    person: Person  # stands for whoever it was
    places: list  # of the files, as who.csv names them
    among: list  # those on the roster who may have

    def in_words(self, labels):
        if not self.among:
            return "not on the roster"
        return f"whose is it? {' or '.join(labels[person] for person in self.among)}"


def assign_students(submissions, people, answers=None):
    """Set the student of every submission, a `Person`; returns the `Question`s that are left.

    `answers` is what `read_answers` returns. Without a roster everybody is who their files say, and nothing is asked.
    """
    answers, groups, roster = answers or {}, {}, Roster(people)
    for submission in submissions:
        student = entry_for(submission.path, answers)
        if student:
            submission.student = student
        else:
            groups.setdefault(submission.owner, []).append(submission)
    candidates_for = {owner: roster.candidates(owner) for owner in groups}
    questions, unclear = [], _claimed_twice(groups, candidates_for)
    for owner, files in groups.items():
        among, _ = candidates_for[owner]
        if len(among) == 1 and owner not in unclear:
            for submission in files:
                submission.student = among[0]
            continue
        places = list(dict.fromkeys(submission.place for submission in files))
        number = {owner.platform: owner.number} if owner.number else {}
        for some in [[place] for place in places] if among and not number else [places]:  # perhaps of two of one name
            person = Person(owner.name, **number, place=some[0] if among else "", listed=False)
            for submission in files:
                if submission.place in some:
                    submission.student = person
            if people and not all(submission.is_stray for submission in files):
                questions.append(Question(person, some, among))
    return questions


class Roster:
    """The people of a class, found by what may name them."""

    def __init__(self, people):
        self._by_number, self._by_code, self._by_form = {}, {}, {}
        for person in people:
            for platform in ("moodle", "canvas"):
                self._by_number.setdefault((platform, getattr(person, platform)), []).append(person)
            for code in {person.id.casefold(), person.email.casefold()}:
                self._by_code.setdefault(code, []).append(person)
            for form in person.forms():
                self._by_form.setdefault(form, []).append(person)

    def with_code(self, code):
        """Return the people with this id, e-mail address or platform's number."""
        numbers = [person for platform in ("moodle", "canvas") for person in self._by_number.get((platform, code), ())]
        return list(dict.fromkeys([*self._by_code.get(code.casefold(), ()), *numbers])) if code else []

    def candidates(self, owner):
        """Return (people whom an owner of files may be, whether more than a name says so)."""
        by_number = self._by_number.get((owner.platform, owner.number), []) if owner.number else []
        exactly = self._by_code.get(owner.name.casefold(), [])
        for certain in (by_number, exactly):
            if len(certain) == 1:
                return certain, True
        words = words_of(owner.name)
        of_this_name = self._by_form.get("".join(words)) or self._by_form.get("".join(sorted(words)), [])
        same_id = [person for person in self._by_code.get(owner.number, ()) if owner.number]
        if owner.is_blind:  # such a name contradicts nobody's
            return same_id, True
        both = [person for person in of_this_name if person in same_id]
        return (both, True) if len(both) == 1 else (of_this_name, False)


def _claimed_twice(groups, candidates_for):
    """Return owners whom only their name links to a student who has files of the same notebook under another number."""
    claims = {}
    for owner, (among, _) in candidates_for.items():
        if len(among) == 1:
            claims.setdefault(among[0], []).append(owner)
    unclear = set()
    for owners in claims.values():
        numbered = [owner for owner in owners if owner.number]
        for one in numbered:
            for other in numbered:
                if one.number != other.number and one.platform == other.platform and _may_rival(groups, one, other):
                    unclear |= {owner for owner in owners if not candidates_for[owner][1]}
    return unclear


def _may_rival(groups, one, other):
    """Whether two owners' files may hold the same notebook; an unreadable file may hold any."""
    ours, theirs = (
        {n for submission in groups[owner] for n in submission.notebooks() or "?"} for owner in (one, other)
    )
    return bool(ours & theirs) or "?" in ours | theirs


# --------------------------------------------------------------------------------------------------- the teacher's word


def read_answers(path, people, submissions):
    """({place of files: Person}, [(row, what is wrong with it)]) of who.csv, whose columns are path and id.

    Raises: ValueError for a file that is no such table.
    """
    if not path.is_file():
        return {}, []
    columns, rows = rows_of(path)
    if not {"path", "id"} <= set(columns):
        raise ValueError(f"{path} has no columns path and id")
    answers, wrong, roster = {}, [], Roster(people)
    there = {plain_path(part) for submission in submissions for part in _up_from(submission.path)}
    for row in rows:
        place, owners = plain_path(row["path"]), roster.with_code(row["id"])
        place = place if place in there else place.removeprefix("'")  # which `harmless` put there
        if not row["id"]:
            continue  # not answered yet
        if place not in there:
            wrong.append((f"{WHO_FILE}: {row['path']}", "there is no such file or folder"))
        elif len(owners) != 1:
            how_many = f"{len(owners)} students have" if owners else "nobody on the roster has"
            wrong.append((f"{WHO_FILE}: {row['path']}", f"{how_many} the id {row['id']}"))
        else:
            answers[place] = owners[0]
    return answers, wrong


def entry_for(path, answers):
    """What a table says of a file, or of a folder that it lies in; None for nothing."""
    return next((answers[place] for part in _up_from(path) if (place := plain_path(part)) in answers), None)


def _up_from(path):
    """A path and the folders above it."""
    return [path, *(str(parent) for parent in PurePosixPath(path).parents if parent.name)]


def plain_path(path):
    return composed(path.replace("\\", "/").strip("/"))


def write_questions(path, questions, answers, labels):
    """A who.csv to be filled in: what is answered already, then a row for each place that is asked for."""
    if not questions:
        path.unlink(missing_ok=True)
        return
    with open(path, "w", newline="", encoding="utf-8-sig") as file:
        write = csv.writer(file).writerow
        write(("path", "id", "perhaps"))
        for place, person in answers.items():
            write((harmless(place), person.number or person.email, harmless(labels[person])))
        for question in questions:
            for place in question.places:
                write((harmless(place), "", harmless("; ".join(labels[person] for person in question.among))))
