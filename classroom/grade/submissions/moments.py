"""Moments as people and platforms write them."""

import contextlib
import datetime
import functools
import re
import zoneinfo

LANGUAGES = "en", "de", "fr", "es", "it", "nl", "pt"  # of dates that a platform writes in words


def moment(text, last_minute=""):
    """The aware datetime that a text names, of this machine's zone unless it says which; None for none.

    A zone is said at the end: +02:00, UTC, UTC+2, Europe/Berlin. ISO, or a day, a month in words, a year and a time,
    as Moodle writes them in several languages. A day and a month that are both numbers are taken where only one order
    is possible, or with points between them. A day alone is taken where its `last_minute` is given, as "23:59".
    """
    text, zone = _zone_of(text.strip())
    when = _naive(text) or (_naive(f"{text} {last_minute}") if last_minute else None)
    if when is None or when.tzinfo:
        return when
    return when.replace(tzinfo=zone) if zone else when.astimezone()


def _zone_of(text):
    """(the text before a zone at its end, that zone); None for the zone where none is said."""
    rest, _, last = text.rpartition(" ")
    if at := re.fullmatch(r"\(?(?:UTC|GMT|Z)([+\-−]\d{1,2})?(?::?(\d\d))?\)?", last):
        hours, minutes = int((at[1] or "0").replace("−", "-")), int(at[2] or 0)
        ahead = datetime.timedelta(hours=hours, minutes=minutes if hours >= 0 else -minutes)
        return rest, datetime.timezone(ahead)
    if "/" in last and not last[0].isdigit():
        with contextlib.suppress(zoneinfo.ZoneInfoNotFoundError, ValueError):
            return rest, zoneinfo.ZoneInfo(last)
    return text, None


def _naive(text):
    with contextlib.suppress(ValueError):
        if ":" in text:  # a day alone is no moment
            return datetime.datetime.fromisoformat(re.sub(r"(?<=\d) (?=[+-]\d\d:?\d\d$)", "", text))
    time = re.search(r"(\d{1,2})[:.h](\d{2})(?::(\d{2}))?\s*([ap])?\.?\s?m?\b\.?\s*$", text, re.I)
    if not time:
        return None
    date, hour = text[: time.start()], int(time[1])
    if time[4]:
        hour = hour % 12 + 12 * (time[4].lower() == "p")
    day = _day(date)
    try:
        return datetime.datetime(*day, hour, int(time[2]), int(time[3] or 0)) if day else None
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

    number_of = {}
    for language in LANGUAGES:
        for kind in ("wide", "abbreviated"):
            for number, word in Locale(language).months["format"][kind].items():
                number_of.setdefault(word.casefold().strip("."), number)
    return number_of
