"""`paper-1` for P2 on LongMemEval-KU: bounded variants of the displayed reference (scoring spec 3.5)."""

from __future__ import annotations

import re
from typing import Any

from tpbench_data.matching import phrase_occurs
from tpbench_data.normalize import (
    CLOCK_TIME,
    DIGIT_AT_WORD_START,
    compatibility_form,
    half_day_time,
    padded_time,
    without_punctuation,
)
from tpbench_score.parsing import Extracted, parse_reader_text, read_scalar_value, without_level
from tpbench_score.records import AnswerScore, Forms, Reference, Rule, outcome
from tpbench_score.rules.tokens import value_tokens

_HALF_DAY_TIME = re.compile(rf"({DIGIT_AT_WORD_START}\d?)(?::(\d\d))?\s*(a\.?m\.?|p\.?m\.?)\b")
_PARENTHESIS = re.compile(r"\(([^()]*)\)")
_LEADING_OR = re.compile(r"^\s*or\s+", re.IGNORECASE)
_LETTER = re.compile(r"[a-z]")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_EDGES = " .,;"


def normal_form(value: Any) -> str:
    """The normal form of this corpus: no aliases, no bare numbers as times, but "p.m." with its dots is one.

    Any JSON value has one; null, true and false have the empty one, which never matches.
    """
    if value is None or isinstance(value, bool):
        return ""
    text = compatibility_form(str(value)).lower().strip()
    return without_punctuation(CLOCK_TIME.sub(padded_time, _HALF_DAY_TIME.sub(half_day_time, text)))


def variants(reference: str) -> list[str]:
    """The accepted forms of a displayed reference, without repeats.

    The text itself, the inside of every innermost parenthesis (every one, so "Seattle (WA)" accepts "WA"), and the
    text without them. A leading "or" inside a parenthesis is dropped.
    """
    inside = [_LEADING_OR.sub("", text).strip(_EDGES) for text in _PARENTHESIS.findall(reference)]
    outside = _PARENTHESIS.sub(" ", reference).strip(_EDGES)
    return list(dict.fromkeys([reference, *filter(None, [*inside, outside])]))


def score(extracted: Extracted, reference: Reference) -> AnswerScore:
    """Strict: a variant equals the prediction, occurs in it, or has the numbers of a prediction without letters.

    Loose: strict, or half (rounded up) of the content words of the whole displayed reference.
    """
    if extracted.reason:
        return AnswerScore(False, False, extracted.abstained, extracted.value, extracted.reason)
    given = normal_form(extracted.value)
    forms = [form for form in map(normal_form, variants(reference.value)) if form]
    strict = bool(given) and any(_states(form, given) for form in forms)
    loose = strict or _shares_half(given, normal_form(reference.value))
    reason = outcome(strict, loose, "value_differs", has_reference=bool(forms))
    return AnswerScore(strict, loose, False, extracted.value, reason)


def _states(form: str, given: str) -> bool:
    if phrase_occurs(form, given):
        return True
    numbers = [] if _LETTER.search(given) else _NUMBER.findall(given)
    return bool(numbers) and numbers == _NUMBER.findall(form)


def _shares_half(given: str, expected: str) -> bool:
    wanted = value_tokens(expected)
    shared = len(wanted & value_tokens(given))
    return shared > 0 and 2 * shared >= len(wanted)


def score_failed(extracted: Extracted) -> AnswerScore:
    """An output whose reader failed: wrong, but its text still tells whether the reader abstained."""
    return AnswerScore(False, False, extracted.abstained, None, "error")


def forms(extracted: Extracted, reference: Reference) -> Forms:
    """The normal forms of all variants of the reference, and of the answer."""
    return {
        "normal forms of the reference": [normal_form(variant) for variant in variants(reference.value)],
        "normal form of the answer": normal_form(extracted.value),
    }


RULE = Rule(
    ("value",),
    without_level(parse_reader_text),
    read_scalar_value,
    score,
    score_failed,
    criterion="Strict: a variant of the reference occurs in the answer, or the answer is nothing but its numbers. "
    "Loose: or half of the words of the reference are there.",
    forms=forms,
)
