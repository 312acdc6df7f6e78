"""`paper-1` for free-form questions: containment either way (scoring spec 3.7). There is no abstention."""

from __future__ import annotations

from typing import Any

from tpbench_score.parsing import Extracted, parse_reader_text, without_level
from tpbench_score.records import AnswerScore, Forms, Reference, Rule, outcome

_MIN_TELLING_LENGTH = 4
"""Shortest word of the reference that can tell it from an old answer contained in it."""


def parse(text: str) -> dict[str, Any]:
    """The answer: the string ``answer`` of a JSON object, which readers were asked for, else the text as it stands."""
    record = parse_reader_text(text)
    answer = record.get("answer") if record is not None else None
    return {"value": answer if isinstance(answer, str) else text}


def read(record: dict[str, Any] | None) -> Extracted:
    """The answer as text; it is never an abstention."""
    value = (record or {}).get("value")
    return Extracted(value if isinstance(value, str) else "", False)


def score(extracted: Extracted, reference: Reference) -> AnswerScore:
    """Right where reference and answer contain one another, without case; an empty answer is contained in any.

    Where the old answer is a part of the reference, the answer must hold it and a longer word of the reference.
    """
    expected, old = reference.value.lower().strip(), reference.old_value.lower().strip()
    given = extracted.value.lower()
    if old and old != expected and old in expected:
        telling = [word for word in expected.split() if len(word) >= _MIN_TELLING_LENGTH]
        right, differs = old in given and any(word in given for word in telling), "old_answer"
    else:
        right, differs = bool(expected) and (expected in given or given in expected), "value_differs"
    reason = outcome(right, right, differs, has_reference=bool(expected))
    return AnswerScore(right, right, False, extracted.value, reason)


def forms(extracted: Extracted, reference: Reference) -> Forms:
    """Reference and answer without case."""
    return {"reference": reference.value.lower().strip(), "answer": extracted.value.lower()}


RULE = Rule(
    ("value",),
    without_level(parse),
    read,
    score,
    criterion="Right: reference and answer contain one another, without case.",
    forms=forms,
)
