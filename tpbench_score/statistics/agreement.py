"""Agreement of a judge with human labels.

Source: scoring spec 4.9. A judgment of ``None`` (uncertain) counts as incorrect and stays in the denominator; human
ties are removed by the caller before counting.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Confusion:
    """Counts of judgments against resolved human labels, one per pair.

    Attributes:
        tp, tn, fp, fn: the usual four.
        uncertain_positive: human label true, judge undecided.
        uncertain_negative: human label false, judge undecided.
    """

    tp: int
    tn: int
    fp: int
    fn: int
    uncertain_positive: int = 0
    uncertain_negative: int = 0

    @classmethod
    def count(cls, pairs: Iterable[tuple[bool, bool | None]]) -> Confusion:
        """Counts (human label, judgment) pairs."""
        seen: dict[tuple[bool, bool | None], int] = {}
        for pair in pairs:
            seen[pair] = seen.get(pair, 0) + 1
        return cls(
            tp=seen.get((True, True), 0),
            tn=seen.get((False, False), 0),
            fp=seen.get((False, True), 0),
            fn=seen.get((True, False), 0),
            uncertain_positive=seen.get((True, None), 0),
            uncertain_negative=seen.get((False, None), 0),
        )

    @property
    def resolved(self) -> int:
        """Pairs with a human label."""
        return self.positives + self.negatives

    @property
    def positives(self) -> int:
        """Pairs whose human label is true."""
        return self.tp + self.fn + self.uncertain_positive

    @property
    def negatives(self) -> int:
        """Pairs whose human label is false."""
        return self.tn + self.fp + self.uncertain_negative

    @property
    def accuracy(self) -> float | None:
        """(tp + tn) / resolved."""
        return (self.tp + self.tn) / self.resolved if self.resolved else None

    @property
    def balanced_accuracy(self) -> float | None:
        """Mean of the shares found right among positives and among negatives; ``None`` if either is empty."""
        if not self.positives or not self.negatives:
            return None
        return (self.tp / self.positives + self.tn / self.negatives) / 2

    @property
    def uncertainty(self) -> float | None:
        """Share of resolved pairs that the judge left undecided."""
        return (self.uncertain_positive + self.uncertain_negative) / self.resolved if self.resolved else None
