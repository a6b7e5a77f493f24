"""Moments as people and platforms write them, read and shown."""

import contextlib
import datetime
import functools
import re

LANGUAGES = "en", "de", "fr", "es", "it", "nl", "pt"  # of dates that a platform writes in words


def shown(when):
    """A moment as this machine's clock has it: 3 May 2026, 14:02."""
    local = when.astimezone()
    return f"{local.day} {local:%B %Y, %H:%M}"


def moment(text):
    """The aware datetime that a text names, of this machine's zone unless it says which; None for none.

    ISO, or a day, a month in words, a year and a time, as Moodle writes them in several languages. A day and a month
    that are both numbers are taken where only one order is possible, or with points between them.
    """
    text = text.strip()
    with contextlib.suppress(ValueError):
        if ":" in text:  # a day alone is no moment
            return datetime.datetime.fromisoformat(text).astimezone()
    time = re.search(r"(\d{1,2})[:.h](\d{2})(?::(\d{2}))?\s*([ap])?\.?\s?m?\b\.?\s*$", text, re.I)
    if not time:
        return None
    date, hour = text[: time.start()], int(time[1])
    if time[4]:
        hour = hour % 12 + 12 * (time[4].lower() == "p")
    day = _day(date)
    try:
        return datetime.datetime(*day, hour, int(time[2]), int(time[3] or 0)).astimezone() if day else None
    except ValueError:
        return None


def _day(text):
    """(year, month, day) of a date, None for none or for one that can be read in two ways."""
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    words = re.findall(r"[^\W\d_]+", text.casefold())
    month = next((months()[word] for word in words if word in months()), None)
    if month and len(numbers) == 2:
        day, year = sorted(numbers)
        return year, month, day
    if len(numbers) == 3 and numbers[2] > 999:
        first, second, year = numbers
        if "." in text or first > 12:
            return year, second, first
        return (year, first, second) if second > 12 or first == second else None
    return None


@functools.cache
def months():
    """{month in words, whole or short: its number}, of all `LANGUAGES`."""
    from babel import Locale

    found = {}
    for language in LANGUAGES:
        for kind in ("wide", "abbreviated"):
            for number, word in Locale(language).months["format"][kind].items():
                found.setdefault(word.casefold().strip("."), number)
    return found
