"""The questions of the lessons: how each is answered, and what is said of the mistakes that are known.

One file a lesson, one record a question, read alike by notebooks, pages, decks and phones. A record has

    form      number, numbers, matrix, shape, set (of whole numbers), word, words or tensor (a line of one's own)
    whole     true where only whole numbers answer
    range     the smallest and the largest whole number that can be an answer; then "all" and "none" are read too
    which     true where the number says which one, not how many, so that "all" and "none" are no answers
    within    by how much a number may be off
    names     what else a learner may write for a number, as names.tea = 2
    options   the words to choose from: also (other words for it) and says (to whoever chooses it wrongly)
    choices   what a hall raises its hands for where the form has no options, and which of them is `right`
    mistakes  of choices that are no answer in that form, as "all three", which slip each of them is
    rows      of several words, what each of them is about
    slips     known mistakes: label (at most 24 characters) and says (where to look, never the answer itself)
    common    slips that several lessons know, from common.toml
    second    of an own line that a wrong one could equal by chance: other inputs, each tried on a line that reads its
              names: other numbers for them, or code for these, and what the line then gives, or code for it; with
              always = true on every line. Whatever is made from one of them is among them, made anew, unless a line
              may not use it; `with` says which they are where the names would say too little
    constant  true for an own line without inputs: its numbers may be written down

What somebody answers who makes a slip is computed by the notebook and handed over under the slip's name. The question
that a lesson opens with, before a word of it was read, is called opening; all of it stands in its record, with
what it `ask`s, the `answer`, and under `wrong` what is answered by whoever makes a slip.
"""

import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..display import show
from . import reader

HERE = Path(__file__).parent
ORDINALS = ("first", "second", "third", "fourth")
FORMS = ("number", "numbers", "matrix", "shape", "set", "word", "words", "tensor")
MAY_HAVE = {
    *("form", "whole", "range", "which", "within", "names", "options", "choices", "right", "mistakes", "rows"),
    *("slips", "common", "second", "constant", "ask", "answer", "wrong"),
}


class Slip(NamedTuple):
    label: str
    says: str


def faults_of(record, common):
    """What is missing in a record or cannot be read, in words."""
    form, faults = record.get("form"), []
    if form not in FORMS:
        faults.append(f"its form is one of {', '.join(FORMS)}, not {form!r}")
    if form in ("word", "words") and not record.get("options"):
        faults.append("it has no options to choose from")
    if form == "set" and "range" not in record:
        faults.append("it has no range, the smallest and the largest number of the set")
    if unknown := sorted(set(record) - MAY_HAVE):
        faults.append(f"nothing is read under {', '.join(unknown)}")
    for name, slip in record.get("slips", {}).items():
        if lacks := {"label", "says"} - set(slip):
            faults.append(f"its slip {name} lacks {' and '.join(sorted(lacks))}")
    lost = [name for name in record.get("common", []) if name not in common["slips"]]
    return faults + [f"common.toml has no slip {name}" for name in lost]


class Question:
    """One record; id is the lesson's two digits and its name there, as 01.new-bank."""

    def __init__(self, id, record):
        common = records("common")
        if faults := faults_of(record, common):
            raise ValueError(f"{id}: {'; '.join(faults)}")
        self.id, self.form, self.whole = id, record["form"], record.get("whole", record["form"] in ("shape", "set"))
        self.within = record.get("within", show.RTOL if self.form == "tensor" else show.BY_HAND)
        self.range, self.which = record.get("range"), record.get("which", False)
        self.options, self.rows = record.get("options", {}), record.get("rows", [])
        self.second, self.constant = record.get("second", []), record.get("constant", False)
        self.choices, self.right = record.get("choices", list(self.options)), record.get("right")
        if "choices" in record and self.right not in self.choices:
            raise ValueError(f"{id}: right = {self.right!r} is none of its choices, {', '.join(self.choices)}")
        names = record.get("names", {}).items()
        named = {value: words for words, value in reversed(names) if not isinstance(value, list)}  # by its first name
        first, last = self.range if self.form == "set" else (0, -1)
        self.members = [f"{i} {named.get(i, '')}".strip() for i in range(first, last + 1)]
        known = record.get("slips", {}) | {name: common["slips"][name] for name in record.get("common", [])}
        self.slips = {name: Slip(one["label"], one["says"]) for name, one in known.items()}
        self.slips |= {name: Slip(name, one["says"]) for name, one in self.options.items() if "says" in one}
        self.mistakes = record.get("mistakes", {})
        if lost := [one for one in self.mistakes.items() if one[0] not in self.choices or one[1] not in self.slips]:
            raise ValueError(f"{id}: {lost} are no choices with slips of this question")
        self.skip = [
            reader.singular(word) for word in f"{common['fillers']} {common['nouns'] * (not self.options)}".split()
        ]
        self.names = {}
        for words, value in self._names(record, common["also"]):
            phrase = reader.phrase(words, self.skip)
            if not phrase:
                raise ValueError(f"{id}: {words!r} holds nothing but words that say nothing")
            value = [x if isinstance(x, str) else float(x) for x in value]
            if self.names.setdefault(phrase, value) != value:
                raise ValueError(f"{id}: {words!r} is two answers, {self.names[phrase]} and {value}")

    def _names(self, record, also):
        """Pairs of words and what they stand for, a list."""
        for option, about in self.options.items():
            yield from ((words, [option]) for words in [option, *about.get("also", []), *also.get(option, [])])
        for words, value in record.get("names", {}).items():
            yield words, value if isinstance(value, list) else [value]
        if self.form in ("number", "numbers", "matrix") and not self.whole:
            yield from ((words, ["nan"]) for words in ["nan", *also["nan"]])
        if self.form == "number" and self.whole and not self.which and (not self.range or self.range[0] == 0):
            yield from ((words, [0]) for words in also["none"])
        if self.form == "number" and not self.which and (self.range or "all" in self.choices):
            yield from ((words, [self.range[1] if self.range else 1]) for words in also["all"])
        if self.form == "set":
            first, last = self.range
            yield from ((word, [at]) for at, word in enumerate(ORDINALS) if first <= at <= last)
            yield from ((words, []) for words in also["none"])
            yield from ((words, [*range(first, last + 1)]) for words in also["all"])

    def _numbers(self):
        """Which numbers are asked for."""
        numbers = "whole numbers" if self.whole else "numbers"
        return f"{numbers} from {self.range[0]} to {self.range[1]}" if self.range else numbers

    def _members(self):
        """What a set is chosen from, in the question's own words: "I, like, tea"; "" where they have none."""
        words = [member.partition(" ")[2] for member in self.members]
        return ", ".join(words) if words and all(words) else ""

    def refuses(self):
        """What is said to numbers that are not those that are asked for."""
        if self._members():
            return f"There are only {self._members()}."
        if self.form == "number":
            return f"A {self._numbers().replace('numbers', 'number')} is asked for."
        return f"{self._numbers().capitalize()} are asked for."

    def asks(self, size):
        """In which form an answer of that size is read, in a sentence."""
        letters, numbers = ", ".join(self.rows or "abcdefghij"[:size]), self._numbers()
        *most, last = self.options or [""]
        options = f"{', '.join(most)} or {last}"
        return {
            "number": f"Write it as one {numbers.replace('numbers', 'number')}.",
            "numbers": f"Write it as {size} {numbers}, [{letters}].",
            "matrix": f"Write it as rows of {numbers}, [[a, b, …], [c, d, …], …].",
            "shape": "Write it as a shape, (a, b, …).",
            "set": f"Write which of these, with commas: {self._members()}."
            if self._members()
            else f"Write it as a list of {numbers}, [a, b, …].",
            "word": f"Answer {options}.",
            "words": f"Write it as {size} words, [{letters}], each of them {options}.",
            "tensor": "A tensor is asked for.",
        }[self.form]

    def as_data(self, truth):
        """What a page needs to read an answer; truth is the right one, as it was read."""
        size = reader.size(self, truth)
        return {
            "form": self.form,
            "whole": self.whole,
            "range": self.range,
            "within": self.within,
            "size": size,
            "options": list(self.options),
            "rows": self.rows,
            "members": self.members,
            "names": self.names,
            "skip": " ".join(self.skip),
            "asks": self.asks(size),
            "refuses": self.refuses(),
            "mistakes": self.mistakes,
        }


def files(lesson):
    """Where the records of a lesson, as "01", stand, and those that lessons share."""
    return [HERE / f"{name}.toml" for name in (lesson, "common")]


def read_again():
    """Forget all records that were read: a file may have changed."""
    records.cache_clear()
    question.cache_clear()


@cache
def records(lesson):
    """The records of a lesson, as "01", by their names."""
    path = HERE / f"{lesson}.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"workbench/questions/{path.name} cannot be read: {error}") from None


@cache
def question(id):
    """The question of that id; raises LookupError where there is none."""
    lesson, _, name = id.partition(".")
    if not (HERE / f"{lesson}.toml").is_file() or name not in records(lesson):
        raise LookupError(
            f"no question is called {id!r}; workbench/questions/ has their records, a file for each lesson"
        )
    return Question(id, records(lesson)[name])


def recorded_answer(id):
    """The answer that a record has itself, and by name what is answered by whoever makes a slip."""
    lesson, _, name = id.partition(".")
    record = records(lesson)[name]
    if "answer" not in record:
        raise LookupError(f"the record of {id} has no answer: hand it over")
    return record["answer"], record.get("wrong", {})


def ids():
    """The ids of all questions of all lessons."""
    lessons = sorted(path.stem for path in HERE.glob("[0-9][0-9].toml"))
    return [f"{lesson}.{name}" for lesson in lessons for name in records(lesson)]
