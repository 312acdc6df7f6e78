"""What the engine needs from a reader: its settings, its tokens, its answers.

A new kind of reader is one subclass of `Reader`. Everything that can change an answer must be in its
`ReaderSettings`; what only describes the machine goes to `environment`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tpbench_data.errors import BadInput

Messages = Sequence[Mapping[str, str]]
"""A prompt: messages with the keys `role` ("system", "user") and `content`."""

TruncationSide = Literal["left", "right"]

DEFAULT_MAX_NEW_TOKENS = 96


@dataclass(frozen=True)
class ReaderOptions:
    """What a user may choose for a reader that runs on this machine.

    Attributes:
        max_new_tokens: Most tokens of one answer, at least 1.
        max_input_tokens: Most tokens of one prompt, at least 2; None = the model's limit less the new tokens.
        truncation_side: Which end of a longer prompt is cut: "left" (oldest tokens) or "right".
        dtype: "float32", "bfloat16", "float16", or "auto" (float32 on a CPU, bfloat16 on a GPU).
        attention: Attention implementation by its transformers name: "sdpa", "eager", "flash_attention_2".
        device: A torch device such as "cpu" or "cuda:1", or "auto" (the first GPU, else the CPU).
        share_beginnings: Read once what the prompts of a batch have in common at their beginning.

    Raises:
        BadInput: A value is out of range.
    """

    max_new_tokens: int = DEFAULT_MAX_NEW_TOKENS
    max_input_tokens: int | None = None
    truncation_side: TruncationSide = "left"
    dtype: str = "auto"
    attention: str = "sdpa"
    device: str = "auto"
    share_beginnings: bool = False

    def __post_init__(self) -> None:
        if self.max_new_tokens < 1:
            raise BadInput(f"must be at least 1, not {self.max_new_tokens}", field="max_new_tokens")
        if self.max_input_tokens is not None and self.max_input_tokens < 2:
            raise BadInput(f"must be at least 2, not {self.max_input_tokens}", field="max_input_tokens")
        if self.truncation_side not in ("left", "right"):
            raise BadInput(f"must be left or right, not '{self.truncation_side}'", field="truncation_side")
        if self.dtype not in DTYPES:
            raise BadInput(f"must be one of {', '.join(DTYPES)}, not '{self.dtype}'", field="dtype")


DTYPES = ("auto", "float32", "bfloat16", "float16")


@dataclass(frozen=True)
class ReaderSettings:
    """Everything about a reader that can change one of its answers; the fields are columns of the `runs` table.

    Attributes:
        reader: The name that the user typed.
        slug: Short name for run ids, from [a-z0-9._-]; not a column.
        system_role: "native", or "folded" (system text, blank line, user text in one message) where the chat
            template has no system role or there is no template.
        stop_token_ids: Tokens that end an answer, sorted.
        template_hash: SHA-256 of the chat template text; None without a template.
        kv_settings: JSON text; None unless the cache is compressed.
        seed: None where decoding draws nothing.
    """

    reader: str
    slug: str
    model_id: str
    model_revision: str | None
    backend: str
    dtype: str | None
    attention: str | None
    max_input_tokens: int | None
    max_new_tokens: int
    truncation_side: str | None
    system_role: str | None
    decoding: str
    stop_token_ids: tuple[int, ...] | None
    pad_token_id: int | None
    template_hash: str | None
    kv_settings: str | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Environment:
    """Where the answers are made: recorded with a run, never part of its identity.

    Attributes:
        device: Human-readable, e.g. "cpu (x86_64, 2 threads)".
        library_versions: Package name -> version.
    """

    device: str
    library_versions: Mapping[str, str]


@dataclass(frozen=True)
class Encoded:
    """A prompt as the token ids that reach the model, and whether some of it was cut off.

    A served model gets text and does the rest itself: then there are no ids, and ``truncated`` is None.
    """

    ids: tuple[int, ...]
    truncated: bool | None

    @property
    def n_tokens(self) -> int | None:
        """Number of tokens; None where only the server can count them."""
        return len(self.ids) or None


@dataclass(frozen=True)
class CacheFacts:
    """What a reader that compresses its cache kept of a context.

    Attributes:
        context_tokens: Tokens of the context.
        entries: Entries of every layer after the context was read.
        passed_whole: The context was too short to be compressed.
    """

    context_tokens: int
    entries: tuple[int, ...]
    passed_whole: bool


@dataclass(frozen=True)
class Answer:
    """One generated answer.

    Attributes:
        text: The new tokens decoded without special tokens, otherwise untouched.
        finish_reason: "stop" (a stop token came) or "length" (max_new_tokens came first).
        output_tokens: New tokens, the stop token included; None where a server did not tell.
        cache: What was kept of the context, None for a reader that compresses nothing.
        prompt_tokens: Tokens of the prompt as a server counted them, None where `Encoded` knows.
        attempts: How often the reader itself asked until this answer came.
    """

    text: str
    finish_reason: Literal["stop", "length"]
    output_tokens: int | None
    cache: CacheFacts | None = None
    prompt_tokens: int | None = None
    attempts: int = 1


@dataclass(frozen=True)
class Failure:
    """A prompt that a reader could not get answered, after trying again as often as it makes sense.

    Attributes:
        kind: One word, such as "Timeout"; errors are counted by it.
        message: One line.
        attempts: How often it was tried.
    """

    kind: str
    message: str
    attempts: int


class Reader(ABC):
    """A language model that answers prompts. Opening one is cheap; `load` brings in the weights."""

    settings: ReaderSettings
    environment: Environment

    @abstractmethod
    def encode(self, messages: Messages) -> Encoded:
        """The token ids of a prompt; raises ``ValueError`` where the prompt cannot be encoded."""

    @abstractmethod
    def load(self) -> None:
        """Makes the reader ready to generate; called once, before the first batch. Raises BadInput."""

    @abstractmethod
    def generate(self, batch: Sequence[Encoded]) -> Sequence[Answer | Failure]:
        """One answer or failure per prompt, in order.

        Any exception but a TPBenchError counts as a failed batch, whose prompts are then tried one by one.
        """
