"""Embedding MMR: turns near the dialogue's mean, but not near one another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tpbench_data.budget import BudgetRule
from tpbench_data.errors import BadInput
from tpbench_data.rendering import Rendering
from tpbench_data.selectors.base import SelectionInput
from tpbench_generate.selectors.encoder import EncoderSelector, dot


@dataclass(frozen=True)
class EmbeddingMMR(EncoderSelector):
    """Picks turns one by one by maximal marginal relevance; the query is the mean vector of the turns, no question.

    A pick maximises trade_off * cosine(turn, query) - (1 - trade_off) * (largest cosine to a turn already picked;
    0 at first); ties go to the earlier turn. Source: construction spec 5, "Embedding MMR".

    Attributes:
        model: The encoder: `minilm-l6-v2`, or `hf:` with a hub id or folder of a sentence-transformers model.
        max_tokens: Tokens of a turn that are read.
        trade_off: Weight of relevance against novelty, 0 to 1.
    """

    name: ClassVar[str] = "embedding_mmr"
    summary: ClassVar[str] = "turns near the dialogue's mean embedding but not near one another"
    paper: ClassVar[str] = "Carbonell and Goldstein, Maximal Marginal Relevance, SIGIR 1998"
    published_budget: ClassVar[BudgetRule] = "floor"
    published_rendering: ClassVar[Rendering] = "plain"

    max_tokens: int | None = 128
    trade_off: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.trade_off <= 1:
            raise BadInput(f"trade_off of {self.name} must be between 0 and 1, not {self.trade_off}")

    def pick(self, item: SelectionInput, k: int) -> Iterable[int]:
        """k turn ids in the order in which they are picked."""
        turns = self.vectors(item.texts, "text")
        mean = turns.mean(axis=0)
        relevance = dot(turns, mean / (float(np.sqrt(np.sum(mean * mean))) + 1e-9))
        nearest = np.zeros(len(turns))
        left = np.ones(len(turns), dtype=bool)
        picked: list[int] = []
        while len(picked) < k:
            gain = np.where(left, self.trade_off * relevance - (1 - self.trade_off) * nearest, -np.inf)
            turn = int(np.argmax(gain))  # the first of equal ones
            similarity = dot(turns, turns[turn])
            nearest = np.maximum(nearest, similarity) if picked else similarity
            left[turn] = False
            picked.append(turn)
        return picked
