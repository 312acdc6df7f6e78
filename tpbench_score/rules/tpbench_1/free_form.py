"""`tpbench-1` for free-form questions: the reference is stated, or the answer is a part of it."""

from __future__ import annotations

from tpbench_score.parse_levels import parse_answer
from tpbench_score.parsing import Extracted, Parsed
from tpbench_score.records import AnswerScore, Reference, Rule, outcome
from tpbench_score.rules.tpbench_1 import current_value
from tpbench_score.rules.tpbench_1.matching import accepted, same_value, stated_value, states
from tpbench_score.rules.tpbench_1.reading import read_value, score_failed, stands_for_none, unscored

_NAMES = ("answer", "value")


def parse(text: str) -> Parsed:
    """The string ``answer`` (or ``value``) of a JSON object where there is one, else the text as it stands."""
    found = parse_answer(text, frozenset(_NAMES))
    for name in _NAMES:
        if found.record is not None and isinstance(found.record.get(name), str):
            return Parsed({"value": found.record[name], "abstain": found.record.get("abstain")}, found.level)
    return Parsed({"value": text})


def score(extracted: Extracted, reference: Reference) -> AnswerScore:
    """Strict: the answer states the reference; loose: or the reference states the answer."""
    if extracted.reason:
        return unscored(extracted)
    strict = stated_value(extracted.value, reference) is not None
    if not strict and stands_for_none(extracted.value):
        return AnswerScore(False, False, True, extracted.value, "no_answer")
    values = accepted(reference)
    loose = strict or any(states(value, extracted.value, reference.corpus) for value in values)
    reason = outcome(strict, loose, "value_differs", has_reference=bool(values))
    return AnswerScore(strict, loose, False, extracted.value, reason)


RULE = Rule(
    ("value",),
    parse,
    read_value,
    score,
    score_failed,
    same_value,
    current_value.retained,
    criterion="Strict: the answer states the reference. Loose: or the reference states the answer.",
    forms=current_value.forms,
)
