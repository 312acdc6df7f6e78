"""Dense top-k: the turns whose vectors are nearest to the question's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tpbench_data.selectors.base import ScoredSelector, SelectionInput
from tpbench_generate.selectors.encoder import EncoderSelector


@dataclass(frozen=True)
class DenseTopK(EncoderSelector, ScoredSelector):
    """Keeps the turns that a bi-encoder finds most similar to the question.

    Attributes:
        model: The encoder: `minilm-l6-v2`, or `hf:` with a hub id or folder of a sentence-transformers model.
        max_tokens: Tokens of a turn that are read; none = the encoder's limit.
    """

    name: ClassVar[str] = "dense_topk"
    summary: ClassVar[str] = "turns whose embeddings are nearest to the question's"
    paper: ClassVar[str] = "Karpukhin et al., Dense Passage Retrieval, EMNLP 2020"

    def scores(self, item: SelectionInput) -> Sequence[float]:
        """Similarity of every turn to the question, -1 to 1."""
        return self.relevance(item)
