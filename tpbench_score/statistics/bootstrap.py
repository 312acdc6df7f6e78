"""Percentile bootstrap over source dialogues.

Source: scoring spec 4.8. A resample draws as many clusters as there are, with replacement; all rows of a drawn
cluster come with it, over all sample seeds, because the seeds share dialogues (trap X25). Every row weighs 1 / (rows
of its seed), so the statistic of the whole sample is the mean of the per-seed means. The statistic needs nothing but
sums per cluster and seed, so no answer is ever parsed again, and the sums are whole numbers, so the result does not
depend on the order of an addition.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tpbench_score.statistics.draws import (
    CORPUS_SEED_PREFIX,
    OWN_ALGORITHM,
    OWN_SEED,
    PUBLISHED_SEED,
    PublishedDraws,
    corpus_draws,
    own_draws,
)

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Interval = tuple[float, float]

LOWER, UPPER = 0.025, 0.975
"""The two quantiles of every interval."""

CORPUS_RESAMPLES = 10_000
CORPUS_SIGNATURE = f"paper-mt19937({CORPUS_RESAMPLES},{CORPUS_SEED_PREFIX})"
"""The settings of ``corpus_interval`` for a signature."""


@dataclass(frozen=True)
class Recipe:
    """How resamples are drawn.

    Attributes:
        name: short form for the signature.
        resamples: number of resamples.
        seed: seed of the index stream.
        order: clusters in order of first appearance (the published recipe), or sorted by id.
    """

    name: str
    resamples: int
    seed: int
    order: Literal["appearance", "sorted"]

    @property
    def signature(self) -> str:
        """The settings that fix the interval, without ``|`` and ``:`` for use inside a signature."""
        return f"{self.name}({self.resamples},{self.seed})"

    def draw(self, clusters: int) -> Integers:
        """Fresh indices, shape (resamples, clusters)."""
        if self.order == "sorted":
            return own_draws(clusters, self.resamples, self.seed)
        return PublishedDraws(self.seed).draw(clusters, self.resamples)


OWN = Recipe(OWN_ALGORITHM, 10_000, OWN_SEED, "sorted")
"""Everything that the paper gives no interval for."""

PUBLISHED = Recipe("paper-pcg64", 5_000, PUBLISHED_SEED, "appearance")
"""Tables 4 and 8, and the gaps to the full context of ``joint_recovery``."""


@dataclass(frozen=True)
class Sample:
    """The rows of one statistic, in the release's input order.

    Attributes:
        values: one number per row (0 or 1, a token-F1, or a paired difference).
        seeds: the sample seed of each row; rows that are pooled share one number.
        clusters: the source dialogue of each row.
        counted: which rows count, for a share among some of them ("given parsed"); ``None`` for all. The others
            stay in the sample as dialogues that can be drawn.
    """

    values: Floats
    seeds: Integers
    clusters: Sequence[str]
    counted: npt.NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class _Sums:
    """Whole-number sums per cluster: ``values`` and ``rows`` have shape (clusters, seeds)."""

    values: Floats
    rows: Floats
    scale: float
    seed_sizes: tuple[int, ...]


def _cluster_order(clusters: Sequence[str], order: str) -> list[str]:
    return sorted(set(clusters)) if order == "sorted" else list(dict.fromkeys(clusters))


def _sums(sample: Sample, order: str) -> _Sums:
    place = {name: i for i, name in enumerate(_cluster_order(sample.clusters, order))}
    cluster = np.fromiter((place[name] for name in sample.clusters), dtype=np.int64, count=len(sample.values))
    seeds, seed = np.unique(sample.seeds, return_inverse=True)
    cell = cluster * len(seeds) + seed
    size = len(place) * len(seeds)
    counted = np.ones(len(cell), dtype=np.bool_) if sample.counted is None else sample.counted
    rows = np.bincount(cell, weights=counted, minlength=size)
    scale = 1.0
    if not np.array_equal(sample.values, np.rint(sample.values)):
        # A fraction (token-F1) becomes a whole number of 2^-k; the largest possible resample stays below 2^53.
        largest = int(rows.max(initial=1)) * len(seeds) * len(place) * max(1.0, float(np.abs(sample.values).max()))
        scale = 2.0 ** min(40, 52 - int(largest).bit_length())
    whole = np.rint(sample.values * scale) * counted
    values = np.bincount(cell, weights=whole, minlength=size).astype(np.float64)
    shape = (len(place), len(seeds))
    sizes = np.bincount(seed, weights=counted, minlength=len(seeds))
    return _Sums(
        values.reshape(shape),
        rows.reshape(shape).astype(np.float64),
        scale,
        tuple(int(n) for n in sizes),
    )


Counts = npt.NDArray[np.uint16]

_EXACT_IN_SINGLE = 2.0**24

_BLOCK = 2_000
"""Resamples that are held as floating-point numbers at a time."""


def multiplicities(indices: Integers, clusters: int) -> Counts:
    """How often each resample holds each cluster, shape (resamples, clusters)."""
    out = np.empty((len(indices), clusters), dtype=np.uint16)
    for start in range(0, len(indices), _BLOCK):
        part = indices[start : start + _BLOCK]
        flat = part + (np.arange(len(part)) * clusters)[:, None]
        counts = np.bincount(flat.ravel(), minlength=len(part) * clusters)
        out[start : start + _BLOCK] = counts.reshape(len(part), clusters)
    return out


@functools.lru_cache(maxsize=24)
def _drawn(recipe: Recipe, clusters: int) -> Counts:
    return multiplicities(recipe.draw(clusters), clusters)


def _resampled(drawn: Counts, sums: Floats) -> Floats:
    """Sums over the drawn clusters: (resamples, clusters) times (clusters, columns).

    Sums of products of whole numbers below 2^53 (in single precision 2^24) are exact in any order, whatever library
    multiplies. Methods that are asked the same questions have equal columns, which are computed once.
    """
    distinct, places = np.unique(sums, axis=1, return_inverse=True)
    # A resample holds as many clusters as there are, each at most once per draw.
    largest = float(np.abs(distinct).max(initial=0.0)) * drawn.shape[1]
    kind = np.float32 if largest < _EXACT_IN_SINGLE else np.float64
    factor = distinct.astype(kind)
    out = np.empty((len(drawn), distinct.shape[1]), dtype=kind)
    for start in range(0, len(drawn), _BLOCK):
        np.matmul(drawn[start : start + _BLOCK].astype(kind), factor, out=out[start : start + _BLOCK])
    return out[:, places.ravel()].astype(np.float64)


def quantile(sorted_values: Floats, q: float) -> float:
    """The q-quantile of sorted values at position (n - 1) * q, linear between neighbours."""
    position = (len(sorted_values) - 1) * q
    below = int(position)
    above = min(below + 1, len(sorted_values) - 1)
    low, high = float(sorted_values[below]), float(sorted_values[above])
    return low + (high - low) * (position - below)


def percentile_interval(statistics: Floats) -> Interval:
    """The 95 % percentile interval of resampled statistics, shape (resamples,)."""
    ordered = np.sort(statistics)
    return quantile(ordered, LOWER), quantile(ordered, UPPER)


def _interval_of(sums: _Sums, values: Floats, rows: Floats) -> Interval | None:
    """``values`` and ``rows``: resampled sums, shape (resamples, seeds). A resample without any row has no mean."""
    numerator = np.zeros(len(values))
    denominator = np.zeros(len(values))
    for column, size in enumerate(sums.seed_sizes):
        if size:
            numerator += values[:, column] / size
            denominator += rows[:, column] / size
    some = denominator > 0
    return percentile_interval(numerator[some] / sums.scale / denominator[some]) if some.any() else None


def intervals(samples: Sequence[Sample], recipe: Recipe = OWN) -> list[Interval | None]:
    """95 % intervals of many cell means, each over its own source dialogues.

    All samples with the same number of clusters share one matrix of draws, so this is one matrix product per number
    of clusters. ``None`` for a sample without rows.
    """
    out: list[Interval | None] = [None] * len(samples)
    by_size: dict[int, list[tuple[int, _Sums]]] = {}
    for index, sample in enumerate(samples):
        if len(sample.values):
            sums = _sums(sample, recipe.order)
            by_size.setdefault(len(sums.values), []).append((index, sums))
    for clusters, group in sorted(by_size.items()):
        drawn = _drawn(recipe, clusters)
        for start in range(0, len(group), 32):
            part = group[start : start + 32]
            stacked = _resampled(drawn, np.hstack([m for _, sums in part for m in (sums.values, sums.rows)]))
            column = 0
            for index, sums in part:
                width = len(sums.seed_sizes)
                values = stacked[:, column : column + width]
                rows = stacked[:, column + width : column + 2 * width]
                column += 2 * width
                out[index] = _interval_of(sums, values, rows)
    return out


def gap_intervals(contrasts: Sequence[Sequence[Sample]]) -> list[list[Interval | None]]:
    """The published intervals of the paired gaps to the full context (scoring spec 4.8, second row).

    One generator is shared by all contrasts, in the order given; the samples of one contrast (its two thresholds)
    share the draws. Rows are pooled over seeds and unweighted: give every row of a sample the same seed.
    """
    stream = PublishedDraws(PUBLISHED.seed)
    out: list[list[Interval | None]] = []
    for contrast in contrasts:
        sums = [_sums(sample, PUBLISHED.order) for sample in contrast]
        if not sums or not len(sums[0].values):
            out.append([None] * len(contrast))
            continue
        clusters = len(sums[0].values)
        drawn = multiplicities(stream.draw(clusters, PUBLISHED.resamples), clusters)
        out.append([_interval_of(s, _resampled(drawn, s.values), _resampled(drawn, s.rows)) for s in sums])
    return out


def corpus_interval(label: str, totals: Sequence[int], per_dialogue: int = 1) -> Interval | None:
    """The published interval of Tables 19 and 20: a mean over dialogues, seeded per label.

    Args:
        label: "risawoz_p2|p3_correct|recency" and the like; see ``corpus_draws``.
        totals: correct answers of each dialogue, dialogues sorted by id as text.
        per_dialogue: answers of each dialogue: 5 where random selection has five selector seeds, else 1.
    """
    if not totals:
        return None
    whole = np.asarray(totals, dtype=np.int64)
    sums = whole[corpus_draws(label, len(whole), CORPUS_RESAMPLES)].sum(axis=1)
    return percentile_interval(sums / (per_dialogue * len(whole)))
