"""`tpbench-1` for P2 `current_value`: any accepted value, equal or stated."""

from __future__ import annotations

from tpbench_score.parse_levels import parse_answer
from tpbench_score.parsing import Extracted
from tpbench_score.records import AnswerScore, Forms, Reference, Rule, outcome
from tpbench_score.rules.tpbench_1.matching import accepted, matching_value, same_value, stated_value, value_form
from tpbench_score.rules.tpbench_1.reading import read_value, score_failed, stands_for_none, unscored
from tpbench_score.rules.tpbench_1.text_form import text_form


def score(extracted: Extracted, reference: Reference) -> AnswerScore:
    """Strict: the answer is an accepted value; loose: it states one."""
    if extracted.reason:
        return unscored(extracted)
    strict = matching_value(extracted.value, reference) is not None
    loose = strict or stated_value(extracted.value, reference) is not None
    if not loose and stands_for_none(extracted.value):
        return AnswerScore(False, False, True, extracted.value, "no_answer")
    reason = outcome(strict, loose, "value_differs", has_reference=bool(accepted(reference)))
    return AnswerScore(strict, loose, False, extracted.value, reason)


def retained(context: str, reference: Reference) -> bool:
    """Whether a context states an accepted value."""
    return stated_value(context, reference) is not None


def forms(extracted: Extracted, reference: Reference) -> Forms:
    """The forms of all accepted values, and those of the answer as a value and as a text."""
    return {
        "forms of the accepted values": [value_form(value, reference.corpus) for value in accepted(reference)],
        "form of the answer as a value": value_form(extracted.value, reference.corpus),
        "words of the answer": text_form(extracted.value),
    }


RULE = Rule(
    ("value",),
    parse_answer,
    read_value,
    score,
    score_failed,
    same_value,
    retained,
    criterion="Strict: the answer is an accepted value. Loose: it states one.",
    forms=forms,
)
