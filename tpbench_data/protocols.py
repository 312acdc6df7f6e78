"""The two protocols: ``paper`` keeps the published differences between methods, ``matched`` removes them.

Source: design page "Two protocols". A table never mixes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tpbench_data import templates
from tpbench_data.budget import BudgetRule
from tpbench_data.names import Probe, ProtocolName
from tpbench_data.rendering import Rendering
from tpbench_data.templates import Template


@dataclass(frozen=True)
class Protocol:
    """How inputs are made.

    Attributes:
        name: ``paper`` or ``matched``.
        budget: The budget rule of every selector; ``None`` = the one each selector was published with.
        rendering: The rendering of every selector; ``None`` likewise.
        templates: The prompt of each probe.
    """

    name: ProtocolName
    budget: BudgetRule | None
    rendering: Rendering | None
    templates: Mapping[Probe, Template]


PAPER = Protocol(
    name="paper",
    budget=None,
    rendering=None,
    templates={
        "initial_goal": templates.INITIAL_GOAL,
        "current_value": templates.CURRENT_VALUE,
        "joint_recovery": templates.JOINT_RECOVERY,
    },
)
MATCHED = Protocol(
    name="matched",
    budget="round-half-up",
    rendering="marked",
    templates={
        "initial_goal": templates.INITIAL_GOAL,
        "current_value": templates.CURRENT_VALUE,
        "joint_recovery": templates.JOINT_RECOVERY_FIRST_REQUEST,
    },
)
PROTOCOLS: dict[ProtocolName, Protocol] = {"paper": PAPER, "matched": MATCHED}
