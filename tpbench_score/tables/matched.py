"""Table 8: the first-user-plus-recent selector in its own run, with paired differences by the published recipe.

Source: scoring spec 4.8, first row, and the prose of the paper's section 6.2.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tpbench_data.names import corpus_label, method_label
from tpbench_score.statistics.bootstrap import PUBLISHED, Sample, intervals
from tpbench_score.statistics.seeds import seed_mean
from tpbench_score.tables.grid import STRICT, Plan, input_notes, method_rows, seed_label
from tpbench_score.tables.main import corpora_of, facts, protocols_and_ratios
from tpbench_score.tables.model import Cell, Column, Number, Row, SeedValue, TableResult
from tpbench_score.tables.scores import Scores
from tpbench_score.tables.study import Study

SUBJECT = "first_user_recent"
METHODS = ("full_context", "recency", "first_turns", "uniform_stride", SUBJECT)
ROLES = ("first_user_recent", "main")

_P3 = "joint_recovery"


def paired(rows: Scores, first: str, second: str, column: str = "strict") -> Sample:
    """Differences first - second of a truth column, one per (example, sample seed) that both methods have.

    Pairs stand in the input order of ``first``, seed by seed.
    """
    values: dict[tuple[int, int], int] = {}
    other = rows.pick(method=second)
    for example, seed, value in zip(other["example_id"], other["seed"], other[column] == 1, strict=True):
        values[int(example), int(seed)] = int(value)
    mine = rows.pick(method=first).input_order()
    keys = [(int(e), int(s)) for e, s in zip(mine["example_id"], mine["seed"], strict=True)]
    kept = np.array([key in values for key in keys], dtype=bool)
    differences = [
        int(value) - values[key] for key, value in zip(keys, mine[column] == 1, strict=True) if key in values
    ]
    mine = mine.take(kept)
    return Sample(np.array(differences, dtype=np.float64), mine["seed"], mine.coded("dialogue_id"))


def mean_difference(sample: Sample) -> Number:
    """The mean over seeds of a paired difference, in points (hundredths)."""
    per_seed = []
    for seed in np.unique(sample.seeds):
        chosen = sample.values[sample.seeds == seed]
        per_seed.append(SeedValue(seed_label(int(seed)), 100 * float(chosen.sum()) / len(chosen), len(chosen)))
    mean = seed_mean([entry.value for entry in per_seed if entry.value is not None])
    return Number(mean, "points", per_seed=tuple(per_seed), why="" if per_seed else "no pair of answers")


def in_points(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    """An interval of a share, in points."""
    return None if interval is None else (100 * interval[0], 100 * interval[1])


def difference_rows(samples: Sequence[Sequence[Sample]], labels: Sequence[tuple[str, str]]) -> tuple[Row, ...]:
    """Rows of paired differences with their intervals; ``samples``: one list per row, one entry per column."""
    flat = [sample for row in samples for sample in row]
    found = iter(intervals(flat, PUBLISHED))
    rows = []
    for (key, label), row in zip(labels, samples, strict=True):
        cells = [Cell((replace(mean_difference(s), interval=in_points(next(found))),)) for s in row]
        rows.append(Row(key, label, tuple(cells)))
    return tuple(rows)


def comparison_rows(study: Study) -> Scores:
    """P3 rows of the first role that ran the first-user-plus-recent selector."""
    for role in ROLES:
        rows = study.rows((role,), _P3).pick(probe=_P3, method=METHODS)
        if SUBJECT in rows.present("method"):
            break
    return rows


def table_8(study: Study) -> list[TableResult]:
    """P3-strict of the matched comparison, and its differences to the other methods."""
    out = []
    rows = comparison_rows(study)
    for protocol, ratio, part in protocols_and_ratios(rows, (_P3,)):
        if SUBJECT not in part.present("method"):
            continue
        corpora = corpora_of(part)
        plans = [
            Plan(
                Column(f"{corpus}.{_P3}.strict", "P3 strict", corpus_label(corpus), ("strict",)),
                part.pick(corpus=corpus),
                (STRICT,),
            )
            for corpus in corpora
        ]
        recipe = PUBLISHED if study.with_intervals else None
        made = method_rows(plans, study.universe, recipe=recipe)
        shared = (*facts(study.reader, protocol, ratio), ("role", part.present("role")[0]))
        columns = tuple(plan.column for plan in plans)
        title = "Matched first-user-plus-recent comparison"
        out.append(
            TableResult(
                8,
                title,
                columns,
                made,
                facts=shared,
                notes=tuple(input_notes(plans, made)),
                intervals=PUBLISHED.signature,
            )
        )
        others = [row.key for row in made if row.key != SUBJECT]
        samples = [[paired(plan.rows, SUBJECT, other) for plan in plans] for other in others]
        labels = [(other, f"minus {method_label(other)}") for other in others]
        columns = tuple(
            Column(f"{corpus}.{_P3}.difference", "Difference (points)", corpus_label(corpus), accuracy=False)
            for corpus in corpora
        )
        note = f"Paired over source dialogues, 95% interval of {PUBLISHED.resamples:,} resamples (published recipe)."
        out.append(
            TableResult(
                8,
                f"{method_label(SUBJECT)} minus each other method, P3-strict",
                columns,
                difference_rows(samples, labels),
                part="differences",
                head=method_label(SUBJECT),
                facts=shared,
                notes=(note,),
                intervals=PUBLISHED.signature,
            )
        )
    return out
