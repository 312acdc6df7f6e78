"""The turn selectors' base: owns budget, order, ties, rendering and the record of what was kept.

Three levels: `Selector` (a method picks turns), `ScoredSelector` (a method scores turns), then one small class per
method. Source: design page "Vocabulary"; construction spec 2 and 5.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from tpbench_data.budget import BudgetRule, keep_count
from tpbench_data.errors import BadInput
from tpbench_data.rendering import Rendering, render
from tpbench_data.selectors.settings import print_method

Size = Literal["k", "all", "none", "adaptive"]
"""How many turns a method keeps: the budget k, all, none, or as many as it chooses itself (no ratio)."""


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


@dataclass(frozen=True, slots=True)
class Selection:
    """What a selector kept of one dialogue, and by which rules.

    Attributes:
        kept: Turn ids, ascending and distinct.
        n_turns: Number of turns of the dialogue.
        budget: The budget k in turns; ``None`` where the method has none (all, none, adaptive).
        rule: The budget rule that gave k, ``None`` likewise.
        rendering: How ``context`` was written.
        context: What a reader sees.
    """

    kept: tuple[int, ...]
    n_turns: int
    budget: int | None
    rule: BudgetRule | None
    rendering: Rendering
    context: str


@dataclass(frozen=True)
class Selector(ABC):
    """A method that keeps whole turns. Subclasses are frozen dataclasses whose fields are the method's settings.

    The printed form, ``name`` or ``name(setting=value, ...)`` with every setting that differs from its
    default, is stored with every input and reads back to an equal selector.
    """

    name: ClassVar[str]
    """The name in columns and commands, from [a-z0-9_]."""
    summary: ClassVar[str]
    """One line on what is kept."""
    paper: ClassVar[str] = ""
    """Where the method comes from, in one line; empty for a baseline of our own."""
    needs_model: ClassVar[bool] = False
    """Whether it runs a model (and so needs the extra ``generate``)."""
    size: ClassVar[Size] = "k"
    """How many turns it keeps; with ``k`` the base checks that it kept exactly k."""
    published_budget: ClassVar[BudgetRule] = "round-half-even"
    """The budget rule under protocol ``paper``."""
    published_rendering: ClassVar[Rendering] = "marked"
    """The rendering under protocol ``paper``."""

    @abstractmethod
    def pick(self, item: SelectionInput, k: int) -> Iterable[int]:
        """The turn ids to keep, in any order; ``k`` is the budget in turns, 1 <= k <= n (n if adaptive)."""

    def keep(self, item: SelectionInput, ratio: float | None, rule: BudgetRule | None = None) -> list[int]:
        """The kept turn ids, ascending and distinct; arguments and errors as for `select`."""
        return list(self.select(item, ratio, rule=rule).kept)

    def select(
        self,
        item: SelectionInput,
        ratio: float | None,
        *,
        rule: BudgetRule | None = None,
        rendering: Rendering | None = None,
    ) -> Selection:
        """Applies the method to one dialogue.

        Args:
            item: The dialogue and the question.
            ratio: Nominal retained fraction in (0, 1]; only an adaptive method takes ``None``.
            rule: Budget rule; ``None`` = the published one of this method.
            rendering: ``marked`` or ``plain``; ``None`` = the published one of this method.

        Raises:
            BadInput: A ratio is missing, or the method broke its contract: a turn that does not exist, or
                another number of turns than k.
        """
        form = rendering or self.published_rendering
        n = item.n_turns
        chosen = rule or self.published_budget
        if self.size == "adaptive":
            k = n
        elif ratio is None:
            raise BadInput(f"method {self.name} needs a ratio", field="--ratio", remedy="Give a fraction such as 0.3")
        else:
            k = keep_count(n, ratio, chosen)
        kept = sorted(set(self.pick(item, k)))
        if kept and not 0 <= kept[0] <= kept[-1] < n:
            raise BadInput(f"method {self} picked turns {kept} of a dialogue of {n} turns ({item.example_id})")
        if self.size == "k" and len(kept) != k:
            raise BadInput(f"method {self} kept {len(kept)} turns, not k = {k} ({item.example_id})")
        has_budget = self.size == "k"
        return Selection(
            kept=tuple(kept),
            n_turns=n,
            budget=k if has_budget else None,
            rule=chosen if has_budget else None,
            rendering=form,
            context=render(kept, item.speakers, item.texts, form),
        )

    def select_many(
        self,
        items: Sequence[SelectionInput],
        ratio: float | None,
        *,
        rule: BudgetRule | None = None,
        rendering: Rendering | None = None,
    ) -> list[Selection]:
        """Applies the method to many dialogues; must give the same as one `select` each."""
        return [self.select(item, ratio, rule=rule, rendering=rendering) for item in items]

    def pinned(self) -> Self:
        """The same method with every model named down to its revision: the form that is stored."""
        return self

    @property
    def selector_seed(self) -> int | None:
        """The seed that draws turns, ``None`` for a deterministic method."""
        return None

    def __str__(self) -> str:
        return print_method(self)


@dataclass(frozen=True)
class ScoredSelector(Selector):
    """A selector that gives every turn a score and keeps the k highest; equal scores keep the earlier turn."""

    @abstractmethod
    def scores(self, item: SelectionInput) -> Sequence[float]:
        """One finite float per turn, higher = keep."""

    def pick(self, item: SelectionInput, k: int) -> Iterable[int]:
        """The turns with the k highest scores.

        Raises:
            BadInput: Not one finite score per turn.
        """
        scores = self.scores(item)
        if len(scores) != item.n_turns:
            raise BadInput(f"method {self} gave {len(scores)} scores for {item.n_turns} turns ({item.example_id})")
        bad = next((turn for turn, score in enumerate(scores) if not math.isfinite(score)), None)
        if bad is not None:
            raise BadInput(f"method {self} scored turn {bad} with {scores[bad]} ({item.example_id})")
        return sorted(range(item.n_turns), key=lambda turn: -scores[turn])[:k]
