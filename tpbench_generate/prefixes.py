"""Prompts that begin alike: several questions about one context.

Used twice: the plan puts such prompts side by side, and a reader reads what they share once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LEAST_SHARED = 32
"""Fewer common tokens are not worth a group: every prompt of a release shares its system message."""

_LEAST_PART = 0.5
"""Nor is a common beginning that is less than half of the prompts: then padding would cost more than it saves."""

Ids = Sequence[int]


@dataclass(frozen=True)
class PrefixGroup:
    """Prompts with a common beginning.

    Attributes:
        rows: Their places in the sequence that was grouped.
        shared: How many tokens they share; at least one token of each prompt is not counted. 0 for a single prompt.
    """

    rows: tuple[int, ...]
    shared: int


def common_length(first: Ids, second: Ids) -> int:
    """How many tokens two prompts have in common from the left."""
    count = 0
    for one, two in zip(first, second, strict=False):
        if one != two:
            break
        count += 1
    return count


def group_neighbours(prompts: Sequence[Ids], most: int | None = None) -> list[PrefixGroup]:
    """Cuts a sequence of prompts into runs of neighbours that begin alike.

    Args:
        prompts: Token ids.
        most: Most prompts of a group, None = no limit.
    """
    groups: list[PrefixGroup] = []
    for place, ids in enumerate(prompts):
        if groups and (most is None or len(groups[-1].rows) < most):
            last = groups[-1]
            before = [prompts[row] for row in last.rows]
            shared = common_length(before[0], ids)
            if len(last.rows) > 1:
                shared = min(shared, last.shared)
            shared = min(shared, len(ids) - 1, *(len(one) - 1 for one in before))
            longest = max(len(ids), *(len(one) for one in before))
            if shared >= LEAST_SHARED and shared >= _LEAST_PART * longest:
                groups[-1] = PrefixGroup((*last.rows, place), shared)
                continue
        groups.append(PrefixGroup((place,), 0))
    return groups
