"""Content words: the two published stop lists with their tokenisers, and the overlap measures over them.

Source: scoring spec 3.1 (P1 and P3) and 3.2 (P2 diagnostics, LongMemEval-KU).
"""

from __future__ import annotations

import re


def words(text: str) -> frozenset[str]:
    """A stop list written as one text."""
    return frozenset(text.split())


GOAL_STOP_WORDS = words(
    "a action agent an and are as at be but by can could do find for from had has have i if in is it like "
    "looking may me might my need next no not of on or our out please search shall should so that the these "
    "they this those to up user want was we were what will with would you your"
)
"""The 64 words that do not count in P1 and P3."""

VALUE_STOP_WORDS = words(
    "a about also an and are as at be been but by did do does for from had has have he her his i if in is it "
    "just me my no not of ok okay on or our please she so than thank thanks that the their then these they this "
    "those to was we were with without yes you your"
)
"""The 62 words that do not count in the overlap measures of P2 and LongMemEval-KU."""

MIN_TOKEN_LENGTH = 2
"""Shorter tokens are dropped by every tokeniser here, so "2 people" is the one word "people"."""

_ASCII_RUN = re.compile(r"[a-z0-9]+")
_NOT_VALUE_CHARACTER = re.compile(r"[^a-z0-9\s]")


def goal_tokens(text: str) -> frozenset[str]:
    """Content words of P1 and P3: runs of a-z and 0-9 in the lower-cased text, as a set."""
    return frozenset(
        token
        for token in _ASCII_RUN.findall(text.lower())
        if len(token) >= MIN_TOKEN_LENGTH and token not in GOAL_STOP_WORDS
    )


def value_tokens(text: str) -> frozenset[str]:
    """Content words of the P2 overlap measures: as `goal_tokens`, but split at white space, other stop list."""
    return frozenset(
        token
        for token in _NOT_VALUE_CHARACTER.sub(" ", text.lower()).split()
        if len(token) >= MIN_TOKEN_LENGTH and token not in VALUE_STOP_WORDS
    )


def set_f1(answer: frozenset[str], reference: frozenset[str]) -> float:
    """Set-based F1; 0 where either set is empty or they share nothing."""
    common = len(answer & reference)
    if not common:
        return 0.0
    precision, recall = common / len(answer), common / len(reference)
    return 2 * precision * recall / (precision + recall)
