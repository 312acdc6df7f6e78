"""No context: what a reader answers from the question alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from tpbench_data.selectors.base import SelectionInput, Selector, Size


@dataclass(frozen=True)
class NoContext(Selector):
    """Keeps no turn: the floor of every table."""

    name: ClassVar[str] = "no_context"
    summary: ClassVar[str] = "no turn at all, whatever the ratio"
    size: ClassVar[Size] = "none"

    def pick(self, item: SelectionInput, k: int) -> Iterable[int]:
        """Nothing."""
        return ()
