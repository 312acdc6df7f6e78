"""Two runs, or two methods of a run, on the same examples: difference, interval, exact test, flipped answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tpbench_data.errors import BadInput
from tpbench_data.names import PROBE_LABELS
from tpbench_score.sides import Side, chosen
from tpbench_score.statistics.bootstrap import OWN, Sample, intervals
from tpbench_score.statistics.paired import mcnemar_exact

MEASURES = ("strict", "loose")
_COLUMNS = (
    "input_id",
    "example_id",
    "probe",
    "corpus",
    "protocol",
    "dialogue_id",
    "ratio",
    "sample_seeds",
    "strict",
    "loose",
    "reason",
    "answer",
    "status",
)

Row = Mapping[str, Any]
Pair = tuple[Row, Row]


@dataclass(frozen=True)
class Contrast:
    """One measure of one cell, A against B over the same examples.

    Attributes:
        measure: "strict" or "loose".
        a: Mean of A over sample seeds.
        b: Mean of B over sample seeds.
        difference: A minus B.
        interval: 95 % bootstrap interval of the difference over source dialogues.
        only_a: Examples that only A has right, each counted once however many samples hold it.
        only_b: Examples that only B has right.
        p: Exact McNemar p-value over all examples.
    """

    measure: str
    a: float
    b: float
    difference: float
    interval: tuple[float, float] | None
    only_a: int
    only_b: int
    p: float


@dataclass(frozen=True)
class CellComparison:
    """The paired examples of one probe, corpus, protocol and ratio.

    Attributes:
        probe: The probe.
        corpus: The corpus.
        protocol: The protocol.
        ratio: Nominal ratio; ``None`` where neither side has one.
        examples: Paired examples.
        contrasts: One per measure.
        flips: The pairs whose verdict differs in either measure, in release order.
    """

    probe: str
    corpus: str
    protocol: str
    ratio: float | None
    examples: int
    contrasts: Sequence[Contrast]
    flips: Sequence[Pair]


@dataclass(frozen=True)
class Comparison:
    """The result.

    Attributes:
        a: The first side.
        b: The second side.
        cells: Cell by cell.
        unpaired: Rows of A and of B without a partner, which take no part.
        rows: Which rows of the score table were compared.
    """

    a: Side
    b: Side
    cells: Sequence[CellComparison]
    unpaired: tuple[int, int]
    rows: pa.Table


def compare(scores: pa.Table, a: Side, b: Side) -> Comparison:
    """Compares two sides of a score table.

    Two methods are paired by example, probe, corpus, protocol and ratio (a method without a ratio with every ratio of
    the other); two runs by input.

    Raises:
        BadInput: It is not clear what is compared, or nothing can be paired.
    """
    first, mask_a = chosen(a, b, scores)
    second, mask_b = chosen(b, a, scores)
    by_input = first.method is None and second.method is None
    rows_a, rows_b = (scores.filter(pa.array(mask)).select(_COLUMNS).to_pylist() for mask in (mask_a, mask_b))
    pairs = _paired(rows_a, rows_b, by_input)
    if not pairs:
        raise BadInput(f"{a.name!r} and {b.name!r} answer no example in common")
    used = ({id(x) for x, _ in pairs}, {id(y) for _, y in pairs})
    unpaired = (len(rows_a) - len(used[0]), len(rows_b) - len(used[1]))
    both = scores.filter(pa.array(mask_a | mask_b))
    return Comparison(first, second, list(_cells(pairs)), unpaired, both)


def _paired(rows_a: Sequence[Row], rows_b: Sequence[Row], by_input: bool) -> list[Pair]:
    index: dict[Any, Row] = {}
    for row in rows_b:
        key = _key(row, by_input)
        if key in index:
            raise BadInput(f"the second side answers {row['input_id']!r} twice", remedy="Name a run or a role of it")
        index[key] = row
    pairs = []
    seen: set[Any] = set()
    # Where one side has no ratios, each of its rows stands against every ratio of the other side.
    adaptive_a, adaptive_b = (not by_input and all(row["ratio"] is None for row in rows) for rows in (rows_a, rows_b))
    if adaptive_a and not adaptive_b:
        return [(x, y) for y, x in _paired(rows_b, rows_a, by_input)]
    for row in rows_a:
        key = _key(row, by_input)
        if key in seen:
            raise BadInput(f"the first side answers {row['input_id']!r} twice", remedy="Name a run or a role of it")
        seen.add(key)
        partner = index.get((*key[:-1], None) if adaptive_b else key)
        if partner is not None:
            pairs.append((row, partner))
    return pairs


def _key(row: Row, by_input: bool) -> tuple[Any, ...]:
    if by_input:
        return (row["input_id"],)
    ratio = None if row["ratio"] is None else round(row["ratio"], 9)
    return row["probe"], row["corpus"], row["protocol"], row["example_id"], ratio


def _cells(pairs: Sequence[Pair]) -> Iterator[CellComparison]:
    groups: dict[tuple[str, str, str, float | None], list[Pair]] = {}
    for x, y in pairs:
        ratio = x["ratio"] if x["ratio"] is not None else y["ratio"]
        groups.setdefault((x["probe"], x["corpus"], x["protocol"], ratio), []).append((x, y))
    order = sorted(groups, key=lambda key: (PROBE_LABELS[key[0]], key[1], key[2], -1.0 if key[3] is None else key[3]))
    for key in order:
        group = groups[key]
        flips = [(x, y) for x, y in group if any(x[m] != y[m] for m in MEASURES)]
        yield CellComparison(*key, len(group), [_contrast(group, measure) for measure in MEASURES], flips)


def _contrast(pairs: Sequence[Pair], measure: str) -> Contrast:
    entries = [
        (seed, int(x[measure]), int(y[measure]), x["dialogue_id"])
        for x, y in pairs
        for seed in (x["sample_seeds"] or [-1])
    ]
    seeds = np.array([entry[0] for entry in entries], dtype=np.int64)
    right_a, right_b = (np.array([entry[side] for entry in entries], dtype=np.float64) for side in (1, 2))
    clusters = [entry[3] for entry in entries]
    mean_a, mean_b = (_mean_over_seeds(right, seeds) for right in (right_a, right_b))
    return Contrast(
        measure=measure,
        a=mean_a,
        b=mean_b,
        difference=mean_a - mean_b,
        interval=intervals([Sample(right_a - right_b, seeds, clusters)], OWN)[0],
        only_a=(only_a := sum(x[measure] and not y[measure] for x, y in pairs)),
        only_b=(only_b := sum(y[measure] and not x[measure] for x, y in pairs)),
        p=mcnemar_exact(only_a, only_b),
    )


def _mean_over_seeds(values: Any, seeds: Any) -> float:
    means = [float(values[seeds == seed].mean()) for seed in np.unique(seeds)]
    return sum(means) / len(means)
