"""`tpbench-1` for P3 `joint_recovery`, in English and Chinese: goal and value, each in its segment."""

from __future__ import annotations

import re
from dataclasses import replace

from tpbench_score.parse_levels import parse_answer
from tpbench_score.parsing import Extracted
from tpbench_score.records import AnswerScore, Forms, Reference, Rule, outcome
from tpbench_score.rules.joint_recovery import NOTHING, Criteria, Segments
from tpbench_score.rules.tpbench_1 import current_value
from tpbench_score.rules.tpbench_1.content import compared_units
from tpbench_score.rules.tpbench_1.matching import accepted, same_value, stated_value
from tpbench_score.rules.tpbench_1.reading import read_value, score_failed, stands_for_none, unscored

_SEMICOLON = re.compile("[;；]")
_COLON = re.compile(r"[:：](?![0-9０-９])|(?<![0-9０-９])[:：]")
"""A colon of either width; between two digits it is part of a time."""


def split_answer(answer: str) -> Segments | None:
    """The segments of an answer `task; label: value`, with separators of either width; ``None`` for any other.

    Of several semicolons the last one with a label and a value behind it counts, so the task may hold semicolons.
    """
    for semicolon in reversed(list(_SEMICOLON.finditer(answer))):
        goal, rest = answer[: semicolon.start()].strip(), answer[semicolon.end() :]
        colon = _COLON.search(rest)
        if colon is None:
            continue
        label, value = rest[: colon.start()].strip(), rest[colon.end() :].strip()
        if goal and label and value and not _SEMICOLON.search(label):
            return Segments(goal, value)
    return None


def criteria(goal_text: str, value_text: str, reference: Reference) -> Criteria:
    """Goal: a shared content unit. Value strict: an accepted value is stated; loose: or more than half of its units."""
    strict = stated_value(value_text, reference) is not None
    wanted, said = compared_units(reference.goal, goal_text)
    return Criteria(
        goal=bool(wanted & said),
        value_strict=strict,
        value_loose=strict or any(_shares_most(value, value_text) for value in accepted(reference)),
    )


def _shares_most(value: str, text: str) -> bool:
    expected, given = compared_units(value, text)
    return 2 * len(expected & given) > len(expected)


def score(extracted: Extracted, reference: Reference) -> AnswerScore:
    """Segment-local score, with the score of the entire answer beside it."""
    if extracted.reason:
        return _made(unscored(extracted), None, NOTHING, NOTHING)
    segments = split_answer(extracted.value)
    local = criteria(segments.goal, segments.value, reference) if segments else NOTHING
    whole = criteria(extracted.value, extracted.value, reference)
    none = segments is None and stands_for_none(extracted.value)
    reason = "no_answer" if none else _reason(segments, local, reference)
    base = AnswerScore(local.strict, local.loose, none, extracted.value, reason)
    return _made(base, segments, local, NOTHING if none else whole)


def _reason(segments: Segments | None, local: Criteria, reference: Reference) -> str:
    if segments is None:
        differs = "unparsed"
    elif local.goal:
        differs = "value_differs"
    else:
        differs = "goal_differs" if local.value_loose else "both_differ"
    has_reference = bool(compared_units(reference.goal, "")[0] and accepted(reference))
    return outcome(local.strict, local.loose, differs, has_reference=has_reference)


def _made(base: AnswerScore, segments: Segments | None, local: Criteria, whole: Criteria) -> AnswerScore:
    return AnswerScore(
        strict=base.strict,
        loose=base.loose,
        abstained=base.abstained,
        answer=base.answer,
        reason=base.reason,
        parsed=segments is not None,
        goal_ok=local.goal,
        value_strict=local.value_strict,
        value_loose=local.value_loose,
        goal_segment=segments.goal if segments else None,
        value_segment=segments.value if segments else None,
        whole_strict=whole.strict,
        whole_loose=whole.loose,
    )


def failed(extracted: Extracted) -> AnswerScore:
    """An output whose reader failed, with the columns of P3."""
    return _made(score_failed(extracted), None, NOTHING, NOTHING)


def forms(extracted: Extracted, reference: Reference) -> Forms:
    """The content units of the goals, and what the value of the answer is compared with."""
    segments = split_answer(extracted.value)
    goal = segments.goal if segments else ""
    expected, given = compared_units(reference.goal, goal)
    found: Forms = {"units of the reference goal": sorted(expected)}
    if segments:
        found |= {"units of the goal segment": sorted(given)}
        found |= current_value.forms(replace(extracted, value=segments.value), reference)
    return found


RULE = Rule(
    ("goal", "value"),
    parse_answer,
    read_value,
    score,
    failed,
    same_value,
    current_value.retained,
    criterion="The answer reads `task; label: value`. Goal: a shared content unit. Value strict: its segment states an "
    "accepted value. Value loose: or it has more than half of the units of one.",
    forms=forms,
)
