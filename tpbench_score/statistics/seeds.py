"""Mean and deviation over sample seeds.

Source: scoring spec 4.1. A cell is the unweighted mean of the per-seed values, never the value of the pooled items:
the seeds of ``current_value`` hold different numbers of items, so the two differ. Both functions compute in exact
fractions and round once, so equal values have a deviation of exactly 0 and the order of the seeds does not matter.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def seed_mean(values: Sequence[float]) -> float | None:
    """The unweighted mean of per-seed values; ``None`` without values."""
    return float(statistics.mean(values)) if values else None


def sample_sd(values: Sequence[float]) -> float | None:
    """The sample standard deviation (n - 1) of per-seed values; ``None`` for fewer than two values."""
    return float(statistics.stdev(values)) if len(values) > 1 else None
