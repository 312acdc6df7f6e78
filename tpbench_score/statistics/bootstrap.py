"""Percentile bootstrap over source dialogues.

Source: scoring spec 4.8. A resample draws as many clusters as there are, with replacement; all rows of a drawn
cluster come with it, over all sample seeds, because the seeds share dialogues (trap X25). Every row weighs 1 / (rows
of its seed), so the statistic of the whole sample is the mean of the per-seed means. The statistic needs nothing but
sums per cluster and seed, so no answer is ever parsed again, and the sums are whole numbers, so the result does not
depend on the order of an addition.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

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
class Coded:
    """A text per row: its place in ``names``, which holds no text twice."""

    codes: npt.NDArray[Any]
    names: Sequence[str]


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
    clusters: Sequence[str] | Coded
    counted: npt.NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class _Sums:
    """Whole-number sums per cluster: ``values`` and ``rows`` have shape (clusters, seeds)."""

    values: Floats
    rows: Floats
    scale: float
    seed_sizes: tuple[int, ...]

    def key(self) -> bytes:
        """The same for the same sums."""
        head = repr((self.values.shape, self.scale, self.seed_sizes))
        return hashlib.sha256(b"".join((head.encode(), self.values.tobytes(), self.rows.tobytes()))).digest()


def _placed(clusters: Sequence[str] | Coded, order: str) -> tuple[Integers, int]:
    """The place of each row's cluster in the order of a recipe, and the number of clusters."""
    if not isinstance(clusters, Coded):
        known = {name: code for code, name in enumerate(dict.fromkeys(clusters))}
        clusters = Coded(np.array([known[name] for name in clusters], dtype=np.int64), list(known))
    present, first, inverse = np.unique(clusters.codes, return_index=True, return_inverse=True)
    if order == "sorted":
        names = [clusters.names[code] for code in present.tolist()]
        ordered = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
    else:
        ordered = np.argsort(first)
    place = np.empty(len(present), dtype=np.int64)
    place[ordered] = np.arange(len(present))
    return place[inverse], len(present)


def _sums(sample: Sample, order: str) -> _Sums:
    cluster, clusters = _placed(sample.clusters, order)
    seeds, seed = np.unique(sample.seeds, return_inverse=True)
    cell = cluster * len(seeds) + seed
    size = clusters * len(seeds)
    counted = np.ones(len(cell), dtype=np.bool_) if sample.counted is None else sample.counted
    rows = np.bincount(cell, weights=counted, minlength=size)
    scale = 1.0
    if not np.array_equal(sample.values, np.rint(sample.values)):
        # A fraction (token-F1) becomes a whole number of 2^-k; the largest possible resample stays below 2^53.
        largest = int(rows.max(initial=1)) * len(seeds) * clusters * max(1.0, float(np.abs(sample.values).max()))
        scale = 2.0 ** min(40, 52 - int(largest).bit_length())
    whole = np.rint(sample.values * scale) * counted
    values = np.bincount(cell, weights=whole, minlength=size).astype(np.float64)
    shape = (clusters, len(seeds))
    sizes = np.bincount(seed, weights=counted, minlength=len(seeds))
    return _Sums(
        values.reshape(shape),
        rows.reshape(shape).astype(np.float64),
        scale,
        tuple(int(n) for n in sizes),
    )


Counts = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]

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
    return out.astype(np.uint8) if out.max(initial=0) < 2**8 else out


@functools.lru_cache(maxsize=8)
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
    last = len(statistics) - 1
    read = {min(int(last * q) + step, last) for q in (LOWER, UPPER) for step in (0, 1)}
    # Sorted only as far as the quantiles look.
    ordered = np.partition(statistics, sorted(read))
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


_Key = tuple[Recipe, bytes]

_REMEMBERED = 20_000
_FOUND: dict[_Key, Interval | None] = {}
"""Intervals by what they depend on."""


def intervals(samples: Sequence[Sample], recipe: Recipe = OWN) -> list[Interval | None]:
    """95 % intervals of many cell means, each over its own source dialogues.

    All samples with the same number of clusters share one matrix of draws, so this is one matrix product per number
    of clusters. Tables share many columns, and each is resampled once. ``None`` for a sample without rows.
    """
    keys: list[_Key | None] = []  # None for a sample without rows
    by_size: dict[int, dict[_Key, _Sums]] = {}
    for sample in samples:
        if not len(sample.values):
            keys.append(None)
            continue
        sums = _sums(sample, recipe.order)
        key = (recipe, sums.key())
        keys.append(key)
        if key not in _FOUND:
            by_size.setdefault(len(sums.values), {})[key] = sums
    found = {key: _FOUND[key] for key in keys if key is not None and key in _FOUND}
    for clusters, group in sorted(by_size.items()):
        found |= _resampled_intervals(_drawn(recipe, clusters), group)
    if len(_FOUND) + len(found) > _REMEMBERED:
        _FOUND.clear()
    _FOUND.update(found)
    return [None if key is None else found[key] for key in keys]


def _resampled_intervals(drawn: Counts, group: Mapping[_Key, _Sums]) -> dict[_Key, Interval | None]:
    """The intervals of samples with the same number of clusters."""
    out = {}
    members = list(group.items())
    for start in range(0, len(members), 32):
        part = members[start : start + 32]
        stacked = _resampled(drawn, np.hstack([m for _, sums in part for m in (sums.values, sums.rows)]))
        column = 0
        for key, sums in part:
            width = len(sums.seed_sizes)
            values = stacked[:, column : column + width]
            rows = stacked[:, column + width : column + 2 * width]
            column += 2 * width
            out[key] = _interval_of(sums, values, rows)
    return out


_FOUND_GAPS: dict[tuple[tuple[bytes, ...], ...], list[list[Interval | None]]] = {}
"""The last contrasts and their intervals: two readers' tables show parts of the same ones."""


def gap_intervals(contrasts: Sequence[Sequence[Sample]]) -> list[list[Interval | None]]:
    """The published intervals of the paired gaps to the full context (scoring spec 4.8, second row).

    One generator is shared by all contrasts, in the order given; the samples of one contrast (its two thresholds)
    share the draws. Rows are pooled over seeds and unweighted: give every row of a sample the same seed.
    """
    sums = tuple(tuple(_sums(sample, PUBLISHED.order) for sample in contrast) for contrast in contrasts)
    key = tuple(tuple(one.key() for one in parts) for parts in sums)
    if key not in _FOUND_GAPS:
        _FOUND_GAPS.clear()
        _FOUND_GAPS[key] = _drawn_gaps(sums)
    return [list(found) for found in _FOUND_GAPS[key]]


def _drawn_gaps(sums: Sequence[Sequence[_Sums]]) -> list[list[Interval | None]]:
    stream = PublishedDraws(PUBLISHED.seed)
    out: list[list[Interval | None]] = []
    for parts in sums:
        if not parts or not len(parts[0].values):
            out.append([None] * len(parts))
            continue
        clusters = len(parts[0].values)
        drawn = multiplicities(stream.draw(clusters, PUBLISHED.resamples), clusters)
        out.append([_interval_of(s, _resampled(drawn, s.values), _resampled(drawn, s.rows)) for s in parts])
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
