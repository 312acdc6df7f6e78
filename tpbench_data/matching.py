"""When a value is stated in a text, and when two values are the same (scoring spec 1.2)."""

from __future__ import annotations

from collections.abc import Iterable

from tpbench_data.normalize import normalize_value

MIN_CONTAINED_ALIAS = 3
"""Shortest normal form, in characters, that makes two values aliases by being contained in the other."""


def is_word_character(character: str) -> bool:
    r"""Whether a single character is a letter, digit or underscore of any script (the ``\w`` of ``re``)."""
    return character.isalnum() or character == "_"


def phrase_occurs(needle: str, haystack: str) -> bool:
    """Whether a phrase occurs with no word character right before and none right after it.

    This is the only phrase matcher: evidence turns, retention and loose scores must agree on what counts as
    stating a value. Colons, hyphens and slashes delimit ("12" occurs in "12:00"); CJK characters are word
    characters, so a Chinese value inside a sentence does not occur.

    Args:
        needle: Text that is already in the normal form of the comparison; an empty one never occurs.
        haystack: Text in the same form.
    """
    if not needle:
        return False
    length, end_of_text = len(needle), len(haystack)
    start = haystack.find(needle)
    while start >= 0:
        end = start + length
        if (start == 0 or not is_word_character(haystack[start - 1])) and (
            end == end_of_text or not is_word_character(haystack[end])
        ):
            return True
        start = haystack.find(needle, start + 1)
    return False


def value_in_text(value: str | None, text: str | None, corpus: str) -> bool:
    """Whether a value is stated in a text: the test for answer-bearing turns, retention and P2-loose."""
    needle = normalize_value(value, corpus)
    return bool(needle) and phrase_occurs(needle, normalize_value(text, corpus))


def values_match(a: str | None, b: str | None, corpus: str) -> bool:
    """Whether two values have the same non-empty normal form: P2-strict and the superseded-value test."""
    normal = normalize_value(a, corpus)
    return bool(normal) and normal == normalize_value(b, corpus)


def value_in_turns(value: str | None, texts: Iterable[str], corpus: str) -> bool:
    """Whether a value is a plain substring of a single turn, without boundaries: P2 eligibility only.

    Laxer than `value_in_text`: "college" is found in "colleges" here, and nowhere else.
    """
    needle = normalize_value(value, corpus)
    return bool(needle) and any(needle in normalize_value(text, corpus) for text in texts)


def alias_equivalent(old: str | None, new: str | None, corpus: str) -> bool:
    """Whether old and new value of an update are taken for two names of one thing.

    True for equal normal forms, and where the shorter normal form has at least `MIN_CONTAINED_ALIAS`
    characters and is contained in the other, even inside a word ("east" in "south east"). The published rule
    also compares the parts before the first comma, but the normal form has no comma left.
    """
    a, b = normalize_value(old, corpus), normalize_value(new, corpus)
    if not a or not b:
        return False
    if a == b:
        return True
    shorter, longer = sorted((a, b), key=len)
    return len(shorter) >= MIN_CONTAINED_ALIAS and shorter in longer
