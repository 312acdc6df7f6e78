"""The scorer `tpbench-1`: what the published one cannot do, for every corpus and language alike.

One parser with a named level, one reading of values and abstentions, times and numbers by what they mean, whole words
instead of word boundaries, Chinese without blanks, and every listed alternative of a reference.
"""

from __future__ import annotations

from tpbench_score.records import Rule
from tpbench_score.rules.tpbench_1 import current_value, free_form, initial_goal, joint_recovery, lme_ku

NAME = "tpbench-1"

RULES: dict[tuple[str, str | None], Rule] = {
    ("initial_goal", None): initial_goal.RULE,
    ("current_value", None): current_value.RULE,
    ("joint_recovery", None): joint_recovery.RULE,
    ("free_form", None): free_form.RULE,
    ("current_value", "lme_ku"): lme_ku.RULE,
}
"""(probe, corpus or ``None`` for every other corpus) -> rule."""
