"""Full context: the uncompressed dialogue, the reference every method is compared with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from tpbench_data.selectors.base import SelectionInput, Selector, Size


@dataclass(frozen=True)
class FullContext(Selector):
    """Keeps all turns, whatever the budget."""

    name: ClassVar[str] = "full_context"
    summary: ClassVar[str] = "all turns, whatever the ratio"
    size: ClassVar[Size] = "all"

    def pick(self, item: SelectionInput, k: int) -> Iterable[int]:
        """All turns."""
        return range(item.n_turns)
