"""From messages to token ids: chat template, system role, begin token, truncation.

Four faults are prevented here, each of which changes scores without an error: a second begin token (or none), a
system prompt that the template drops, the day's date inside a prompt, and a prompt cut at the wrong end.
Source: construction spec 12 and trap 28.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tpbench_data.canonical import sha256_hex
from tpbench_data.errors import BadInput
from tpbench_generate.readers.base import Encoded, Messages, TruncationSide

FIXED_DATE = datetime(2024, 7, 26)
"""What a template is told when it asks for today: the date that Llama 3.1's template falls back to itself."""

_SYSTEM_PROBE, _USER_PROBE, _ANSWER_PROBE = "probe of the system role", "probe of the user role", "probe answer"


def fold_system(messages: Messages) -> list[dict[str, str]]:
    """The messages without a system role: its text, a blank line, then the text of the message that follows."""
    folded: list[dict[str, str]] = []
    pending: list[str] = []
    for message in messages:
        if message["role"] == "system":
            pending.append(message["content"])
            continue
        content = "\n\n".join([*pending, message["content"]])
        folded.append({"role": message["role"], "content": content})
        pending = []
    if pending:
        folded.append({"role": "user", "content": "\n\n".join(pending)})
    return folded


class PromptEncoder:
    """Encodes prompts for one tokenizer.

    Args:
        tokenizer: A transformers tokenizer.
        max_input_tokens: Longer prompts are cut to this many tokens; None = never cut.
        truncation_side: Which end is cut. A begin token stays in front even when the left end is cut.

    Attributes:
        system_role: "native" or "folded", found out by rendering a probe.
        template_hash: SHA-256 of the chat template, None without one.
        end_of_turn_id: The token that the template puts behind an assistant's answer, None if there is none.

    Raises:
        BadInput: The tokenizer has several chat templates and no default one, or its template fails on the
            simplest prompt.
    """

    def __init__(
        self, tokenizer: Any, *, max_input_tokens: int | None = None, truncation_side: TruncationSide = "left"
    ) -> None:
        self._tokenizer = tokenizer
        self._max_input_tokens = max_input_tokens
        self._truncation_side = truncation_side
        self._template = _chat_template(tokenizer)
        self.template_hash = None if self._template is None else sha256_hex(self._template)
        self.system_role = "native" if self._has_system_role() else "folded"
        self.end_of_turn_id = self._find_end_of_turn()
        self._begin_id: int | None = tokenizer.bos_token_id
        # A tokenizer that begins every plain text with the token wants it, also where the template forgets it.
        self._tokenizer_begins = self._begin_id is not None and list(tokenizer("a")["input_ids"][:1]) == [
            self._begin_id
        ]

    def render(self, messages: Messages) -> str:
        """The prompt as the text that is tokenized; the assistant's turn is open at its end."""
        if self._template is None:
            return "\n\n".join(message["content"] for message in messages)
        ready = list(messages) if self.system_role == "native" else fold_system(messages)
        return self._apply(ready, open_turn=True)

    def encode(self, messages: Messages) -> Encoded:
        """Token ids with exactly one begin token where template or tokenizer want one, cut to the limit.

        Raises:
            ValueError: The prompt has no tokens, or the template refuses it.
        """
        ids = self._tokenizer(self.render(messages), add_special_tokens=False)["input_ids"]
        begin = self._begin_id
        while begin is not None and len(ids) > 1 and ids[0] == ids[1] == begin:
            ids = ids[1:]
        if self._tokenizer_begins and ids[:1] != [begin]:
            ids = [begin, *ids]
        if not ids:
            raise ValueError("the prompt has no tokens")
        limit = self._max_input_tokens
        if limit is None or len(ids) <= limit:
            return Encoded(tuple(ids), truncated=False)
        if self._truncation_side == "right":
            return Encoded(tuple(ids[:limit]), truncated=True)
        head = ids[:1] if ids[0] == begin else []
        return Encoded((*head, *ids[len(ids) - limit + len(head) :]), truncated=True)

    def _apply(self, messages: list[Any], *, open_turn: bool) -> str:
        # date_string and strftime_now shadow what templates use to print the day: no clock in a prompt.
        return str(
            self._tokenizer.apply_chat_template(
                [dict(message) for message in messages],
                chat_template=self._template,
                tokenize=False,
                add_generation_prompt=open_turn,
                date_string=FIXED_DATE.strftime("%d %b %Y"),
                strftime_now=FIXED_DATE.strftime,
            )
        )

    def _has_system_role(self) -> bool:
        if self._template is None:
            return False
        user = {"role": "user", "content": _USER_PROBE}
        try:
            return _SYSTEM_PROBE in self._apply([{"role": "system", "content": _SYSTEM_PROBE}, user], open_turn=True)
        except Exception:
            pass  # templates refuse in their own words and with any exception; what counts is that user alone works
        try:
            self._apply([user], open_turn=True)
        except Exception as problem:
            raise BadInput(f"the model's chat template does not work: {problem}") from problem
        return False

    def _find_end_of_turn(self) -> int | None:
        if self._template is None:
            return None
        talk = [{"role": "user", "content": _USER_PROBE}, {"role": "assistant", "content": _ANSWER_PROBE}]
        try:
            text = self._apply(talk, open_turn=False)
        except Exception:
            return None  # a template for open turns only
        tail = text.rpartition(_ANSWER_PROBE)[2].lstrip()
        added: dict[str, int] = self._tokenizer.get_added_vocab()
        found = [token for token in added if token and tail.startswith(token)]
        return added[max(found, key=len)] if found else None


def _chat_template(tokenizer: Any) -> str | None:
    if not tokenizer.chat_template:
        return None
    try:
        return str(tokenizer.get_chat_template())
    except ValueError as problem:
        raise BadInput(str(problem)) from None
