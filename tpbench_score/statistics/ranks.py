"""Best marks, average ranks and Spearman's correlation.

Source: scoring spec 4.6 and 5. Scores are compared after rounding to 12 decimals, so that two means that differ only
by the order of a floating-point sum are a tie.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

TIE_DECIMALS = 12


def best(scores: Sequence[float | None]) -> list[bool]:
    """Marks every entry that holds the highest score; all of an exact tie are marked, ``None`` never."""
    known = [round(score, TIE_DECIMALS) for score in scores if score is not None]
    top = max(known, default=None)
    return [score is not None and round(score, TIE_DECIMALS) == top for score in scores]


def average_ranks(scores: Sequence[float]) -> list[float]:
    """Ranks with 1 = highest score; entries of a tie share the average of their places."""
    rounded = [round(score, TIE_DECIMALS) for score in scores]
    ranks = []
    for score in rounded:
        higher = sum(other > score for other in rounded)
        equal = sum(other == score for other in rounded)
        ranks.append(higher + (equal + 1) / 2)
    return ranks


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Pearson's correlation of the average ranks of two score lists (one entry per method, same order).

    ``None`` where it is undefined: fewer than two entries, or one side constant.

    Raises:
        ValueError: the lists differ in length.
    """
    if len(first) != len(second):
        raise ValueError(f"spearman needs two lists of one length, got {len(first)} and {len(second)}")
    # Doubled ranks are whole numbers, so the sums are exact and the result does not depend on their order.
    a = [round(2 * rank) for rank in average_ranks(first)]
    b = [round(2 * rank) for rank in average_ranks(second)]
    n = len(a)
    product = n * sum(x * y for x, y in zip(a, b, strict=True)) - sum(a) * sum(b)
    spread_a = n * sum(x * x for x in a) - sum(a) ** 2
    spread_b = n * sum(y * y for y in b) - sum(b) ** 2
    if spread_a == 0 or spread_b == 0:
        return None
    return product / math.sqrt(spread_a * spread_b)
