"""Scorer versions: name -> probe -> rule, one file per rule.

A scorer that repairs a quirk gets a new name and its own files; an existing one is never changed, because every
published number states the name it was made with. A corpus with a scorer of its own has its own entry
``(probe, corpus)``, which comes before the entry ``(probe, None)`` for all others.
"""

from __future__ import annotations

from collections.abc import Callable

from tpbench_data.errors import BadInput
from tpbench_score.parsing import flat_object_text
from tpbench_score.records import Rule
from tpbench_score.rules import (
    chinese_goal,
    current_value,
    free_form,
    initial_goal,
    joint_recovery,
    lme_ku,
    synthetic_deletion,
    tpbench_1,
)

DEFAULT_RULE = "paper-1"

RuleSet = dict[tuple[str, str | None], Rule]

RULES: dict[str, RuleSet] = {
    "paper-1": {
        ("initial_goal", None): initial_goal.RULE,
        ("current_value", None): current_value.RULE,
        ("joint_recovery", None): joint_recovery.RULE,
        ("free_form", None): free_form.RULE,
        ("initial_goal", "risawoz"): chinese_goal.RULE,
        ("initial_goal", "tpbench_zh"): chinese_goal.RULE,
        ("current_value", "lme_ku"): lme_ku.RULE,
        ("current_value", "fmts"): synthetic_deletion.RULE,
    },
    tpbench_1.NAME: tpbench_1.RULES,
}
"""Scorer version -> (probe, corpus or ``None`` for every other corpus) -> rule."""

READS_ALTERNATIVES = frozenset({tpbench_1.NAME})
"""Scorer versions that accept every listed alternative of a reference value."""

TEXT_IN_ROLE: dict[str, dict[str, Callable[[str], str]]] = {"paper-1": {"first_user_recent": flat_object_text}}
"""Scorer version -> role of a run -> what is scored instead of the text as it stands.

The published matched comparison (table 8) searched its raw answers for an object first (scoring spec 2.4).
"""


def find_rule(rule: str, probe: str, corpus: str) -> Rule:
    """The rule of a scorer version for a probe and corpus.

    Raises:
        BadInput: The version or the probe is unknown.
    """
    rules = RULES.get(rule)
    if rules is None:
        raise BadInput(f"unknown scorer '{rule}'", field="rule", remedy=f"Known: {', '.join(RULES)}")
    found = rules.get((probe, corpus)) or rules.get((probe, None))
    if found is None:
        known = ", ".join(dict.fromkeys(name for name, _ in rules))
        raise BadInput(f"unknown probe '{probe}'", field="probe", remedy=f"Scorer {rule} knows: {known}")
    return found
