"""A reader whose cache of the context is compressed before the question is read.

The prompt is tokenized as a whole and split in front of the question, so that with nothing removed it is the very
prompt of the uncompressed reader. The context is read with the compression on; the question and the answer follow with
it off, at the positions that they have in the whole prompt. Source: construction spec 13, "Context-only mode".
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Any

from tpbench_data.canonical import canonical_json
from tpbench_data.errors import BadInput
from tpbench_data.templates import TEMPLATES
from tpbench_generate.kv import KVMethod, check_versions
from tpbench_generate.readers.base import Answer, CacheFacts, Encoded, Messages, ReaderOptions
from tpbench_generate.readers.device_faults import telling_faults
from tpbench_generate.readers.model_source import ModelSource
from tpbench_generate.readers.prompting import PromptEncoder
from tpbench_generate.readers.transformers_reader import TransformersReader

MODE = "context_only"
_QUESTION_MARKS = tuple(sorted({f"\n\n{template.marker.strip()}" for template in TEMPLATES.values()}))


@dataclass(frozen=True)
class SplitPrompt(Encoded):
    """A prompt of which the first ``context_tokens`` tokens are the context (with what the template puts before it)."""

    context_tokens: int = 0


class KVReader(TransformersReader):
    """A transformers model with a compressed cache, one prompt at a time.

    Args:
        source: Where the model is.
        options: As for the uncompressed reader.
        method: The cache method.
        ratio: Retained fraction of the context's entries, in (0, 1].

    Raises:
        MissingExtra: torch, transformers or kvpress is not installed.
        BadInput: Versions that were never tested together, a model with sliding windows or without fast tokenizer, or
            an attention implementation that the method cannot work with.
    """

    def __init__(self, source: ModelSource, options: ReaderOptions, method: KVMethod, ratio: float) -> None:
        check_versions()
        if options.attention == "eager" and method.needs_fused_attention:
            raise BadInput(f"{method.name} cannot work with eager attention", field="--attention", remedy="Use sdpa")
        super().__init__(source, options)
        if not self._tokenizer.is_fast:
            raise BadInput(f"the tokenizer of {source.location} gives no offsets, so a prompt cannot be split")
        self._method, self._ratio = method, ratio
        self._whole = PromptEncoder(self._tokenizer)  # no limit: only the context is cut, not the question
        self.settings = replace(
            self.settings,
            kv_settings=canonical_json(method.settings() | {"ratio": ratio, "mode": MODE}),
        )
        versions = {**self.environment.library_versions, "kvpress": metadata.version("kvpress")}
        self.environment = replace(self.environment, library_versions=versions)

    def encode(self, messages: Messages) -> SplitPrompt:
        """The token ids, with the context cut where the prompt is longer than the limit.

        Raises:
            ValueError: The prompt has no question to split at, or the question alone is longer than the limit.
        """
        ids = self._whole.encode(messages).ids
        n_question = self._question_tokens(self._whole.render(messages))
        context, question = ids[: len(ids) - n_question], ids[len(ids) - n_question :]
        limit = self.settings.max_input_tokens
        if limit is None or len(ids) <= limit:
            return SplitPrompt(ids, truncated=False, context_tokens=len(context))
        room = limit - len(question)
        if room < 2:
            raise ValueError(f"the question has {len(question)} tokens, the limit is {limit}")
        if self.settings.truncation_side == "right":
            cut = context[:room]
        else:
            head = context[:1] if context[0] == self._tokenizer.bos_token_id else ()
            cut = (*head, *context[len(context) - room + len(head) :])
        return SplitPrompt((*cut, *question), truncated=True, context_tokens=len(cut))

    def load(self) -> None:
        from transformers import DynamicCache

        super().load()
        if any(getattr(layer, "is_sliding", False) for layer in DynamicCache(config=self._model.config).layers):
            self._model = None
            raise BadInput(
                f"{self.settings.model_id} has layers with a sliding window, whose cache kvpress leaves alone",
                field="--kv",
                remedy="Choose a model with full attention in every layer",
            )

    def generate(self, batch: Sequence[Encoded]) -> list[Answer]:
        self.load()
        return [self._answer_one(prompt) for prompt in batch]

    def _answer_one(self, prompt: Encoded) -> Answer:
        if not isinstance(prompt, SplitPrompt):
            raise TypeError("a prompt of another reader")
        import torch

        length = prompt.context_tokens
        whole = length <= self._method.least_context
        ids = torch.tensor([list(prompt.ids)], device=self._device)
        with telling_faults(), torch.inference_mode():
            cache = self._read_context(ids[:, :length], whole)
            entries = tuple(int(layer.keys.shape[2]) for layer in cache.layers)
            if not whole:
                self._method.check(entries, length, self._ratio)
            new_ids = self._go_on(cache, ids[:, length:], length, step=len(set(entries)) > 1)
        facts = CacheFacts(context_tokens=length, entries=entries, passed_whole=whole)
        return replace(self._answer(new_ids), cache=facts)

    def _read_context(self, ids: Any, whole: bool) -> Any:
        from transformers import DynamicCache

        cache = DynamicCache()
        removed = 0.0 if whole else self._method.removed(ids.shape[1], self._ratio)
        with self._method.press(removed)(self._model) if removed > 0 else contextlib.nullcontext():
            self._model.model(input_ids=ids, past_key_values=cache)
        return cache

    def _go_on(self, cache: Any, question: Any, position: int, *, step: bool) -> list[int]:
        """The new tokens after the question, whose first token stands at ``position``.

        Args:
            step: Read the question token by token. One token sees the whole cache and needs no mask; a mask for several
                is made from the length of the first layer, and would be wrong in layers of another length.
        """
        import torch

        parts = question.split(1, dim=1) if step else (question,)
        logits = None
        for part in parts:
            places = torch.arange(position, position + part.shape[1], device=self._device).unsqueeze(0)
            logits = self._model(input_ids=part, past_key_values=cache, position_ids=places, logits_to_keep=1).logits
            position += part.shape[1]
        stops = set(self.settings.stop_token_ids or ())
        new_ids: list[int] = []
        while True:
            new_ids.append(int(logits[0, -1].argmax()))  # type: ignore[index]
            if new_ids[-1] in stops or len(new_ids) == self.settings.max_new_tokens:
                return new_ids
            logits = self._model(
                input_ids=torch.tensor([[new_ids[-1]]], device=self._device),
                past_key_values=cache,
                position_ids=torch.tensor([[position]], device=self._device),
            ).logits
            position += 1

    def _question_tokens(self, text: str) -> int:
        """How many tokens of a rendered prompt reach into the question or stand behind it."""
        at = max(text.rfind(mark) for mark in _QUESTION_MARKS)
        if at < 0:
            raise ValueError("the prompt has no question to split at")
        encoded = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return sum(end > at for _, end in encoded["offset_mapping"])
