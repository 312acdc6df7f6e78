"""How many turns two dialogues have in common, word for word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction


def turn_key(text: str) -> str:
    """The form in which turns are compared: lower case, white space collapsed."""
    return " ".join(text.lower().split())


@dataclass
class TurnIndex:
    """The turns of the dialogues added so far.

    Attributes:
        keys: Per dialogue, its turns as counts of keys.
    """

    keys: list[Counter[str]] = field(default_factory=list)
    _holders: dict[str, set[int]] = field(default_factory=dict)

    def add(self, texts: Iterable[str]) -> None:
        """Adds a dialogue."""
        counts = Counter(map(turn_key, texts))
        for key in counts:
            self._holders.setdefault(key, set()).add(len(self.keys))
        self.keys.append(counts)

    def highest_share(self, texts: Sequence[str]) -> tuple[Fraction, int | None]:
        """The largest share of turns in common with one dialogue added so far, and its number.

        The share is the number of common turns over the number of turns of the shorter dialogue.
        """
        counts = Counter(map(turn_key, texts))
        common: Counter[int] = Counter()
        for key, times in counts.items():
            for other in self._holders.get(key, ()):
                common[other] += min(times, self.keys[other][key])
        shares = [(Fraction(n, min(len(texts), self.keys[other].total())), -other) for other, n in common.items()]
        if not shares:
            return Fraction(0), None
        share, other = max(shares)
        return share, -other
