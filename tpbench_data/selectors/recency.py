"""Recency: the latest turns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from tpbench_data.selectors.base import SelectionInput, Selector


@dataclass(frozen=True)
class Recency(Selector):
    """Keeps the last k turns."""

    name: ClassVar[str] = "recency"
    summary: ClassVar[str] = "the last k turns"

    def pick(self, item: SelectionInput, k: int) -> Iterable[int]:
        """The last k turn ids."""
        return range(item.n_turns - k, item.n_turns)
