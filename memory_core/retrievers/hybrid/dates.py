"""The time a question speaks of, as an interval. Search libraries for dates take 50 ms and more a question."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta

Interval = tuple[datetime, datetime]
_MONTHS = {
    name: number
    for number, name in enumerate(
        "january february march april may june july august september october november december".split(), start=1
    )
}
_NUMBERS = {
    word: number
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
} | {"a": 1, "an": 1, "couple": 2, "few": 3}
_WEEKDAYS = {
    name: number for number, name in enumerate("monday tuesday wednesday thursday friday saturday sunday".split())
}
_DAYS = {"day": 1.0, "week": 7.0, "weekend": 7.0, "month": 30.4, "year": 365.25}
_NUMBER = rf"(\d{{1,4}}|{'|'.join(_NUMBERS)})(?: of)?"
_MONTH = rf"({'|'.join(_MONTHS)}|{'|'.join(name[:3] for name in _MONTHS)}|sept)"


def interval(question: str, asked_at: datetime) -> Interval | None:
    """From when to when, end excluded, the first time the question names; None without one.

    A date without a year is the last such date before `asked_at`, and so are relative words counted from it.

    >>> at = datetime(2024, 5, 20, 9)
    >>> [str(end.date()) for end in interval("What did I buy two weeks ago?", at)]
    ['2024-05-03', '2024-05-11']
    >>> [str(end.date()) for end in interval("Where was Mira in June 2023?", at)]
    ['2023-06-01', '2023-07-01']
    >>> interval("Where does Mira live?", at) is None
    True
    """
    text, today = question.casefold(), asked_at.replace(hour=0, minute=0, second=0, microsecond=0)
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            try:
                return read(match, today)
            except (ValueError, OverflowError):  # no such day, or one before the year 1: not a date after all
                continue
    return None


def _iso(match: re.Match[str], today: datetime) -> Interval:
    return _days(today.replace(year=int(match[1]), month=int(match[2]), day=int(match[3])), 1)


def _day_first(match: re.Match[str], today: datetime) -> Interval:
    return _day(int(match[1]), match[2], match[3], today)


def _month_first(match: re.Match[str], today: datetime) -> Interval:
    return _day(int(match[2]), match[1], match[3], today)


def _day(day: int, month: str, year: str | None, today: datetime) -> Interval:
    number = _month_number(month)
    past = (number, day) <= (today.month, today.day)
    return _days(today.replace(year=int(year) if year else today.year - (not past), month=number, day=day), 1)


def _month_named(match: re.Match[str], today: datetime) -> Interval:
    month, year = _month_number(match[1]), match[2]
    start = today.replace(year=int(year) if year else today.year - (month > today.month), month=month, day=1)
    return start, start.replace(year=start.year + (month == 12), month=month % 12 + 1)


def _year(match: re.Match[str], today: datetime) -> Interval:
    start = today.replace(year=int(match[1]), month=1, day=1)
    return start, start.replace(year=start.year + 1)


def _ago(match: re.Match[str], today: datetime) -> Interval:
    """People round: "two weeks ago" is up to half a week off, "three months ago" half a month."""
    unit = _DAYS[match[2]]
    then = today - timedelta(days=round(_count(match[1]) * unit))
    slack = timedelta(days=int(unit / 2))
    return then - slack, then + slack + timedelta(days=1 + (unit > 1))


def _yesterday(match: re.Match[str], today: datetime) -> Interval:
    return _days(today - timedelta(days=1), 1)


def _last_weekday(match: re.Match[str], today: datetime) -> Interval:
    back = (today.weekday() - _WEEKDAYS[match[1]]) % 7 or 7
    return _days(today - timedelta(days=back), 1)


def _last(match: re.Match[str], today: datetime) -> Interval:
    """ "Last month" is the one before this, or the thirty days just past: both count."""
    return today - timedelta(days=2 * _DAYS[match[1]]), today + timedelta(days=1)


def _past(match: re.Match[str], today: datetime) -> Interval:
    return today - timedelta(days=_count(match[1]) * _DAYS[match[2]] + 1), today + timedelta(days=1)


def _this(match: re.Match[str], today: datetime) -> Interval:
    return today - timedelta(days=_DAYS[match[1]]), today + timedelta(days=1)


def _count(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS[word]


def _month_number(name: str) -> int:
    return next(number for month, number in _MONTHS.items() if month.startswith(name[:3]))


def _days(start: datetime, count: int) -> Interval:
    return start, start + timedelta(days=count)


_UNIT = r"(day|week|weekend|month|year)"
_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], datetime], Interval]], ...] = (
    (re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b"), _iso),
    (re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}\b\.?,?(?: (\d{{4}}))?\b"), _day_first),
    (re.compile(rf"\b{_MONTH}\b\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}}))?"), _month_first),
    (re.compile(rf"\b{_MONTH}\b,? (?:of )?(\d{{4}})\b"), _month_named),
    (re.compile(rf"\b(?:in|during|of|since|early|late|mid|this|last)[ -]{_MONTH}\b()"), _month_named),
    (re.compile(r"\b(?:in|during|of|since) ((?:19|20)\d\d)\b"), _year),
    (re.compile(rf"\b{_NUMBER} (day|week|month|year)s? ago\b"), _ago),
    (re.compile(r"\byesterday\b"), _yesterday),
    (re.compile(rf"\blast ({'|'.join(_WEEKDAYS)})\b"), _last_weekday),
    (re.compile(rf"\b(?:last|past|previous) {_UNIT}\b"), _last),
    (re.compile(rf"\b(?:last|past|previous) {_NUMBER} {_UNIT}s?\b"), _past),
    (re.compile(rf"\bthis {_UNIT}\b"), _this),
)  # fmt: skip
