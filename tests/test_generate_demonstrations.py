"""A worked example before the prompt: what it changes and what it must not change."""

from __future__ import annotations

import json

import pytest

from tpbench_data.errors import BadInput
from tpbench_data.templates import TEMPLATES
from tpbench_generate.demonstrations import DEMONSTRATIONS, SHED
from tpbench_generate.plan import PlannedInput, make_plan
from tpbench_generate.readers.base import Encoded
from tpbench_score import score_answer


def planned(template: str = "current_value@1") -> PlannedInput:
    messages = TEMPLATES[template].messages("[T0] USER: hello", "date")
    return PlannedInput("i0", "current_value", "recency", 0.3, tuple(messages), template)


def test_the_example_stands_between_system_and_question_and_the_hash_stays() -> None:
    bare = make_plan([planned()], lambda messages: Encoded((1,) * len(messages), truncated=False), 1)
    shown = make_plan([planned()], lambda messages: Encoded((1,) * len(messages), truncated=False), 1, SHED)
    (key,) = bare.prompts
    assert list(shown.prompts) == [key]
    assert [m["role"] for m in shown.prompts[key]] == ["system", "user", "assistant", "user"]
    assert shown.prompts[key][0] == bare.prompts[key][0]
    assert shown.prompts[key][-1] == bare.prompts[key][-1]
    assert shown.table["prompt_tokens"].to_pylist() == [4]


@pytest.mark.parametrize("name", sorted(SHED.exchanges))
def test_every_example_answers_its_own_question_in_the_form_the_scorer_reads(name: str) -> None:
    question, answer = SHED.exchanges[name]
    assert TEMPLATES[name].request in question["content"]
    record = json.loads(answer["content"])
    assert record["support"] in question["content"]
    probe = "_".join(name.split("@")[0].split("_")[:2])
    language = "zh" if "_zh" in name else "en"
    goal, value = ("paint my shed", "blue") if language == "en" else ("给小屋刷漆", "蓝色")
    result = score_answer(probe, answer["content"], corpus="tpbench_en", reference_goal=goal, reference_value=value)
    assert result.strict or (language == "zh" and probe != "current_value")


def test_a_template_without_an_example_is_refused() -> None:
    with pytest.raises(BadInput, match="no example for template 'free_form@1'"):
        make_plan(
            [planned("free_form@1")], lambda messages: Encoded((1,), truncated=False), 1, DEMONSTRATIONS["shed@1"]
        )
