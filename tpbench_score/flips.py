"""Two scorers on the same outputs: how many verdicts change, and every answer whose verdict does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tpbench_data.names import PROBE_LABELS
from tpbench_data.release.reader import Release
from tpbench_score.frozen_inputs import FrozenInputs
from tpbench_score.outputs import load_outputs
from tpbench_score.scoring import score_runs

MEASURES = ("strict", "loose")

_ONCE = ("run_id", "reader", "role", "input_id", "probe", "corpus", "method", "ratio", "status")
_TWICE = ("strict", "loose", "abstained", "reason", "answer", "parse_level")
_REFERENCE = ("reference_goal", "reference_value", "value_alternatives")

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Change:
    """The verdicts of two scorers on the answers of one probe and corpus.

    Attributes:
        probe: The probe.
        corpus: The corpus.
        answers: Planned inputs, missing ones included.
        right: Measure -> right answers under the first and under the second scorer.
        gained: Measure -> answers that only the second scorer calls right.
        lost: Measure -> answers that only the first scorer calls right.
    """

    probe: str
    corpus: str
    answers: int
    right: Mapping[str, tuple[int, int]]
    gained: Mapping[str, int]
    lost: Mapping[str, int]


@dataclass(frozen=True)
class Flips:
    """What changes from one scorer to another.

    Attributes:
        scorers: The first and the second scorer.
        changes: Counts, probe by probe and corpus by corpus.
        rows: One row per answer that flips in either measure, runs and inputs in order: ``_ONCE`` columns, the
            references and text, and each of ``_TWICE`` for the first scorer and, as ``..._then``, for the second.
    """

    scorers: tuple[str, str]
    changes: Sequence[Change]
    rows: Sequence[Mapping[str, Any]]


def find_flips(
    release: Release,
    outputs: Sequence[str | Path] | None = None,
    *,
    scorers: tuple[str, str] = ("paper-1", "tpbench-1"),
    allow_missing: bool = False,
) -> Flips:
    """Scores the same outputs twice and compares.

    Args:
        release: The release.
        outputs: Run folders, or ``None`` for the runs stored in the release.
        scorers: Names of two scorers.
        allow_missing: As in `tpbench_score.score`.

    Raises:
        BadInput: As `tpbench_score.score`.
    """
    inputs = FrozenInputs(release)
    runs = load_outputs(inputs, outputs, allow_missing=allow_missing)
    first, second = (score_runs(inputs, runs, scorer, with_retention=False) for scorer in scorers)
    places = np.flatnonzero(flipped(first, second))
    texts = pa.chunked_array([chunk for run in runs for chunk in run.text.chunks], pa.string())
    return Flips(scorers, changes(first, second), _rows(inputs, first, second, texts, places))


def flipped(first: pa.Table, second: pa.Table) -> Mask:
    """Which rows of two score tables over the same outputs differ in strict or loose."""
    differs = np.zeros(first.num_rows, dtype=np.bool_)
    for measure in MEASURES:
        differs |= _right(first, measure) != _right(second, measure)
    return differs


def changes(first: pa.Table, second: pa.Table) -> list[Change]:
    """Counts per probe and corpus of two score tables over the same outputs."""
    cells = list(zip(first["probe"].to_pylist(), first["corpus"].to_pylist(), strict=True))
    out = []
    for cell in sorted(set(cells), key=lambda cell: (PROBE_LABELS.get(cell[0], cell[0]), cell[1])):
        here = np.fromiter((found == cell for found in cells), dtype=np.bool_, count=len(cells))
        pairs = {m: (_right(first, m)[here], _right(second, m)[here]) for m in MEASURES}
        out.append(
            Change(
                *cell,
                answers=int(here.sum()),
                right={m: (int(a.sum()), int(b.sum())) for m, (a, b) in pairs.items()},
                gained={m: int((b & ~a).sum()) for m, (a, b) in pairs.items()},
                lost={m: int((a & ~b).sum()) for m, (a, b) in pairs.items()},
            )
        )
    return out


def _right(scores: pa.Table, measure: str) -> Mask:
    return np.asarray(pc.fill_null(scores[measure], False)).astype(np.bool_)


def _rows(
    inputs: FrozenInputs, first: pa.Table, second: pa.Table, texts: pa.ChunkedArray, places: npt.NDArray[np.int64]
) -> list[dict[str, Any]]:
    chosen = pa.array(places)
    before, after = first.take(chosen), second.take(chosen)
    positions = inputs.positions(before["input_id"])
    columns = {name: before[name] for name in (*_ONCE, *_TWICE)}
    columns |= {f"{name}_then": after[name] for name in _TWICE}
    columns |= {name: inputs.table[name].take(pa.array(positions)) for name in _REFERENCE}
    return list(pa.table(columns | {"text": texts.take(chosen)}).to_pylist())
