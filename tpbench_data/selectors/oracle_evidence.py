"""Oracle evidence: the best a turn selector could do at a budget, knowing the answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from tpbench_data.selectors.base import SelectionInput, Selector


@dataclass(frozen=True)
class OracleEvidence(Selector):
    """Keeps the update and answer-bearing turns, then the most recent turns, up to k.

    Where the evidence alone exceeds k, the most important turns stay: the latest answer-bearing turn, the
    update turn (for P3 the first user turn before it), then older answer-bearing turns.
    """

    name: ClassVar[str] = "oracle_evidence"
    summary: ClassVar[str] = "update and answer-bearing turns, then the most recent turns"

    def pick(self, item: SelectionInput, k: int) -> Iterable[int]:
        """The first k of evidence, then turns from the end."""
        newest_first = range(item.n_turns - 1, -1, -1)
        return list(dict.fromkeys([*item.evidence, *newest_first]))[:k]
