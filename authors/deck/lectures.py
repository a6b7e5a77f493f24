"""What earlier lectures leave for the next: how each question was answered then, from the files that a deck saves."""

import json
import re
import sys
from datetime import date
from pathlib import Path

RECORD = re.compile(r'<script type="application/json" id="lecture">(.*?)</script>', re.S)

OTHERS = "other answers"  # as hall.js calls them


class Lectures:
    """A folder of lectures that were saved, of any lessons, read when a deck is opened."""

    def __init__(self, folder):
        self.folder = Path(folder)
        if not self.folder.is_dir():
            sys.exit(f"There is no folder {self.folder}: --lectures names one that holds lectures you saved.")

    def last(self, lesson, today=None):
        """Question → a sentence on how it was answered the last time, of a lesson, as 03_masking."""
        today, sentences = today or date.today(), {}
        for record in sorted(filter(None, map(record_in, self.folder.glob("*.html"))), key=lambda one: one["on"]):
            if record["lesson"] == lesson:
                sentences |= {
                    one["id"]: sentence(one, date.fromisoformat(record["on"]), today) for one in record["questions"]
                }
        return sentences


def record_in(path):
    """The lecture that a file holds, or None for any other file."""
    match = RECORD.search(path.read_text(encoding="utf-8", errors="replace"))
    try:
        record = json.loads(match[1]) if match else None
        return record if record and date.fromisoformat(record["on"]) and record["questions"] is not None else None
    except (ValueError, KeyError, TypeError):
        return None


def sentence(question, on, today):
    """How it was answered: Last year 31 %, then 87 % right, of 140. Most frequent known mistake: less (70)."""
    shares = ", then ".join(f"{100 * one['right']:.0f} %" for one in question["rounds"])
    how_many = max(one["answered"] for one in question["rounds"])
    known_mistakes = (one for one in question["bars"] if not one["is"] and one["value"] != OTHERS)
    wrong = max(known_mistakes, key=lambda one: one["many"][0], default=None)
    many = wrong["many"][0] if wrong else 0
    often = f" Most frequent known mistake: {wrong['value']} ({many})." if many else ""
    return f"{when(on, today)} {shares} right, of {how_many}.{often}"


def when(on, today):
    """Last year, or the day."""
    return "Last year" if on.year == today.year - 1 else f"On {on.day} {on:%B %Y}"
