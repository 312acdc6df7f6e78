"""LLMLingua-2 as a turn scorer: the share of a turn's words that the token classifier would keep."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

from tpbench_data.budget import BudgetRule
from tpbench_data.errors import BadInput
from tpbench_data.rendering import Rendering
from tpbench_data.selectors.base import ScoredSelector, SelectionInput
from tpbench_generate.selectors import models, runtime
from tpbench_generate.selectors.labeller import Labeller, TokenCounts, open_labeller
from tpbench_generate.selectors.word_labels import labels_by_turn, mean_labels, parse_labels

PART_TOKENS = 480
"""Short of the library's 510, beyond which it cuts texts itself and may lose tokens where it cuts."""

_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True)
class LLMLingua2(ScoredSelector):
    """Scores a turn by the mean of its words' binary labels.

    ``per_turn`` (published) labels every turn in a call of its own. The library's threshold is a percentile within
    the call, so about half of the words of every turn are kept and ties decide; a Chinese turn would be one word, so
    it is refused. ``per_dialogue`` labels the whole dialogue in one call (in parts of 480 tokens at most, cut between
    turns where possible, each with its own threshold) and finds the turn of every word by character offsets.
    Source: construction spec 5, traps 18 and 19.

    Attributes:
        model: `llmlingua2-published`, or `hf:` with a hub id or folder of such a model.
        mode: ``per_turn`` or ``per_dialogue``.
        rate: Share of tokens that the library keeps in a call, in (0, 1).
        token_counts: Weight of a word in the threshold: its tokens in ``cl100k_base`` (published; the table is
            downloaded once), or one for every ``words``, which needs no table.
    """

    name: ClassVar[str] = "llmlingua2"
    summary: ClassVar[str] = "turns with the largest share of words that LLMLingua-2 would keep"
    paper: ClassVar[str] = "Pan et al., LLMLingua-2, Findings of ACL 2024"
    needs_model: ClassVar[bool] = True
    published_budget: ClassVar[BudgetRule] = "floor"
    published_rendering: ClassVar[Rendering] = "plain"

    model: str = models.LLMLINGUA2
    mode: Literal["per_turn", "per_dialogue"] = "per_turn"
    rate: float = 0.5
    token_counts: TokenCounts = "cl100k_base"

    def __post_init__(self) -> None:
        if not 0 < self.rate < 1:
            raise BadInput(f"rate of {self.name} must be between 0 and 1, not {self.rate}")

    def pinned(self) -> Self:
        """The method with the revision of its model."""
        return replace(self, model=models.pinned_name(self.model))

    def scores(self, item: SelectionInput) -> Sequence[float]:
        """The share of each turn's words labelled 1, 0 to 1; 0 for a turn without words.

        Raises:
            BadInput: Labels that cannot be read or aligned (with the turn), or a Chinese turn in mode per_turn.
        """
        labeller = open_labeller(self.model, self.token_counts, runtime.device())
        if self.mode == "per_turn":
            return [self._turn_score(labeller, item, turn) for turn in range(item.n_turns)]
        reading = labeller.read(item.texts)
        if not reading.has_words:
            return [0.0] * item.n_turns
        words = parse_labels(labeller.labelled(reading.parts(PART_TOKENS), self.rate), item.example_id)
        labels = labels_by_turn(words, reading.tokens, item.n_turns, item.example_id)
        return [mean_labels(turn) for turn in labels]

    def _turn_score(self, labeller: Labeller, item: SelectionInput, turn: int) -> float:
        text = item.texts[turn].strip()
        if _CJK.search(text):
            raise BadInput(
                f"turn {turn} of {item.example_id} has no spaces between words, so it would be one word",
                remedy="Use llmlingua2(mode=per_dialogue)",
            )
        if not labeller.read([text]).has_words:
            return 0.0
        words = parse_labels(labeller.labelled((text,), self.rate), f"turn {turn} of {item.example_id}")
        return mean_labels([word.label for word in words])
