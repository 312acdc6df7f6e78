"""First user turn plus recent turns: the matched baseline of the paper's section 6.2.1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from tpbench_data.selectors.base import SelectionInput, Selector


@dataclass(frozen=True)
class FirstUserRecent(Selector):
    """Keeps the first user turn and the k-1 latest other turns; k = 1 keeps only the user turn."""

    name: ClassVar[str] = "first_user_recent"
    summary: ClassVar[str] = "the first user turn and the k-1 latest other turns"

    def pick(self, item: SelectionInput, k: int) -> Iterable[int]:
        """First user turn, then turns from the end."""
        first = next((turn for turn, speaker in enumerate(item.speakers) if speaker == "user"), 0)
        others = [turn for turn in range(item.n_turns) if turn != first]
        return [first, *others[len(others) - (k - 1) :]]
