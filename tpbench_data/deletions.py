"""The deletion conditions: the full context without the evidence, or without matched irrelevant turns.

A pair of conditions is made only where the control is matched, so that both always rest on the same examples.
Source: construction spec 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tpbench_data.evidence import Control, Turns, matched_control

UPDATE_PAIR = ("drop_update", "drop_update_control")
EVIDENCE_PAIR = ("drop_evidence", "drop_evidence_control")
DELETIONS: tuple[str, ...] = (*UPDATE_PAIR, *EVIDENCE_PAIR)
"""Names of the conditions, in the order in which they follow the full context."""


@dataclass(frozen=True, slots=True)
class Deletions:
    """What each condition removes from one example.

    Attributes:
        removed: Condition -> turn ids removed; conditions of an unmatched pair are absent.
        update_status: ``matched``, or why the update turn has no control.
        evidence_status: ``matched``, or why the evidence has no control.
    """

    removed: dict[str, Turns]
    update_status: str
    evidence_status: str


def plan_deletions(
    *,
    update_turn: int,
    evidence_turns: Sequence[int],
    old_value: str,
    new_value: str,
    speakers: Sequence[str],
    texts: Sequence[str],
    corpus: str,
) -> Deletions:
    """The turns that every condition removes.

    Args:
        update_turn: Turn id of the update turn.
        evidence_turns: Turn ids that state or support the answer; the update turn is added.
        old_value: Value before the update, may be empty.
        new_value: The reference.
        speakers: Speaker per turn.
        texts: Utterance per turn.
        corpus: Decides how values are normalised.
    """
    support = tuple(sorted({update_turn, *evidence_turns}))

    def control(targets: Turns) -> Control:
        return matched_control(targets, support, (old_value, new_value), speakers, texts, corpus)

    update, evidence = control((update_turn,)), control(support)
    removed: dict[str, Turns] = {}
    for found, targets, names in ((update, (update_turn,), UPDATE_PAIR), (evidence, support, EVIDENCE_PAIR)):
        if found.is_matched:
            removed |= {names[0]: targets, names[1]: found.turns}
    return Deletions(removed, update.status, evidence.status)
