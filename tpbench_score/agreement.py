"""How far a judge agrees with the people of the Answer Equivalence data (scoring spec 4.9).

The published F1 is not released; the usual one of reading comprehension gives its stored values.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from tpbench_data.errors import BadInput
from tpbench_score.statistics.agreement import Confusion

BASELINE_F1 = 0.5
"""A token F1 from which the baseline calls a pair equivalent."""

_ARTICLES = frozenset({"a", "an", "the"})
_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class RatedPair:
    """A pair of reference and candidate with its human ratings.

    Attributes:
        id: Joins the judgment.
        n_ratings: Number of binary ratings, at least 1.
        n_positive: How many of them say "equivalent".
        exact_match: Reference and candidate are equal after `answer_words`.
        token_f1: See `token_f1`, 0 to 1.
    """

    id: str
    n_ratings: int
    n_positive: int
    exact_match: bool
    token_f1: float

    @property
    def majority(self) -> bool | None:
        """The label of most ratings; ``None`` on a tie."""
        return None if 2 * self.n_positive == self.n_ratings else 2 * self.n_positive > self.n_ratings

    @property
    def disagreement(self) -> bool:
        """Whether the ratings differ."""
        return 0 < self.n_positive < self.n_ratings

    @property
    def baseline(self) -> bool:
        """What the token F1 says."""
        return self.token_f1 >= BASELINE_F1


def answer_words(text: str) -> list[str]:
    """Words of a short answer: lower-cased, ASCII punctuation deleted, articles dropped, in order."""
    return [word for word in text.lower().translate(_PUNCTUATION).split() if word not in _ARTICLES]


def token_f1(reference: str, candidate: str) -> float:
    """F1 over the two bags of words; 0 where they share none."""
    expected, given = Counter(answer_words(reference)), Counter(answer_words(candidate))
    words = expected.total() + given.total()
    return 2 * (expected & given).total() / words if words else 0.0


SUBSETS: Mapping[str, Callable[[RatedPair], bool]] = {
    "all": lambda pair: True,
    "not_exact": lambda pair: not pair.exact_match,
    "low_f1": lambda pair: not pair.baseline,
    "disagreement": lambda pair: pair.disagreement,
    "unanimous": lambda pair: not pair.disagreement,
}
"""The subsets of resolved pairs for which agreement is reported."""


@dataclass(frozen=True)
class Agreement:
    """Agreement of a judge with people.

    Attributes:
        ties: Pairs without a majority, left out of everything else but ``ratings``.
        judge: Per subset, the judge against the majority; an undecided judge is wrong.
        baseline: Per subset, the token F1 against the majority.
        exact: Per subset, the exact match against the majority.
        ratings: Share of single ratings, ties included, that the judge agrees with; ``None`` without ratings.
    """

    ties: int
    judge: Mapping[str, Confusion]
    baseline: Mapping[str, Confusion]
    exact: Mapping[str, Confusion]
    ratings: float | None

    @property
    def gain(self) -> float | None:
        """Accuracy of the judge minus that of the baseline, over all resolved pairs."""
        judge, baseline = self.judge["all"].accuracy, self.baseline["all"].accuracy
        return None if judge is None or baseline is None else judge - baseline


def agreement(pairs: Iterable[RatedPair], judgments: Mapping[str, bool | None]) -> Agreement:
    """Compares judgments with ratings.

    Args:
        pairs: The rated pairs.
        judgments: Pair id -> equivalent, not, or undecided (``None``).

    Raises:
        BadInput: Pairs and judgments do not match one to one.
    """
    pairs = list(pairs)
    _check_one_to_one([pair.id for pair in pairs], judgments)
    resolved = [(pair, pair.majority) for pair in pairs if pair.majority is not None]

    def per_subset(verdict: Callable[[RatedPair], bool | None]) -> dict[str, Confusion]:
        return {
            name: Confusion.count((label, verdict(pair)) for pair, label in resolved if belongs(pair))
            for name, belongs in SUBSETS.items()
        }

    agreed = sum(_agreeing(pair, judgments[pair.id]) for pair in pairs)
    ratings = sum(pair.n_ratings for pair in pairs)
    return Agreement(
        ties=len(pairs) - len(resolved),
        judge=per_subset(lambda pair: judgments[pair.id]),
        baseline=per_subset(lambda pair: pair.baseline),
        exact=per_subset(lambda pair: pair.exact_match),
        ratings=agreed / ratings if ratings else None,
    )


def _agreeing(pair: RatedPair, judged: bool | None) -> int:
    if judged is None:
        return 0
    return pair.n_positive if judged else pair.n_ratings - pair.n_positive


def _check_one_to_one(ids: list[str], judgments: Mapping[str, bool | None]) -> None:
    problems = (
        ("appears twice among the rated pairs", [name for name, times in Counter(ids).items() if times > 1]),
        ("has no judgment", [name for name in ids if name not in judgments]),
        ("is judged, but not among the rated pairs", sorted(judgments.keys() - set(ids))),
    )
    for problem, names in problems:
        if names:
            more = f" (so do {len(names) - 1} more)" if len(names) > 1 else ""
            raise BadInput(f"pair {names[0]!r} {problem}{more}", field="id")
