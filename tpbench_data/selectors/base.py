"""The turn selectors' base: owns budget, order, duplicates and the printed form; a method only picks turns.

Source: design page "Vocabulary"; construction spec 5.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, cast

from tpbench_data.budget import BudgetRule, keep_count
from tpbench_data.errors import BadInput
from tpbench_data.rendering import Rendering


@dataclass(frozen=True, slots=True)
class SelectionInput:
    """What a selector may look at.

    Attributes:
        example_id: Id of the example (the published random selector hashes it).
        speakers: ``user`` or ``system`` per turn.
        texts: Utterances per turn.
        question: The probe's question, for query-aware methods.
        evidence: Turn ids of the evidence, most important first; only an oracle may use it.
    """

    example_id: str
    speakers: Sequence[str]
    texts: Sequence[str]
    question: str
    evidence: Sequence[int]

    @property
    def n_turns(self) -> int:
        """Number of turns of the dialogue."""
        return len(self.texts)


@dataclass(frozen=True)
class Selector(ABC):
    """A method that keeps whole turns. Subclasses are dataclasses whose fields are the method's settings.

    The printed form, ``name`` or ``name(setting=value, ...)`` with every setting that differs from its
    default, is stored with every input and read back by `parse`.
    """

    name: ClassVar[str]
    """The name in columns and commands."""
    summary: ClassVar[str]
    """One line on what is kept."""
    published_budget: ClassVar[BudgetRule] = "round-half-even"
    """The budget rule under protocol ``paper``."""
    published_rendering: ClassVar[Rendering] = "marked"
    """The rendering under protocol ``paper``."""

    @abstractmethod
    def pick(self, item: SelectionInput, k: int) -> Iterable[int]:
        """The turn ids to keep, in any order; ``k`` is the budget in turns, 1 <= k <= n."""

    def keep(self, item: SelectionInput, ratio: float, rule: BudgetRule | None = None) -> list[int]:
        """The kept turn ids, ascending and distinct.

        Args:
            item: The dialogue and the question.
            ratio: Nominal retained fraction in (0, 1].
            rule: Budget rule; ``None`` = the published one of this method.

        Raises:
            ValueError: The method picked a turn that does not exist.
        """
        k = keep_count(item.n_turns, ratio, rule or self.published_budget)
        kept = sorted(set(self.pick(item, k)))
        if kept and not 0 <= kept[0] <= kept[-1] < item.n_turns:
            raise ValueError(f"{self} picked turns {kept} of a dialogue of {item.n_turns} turns")
        return kept

    @property
    def selector_seed(self) -> int | None:
        """The seed that draws turns, ``None`` for a deterministic method."""
        return None

    def __str__(self) -> str:
        settings = [
            f"{field.name}={getattr(self, field.name)}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"{self.name}({', '.join(settings)})" if settings else self.name


@dataclass(frozen=True)
class ScoredSelector(Selector):
    """A selector that gives every turn a score and keeps the k highest; equal scores keep the earlier turn."""

    @abstractmethod
    def scores(self, item: SelectionInput) -> Sequence[float]:
        """One float per turn, higher = keep."""

    def pick(self, item: SelectionInput, k: int) -> Iterable[int]:
        """The turns with the k highest scores."""
        scores = self.scores(item)
        return sorted(range(item.n_turns), key=lambda turn: -scores[turn])[:k]


_PRINTED = re.compile(r"([a-z0-9_]+)(?:\((.*)\))?")


def parse(text: str, methods: dict[str, type[Selector]]) -> Selector:
    """Reads a printed form back: ``parse(str(selector), methods) == selector``.

    Raises:
        BadInput: Unknown method or setting, or a value of the wrong type.
    """
    match = _PRINTED.fullmatch(text.strip())
    if match is None:
        raise BadInput(f"{text!r} is not a method", remedy="Write name or name(setting=value)")
    name, inside = match.groups()
    if name not in methods:
        raise BadInput(f"unknown method {name!r}", remedy=f"Known methods: {', '.join(methods)}")
    kind = methods[name]
    known = {field.name: field for field in fields(kind)}
    settings: dict[str, Any] = {}
    for part in filter(None, (inside or "").split(",")):
        key, _, value = (piece.strip() for piece in part.partition("="))
        if key not in known:
            listed = ", ".join(known) or "none"
            raise BadInput(f"method {name!r} has no setting {key!r}", remedy=f"Its settings: {listed}")
        convert: Callable[[str], Any] = type(cast(Any, known[key].default))
        try:
            settings[key] = convert(value)
        except ValueError as problem:
            raise BadInput(f"{key}={value} of method {name!r} cannot be read") from problem
    return kind(**settings)
