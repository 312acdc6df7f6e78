"""PyramidKV: SnapKV with more entries in lower layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tpbench_data.budget import BudgetRule
from tpbench_generate.kv.base import at_least_one
from tpbench_generate.kv.snapkv import SnapKV


@dataclass(frozen=True)
class PyramidKV(SnapKV):
    """Keeps what SnapKV keeps, with a count that falls from layer to layer.

    The pyramid needs a highest layer of at least window_size entries. On shorter contexts (below about 4,270 tokens at
    a ratio of 0.3) every layer gets the same rounded count, and the method is SnapKV. Source: spec 13, trap 33.

    Attributes:
        budget: How the count is rounded; see `KVMethod`.
        window_size: Number of last tokens whose attention counts.
        kernel_size: Width of the average over neighbours, odd.
        beta: How steep the pyramid is, at least 1.
    """

    name: ClassVar[str] = "pyramidkv"
    summary: ClassVar[str] = "as snapkv, with more entries in lower layers"
    paper: ClassVar[str] = "Cai et al., PyramidKV, 2024"
    rounding: ClassVar[BudgetRule] = "round-half-even"

    beta: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least_one(self.beta, "beta", self.name)

    def press(self, removed: float) -> Any:
        """A PyramidKVPress."""
        from kvpress import PyramidKVPress

        return PyramidKVPress(
            compression_ratio=removed,
            window_size=self.window_size,
            kernel_size=self.kernel_size,
            beta=self.beta,
        )

    def expected(self, length: int, ratio: float, n_layers: int) -> Sequence[frozenset[int]]:
        """A straight line from the lowest to the highest layer, or the same rounded count in every layer."""
        # Step by step as in the library, floats included: the counts must be the same ones.
        mean = self.window_size + length * (1 - self.removed(length, ratio)) - self.window_size
        highest = mean / self.beta
        lowest = mean * 2 - highest
        if lowest >= length - self.window_size:
            lowest = length - self.window_size
            highest = mean * 2 - lowest
        if not length >= lowest >= highest >= self.window_size:
            return [frozenset({max(1, round(length * (1 - self.removed(length, ratio))))})] * n_layers
        step = (lowest - highest) / (n_layers - 1) if n_layers > 1 else 0.0
        return [frozenset({round(lowest - layer * step)}) for layer in range(n_layers)]
