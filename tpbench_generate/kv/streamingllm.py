"""StreamingLLM: the first few entries and the last ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tpbench_generate.kv.base import SINKS, KVMethod, at_least_one


@dataclass(frozen=True)
class StreamingLLM(KVMethod):
    """Keeps the first n_sink entries and the latest ones; entries keep their original positions.

    Attributes:
        budget: How the count is rounded; see `KVMethod`.
        n_sink: Number of first entries that stay.
    """

    name: ClassVar[str] = "streamingllm"
    summary: ClassVar[str] = "the first few cache entries and the latest ones"
    paper: ClassVar[str] = "Xiao et al., Efficient Streaming Language Models with Attention Sinks, ICLR 2024"

    n_sink: int = SINKS

    def __post_init__(self) -> None:
        at_least_one(self.n_sink, "n_sink", self.name)

    def press(self, removed: float) -> Any:
        """A StreamingLLMPress."""
        from kvpress import StreamingLLMPress

        return StreamingLLMPress(compression_ratio=removed, n_sink=self.n_sink)

    @property
    def least_context(self) -> int:
        """Twice the sinks: a window of at least as many tokens must be left behind them."""
        return self.n_sink + SINKS

    def expected(self, length: int, ratio: float, n_layers: int) -> Sequence[frozenset[int]]:
        """The same count in every layer."""
        return [frozenset({self.kept(length, ratio)})] * n_layers
