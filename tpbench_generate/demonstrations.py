"""Worked examples that can stand before a prompt, for readers that do not follow the instruction alone.

A demonstration is a setting of the run, not of the release: the stored prompt stays what it is, one exchange
(question and model answer) is put before it, and the name is part of the run id.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from tpbench_data import templates
from tpbench_data.errors import BadInput
from tpbench_data.templates import Template
from tpbench_generate.readers.base import Messages


@dataclass(frozen=True)
class Demonstration:
    """One worked exchange per template.

    Attributes:
        name: ``<name>@<version>``, stored with the run.
        summary: One line on what it shows.
        exchanges: Template name -> the user's message and the model answer.
    """

    name: str
    summary: str
    exchanges: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]]

    def apply(self, messages: Messages, template: str) -> Messages:
        """The messages with the exchange put before the last one, which asks the question.

        Raises:
            BadInput: There is no exchange for this template.
        """
        if template not in self.exchanges:
            raise BadInput(
                f"demonstration {self.name} has no example for template {template!r}",
                field="--demonstration",
                remedy="Choose probes it covers with --probe, or leave it out",
            )
        return [*messages[:-1], *self.exchanges[template], messages[-1]]


def _exchanges(
    context: str, asked: str, quote: str, answers: Mapping[Template, str]
) -> dict[str, tuple[dict[str, str], dict[str, str]]]:
    return {
        template.name: (
            template.messages(context, asked)[-1],
            {
                "role": "assistant",
                "content": json.dumps({"value": value, "support": quote, "abstain": False}, ensure_ascii=False),
            },
        )
        for template, value in answers.items()
    }


_SHED = (
    "[T0] USER: I want to paint my shed.\n"
    "[T1] SYSTEM: Which colour would you like?\n"
    "[T2] USER: Green.\n"
    "[T5] SYSTEM: Anything else?\n"
    "[T6] USER: On second thoughts I would rather have blue."
)
_SHED_ZH = (
    "[T0] USER: 我想给院子里的小屋刷漆。\n"
    "[T1] SYSTEM: 您想要什么颜色？\n"
    "[T2] USER: 绿色。\n"
    "[T5] SYSTEM: 还有别的要求吗？\n"
    "[T6] USER: 我再想想，还是换成蓝色吧。"
)

SHED = Demonstration(
    "shed@1",
    "one exchange about the colour of a shed, answered in the JSON that the prompt asks for",
    {
        **_exchanges(
            _SHED,
            "paint colour",
            "I would rather have blue",
            {
                templates.INITIAL_GOAL: "paint the shed",
                templates.CURRENT_VALUE: "blue",
                templates.JOINT_RECOVERY: "paint the shed; paint colour: blue",
                templates.JOINT_RECOVERY_FIRST_REQUEST: "paint the shed; paint colour: blue",
            },
        ),
        **_exchanges(
            _SHED_ZH,
            "油漆颜色",
            "还是换成蓝色吧",
            {
                templates.INITIAL_GOAL_ZH: "给小屋刷漆",
                templates.CURRENT_VALUE_ZH: "蓝色",
                templates.JOINT_RECOVERY_ZH: "给小屋刷漆; 油漆颜色: 蓝色",
                templates.JOINT_RECOVERY_FIRST_REQUEST_ZH: "给小屋刷漆; 油漆颜色: 蓝色",
            },
        ),
    },
)

DEMONSTRATIONS: dict[str, Demonstration] = {SHED.name: SHED}

"""Name -> demonstration."""
