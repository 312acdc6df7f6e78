"""Random selection: k turns drawn from a generator seeded per example."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from tpbench_data.canonical import sha256_hex
from tpbench_data.selectors.base import SelectionInput, Selector


@dataclass(frozen=True)
class RandomTurns(Selector):
    """Keeps k turns drawn without replacement.

    The generator is seeded with a hash of the selector seed and the example id, so a draw does not depend on
    the order of examples. Source: construction spec 5, "Random".

    Attributes:
        seed: Selector seed; the published main pools use 42 for every sample seed.
        keyed: Whether the example id enters the seed. The published free-form inputs were drawn without it, so
            dialogues of equal length keep the same positions there.
    """

    name: ClassVar[str] = "random"
    summary: ClassVar[str] = "k turns drawn at random, seeded per example"

    seed: int = 42
    keyed: bool = True

    def pick(self, item: SelectionInput, k: int) -> Iterable[int]:
        """A seeded sample of turn ids."""
        seed = int(sha256_hex(f"{self.seed}|{item.example_id}")[:16], 16) % 2**32 if self.keyed else self.seed
        return random.Random(seed).sample(range(item.n_turns), k)

    @property
    def selector_seed(self) -> int | None:
        """The selector seed."""
        return self.seed
