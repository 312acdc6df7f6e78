"""`tpbench-1` for P1 `initial_goal`, in English and Chinese: shared content units."""

from __future__ import annotations

from dataclasses import replace

from tpbench_score.parse_levels import parse_answer
from tpbench_score.parsing import Extracted
from tpbench_score.records import AnswerScore, Forms, Reference, Rule, outcome
from tpbench_score.rules.initial_goal import word_forms
from tpbench_score.rules.tokens import set_f1
from tpbench_score.rules.tpbench_1.content import compared_units
from tpbench_score.rules.tpbench_1.reading import read_value, score_failed, stands_for_none, unscored

STRICT_SHARED_UNITS = 2
"""Units that a strict answer shares with the reference; all of them where the reference has fewer."""


def score(extracted: Extracted, reference: Reference) -> AnswerScore:
    """Strict: two shared content units, or the only one there is; loose: one; F1 over the same sets."""
    if extracted.reason:
        return unscored(extracted, token_f1=0.0)
    expected, given = compared_units(reference.goal, extracted.value)
    shared = len(expected & given)
    if not shared and stands_for_none(extracted.value):
        return AnswerScore(False, False, True, extracted.value, "no_answer", 0.0)
    strict = 0 < min(STRICT_SHARED_UNITS, len(expected)) <= shared
    reason = outcome(strict, shared >= 1, "goal_differs", has_reference=bool(expected))
    return AnswerScore(strict, shared >= 1, False, extracted.value, reason, set_f1(given, expected))


def failed(extracted: Extracted) -> AnswerScore:
    """An output whose reader failed, with the column of P1."""
    return replace(score_failed(extracted), token_f1=0.0)


def forms(extracted: Extracted, reference: Reference) -> Forms:
    """The content units on both sides."""
    return word_forms(*compared_units(reference.goal, extracted.value))


RULE = Rule(
    ("goal",),
    parse_answer,
    read_value,
    score,
    failed,
    criterion="Strict: two shared content units, or the only one of the reference. Loose: one.",
    forms=forms,
)
