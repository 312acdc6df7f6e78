"""Wilson's score interval for a share."""

from __future__ import annotations

import math

Z = 1.96
"""The paper's z, used as it stands and not as the 0.975 quantile 1.959964 (scoring spec 4.5 and trap X27)."""


def wilson_interval(successes: int, n: int) -> tuple[float, float] | None:
    """The 95 % score interval of ``successes`` in ``n`` independent items; ``None`` for n = 0.

    Raises:
        ValueError: ``successes`` is not between 0 and ``n``.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"wilson_interval needs 0 <= successes <= n, got {successes} of {n}")
    if n == 0:
        return None
    share = successes / n
    scale = 1 + Z * Z / n
    centre = (share + Z * Z / (2 * n)) / scale
    half = Z * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n)) / scale
    # At 0 and n of n one end is exactly 0 or 1; the subtraction may miss it by a rounding error.
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return low, high
