"""Intervals of the agreement between a judge and people, resampled over questions (scoring spec 4.8, third row)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from tpbench_data.errors import BadInput
from tpbench_score.agreement import RatedPair
from tpbench_score.statistics.bootstrap import Interval, multiplicities, percentile_interval
from tpbench_score.statistics.draws import PUBLISHED_SEED, PublishedDraws

RESAMPLES = 10_000

Floats = npt.NDArray[np.float64]


def agreement_intervals(
    pairs: Iterable[RatedPair], judgments: Mapping[str, bool | None], questions: Mapping[str, str]
) -> dict[str, Interval | None]:
    """95 % percentile intervals over resampled questions; the three methods share one matrix of draws.

    Only pairs with a majority count; an undecided judge is wrong. A resample without positives or without negatives
    has no balanced accuracy and is left out of that interval.

    Args:
        pairs: The rated pairs; questions are drawn in the order of their first appearance.
        judgments: Pair id -> equivalent, not, or undecided.
        questions: Pair id -> id of the question that it answers.

    Returns:
        ``<method>.accuracy`` and ``<method>.balanced_accuracy`` for ``judge``, ``baseline`` (token F1 of at least one
        half) and ``exact``, and ``gain`` (accuracy of the judge minus that of the baseline). ``None`` without pairs.

    Raises:
        BadInput: A pair has no judgment or no question.
    """
    resolved = [pair for pair in pairs if pair.majority is not None]
    for pair in resolved:
        for known, what in ((judgments, "judgment"), (questions, "question")):
            if pair.id not in known:
                raise BadInput(f"pair {pair.id!r} has no {what}", field="id")
    verdicts: dict[str, list[bool | None]] = {
        "judge": [judgments[pair.id] for pair in resolved],
        "baseline": [pair.baseline for pair in resolved],
        "exact": [pair.exact_match for pair in resolved],
    }
    names = [f"{method}.{number}" for method in verdicts for number in ("accuracy", "balanced_accuracy")]
    if not resolved:
        return dict.fromkeys([*names, "gain"])
    order = {name: place for place, name in enumerate(dict.fromkeys(questions[pair.id] for pair in resolved))}
    cluster = np.array([order[questions[pair.id]] for pair in resolved])
    label = np.array([pair.majority is True for pair in resolved])
    drawn = multiplicities(PublishedDraws(PUBLISHED_SEED).draw(len(order), RESAMPLES), len(order)).astype(np.float64)

    def resampled(counted: npt.NDArray[np.bool_]) -> Floats:
        sums: Floats = drawn @ np.bincount(cluster, weights=counted, minlength=len(order))
        return sums

    positives, negatives = resampled(label), resampled(~label)
    out: dict[str, Interval | None] = {}
    accuracies: dict[str, Floats] = {}
    for method, verdict in verdicts.items():
        right = np.array([said is truth for said, truth in zip(verdict, label.tolist(), strict=True)])
        found, turned_down = resampled(right & label), resampled(right & ~label)
        accuracies[method] = (found + turned_down) / (positives + negatives)
        out[f"{method}.accuracy"] = percentile_interval(accuracies[method])
        both = (positives > 0) & (negatives > 0)
        balanced = (found[both] / positives[both] + turned_down[both] / negatives[both]) / 2
        out[f"{method}.balanced_accuracy"] = percentile_interval(balanced) if both.any() else None
    out["gain"] = percentile_interval(accuracies["judge"] - accuracies["baseline"])
    return out
