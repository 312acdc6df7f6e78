"""Earliest turns: the opening of the dialogue."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from tpbench_data.selectors.base import SelectionInput, Selector


@dataclass(frozen=True)
class FirstTurns(Selector):
    """Keeps the first k turns."""

    name: ClassVar[str] = "first_turns"
    summary: ClassVar[str] = "the first k turns"

    def pick(self, item: SelectionInput, k: int) -> Iterable[int]:
        """The first k turn ids."""
        return range(k)
