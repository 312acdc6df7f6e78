"""English numbers in words: "one thousand six hundred and sixty" -> "1660", over a list of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Words = Sequence[str]

_NAMES = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_UNITS = {name: number for number, name in enumerate(_NAMES[:9], start=1)}
_TEENS = {name: number for number, name in enumerate(_NAMES[9:], start=10)}
_TENS = {
    name: 10 * number
    for number, name in enumerate(
        ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), start=2
    )
}
NUMBER_WORDS = frozenset({*_UNITS, *_TEENS, *_TENS})
"""The words that can begin a number."""

HOUR_WORDS = frozenset(_NAMES[:12])
"""The words that name an hour."""

LONE_ONE = "one"
"""By itself it is a pronoun as often as a number ("that one"), so it stays a word in running text."""


def hour_word(word: str) -> int | None:
    """The hour, 1 to 12, that a single word names."""
    return _NAMES.index(word) + 1 if word in HOUR_WORDS else None


def digits_for_words(words: Words) -> list[str]:
    """The words with every number written in digits; a lone "one" stays."""
    out: list[str] = []
    place = 0
    while place < len(words):
        number, end = _number(words, place) if words[place] in NUMBER_WORDS else (0, place)
        if end == place or (end == place + 1 and words[place] == LONE_ONE):
            out.append(words[place])
            place += 1
        else:
            out.append(str(number))
            place = end
    return out


def _number(words: Words, place: int) -> tuple[int, int]:
    """The longest number from ``place`` on and the place behind it."""
    number, end = _below_thousand(words, place)
    if end > place and _word(words, end) == "thousand":
        rest, behind = _continued(words, end + 1, _below_thousand)
        return 1000 * number + rest, behind
    return number, end


def _below_thousand(words: Words, place: int) -> tuple[int, int]:
    number, end = _below_hundred(words, place)
    if end == place + 1 and number < 10 and _word(words, end) == "hundred":
        rest, behind = _continued(words, end + 1, _below_hundred)
        return 100 * number + rest, behind
    return number, end


def _below_hundred(words: Words, place: int) -> tuple[int, int]:
    word = _word(words, place)
    if word in _TEENS:
        return _TEENS[word], place + 1
    if word in _UNITS:
        return _UNITS[word], place + 1
    if word in _TENS:
        unit = _UNITS.get(_word(words, place + 1), 0)
        return _TENS[word] + unit, place + (2 if unit else 1)
    return 0, place


def _continued(words: Words, place: int, read: Callable[[Words, int], tuple[int, int]]) -> tuple[int, int]:
    """The rest of a number behind "hundred" or "thousand", after an optional "and"; 0 where none follows."""
    start = place + 1 if _word(words, place) == "and" else place
    number, end = read(words, start)
    return (number, end) if end > start else (0, place)


def _word(words: Words, place: int) -> str:
    return words[place] if place < len(words) else ""
