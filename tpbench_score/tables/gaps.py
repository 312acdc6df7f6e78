"""The companions "gaps" of Tables 18 and 25: how far each selector stays below the full context on P3.

Source: scoring spec 4.8, second row. The published intervals share one generator over all contrasts: readers by name,
corpora by name, methods by their published identifiers. So the contrasts of all readers are drawn, and each table
shows those of its own.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tpbench_data.names import corpus_label, method_label, method_rank
from tpbench_score.statistics.bootstrap import PUBLISHED, Sample, gap_intervals
from tpbench_score.tables.grid import DELETIONS, KV_METHODS, REFERENCE_METHODS
from tpbench_score.tables.main import corpora_of, facts
from tpbench_score.tables.matched import in_points, mean_difference, paired
from tpbench_score.tables.model import Cell, Column, Number, Row, TableResult
from tpbench_score.tables.scores import Scores
from tpbench_score.tables.study import Study

_P3 = "joint_recovery"
_THRESHOLDS = ("strict", "loose")

PUBLISHED_NAMES = {
    "h2o_proxy": "attention_h2o_cache",
    "embedding_mmr": "embedding_mmr_cache",
    "first_turns": "first_n",
    "llmlingua2": "llmlingua2_cache",
    "random": "random_seed42",
}
"""Names that fix the order in which the published contrasts were drawn. Part of the recipe, not of our vocabulary."""


def _pooled(sample: Sample) -> Sample:
    return replace(sample, seeds=np.zeros(len(sample.values), dtype=np.int64))


def gap_table(study: Study, number: int, reader: str, protocol: str, ratio: float | None) -> TableResult | None:
    """Full context minus each selector in points, with the published interval."""
    rows = study.scores.pick(role="main", probe=_P3, protocol=protocol).at_ratio(ratio)
    contrasts: list[tuple[str, str, str]] = []
    samples: list[list[Sample]] = []
    for name in rows.present("reader"):
        for corpus in rows.pick(reader=name).present("corpus"):
            mine = rows.pick(reader=name, corpus=corpus)
            for method in _selectors(mine):
                contrasts.append((name, corpus, method))
                samples.append([paired(mine, "full_context", method, column) for column in _THRESHOLDS])
    wanted = [contrast for contrast in contrasts if contrast[0] == reader]
    if not wanted:
        return None
    found = dict(zip(contrasts, gap_intervals([[_pooled(s) for s in pair] for pair in samples]), strict=True))
    differences = dict(zip(contrasts, samples, strict=True))
    corpora = [c for c in corpora_of(rows) if any(c == corpus for _, corpus, _ in wanted)]
    methods = sorted({method for _, _, method in wanted}, key=method_rank)
    table_rows = []
    for method in methods:
        cells = []
        for corpus in corpora:
            key = (reader, corpus, method)
            for place in (1, 0):  # loose, then strict, as in the tables beside it
                if key in found:
                    gap = mean_difference(differences[key][place])
                    cells.append(Cell((replace(gap, interval=in_points(found[key][place])),)))
                else:
                    cells.append(Cell((Number(None, why="not run"),)))
        table_rows.append(Row(method, method_label(method), tuple(cells)))
    columns = tuple(
        Column(f"{corpus}.{_P3}.{name}_gap", f"{name.capitalize()} (points)", corpus_label(corpus), accuracy=False)
        for corpus in corpora
        for name in ("loose", "strict")
    )
    note = f"Paired over source dialogues, 95% interval of {PUBLISHED.resamples:,} resamples (published recipe)."
    return TableResult(
        number,
        "P3: full context minus each selector",
        columns,
        tuple(table_rows),
        part="gaps",
        facts=tuple(facts(reader, protocol, ratio)),
        notes=(note,),
        intervals=f"{PUBLISHED.signature}-shared",
    )


def _selectors(rows: Scores) -> list[str]:
    methods = set(rows.present("method"))
    if "full_context" not in methods:
        return []
    chosen = methods - {*REFERENCE_METHODS, *KV_METHODS, *DELETIONS}
    return sorted(chosen, key=lambda method: PUBLISHED_NAMES.get(method, method))
