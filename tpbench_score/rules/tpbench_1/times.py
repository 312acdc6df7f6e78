"""Times of day over a list of words: "12 pm", "noon" and "12:00" are one time, a bare number is none.

A number becomes a time only where the words say so: a colon, am or pm, o'clock, "in the evening", "half past".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tpbench_score.rules.tpbench_1.number_words import HOUR_WORDS, hour_word

_CLOCK = re.compile(r"([0-9]{1,2})[:.]([0-9]{2})")
_NAMED = {"noon": (12, 0), "midday": (12, 0), "midnight": (0, 0)}
_QUARTERS = {"half": 30, "quarter": 15}
# Only these words, and those that begin with a digit, can begin a time or end one.
_TIME_WORDS = frozenset({*_NAMED, *_QUARTERS, "oclock", *HOUR_WORDS})
DAY_PARTS = frozenset({"morning", "afternoon", "evening", "night"})


def with_times(words: Sequence[str]) -> list[str]:
    """The words with every time of day as one word ``HH:MM``."""
    out: list[str] = []
    place = 0
    while place < len(words):
        word, place = words[place], place + 1
        if word not in _TIME_WORDS and not word[0].isdigit():
            out.append(word)
            continue
        if word in _NAMED:
            if out and out[-1] in ("12", "12:00"):
                out.pop()  # "12 noon"
            out.append(written(_NAMED[word]))
            continue
        if word == "oclock" and out and (hour := _hour(out[-1])) is not None:
            out.pop()
            time, place = _with_suffix(words, place, (hour, 0))
        elif (found := _past(words, place - 1)) is not None:
            time, place = _with_suffix(words, found[1], found[0])
        elif (moment := clock(word, colon_only=True)) is not None:
            time, place = _with_suffix(words, place, moment)
        elif (moment := clock(word) or _full_hour(word)) is not None:
            time, behind = _with_suffix(words, place, moment)
            if behind == place:
                out.append(word)  # a number, or hours and minutes without a word that makes them a time
                continue
            place = behind
        else:
            out.append(word)
            continue
        out.append(written(time))
    return out


def clock(word: str, *, colon_only: bool = False) -> tuple[int, int] | None:
    """Hour and minute of a word such as ``7:15``, in range; ``17.58`` only where the caller takes a dot for a colon."""
    match = _CLOCK.fullmatch(word)
    if match is None or (colon_only and "." in word):
        return None
    hour, minute = int(match[1]), int(match[2])
    return (hour, minute) if hour < 24 and minute < 60 else None


def written(time: tuple[int, int]) -> str:
    """``HH:MM``."""
    return f"{time[0]:02d}:{time[1]:02d}"


def in_day_part(time: tuple[int, int], part: str) -> tuple[int, int]:
    """A time of a twelve-hour clock in a part of the day; an hour from 13 on is left as it is.

    Twelve is noon in the afternoon and midnight at night, in the morning and in the evening; at night one to five
    follow midnight.
    """
    hour, minute = time
    if hour > 12 or (part == "afternoon" and hour == 12) or (part == "morning" and hour < 12):
        return time
    if hour == 12:
        return 0, minute
    if hour == 0 or (part == "night" and hour <= 5):
        return time
    return hour + 12, minute


def number_in_day_part(words: Sequence[str]) -> str | None:
    """The time of a whole value such as ``evening 4:30``, ``night 8`` or ``4:30 evening``; ``None`` for any other."""
    if len(words) != 2:
        return None
    part, number = words if words[0] in DAY_PARTS else (words[1], words[0])
    time = clock(number) or _full_hour(number)
    return written(in_day_part(time, part)) if part in DAY_PARTS and time is not None else None


def _with_suffix(words: Sequence[str], place: int, time: tuple[int, int]) -> tuple[tuple[int, int], int]:
    """The time with am, pm or the part of the day that follow it, and the place behind them."""
    word, second, third = (words[place + n] if place + n < len(words) else "" for n in range(3))
    if (word, second) in (("a", "m"), ("p", "m")):
        word, length = f"{word}m", 2
    else:
        length = 1
    if word == "am" and time[0] <= 12:
        return (0 if time[0] == 12 else time[0], time[1]), place + length
    if word == "pm" and time[0] > 0:
        return (time[0] + 12 if time[0] < 12 else time[0], time[1]), place + length
    if (word, second) == ("in", "the") and third in DAY_PARTS:
        return in_day_part(time, third), place + 3
    if (word, second) == ("at", "night"):
        return in_day_part(time, "night"), place + 2
    return time, place


def _past(words: Sequence[str], place: int) -> tuple[tuple[int, int], int] | None:
    """The time of "half past 8", "quarter past 8" or "quarter to 8" and the place behind it."""
    if place + 2 >= len(words) or words[place] not in _QUARTERS or words[place + 1] not in ("past", "to"):
        return None
    hour = _hour(words[place + 2])
    if hour is None or not 1 <= hour <= 12 or (words[place], words[place + 1]) == ("half", "to"):
        return None
    minutes = _QUARTERS[words[place]]
    if words[place + 1] == "to":
        hour, minutes = (hour - 1 or 12), 60 - minutes
    return (hour, minutes), place + 3


def _hour(word: str) -> int | None:
    if word.isascii() and word.isdigit() and len(word) <= 2:
        return int(word) if int(word) < 24 else None
    return hour_word(word)


def _full_hour(word: str) -> tuple[int, int] | None:
    hour = _hour(word)
    return None if hour is None else (hour, 0)
