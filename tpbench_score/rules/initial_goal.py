"""`paper-1` for P1 `initial_goal`: shared content words (scoring spec 3.1)."""

from __future__ import annotations

from tpbench_score.parsing import Extracted, parse_reader_text, read_text_value, without_level
from tpbench_score.records import AnswerScore, Forms, Reference, Rule, outcome
from tpbench_score.rules.tokens import goal_tokens, set_f1

STRICT_SHARED_WORDS = 2
"""A reference with fewer content words can never be strict-correct; the published scorer has no special case."""


def score(extracted: Extracted, reference: Reference) -> AnswerScore:
    """Strict: two shared content words; loose: one; token F1 over the same sets."""
    if extracted.reason:
        return AnswerScore(False, False, extracted.abstained, extracted.value, extracted.reason, 0.0)
    expected, given = goal_tokens(reference.goal), goal_tokens(extracted.value)
    return overlap_score(extracted.value, given, expected)


def overlap_score(answer: str, given: frozenset[str], expected: frozenset[str]) -> AnswerScore:
    """The P1 score of two sets of content words, whatever language they were taken from."""
    shared = len(given & expected)
    strict, loose = shared >= STRICT_SHARED_WORDS, shared >= 1
    reason = outcome(strict, loose, "goal_differs", has_reference=bool(expected))
    return AnswerScore(strict, loose, False, answer, reason, set_f1(given, expected))


def forms(extracted: Extracted, reference: Reference) -> Forms:
    """The content words on both sides."""
    return word_forms(goal_tokens(reference.goal), goal_tokens(extracted.value))


def word_forms(expected: frozenset[str], given: frozenset[str]) -> Forms:
    """Two sets of words and what they share."""
    return {
        "words of the reference": sorted(expected),
        "words of the answer": sorted(given),
        "shared words": sorted(expected & given),
    }


CRITERION = "Strict: two shared content words. Loose: one."

RULE = Rule(("goal",), without_level(parse_reader_text), read_text_value, score, criterion=CRITERION, forms=forms)
