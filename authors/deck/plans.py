"""How long a lecture takes: the minutes of each slide in a lecture of 45 minutes, of 90, or where nobody votes.

All of it comes from the slides' own minutes and the notebook: what is for a second reading there is passed in the short
lecture. The deck has these plans for its clock and notes, and `python -m authors.deck.plans`, which `course.py refresh`
calls, writes them into INSTRUCTORS.md.
"""

import re
from dataclasses import dataclass

import nbformat

from workbench.first_way import second_readings

from ..lessons import NOTEBOOKS
from ..pages.notes import clock
from .slides import Slide, slides_of, with_cells

GUIDE = NOTEBOOKS / "INSTRUCTORS.md"
HEADING = re.compile(r"(#{1,3}) (.+)")
READING = re.compile(r"[.,?]? \(?on a second reading\)?|(?<=[.?]) on a second reading", re.IGNORECASE)
IN_GUIDE = re.compile(r"(<!--plan (\d\d)-->).*?(<!--until here-->)", re.S)
BESIDE_LINK = re.compile(r"(\]\((\d\d_\w+)\.ipynb\), )[\d.]+( minutes)")
TALK = 2.5  # minutes that neighbours' talk and a second vote take more than one vote


@dataclass(frozen=True)
class Plan:
    """One way to give a lecture: minutes for each vote and each dictated line, and whether it passes what can wait."""

    label: str
    vote: float
    line: float
    is_short: bool = False
    whole: float | None = None  # minutes that the lecture may take


PLANS = {
    "45": Plan("45 minutes, each question voted on", vote=1.5, line=2, is_short=True, whole=45),
    "90": Plan("90 minutes, each vote with talk and a second one", vote=1.5 + TALK, line=2, whole=90),
    "no-votes": Plan("without votes and dictated lines", vote=0, line=0),
}


@dataclass(frozen=True)
class Planned:
    """A slide and what of it takes time."""

    slide: Slide
    number: int
    section: str  # the heading that its column begins with
    votes: bool  # whether it has a question that phones can answer
    dictates: bool  # whether it has a line that the hall dictates
    is_later: bool  # whether it is for a second reading

    def is_passed(self, plan):
        """Whether next goes past it in this plan."""
        return plan.is_short and self.can_wait

    @property
    def can_wait(self):
        """Whether a lecture may leave it out: it is for a second reading, or has no minutes in a short one."""
        return self.is_later or self.slide.short == 0

    def minutes(self, plan):
        """What it takes in this plan."""
        if self.is_passed(plan):
            return 0
        own = self.slide.short if plan.is_short and self.slide.short is not None else self.slide.minutes
        return own + plan.vote * self.votes + plan.line * self.dictates


def planned(cells, pairs):
    """Each of the pairs of a slide and its cells, of a notebook's cells, as a `Planned`."""
    later = {cell.id for cell, section in zip(cells, second_readings(cells), strict=True) if section}
    slides, section = [], ""
    for number, (slide, own) in enumerate(pairs, 1):
        heading = own[0].cell_type == "markdown" and HEADING.match(own[0].source)
        if heading and len(heading[1]) < 3:
            section = READING.sub("", heading[2])
        sources = [cell.source for cell in own if cell.cell_type == "code" and not is_skipped(cell)]
        asks, dictates = (any(f"{name}(" in source for source in sources) for name in ("predict", "blank"))
        slides.append(Planned(slide, number, section, asks, dictates, own[0].id in later))
    return slides


def is_skipped(cell):
    """Whether no slide shows the cell."""
    return cell.metadata.get("slideshow", {}).get("slide_type") == "skip"


def for_the_deck(slides):
    """For each slide, plan → seconds, whether next passes it, and what the speaker is told of its time."""
    return [{name: entry(slides, i, plan) for name, plan in PLANS.items()} for i in range(len(slides))]


def entry(slides, i, plan):
    """A slide's entry of `for_the_deck` in one plan."""
    one, minutes = slides[i], [each.minutes(plan) for each in slides]
    begins = sum(minutes[:i])
    numbers = [each.number for each in that_can_wait(slides, i + 1) if each.is_passed(plan)]
    over = f"; {spare(slides, plan)}" if plan.whole else ""
    note = [f"{plain(minutes[i])} min, from {clock(begins)} of {plain(sum(minutes))}{over}."]
    note = [] if one.is_passed(plan) else note
    if one.can_wait:
        after = next((each.number for each in slides[i:] if not each.can_wait), None)
        on = f"{after} Enter goes on" if after else "here the lecture may end"
        note.append(f"{'Second reading' if one.is_later else 'It may be left out'}: {on}.")
    elif numbers:
        note.append(f"→ passes {span(numbers)}; {numbers[0]} Enter shows {'it' if len(numbers) == 1 else 'them'}.")
    return {"seconds": round(60 * minutes[i]), "passes": one.is_passed(plan), "note": " ".join(note)}


def that_can_wait(slides, i):
    """The slides from i on that can be passed, up to the next that cannot."""
    for one in slides[i:]:
        if not one.can_wait:
            return
        yield one


def plain(minutes):
    """2.5 as 2.5, and 2.0 as 2."""
    return f"{minutes:g}"


def span(numbers):
    """[10, 11, 12, 14] as "10–12 and 14"."""
    runs = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    words = [f"{first}–{last}" if first < last else f"{first}" for first, last in runs]
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


# ------------------------------------------------------------------------------------------ the guide for instructors


def in_words(slides):
    """A lesson's paragraph of the guide: what its sections take in 45 minutes, what is passed, and 90 minutes."""
    short, long = PLANS["45"], PLANS["90"]
    there = [one for one in slides if not one.is_passed(short)]
    sections = {one.section: 0 for one in there}
    for one in there:
        sections[one.section] += one.minutes(short)
    parts = ", ".join(
        f"{plain(minutes)} for *{section.replace('*', '')}*" for section, minutes in sections.items() if minutes
    )
    numbers = [one.number for one in slides if one.is_passed(short)]
    fits = short.whole - sum(sections.values()) >= TALK
    talk = f": neighbours' talk and a second vote take {plain(TALK)}" if fits else ""
    by_number = f" → passes {span(numbers)}; a number and Enter shows one of them." if numbers else ""
    votes, counts = sum(one.votes for one in slides), for_votes_and_lines(there, short)
    return (
        f"In 45 minutes, {counts}: {parts}; {spare(there, short)}{talk}.{by_number} In 90 minutes "
        f"there is time for every slide and for talk in each of the {votes} votes, which then take {plain(long.vote)}: "
        f"{spare(slides, long)}."
    )


def for_votes_and_lines(slides, plan):
    """What is counted for votes and dictated lines."""
    votes, lines = sum(one.votes for one in slides), sum(one.dictates for one in slides)
    return (
        f"with {plain(plan.vote)} for each of {votes} votes and {plain(plan.line)} for each of {lines} lines dictated"
    )


def spare(slides, plan):
    """How many minutes are left of what the lecture may take."""
    minutes_left = plan.whole - sum(one.minutes(plan) for one in slides)
    return f"{plain(minutes_left)} {'is' if minutes_left == 1 else 'are'} spare"


def with_plans(guide):
    """The guide with the minutes of every lesson's slides beside its link, and the plans that it has a place for."""

    def with_minutes(match):
        return f"{match[1]}{plain(sum(slide.minutes for slide in slides_of(match[2])))}{match[3]}"

    def with_plan(match):
        path = next(NOTEBOOKS.glob(f"{match[2]}_*.ipynb"))
        cells = nbformat.read(path, as_version=4).cells
        return f"{match[1]}{in_words(planned(cells, with_cells(cells, slides_of(path.stem))))}{match[3]}"

    return IN_GUIDE.sub(with_plan, BESIDE_LINK.sub(with_minutes, guide))


def main():
    """Bring minutes and plans in the guide up to date."""
    GUIDE.write_text(with_plans(GUIDE.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
