"""The prompts: one system message and one user message per probe, each template with a name and a version.

The system prompt and the questions are the paper's (Appendix A); the request for a JSON object is ours. A
changed wording gets a new version, and the rendered prompt is stored with every input.
"""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Template:
    """A versioned prompt.

    Attributes:
        name: ``<probe or variant>@<version>``, stored with every input.
        question: The question; ``{slot}`` stands for the slot in natural language.
        request: What follows the question.
        system: The system message.
    """

    name: str
    question: str
    request: str = JSON_REQUEST
    system: str = SYSTEM_PROMPT

    def ask(self, slot_label: str | None) -> str:
        """The question about one slot (``None`` where the question names none)."""
        return self.question.replace("{slot}", slot_label or "")

    def messages(self, context: str, slot_label: str | None) -> Messages:
        """The chat messages: context first, then the question, then the request, parted by blank lines."""
        user = f"Context:\n{context}\n\nQuestion: {self.ask(slot_label)}\n\n{self.request}"
        return [{"role": "system", "content": self.system}, {"role": "user", "content": user}]

    @property
    def sha256(self) -> str:
        """Hash of everything the template says."""
        return sha256_hex(canonical_json([self.name, self.system, self.question, self.request]))


INITIAL_GOAL = Template(
    "initial_goal@1",
    "What was the user's initial goal at the beginning of this conversation? Reply with one short noun phrase.",
)
CURRENT_VALUE = Template(
    "current_value@1",
    "After the most recent change visible in the context, what is the user's CURRENT value for {slot}? "
    "Reply with one short value.",
)
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

TEMPLATES: dict[str, Template] = {
    template.name: template for template in (INITIAL_GOAL, CURRENT_VALUE, JOINT_RECOVERY, JOINT_RECOVERY_FIRST_REQUEST)
}
