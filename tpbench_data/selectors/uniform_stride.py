"""Uniform stride: turns spread evenly, anchored at the opening."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from tpbench_data.selectors.base import SelectionInput, Selector


@dataclass(frozen=True)
class UniformStride(Selector):
    """Keeps k turns at a constant step; always turn 0, and never the last turn unless all are kept.

    Source: construction spec 5 (a float step and Python's rounding, as published).
    """

    name: ClassVar[str] = "uniform_stride"
    summary: ClassVar[str] = "k turns at a constant step, from turn 0"

    def pick(self, item: SelectionInput, k: int) -> Iterable[int]:
        """The turn ids nearest to multiples of n/k."""
        if k >= item.n_turns:
            return range(item.n_turns)
        step = item.n_turns / k
        return (min(item.n_turns - 1, round(i * step)) for i in range(k))
