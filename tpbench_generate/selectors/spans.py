"""KadaneDial's step: contiguous spans of turns with the largest total gain, taken one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Span:
    """Turns ``first`` to ``last``, both included, and the sum of their gains."""

    first: int
    last: int
    gain: float

    def __len__(self) -> int:
        return self.last - self.first + 1


def best_span(gains: Sequence[float], first: int = 0, last: int | None = None) -> Span:
    """The span with the largest sum of gains between two turns, at least one turn long.

    Of spans with equal sums the one that ends first counts, and of these the shortest.

    Args:
        gains: One float per turn.
        first: Where spans may begin.
        last: Where they may end, included; None = the last turn.
    """
    end = len(gains) - 1 if last is None else last
    start, total = first, gains[first]
    best = Span(first, first, total)
    for turn in range(first + 1, end + 1):
        if total > 0:
            total += gains[turn]
        else:  # what came before can only lower the sum, or not raise it
            start, total = turn, gains[turn]
        if total > best.gain:
            best = Span(start, turn, total)
    return best


def spans_by_gain(gains: Sequence[float]) -> Iterator[Span]:
    """All turns as disjoint spans: the best one, then the best of what is left, and so on.

    A span never reaches over turns that were taken before. Equal gains: the earlier span.
    """
    pieces = [best_span(gains)] if gains else []
    borders = [(0, len(gains) - 1)] if gains else []
    while pieces:
        place = min(range(len(pieces)), key=lambda i: (-pieces[i].gain, pieces[i].first))
        span, (low, high) = pieces.pop(place), borders.pop(place)
        yield span
        for left, right in ((low, span.first - 1), (span.last + 1, high)):
            if left <= right:
                pieces.append(best_span(gains, left, right))
                borders.append((left, right))


def best_window(gains: Sequence[float], span: Span, length: int) -> range:
    """The ``length`` consecutive turns of a span with the largest sum; ties: the earlier ones."""
    starts = range(span.first, span.last - length + 2)
    best = max(starts, key=lambda start: (sum(gains[start : start + length]), -start))
    return range(best, best + length)


def standardised(scores: Sequence[float]) -> list[float]:
    """Z-scores with the population's deviation; all 0 where the scores do not differ."""
    values = np.asarray(scores, dtype=np.float64)
    deviation = float(values.std())
    if deviation <= 1e-12:
        return [0.0] * len(values)
    return [float(value) for value in (values - values.mean()) / deviation]
