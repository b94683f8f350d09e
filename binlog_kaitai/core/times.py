"""Dates and times as text, in the forms that both servers take."""

from __future__ import annotations

import re
from calendar import monthrange

# Patterns are compiled when they are first used.
_CLOCK = r"(?P<hour>\d\d?)(?::(?P<minute>\d\d?)(?::(?P<second>\d\d?)(?:\.(?P<fraction>\d{1,6}))?)?)?"
_DATE = rf"(?a)(?P<year>\d{{4}}|\d\d)([-/.])(?P<month>\d\d?)\2(?P<day>\d\d?)(?:[T ]{_CLOCK})?"
_DIGITS = (
    r"(?a)(?P<year>\d{4}|\d\d)(?P<month>\d\d)(?P<day>\d\d)"
    r"(?:T?(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)(?:\.(?P<fraction>\d{1,6}))?)?"
)
_TIME = (
    r"(?a)(?P<sign>-?)(?:(?P<day>\d\d?) )?(?P<hour>\d{1,4}):(?P<minute>\d\d?)"
    r"(?::(?P<second>\d\d?)(?:\.(?P<fraction>\d{1,6}))?)?"
)
_TIME_DIGITS = (
    r"(?a)(?P<sign>-?)(?P<day>)(?P<hour>\d{0,3}?)(?P<minute>\d{0,2}?)(?P<second>\d\d?)"
    r"(?:\.(?P<fraction>\d{1,6}))?"
)
#: The longest TIME, 838:59:59, in microseconds.
LONGEST_TIME = ((838 * 60 + 59) * 60 + 59) * 10**6


def date_parts(text: str) -> tuple[int, int, int, int, int, int, int] | None:
    """Year to microsecond of ``2026-11-20 03:00:00.5`` or ``20261120030000``; only the date is necessary.

    Years may have two digits, other parts one; ``-`` may be ``/`` or ``.``, the blank ``T``; month and day
    may be 0. None for other text, and for dates and times that do not exist.
    """
    match = re.fullmatch(_DATE, text) or re.fullmatch(_DIGITS, text)
    if match is None:
        return None
    year, month, day, hour, minute, second, microsecond = _parts(match, "year", "month")
    is_short = len(match["year"]) == 2
    if is_short:
        year += 2000 if year < 70 else 1900
    if any((year, month, day)):
        most = monthrange(year, month)[1] if year and 0 < month < 13 else 0 if month or is_short else 31
        if not year or month > 12 or day > most or (is_short and not day):
            return None
    is_clock = hour < 24 and max(minute, second) < 60
    return (year, month, day, hour, minute, second, microsecond) if is_clock else None


def time_microseconds(text: str) -> int | None:
    """Parse a TIME, ``[-][D ]hh:mm[:ss.ffffff]`` or ``[-]hhmmss[.ffffff]``, which may lack leading digits.

    None for other text, and for times beyond 838:59:59.
    """
    match = re.fullmatch(_TIME, text) or re.fullmatch(_TIME_DIGITS, text)
    if match is None:
        return None
    days, hour, minute, second, microsecond = _parts(match)
    length = (((days * 24 + hour) * 60 + minute) * 60 + second) * 10**6 + microsecond
    if max(minute, second) > 59 or length > LONGEST_TIME:
        return None
    return -length if match["sign"] else length


def _parts(match: re.Match[str], *names: str) -> list[int]:
    parts = [int(match[name] or 0) for name in (*names, "day", "hour", "minute", "second")]
    return [*parts, int((match["fraction"] or "").ljust(6, "0"))]
