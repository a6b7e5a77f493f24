"""Moments as people read them, always with their zone; `moments.js` puts the reader's own time beside them."""

from datetime import timedelta
from pathlib import Path

SCRIPT = Path(__file__).with_name("moments.js")


def moment_in_words(when):
    """A moment as the clock of its zone has it: 3 May 2026, 23:59 (UTC+2). One without a zone comes without."""
    zone = f" ({zone_of(when)})" if when.tzinfo else ""
    return f"{when.day} {when:%B %Y, %H:%M}{zone}"


def zone_of(when):
    """How far the clock of an aware moment is from UTC: UTC, UTC+2, UTC−3:30."""
    minutes = when.utcoffset() // timedelta(minutes=1)
    hours, minutes_left = divmod(abs(minutes), 60)
    sign = "−" if minutes < 0 else "+"
    return "UTC" + (f"{sign}{hours}" + f":{minutes_left:02}" * bool(minutes_left)) * bool(minutes)
