"""H2O-inspired proxy: the turns that a language model attends to most while it reads the dialogue."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import ClassVar, Literal, Self

import numpy as np

from tpbench_data.budget import BudgetRule
from tpbench_data.errors import BadInput
from tpbench_data.rendering import Rendering
from tpbench_data.selectors.base import ScoredSelector, SelectionInput
from tpbench_generate.readers.smollm2 import NAME as SMOLLM2
from tpbench_generate.selectors import models, runtime
from tpbench_generate.selectors.attention import FeatureModel, Mass, Token, open_feature_model


@dataclass(frozen=True)
class H2OProxy(ScoredSelector):
    """Scores a turn by the attention that its tokens receive, averaged over layers and heads and summed over queries.

    The turns are joined by single spaces and read without the question. Because attention is causal and summed
    over queries, early turns are favoured. A turn without a token that was read (empty, or cut off) scores 0.
    Source: construction spec 5; deviations: tokens belong to turns by character offsets, nothing falls back to
    equal scores, and the min-max scaling, which changes no order, is left out.

    Attributes:
        model: The causal language model: `smollm2-135m`, or `hf:` with a hub id or folder.
        max_tokens: Tokens that are read at once, at most what the model has positions for.
        long: What is done with a longer dialogue. ``truncate`` (published): its end is not read. ``windows``: it is
            read in consecutive parts of max_tokens tokens, each on its own. ``refuse``: an error.
    """

    name: ClassVar[str] = "h2o_proxy"
    summary: ClassVar[str] = "turns that a language model attends to most"
    paper: ClassVar[str] = "after H2O: Zhang et al., Heavy-Hitter Oracle, NeurIPS 2023"
    needs_model: ClassVar[bool] = True
    published_budget: ClassVar[BudgetRule] = "floor"
    published_rendering: ClassVar[Rendering] = "plain"

    model: str = SMOLLM2
    max_tokens: int = 1024
    long: Literal["truncate", "windows", "refuse"] = "truncate"

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise BadInput(f"max_tokens of {self.name} must be at least 1, not {self.max_tokens}")

    def pinned(self) -> Self:
        """The method with the revision of its feature model."""
        return replace(self, model=models.pinned_name(self.model))

    def scores(self, item: SelectionInput) -> Sequence[float]:
        """Mean attention of every turn's tokens, 0 or above; the mean over all tokens is 1."""
        model = open_feature_model(self.model, runtime.device())
        if model.positions and self.max_tokens > model.positions:
            raise BadInput(
                f"max_tokens = {self.max_tokens} is more than the {model.positions} positions of {self.model}",
                field="max_tokens",
            )
        text = " ".join(item.texts)
        tokens = model.tokens(text)
        if self.long == "refuse" and len(tokens) > self.max_tokens:
            raise BadInput(
                f"dialogue of {item.example_id} has {len(tokens)} tokens, more than max_tokens = {self.max_tokens}",
                remedy="Use long=truncate or long=windows",
            )
        sums, counts = np.zeros(item.n_turns), np.zeros(item.n_turns)
        owners = turn_of_token(tokens, item.texts)
        for token_mass, owner in zip(self._mass(model, tokens), owners, strict=False):  # cut tokens have no mass
            if owner is not None:
                sums[owner] += token_mass
                counts[owner] += 1
        return [float(total / count) if count else 0.0 for total, count in zip(sums, counts, strict=True)]

    def _mass(self, model: FeatureModel, tokens: Sequence[Token]) -> Mass:
        parts = [tuple(tokens[start : start + self.max_tokens]) for start in range(0, len(tokens), self.max_tokens)]
        if self.long == "truncate":
            parts = parts[:1]
        return np.concatenate([model.mass(part) for part in parts]) if parts else np.zeros(0)


def turn_of_token(tokens: Sequence[Token], texts: Sequence[str]) -> list[int | None]:
    """For every token the turn that it belongs to, None for special tokens and blanks.

    A token belongs to the turn of its last character, so that a blank in front of a word goes with the word.

    Args:
        tokens: The tokens of the turns joined by single spaces.
        texts: The turns.
    """
    joined = " ".join(texts)
    starts = [0, *accumulate(len(text) + 1 for text in texts)][:-1]
    return [
        bisect_right(starts, token.end - 1) - 1 if joined[token.first : token.end].strip() else None for token in tokens
    ]
