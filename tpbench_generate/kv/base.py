"""Methods that compress the reader's cache: what a run must know of each, and how many entries it should leave.

The library `kvpress` does the compression. It takes the removed fraction and truncates a float product, which at some
lengths leaves an entry less than the ratio says. With the budget ``exact`` each context gets a removed fraction that
makes the library keep the exact count; ``kvpress`` hands it 1 - ratio as it is. Source: construction spec 13.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from tpbench_data.budget import BudgetRule, keep_count
from tpbench_data.errors import BadInput, TPBenchError
from tpbench_data.selectors.settings import print_method

SINKS = 4
"""A context must be longer than the observed window and this many tokens more (spec 13)."""

CacheBudget = Literal["exact", "kvpress"]


class WrongCache(TPBenchError):
    """A cache holds another number of entries than its method should leave."""


@dataclass(frozen=True)
class KVMethod(ABC):
    """A method that compresses the cache of the context, one small class each; the fields are its settings.

    Attributes:
        budget: ``exact`` = the method's own rounding in exact fractions; ``kvpress`` = the library's float product.
    """

    name: ClassVar[str]
    """The name in columns and commands."""
    summary: ClassVar[str]
    """One line on what is kept."""
    paper: ClassVar[str] = ""
    """Where the method comes from, in one line."""
    rounding: ClassVar[BudgetRule] = "floor"
    """How the method rounds its count."""
    needs_fused_attention: ClassVar[bool] = False
    """Whether kvpress refuses to run it with eager attention."""

    budget: CacheBudget = "exact"

    @abstractmethod
    def press(self, removed: float) -> Any:
        """The kvpress object that removes this fraction of the entries."""

    @property
    @abstractmethod
    def least_context(self) -> int:
        """A context of at most so many tokens is passed whole."""

    @abstractmethod
    def expected(self, length: int, ratio: float, n_layers: int) -> Sequence[frozenset[int]] | None:
        """The numbers of entries that each layer may hold; None where they cannot be foretold."""

    def removed(self, length: int, ratio: float) -> float:
        """The removed fraction that kvpress is given for a context of ``length`` tokens."""
        if self.budget == "kvpress":
            return 1 - ratio
        return removed_for(keep_count(length, ratio, self.rounding), length)

    def kept(self, count: int, ratio: float) -> int:
        """How many of ``count`` entries (or chunks) are kept at this ratio."""
        return keep_count(count, ratio, self.rounding if self.budget == "exact" else "kvpress")

    def check(self, entries: Sequence[int], length: int, ratio: float) -> None:
        """Compares the entries of every layer, measured after the context was read, with what they should be.

        Raises:
            WrongCache: A layer holds another number; names the layer.
        """
        expected = self.expected(length, ratio, len(entries))
        if expected is None:
            return
        for layer, (found, allowed) in enumerate(zip(entries, expected, strict=True)):
            if found not in allowed:
                wanted = " or ".join(str(count) for count in sorted(allowed))
                raise WrongCache(
                    f"layer {layer} holds {found} entries of a context of {length} tokens; {self} at ratio {ratio:g}"
                    f" should leave {wanted}. Report this with the versions of kvpress and transformers."
                )

    def settings(self) -> dict[str, Any]:
        """Name and settings as plain data, for the column `kv_settings`."""
        return {"method": self.name} | {field.name: getattr(self, field.name) for field in fields(self)}

    def __str__(self) -> str:
        return print_method(self)


def removed_for(kept: int, length: int) -> float:
    """A removed fraction with which both truncating and rounding ``length * (1 - fraction)`` give ``kept``.

    A quarter of an entry is added, which float errors cannot eat up; 0 where everything is kept.
    """
    return 0.0 if kept >= length else 1 - (kept + 0.25) / length


def at_least_one(value: int, name: str, method: str) -> None:
    """Raises BadInput unless a setting is 1 or more."""
    if value < 1:
        raise BadInput(f"{name} of {method} must be at least 1, not {value}")
