"""SnapKV: the entries that the last tokens of the context attend to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tpbench_generate.kv.base import SINKS, KVMethod, at_least_one


@dataclass(frozen=True)
class SnapKV(KVMethod):
    """Keeps, per layer and head, the entries with the most attention from the last tokens of the context.

    Those last tokens have the highest score themselves: where the budget is below window_size, nothing else is kept.

    Attributes:
        budget: How the count is rounded; see `KVMethod`.
        window_size: Number of last tokens whose attention counts.
        kernel_size: Width of the average over neighbours, odd.
    """

    name: ClassVar[str] = "snapkv"
    summary: ClassVar[str] = "cache entries that the last tokens of the context attend to"
    paper: ClassVar[str] = "Li et al., SnapKV, NeurIPS 2024"

    window_size: int = 64
    kernel_size: int = 5

    def __post_init__(self) -> None:
        at_least_one(self.window_size, "window_size", self.name)
        at_least_one(self.kernel_size, "kernel_size", self.name)

    def press(self, removed: float) -> Any:
        """A SnapKVPress."""
        from kvpress import SnapKVPress

        return SnapKVPress(compression_ratio=removed, window_size=self.window_size, kernel_size=self.kernel_size)

    @property
    def least_context(self) -> int:
        """The window and the sinks."""
        return self.window_size + SINKS

    def expected(self, length: int, ratio: float, n_layers: int) -> Sequence[frozenset[int]]:
        """The same count in every layer."""
        return [frozenset({self.kept(length, ratio)})] * n_layers
