"""The normal form of values, answers, turns and contexts (scoring spec 1.1).

The published quirks are kept on purpose, because every published number depends on them: free-standing numbers
of three or four digits become clock times, the alias table is incomplete, punctuation becomes a space.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

ALIAS_CORPUS = "multiwoz"
"""The only corpus name to which the alias table applies."""

ALIASES: tuple[tuple[str, str], ...] = (
    ("centre", "center"),
    ("color", "colour"),
    ("1 person", "1"),
    ("one person", "1"),
    ("2 people", "2"),
    ("two people", "2"),
    ("3 people", "3"),
    ("three people", "3"),
    ("4 people", "4"),
    ("five people", "5"),
    ("5 people", "5"),
    ("moderate price", "moderate"),
    ("moderately priced", "moderate"),
    ("expensive priced", "expensive"),
    ("cheap priced", "cheap"),
    ("guesthouse", "guest house"),
    ("asian oriental", "asian"),
    ("north american", "american"),
    ("panasian", "asian"),
)
"""Whole-phrase replacements, applied one after another in this order; later entries see earlier results."""

_ALIAS_PATTERNS = tuple((old, re.compile(rf"\b{re.escape(old)}\b"), new) for old, new in ALIASES)

DIGIT_AT_WORD_START = r"\d(?<!\w\d)"
"""A word boundary before a digit, written behind the digit: the engine can then jump from digit to digit."""
_DIGIT = re.compile(r"\d")
_HALF_DAY_TIME = re.compile(rf"({DIGIT_AT_WORD_START}\d?)(?::(\d\d))?\s*(am|pm|a\.m\.|p\.m\.)\b")
CLOCK_TIME = re.compile(rf"({DIGIT_AT_WORD_START}\d?):(\d\d)\b")
"""Hour and minute as digits, for `padded_time`."""
_BARE_NUMBER = re.compile(rf"({DIGIT_AT_WORD_START}\d?)(\d\d)\b")
_PUNCTUATION = re.compile(r"[^\w\s:/-]+")
# The same rule for ASCII text, as a table: contexts are mostly ASCII, and a table is twenty times as fast.
_ASCII_PUNCTUATION = {code: " " for code in range(128) if _PUNCTUATION.match(chr(code))}

_VALUE_LENGTH = 80
"""Characters up to which a text counts as a value, whose normal form is remembered."""
_REMEMBERED_VALUES = 65_536

_LONG_TEXT = 5_000
"""Characters from which non-ASCII text is brought into canonical order before NFKC."""


def normalize_value(value: str | None, corpus: str) -> str:
    """The normal form of a text under which values are compared.

    Builder, generator and scorer all use this one function: a second version would let a probe be eligible,
    retained or correct under different readings of the same value.

    Args:
        value: A value, answer, turn or whole context; ``None`` gives the empty string.
        corpus: Corpus name; only ``"multiwoz"``, exactly so, applies the alias table.
    """
    if not value:
        return ""
    return _normal_form_of_value(value, corpus) if len(value) <= _VALUE_LENGTH else _normal_form(value, corpus)


def _normal_form(value: str, corpus: str) -> str:
    text = compatibility_form(value).lower().strip()
    if corpus == ALIAS_CORPUS:
        for old, pattern, new in _ALIAS_PATTERNS:
            if old in text:
                text = pattern.sub(new, text)
    if _DIGIT.search(text):
        if "m" in text:
            text = _HALF_DAY_TIME.sub(half_day_time, text)
        if ":" in text:
            text = CLOCK_TIME.sub(padded_time, text)
        text = _BARE_NUMBER.sub(_from_bare_number, text)
    return without_punctuation(text)


# The same few thousand slot values come back in every turn, answer and row; turns and contexts do not.
_normal_form_of_value = lru_cache(maxsize=_REMEMBERED_VALUES)(_normal_form)


def compatibility_form(text: str) -> str:
    """Unicode NFKC, in linear time.

    `unicodedata.normalize` sorts long runs of combining marks in quadratic time, which one broken answer of a
    reader would turn into minutes; long texts are therefore decomposed and sorted here first. NFKC gives the
    same result for a text and for its decomposition in canonical order.
    """
    if text.isascii():
        return text
    if len(text) > _LONG_TEXT:
        text = _canonical_order(text)
    return unicodedata.normalize("NFKC", text)


def without_punctuation(text: str) -> str:
    """Punctuation runs to one space each (but ``:``, ``/``, ``-`` and ``_`` stay), white space to single spaces."""
    text = text.translate(_ASCII_PUNCTUATION) if text.isascii() else _PUNCTUATION.sub(" ", text)
    return " ".join(text.split())


def half_day_time(match: re.Match[str]) -> str:
    """``HH:MM`` for a match of (hour, minute or ``None``, am or pm in any spelling); no range check."""
    hour, minute, half = int(match[1]), int(match[2] or 0), match[3][0]
    if half == "p" and hour != 12:
        hour += 12
    elif half == "a" and hour == 12:
        hour = 0
    return f"{hour:02d}:{minute:02d}"


def padded_time(match: re.Match[str]) -> str:
    """``HH:MM`` for a match of (hour, minute); no range check."""
    return f"{int(match[1]):02d}:{int(match[2]):02d}"


def _canonical_order(text: str) -> str:
    ordered: list[str] = []
    marks: list[str] = []
    for character in "".join(unicodedata.normalize("NFKD", character) for character in text):
        if unicodedata.combining(character):
            marks.append(character)
            continue
        if marks:
            ordered.extend(sorted(marks, key=unicodedata.combining))
            marks.clear()
        ordered.append(character)
    ordered.extend(sorted(marks, key=unicodedata.combining))
    return "".join(ordered)


def _from_bare_number(match: re.Match[str]) -> str:
    hour, minute = int(match[1]), int(match[2])
    return f"{hour:02d}:{minute:02d}" if hour <= 23 and minute <= 59 else match[0]
