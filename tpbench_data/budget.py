"""How many turns a budget keeps: the one function for builder, selectors and checks, in exact fractions.

There is only one because a float product truncated here and rounded there gives budgets that differ by a turn.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

from tpbench_data.errors import BadInput

BudgetRule = Literal["round-half-even", "round-half-up", "floor"]


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


def keep_count(n_turns: int, ratio: float, rule: BudgetRule) -> int:
    """Number of turns to keep out of ``n_turns``; at least 1 and at most ``n_turns``.

    The ratio is taken as the decimal it prints as (0.7 is 7/10), so the product is exact.

    Args:
        n_turns: Number of turns of the dialogue, at least 1.
        ratio: Nominal retained fraction in (0, 1].
        rule: ``round-half-even`` (published positional selectors), ``floor`` (published content-aware
            selectors and all of FMTS) or ``round-half-up`` (protocol ``matched``).

    Raises:
        ValueError: ``n_turns`` below 1, a ratio outside (0, 1] or an unknown rule.

    Source: construction spec 5.
    """
    if n_turns < 1 or not 0 < ratio <= 1:
        raise ValueError(f"keep_count needs n_turns >= 1 and 0 < ratio <= 1, not {n_turns} and {ratio}")
    product = n_turns * Fraction(format_ratio(ratio))
    if rule == "round-half-even":
        kept = round(product)
    elif rule == "floor":
        kept = math.floor(product)
    elif rule == "round-half-up":
        kept = math.floor(product + Fraction(1, 2))
    else:
        raise ValueError(f"unknown budget rule {rule!r}")
    return max(1, kept)
