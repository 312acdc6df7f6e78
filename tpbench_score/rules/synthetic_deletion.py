"""`paper-1` for P2 on FMTS: the synthetic deletion test (scoring spec 3.9)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tpbench_data.matching import phrase_occurs
from tpbench_data.normalize import normalize_value
from tpbench_score.parsing import Extracted, extract_json, read_string_value, without_level
from tpbench_score.records import AnswerScore, Reference, Rule
from tpbench_score.rules import current_value


def score(extracted: Extracted, reference: Reference) -> AnswerScore:
    """Strict as P2; loose where reference or prediction occurs in the other as a phrase."""
    result = current_value.score(extracted, reference)
    if extracted.reason or result.loose:
        return result
    expected = normalize_value(reference.value, reference.corpus)
    if not phrase_occurs(normalize_value(extracted.value, reference.corpus), expected):
        return result
    return replace(result, loose=True, reason="loose_match")


def reverted(prediction: str, old_value: str, corpus: str) -> bool:
    """Whether the old value is a plain substring of the prediction, also where the reader abstained."""
    old = normalize_value(old_value, corpus)
    return bool(old) and old in normalize_value(prediction, corpus)


@dataclass(frozen=True, slots=True)
class DeletionSummary:
    """Outcomes of the items of a deletion test under one threshold; shares are 0 to 1, ``None`` without items.

    Attributes:
        items: Number of items.
        full, without_support, without_control: Share right under each condition.
        full_correct: Number of items right under the full context.
        validity: Share of all items that are right in full, wrong without support, right without control.
        support_flip: Share of the items right in full that are wrong without support.
        control_keep: Share of the items right in full that stay right without control.
    """

    items: int
    full: float | None
    without_support: float | None
    without_control: float | None
    full_correct: int
    validity: float | None
    support_flip: float | None
    control_keep: float | None


def summarize(items: Iterable[tuple[bool, bool, bool]]) -> DeletionSummary:
    """Summary of (right in full, right without support, right without control), one entry per item."""
    outcomes = list(items)
    right = [(support, control) for full, support, control in outcomes if full]

    def share(verdicts: Iterable[bool], of: int) -> float | None:
        return sum(verdicts) / of if of else None

    return DeletionSummary(
        items=len(outcomes),
        full=share((full for full, _, _ in outcomes), len(outcomes)),
        without_support=share((support for _, support, _ in outcomes), len(outcomes)),
        without_control=share((control for _, _, control in outcomes), len(outcomes)),
        full_correct=len(right),
        validity=share((control and not support for support, control in right), len(outcomes)),
        support_flip=share((not support for support, _ in right), len(right)),
        control_keep=share((control for _, control in right), len(right)),
    )


RULE = Rule(
    ("value",),
    without_level(extract_json),
    read_string_value,
    score,
    current_value.score_failed,
    reverted,
    criterion="Strict: equal normal forms. Loose: one of them occurs in the other as a phrase.",
    forms=current_value.forms,
)
