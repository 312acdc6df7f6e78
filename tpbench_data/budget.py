"""How many turns or cache entries a budget keeps: the one function for builder, selectors and checks.

There is only one because a float product truncated here and rounded there gives budgets that differ by a turn.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, get_args

from tpbench_data.errors import BadInput

BudgetRule = Literal["round-half-even", "round-half-up", "floor", "kvpress"]
BUDGET_RULES: tuple[BudgetRule, ...] = get_args(BudgetRule)


def parse_ratio(value: str | float) -> float:
    """A nominal retained fraction in (0, 1].

    Raises:
        BadInput: Not a number, or outside (0, 1].
    """
    try:
        ratio = float(value)
    except ValueError as problem:
        raise BadInput(f"ratio {value!r} is not a number", remedy="Give a fraction such as 0.3") from problem
    if not 0 < ratio <= 1:
        raise BadInput(f"ratio {value} is outside (0, 1]", remedy="Give the retained fraction, such as 0.3")
    return ratio


def format_ratio(ratio: float) -> str:
    """The shortest text that reads back as the ratio: ``0.3``, ``1``."""
    return format(ratio, ".15g")


def keep_count(n: int, ratio: float, rule: BudgetRule) -> int:
    """Number of turns (or cache entries) to keep out of ``n``; at least 1 and at most ``n``.

    The ratio is taken as the decimal it prints as (0.7 is 7/10), so the product is exact; only the rule
    ``kvpress`` computes in floats, because that library does.

    Args:
        n: Number of turns of the dialogue, or of entries of the cache, at least 1.
        ratio: Nominal retained fraction in (0, 1].
        rule: ``round-half-even`` (published positional selectors), ``floor`` (published content-aware
            selectors and all of FMTS), ``round-half-up`` (protocol ``matched``) or ``kvpress`` (what its version
            0.5.5 does with the removed fraction 1 - ratio: a truncated float product, 9 of 100 at 0.1).

    Raises:
        ValueError: ``n`` below 1, a ratio outside (0, 1] or an unknown rule.

    Source: construction spec 5 and 13.
    """
    if n < 1 or not 0 < ratio <= 1:
        raise ValueError(f"keep_count needs n >= 1 and 0 < ratio <= 1, not {n} and {ratio}")
    product = n * Fraction(format_ratio(ratio))
    if rule == "round-half-even":
        kept = round(product)
    elif rule == "floor":
        kept = math.floor(product)
    elif rule == "round-half-up":
        kept = math.floor(product + Fraction(1, 2))
    elif rule == "kvpress":
        kept = int(n * (1 - (1 - ratio)))
    else:
        raise ValueError(f"unknown budget rule {rule!r}")
    return max(1, kept)
