"""The prompts: one system message and one user message per probe, each template with a name and a version.

The system prompt and the questions of P1 to P3 are the paper's (Appendix A); every other word is ours. A changed
wording gets a new version, and the rendered prompt is stored with every input.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tpbench_data.canonical import canonical_json, sha256_hex

Messages = list[dict[str, str]]

SYSTEM_PROMPT = (
    "You are reading a conversation that may be partial or compressed. Answer ONLY using the provided context. "
    "Reply with a single JSON object and no other text. Do not add markdown fences."
)
JSON_REQUEST = (
    "Reply with one JSON object that has exactly these three fields:\n"
    '"value": your answer, as a string\n'
    '"support": the words of the context that show it, copied exactly, at most 30 words\n'
    '"abstain": true if the context does not contain the answer, otherwise false'
)


SYSTEM_PROMPT_ZH = (
    "你将阅读一段可能不完整或被压缩过的对话。请只根据给出的内容回答，"
    + "并且只回复一个 JSON 对象，不要附加其他文字，不要使用 Markdown 代码块。"
)
JSON_REQUEST_ZH = (
    "请回复一个 JSON 对象，恰好包含以下三个字段：\n"
    '"value"：你的答案，字符串\n'
    '"support"：内容中能证明答案的原文，逐字摘录，不超过 30 个词\n'
    '"abstain"：如果内容中没有答案则为 true，否则为 false'
)


@dataclass(frozen=True, slots=True)
class Template:
    """A versioned prompt.

    Attributes:
        name: ``<probe or variant>@<version>``, stored with every input.
        question: The question; ``{slot}`` stands for what is asked about: the slot in natural language, or the
            whole question where the dialogue brings its own.
        request: What follows the question.
        system: The system message.
        heading: The line before the context.
        marker: What stands before the question; the user message is split there by methods that compress only
            the context.
    """

    name: str
    question: str
    request: str = JSON_REQUEST
    system: str = SYSTEM_PROMPT
    heading: str = "Context:"
    marker: str = "Question: "

    def ask(self, asked: str | None) -> str:
        """The question (``asked`` is ``None`` where it names no slot)."""
        return self.question.replace("{slot}", asked or "")

    def messages(self, context: str, asked: str | None) -> Messages:
        """The chat messages: context first, then the question, then the request, parted by blank lines."""
        user = f"{self.heading}\n{context}\n\n{self.marker}{self.ask(asked)}\n\n{self.request}"
        return [{"role": "system", "content": self.system}, {"role": "user", "content": user}]

    @property
    def sha256(self) -> str:
        """Hash of everything the template says."""
        return sha256_hex(
            canonical_json([self.name, self.system, self.heading, self.marker, self.question, self.request])
        )


def _chinese(name: str, question: str, request: str = JSON_REQUEST_ZH) -> Template:
    return Template(name, question, request, SYSTEM_PROMPT_ZH, "对话内容：", "问题：")


INITIAL_GOAL = Template(
    "initial_goal@1",
    "What was the user's initial goal at the beginning of this conversation? Reply with one short noun phrase.",
)
INITIAL_GOAL_ZH = _chinese("initial_goal_zh@1", "用户在对话开始时最初的目标是什么？请用一个简短的名词短语回答。")
CURRENT_VALUE = Template(
    "current_value@1",
    "After the most recent change visible in the context, what is the user's CURRENT value for {slot}? "
    "Reply with one short value.",
)
CURRENT_VALUE_ZH = _chinese(
    "current_value_zh@1", '在对话中最近一次更改之后，用户当前要求的"{slot}"是什么？请只用一个简短的值回答。'
)
OWN_QUESTION = Template("own_question@1", "{slot} Reply with one short value: the current one.")
JOINT_RECOVERY = Template(
    "joint_recovery@1",
    "In one short reply, state BOTH (a) the user's task in this conversation AND (b) the final value the user "
    'decided on for {slot}. Format your answer as: "<task>; <slot>: <final value>".',
)
JOINT_RECOVERY_FIRST_REQUEST = Template(
    "joint_recovery_first_request@1",
    "In one short reply, state BOTH (a) what the user asked for first in this conversation AND (b) the final value "
    'the user decided on for {slot}. Format your answer as: "<task>; <slot>: <final value>".',
)
JOINT_RECOVERY_ZH = _chinese(
    "joint_recovery_zh@1",
    '请用一句简短的话同时说明：(a) 用户在这段对话中的任务，(b) 用户最终为"{slot}"选定的值。'
    '格式为："<任务>; <属性>: <最终的值>"。',
)
JOINT_RECOVERY_FIRST_REQUEST_ZH = _chinese(
    "joint_recovery_first_request_zh@1",
    '请用一句简短的话同时说明：(a) 用户在这段对话中最先提出的要求，(b) 用户最终为"{slot}"选定的值。'
    '格式为："<任务>; <属性>: <最终的值>"。',
)
FREE_FORM = Template(
    "free_form@1",
    "{slot}",
    "Answer in one or two sentences, from the context alone. If the answer is not in it, reply exactly: not found",
    "You answer questions about a conversation of which you may see only a part. Use nothing but the given context. "
    "Where the question is about something that changed, answer with what holds in the end.",
)
FREE_FORM_ZH = Template(
    "free_form_zh@1",
    "{slot}",
    "请只根据对话内容，用一两句话回答。如果其中没有答案，请只回复：not found",
    "你将回答关于一段对话的问题，你可能只看到其中一部分。只使用给出的内容。如果问题涉及发生过变化的事情，请回答最终的结果。",
    "对话内容：",
    "问题：",
)

_IN_CHINESE = {
    INITIAL_GOAL.name: INITIAL_GOAL_ZH,
    CURRENT_VALUE.name: CURRENT_VALUE_ZH,
    JOINT_RECOVERY.name: JOINT_RECOVERY_ZH,
    JOINT_RECOVERY_FIRST_REQUEST.name: JOINT_RECOVERY_FIRST_REQUEST_ZH,
    FREE_FORM.name: FREE_FORM_ZH,
}

TEMPLATES: dict[str, Template] = {
    template.name: template
    for template in (
        INITIAL_GOAL,
        CURRENT_VALUE,
        OWN_QUESTION,
        JOINT_RECOVERY,
        JOINT_RECOVERY_FIRST_REQUEST,
        FREE_FORM,
        *_IN_CHINESE.values(),
    )
}
"""Every template of this version by name."""


def in_language(template: Template, language: str) -> Template:
    """The wording of a template in the language of a dialogue; English where there is no other."""
    return _IN_CHINESE.get(template.name, template) if language.split("-")[0] == "zh" else template


def prompt_of(row: Mapping[str, Any], context: str) -> Messages:
    """The prompt of an input row with this context: what its template makes of it.

    Args:
        row: A row of a probe config or of ``free_form``.
        context: The context to ask about.

    Raises:
        KeyError: The row's template is unknown to this version.
    """
    return TEMPLATES[row["template"]].messages(context, row["question"] if "question" in row else row["slot_label"])
