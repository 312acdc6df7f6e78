"""Scoring a single answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tpbench_data.errors import BadInput
from tpbench_score.records import AnswerScore, Reference, Rule
from tpbench_score.rules import DEFAULT_RULE, find_rule


def score_answer(
    probe: str,
    text: str | None,
    *,
    corpus: str,
    reference_goal: str | None = None,
    reference_value: str | None = None,
    value_alternatives: Sequence[str] = (),
    rule: str = DEFAULT_RULE,
) -> AnswerScore:
    """Scores the text that a reader answered.

    Args:
        probe: ``"initial_goal"``, ``"current_value"`` or ``"joint_recovery"``.
        text: The answer as generated; ``None`` is scored as an empty answer.
        corpus: Corpus name, e.g. ``"sgd"``; ``"multiwoz"`` for every version of it.
        reference_goal: Needed for P1 and P3.
        reference_value: Needed for P2 and P3. An empty reference is allowed and never matched.
        value_alternatives: Further values that count as the reference under `tpbench-1`.
        rule: Scorer version, a key of `tpbench_score.rules.RULES`.

    Raises:
        BadInput: Unknown probe or rule, or a reference that the probe needs is ``None``.
    """
    found, reference = _prepare(probe, corpus, reference_goal, reference_value, value_alternatives, rule)
    return found.judge(found.extract(text or ""), reference)


def score_value(
    probe: str,
    value: Any,
    *,
    abstain: Any = False,
    corpus: str,
    reference_goal: str | None = None,
    reference_value: str | None = None,
    value_alternatives: Sequence[str] = (),
    rule: str = DEFAULT_RULE,
) -> AnswerScore:
    """Scores a value that was taken out of an answer before, where the text itself is not known.

    Args:
        probe: As in `score_answer`.
        value: The JSON value of the field ``value``.
        abstain: The JSON value of the field ``abstain``.
        corpus: As in `score_answer`.
        reference_goal: As in `score_answer`.
        reference_value: As in `score_answer`.
        value_alternatives: As in `score_answer`.
        rule: As in `score_answer`.
    """
    found, reference = _prepare(probe, corpus, reference_goal, reference_value, value_alternatives, rule)
    return found.judge(found.read({"value": value, "abstain": abstain}), reference)


def _prepare(
    probe: str,
    corpus: str,
    reference_goal: str | None,
    reference_value: str | None,
    value_alternatives: Sequence[str],
    rule: str,
) -> tuple[Rule, Reference]:
    found = find_rule(rule, probe, corpus)
    given = {"goal": reference_goal, "value": reference_value}
    for part in found.needs:
        if given[part] is None:
            raise BadInput("is missing", field=f"reference_{part}", remedy=f"Probe {probe} compares answers with it")
    return found, Reference(corpus, reference_goal or "", reference_value or "", alternatives=tuple(value_alternatives))
