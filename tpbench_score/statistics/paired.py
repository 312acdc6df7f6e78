"""Paired right-or-wrong comparisons on the same items: flips and McNemar's exact test.

Source: scoring spec 4.5 and trap X28. The paper's test is *conditional*: only items that were answered correctly
from the full context. The test *over all items* is another number, so both have names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """The exact two-sided p-value of McNemar's test from the two discordant counts.

    min(1, 2 * sum over i <= min(b, c) of C(b + c, i) / 2^(b + c)), computed in whole numbers and divided once.
    The unit is the item; 1.0 without discordant items.

    Raises:
        ValueError: a count is negative.
    """
    if only_first < 0 or only_second < 0:
        raise ValueError(f"mcnemar_exact needs counts, got {only_first} and {only_second}")
    n = only_first + only_second
    term = total = 1
    for i in range(1, min(only_first, only_second) + 1):
        term = term * (n - i + 1) // i
        total += term
    return 2 * total / 2**n if 2 * total < 2**n else 1.0


@dataclass(frozen=True)
class PairedFlips:
    """An evidence deletion against its control, item by item.

    Attributes:
        n: items present in all three conditions.
        full_correct: items right from the full context.
        deletion_flips: of those, wrong after the deletion.
        control_flips: of those, wrong under the control.
        deletion_only: of those, wrong after the deletion and right under the control.
        control_only: of those, the reverse.
        all_deletion_only: over all items, wrong after the deletion and right under the control.
        all_control_only: over all items, the reverse.
    """

    n: int
    full_correct: int
    deletion_flips: int
    control_flips: int
    deletion_only: int
    control_only: int
    all_deletion_only: int
    all_control_only: int

    @property
    def p_conditional(self) -> float:
        """McNemar's exact p among items right from the full context (the paper's)."""
        return mcnemar_exact(self.deletion_only, self.control_only)

    @property
    def p_all_items(self) -> float:
        """McNemar's exact p over all items."""
        return mcnemar_exact(self.all_deletion_only, self.all_control_only)

    @property
    def counterfactual_rate(self) -> float | None:
        """Share of all items right in full, wrong after the deletion, right under the control."""
        return self.deletion_only / self.n if self.n else None

    @property
    def counterfactual_rate_given_full(self) -> float | None:
        """The same count over the items right from the full context."""
        return self.deletion_only / self.full_correct if self.full_correct else None


def paired_flips(full: Sequence[bool], deletion: Sequence[bool], control: Sequence[bool]) -> PairedFlips:
    """Counts flips and discordance of three right-or-wrong lists over the same items, in the same order.

    Raises:
        ValueError: the lists differ in length.
    """
    rows = list(zip(full, deletion, control, strict=True))
    right = [(d, c) for f, d, c in rows if f]
    return PairedFlips(
        n=len(rows),
        full_correct=len(right),
        deletion_flips=sum(not d for d, _ in right),
        control_flips=sum(not c for _, c in right),
        deletion_only=sum(not d and bool(c) for d, c in right),
        control_only=sum(bool(d) and not c for d, c in right),
        all_deletion_only=sum(not d and bool(c) for _, d, c in rows),
        all_control_only=sum(bool(d) and not c for _, d, c in rows),
    )
