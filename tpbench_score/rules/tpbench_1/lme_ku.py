"""`tpbench-1` for P2 on LongMemEval-KU, whose references are displayed answers rather than slot values."""

from __future__ import annotations

import re
from dataclasses import replace

from tpbench_score.parse_levels import parse_answer
from tpbench_score.parsing import Extracted
from tpbench_score.records import AnswerScore, Forms, Reference, Rule, outcome
from tpbench_score.rules.tpbench_1 import current_value
from tpbench_score.rules.tpbench_1.content import content_units
from tpbench_score.rules.tpbench_1.matching import accepted, same_value, stated_value, value_form
from tpbench_score.rules.tpbench_1.reading import read_value, score_failed, stands_for_none, unscored

_LETTER = re.compile(r"[^\W\d_]")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_REMARK = re.compile(r"\([^()]*\)")
_ALSO_ACCEPTABLE = re.compile(r"(?P<first>.+?)\.\s+(?P<second>.+?)\s+(?:is|are) also acceptable\.?", re.DOTALL)


def score(extracted: Extracted, reference: Reference) -> AnswerScore:
    """Strict: the answer states an accepted value, or is nothing but its numbers; loose: or most of its units."""
    if extracted.reason:
        return unscored(extracted)
    reference = displayed(reference)
    strict = stated_value(extracted.value, reference) is not None or _same_numbers(extracted.value, reference)
    loose = strict or _shares_most(extracted.value, reference)
    if not loose and stands_for_none(extracted.value):
        return AnswerScore(False, False, True, extracted.value, "no_answer")
    reason = outcome(strict, loose, "value_differs", has_reference=bool(accepted(reference)))
    return AnswerScore(strict, loose, False, extracted.value, reason)


def displayed(reference: Reference) -> Reference:
    """The reference with what its display stands for among its alternatives.

    Both answers of "X. Y is also acceptable.", and every one of them without its remarks in parentheses.
    """
    match = _ALSO_ACCEPTABLE.fullmatch(reference.value)
    values = (reference.value, match["first"], match["second"]) if match else (reference.value,)
    bare = tuple(_REMARK.sub(" ", value) for value in values if "(" in value)
    if match is None and not bare:
        return reference
    return replace(reference, alternatives=(*reference.alternatives, *values, *bare))


def _same_numbers(given: str, reference: Reference) -> bool:
    form = value_form(given, reference.corpus)
    numbers = [] if _LETTER.search(form) else _NUMBER.findall(form)
    return bool(numbers) and any(
        numbers == _NUMBER.findall(value_form(value, reference.corpus)) for value in accepted(reference)
    )


def _shares_most(given: str, reference: Reference) -> bool:
    units = content_units(given)
    return any(2 * len(expected & units) > len(expected) for expected in map(content_units, accepted(reference)))


def forms(extracted: Extracted, reference: Reference) -> Forms:
    """As `current_value.forms`, with what the displayed reference stands for."""
    return current_value.forms(extracted, displayed(reference))


RULE = Rule(
    ("value",),
    parse_answer,
    read_value,
    score,
    score_failed,
    same_value,
    current_value.retained,
    criterion="Strict: the answer states an accepted value, or is nothing but its numbers. Loose: or it has more than "
    "half of the content units of one.",
    forms=forms,
)
