"""Random choices that never move: drawn from SHA-256 of a key and a counter, not from a library's generator."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TypeVar

T = TypeVar("T")

_WORD = 2**64


class Draws:
    """A stream of choices that depends on its key alone.

    Args:
        key: Whatever names the thing to be drawn: seed, language, type, number, attempt.
    """

    def __init__(self, *key: object) -> None:
        self._key = "|".join(map(str, key))
        self._counter = 0

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1, each equally likely; ``n`` at least 1."""
        limit = _WORD - _WORD % n
        while True:
            digest = sha256(f"{self._key}#{self._counter}".encode()).digest()
            self._counter += 1
            word = int.from_bytes(digest[:8], "big")
            if word < limit:
                return word % n

    def between(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        return low + self.below(high - low + 1)

    def one_of(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.below(len(items))]

    def often(self, of_ten: int) -> bool:
        """True in ``of_ten`` of ten cases."""
        return self.below(10) < of_ten

    def some_of(self, items: Sequence[T], k: int) -> list[T]:
        """``k`` different items, in random order."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(k)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All items in random order."""
        return self.some_of(items, len(items))
