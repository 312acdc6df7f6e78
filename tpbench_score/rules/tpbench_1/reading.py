"""The scored value of an answer and what counts as abstaining, the same for every probe under `tpbench-1`.

An answer abstains where its flag says so, where it has no value, or where the value is a phrase for "no value" that
is not the reference (some slots have the value "None"). Text without an object is malformed and no abstention.
"""

from __future__ import annotations

from typing import Any

from tpbench_score.parsing import Extracted
from tpbench_score.records import AnswerScore
from tpbench_score.rules.tokens import words
from tpbench_score.rules.tpbench_1.text_form import text_form

_SET = frozenset({"true", "yes", "1"})
"""Texts that set the flag; "false" does not."""
NO_ANSWERS = frozenset(
    {
        *words("unknown none null 未知 未提及 未提到 没有提到 未说明 不知道 不清楚"),
        "n a",
        *(f"not {word}" for word in ("specified", "mentioned", "found", "provided", "given", "stated", "available")),
        *(f"no {word}" for word in ("answer", "value", "information")),
    }
)
"""Forms of values that stand for no value."""


def read_value(record: dict[str, Any] | None) -> Extracted:
    """The value as text.

    A string counts as it is, a number as it is written, true and false as words, a list of one such value as that
    value. Longer lists and objects are no value that could be compared.
    """
    if record is None:
        return Extracted(None, False, "no_json")
    value = record.get("value")
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, int | float):
        value = str(value)
    if _flag_is_set(record.get("abstain")):
        return Extracted(value, True, "abstained")
    if value is None or (isinstance(value, str) and not value.strip()):
        return Extracted(None, True, "no_answer")
    if not isinstance(value, str):
        return Extracted(value, False, "not_text")
    return Extracted(value, False)


def _flag_is_set(flag: Any) -> bool:
    return flag is True or (isinstance(flag, str | int | float) and str(flag).strip().lower() in _SET)


def stands_for_none(value: str) -> bool:
    """Whether a value says that there is no value."""
    return len(value) <= 80 and text_form(value) in NO_ANSWERS


def unscored(extracted: Extracted, **fields: Any) -> AnswerScore:
    """The score of an answer whose value cannot be compared."""
    return AnswerScore(False, False, extracted.abstained, extracted.value, extracted.reason or "", **fields)


def score_failed(extracted: Extracted) -> AnswerScore:
    """An output whose reader failed: wrong, no abstention, no answer, whatever its text says."""
    return AnswerScore(False, False, False, None, "error")
