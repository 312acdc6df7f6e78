"""BM25: lexical relevance of every turn to the question."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tpbench_data.errors import BadInput
from tpbench_data.selectors.base import ScoredSelector, SelectionInput

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORDS = re.compile(rf"[{_CJK}]+|(?:(?![{_CJK}])[^\W_])+")
_IS_CJK = re.compile(rf"[{_CJK}]")


def terms(text: str) -> list[str]:
    """The terms of a text: lower-cased runs of letters and digits; Chinese, Japanese and Korean as bigrams.

    A run of such characters gives its overlapping pairs, a single one gives itself: without spaces a whole turn
    would be one term.
    """
    found: list[str] = []
    for word in _WORDS.findall(unicodedata.normalize("NFKC", text).lower()):
        if _IS_CJK.match(word) and len(word) > 1:
            found += [word[i : i + 2] for i in range(len(word) - 1)]
        else:
            found.append(word)
    return found


@dataclass(frozen=True)
class BM25(ScoredSelector):
    """Keeps the turns whose terms match the question best; the turns of the dialogue are the collection.

    Inverse document frequency is log(1 + (n - f + 0.5) / (f + 0.5)), which is never negative. Turns that share
    no term with the question score 0, and the earlier ones fill the budget.

    Attributes:
        k1: How soon repetition saturates, at least 0.
        b: Weight of the turn length, 0 to 1.
    """

    name: ClassVar[str] = "bm25"
    summary: ClassVar[str] = "turns whose words match the question best"
    paper: ClassVar[str] = "Robertson et al., Okapi at TREC-3, 1994"

    k1: float = 1.2
    b: float = 0.75

    def __post_init__(self) -> None:
        if self.k1 < 0 or not 0 <= self.b <= 1:
            raise BadInput(f"bm25 needs k1 >= 0 and 0 <= b <= 1, not {self.k1} and {self.b}")

    def scores(self, item: SelectionInput) -> Sequence[float]:
        """The BM25 score of every turn, 0 or above."""
        turns = [Counter(terms(text)) for text in item.texts]
        lengths = [sum(turn.values()) for turn in turns]
        mean_length = sum(lengths) / len(lengths) or 1.0
        query = sorted(set(terms(item.question)))
        frequency = {term: sum(term in turn for turn in turns) for term in query}
        scores = []
        for turn, length in zip(turns, lengths, strict=True):
            damping = self.k1 * (1 - self.b + self.b * length / mean_length)
            score = 0.0
            for term in query:
                count = turn[term]
                if count:
                    rarity = math.log(1 + (len(turns) - frequency[term] + 0.5) / (frequency[term] + 0.5))
                    score += rarity * count * (self.k1 + 1) / (count + damping)
            scores.append(score)
        return scores
