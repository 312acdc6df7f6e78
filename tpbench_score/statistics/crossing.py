"""The probe mix at which two methods change places."""

from __future__ import annotations


def crossing_weight(first_a: float, second_a: float, first_b: float, second_b: float) -> float | None:
    """The weight of the first probe at which methods a and b have equal weighted means.

    The weighted mean of a method is ``w * first + (1 - w) * second``. With d1 = first_a - first_b and
    d2 = second_b - second_a the weight is d2 / (d1 + d2). Source: scoring spec 4.7.

    Returns:
        A weight strictly between 0 and 1, or ``None`` where one method is at least as good on both probes.
    """
    lead_on_first = first_a - first_b
    lead_on_second = second_b - second_a
    if lead_on_first * lead_on_second <= 0:
        return None
    return lead_on_second / (lead_on_first + lead_on_second)
