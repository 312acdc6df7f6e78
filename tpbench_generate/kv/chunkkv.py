"""ChunkKV: whole chunks of neighbouring entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tpbench_data.budget import keep_count
from tpbench_generate.kv.base import at_least_one, removed_for
from tpbench_generate.kv.snapkv import SnapKV


@dataclass(frozen=True)
class ChunkKV(SnapKV):
    """Keeps whole chunks of entries by the mean of their SnapKV scores, the same tokens for all heads of a layer.

    What is counted are chunks: of C chunks at least one and floor(C * ratio) are kept. The last chunk may be short, so
    the number of entries depends on whether it is among them, and chunks of the window always come first.

    Attributes:
        budget: How the count of chunks is rounded; see `KVMethod`.
        window_size: Number of last tokens whose attention counts.
        kernel_size: Width of the average over neighbours, odd.
        chunk_length: Entries per chunk.
    """

    name: ClassVar[str] = "chunkkv"
    summary: ClassVar[str] = "whole chunks of cache entries that the last tokens attend to"
    paper: ClassVar[str] = "Liu et al., ChunkKV, NeurIPS 2025"
    needs_fused_attention: ClassVar[bool] = True

    chunk_length: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least_one(self.chunk_length, "chunk_length", self.name)

    def press(self, removed: float) -> Any:
        """A ChunkKVPress over a SnapKVPress."""
        from kvpress import ChunkKVPress

        return ChunkKVPress(press=super().press(removed), chunk_length=self.chunk_length)

    @property
    def least_context(self) -> int:
        """The window and the sinks, and one whole chunk."""
        return max(super().least_context, self.chunk_length)

    def removed(self, length: int, ratio: float) -> float:
        """The removed fraction of chunks."""
        if self.budget == "kvpress":
            return 1 - ratio
        chunks = -(-length // self.chunk_length)
        return removed_for(keep_count(chunks, ratio, self.rounding), chunks)

    def expected(self, length: int, ratio: float, n_layers: int) -> Sequence[frozenset[int]]:
        """So many whole chunks, or one whole chunk less and the short last one."""
        whole, rest = divmod(length, self.chunk_length)
        chunks = self.kept(whole + (rest > 0), ratio)
        counts = {chunks * self.chunk_length} if chunks <= whole else set()
        if rest:
            counts.add((chunks - 1) * self.chunk_length + rest)
        return [frozenset(counts)] * n_layers
