"""Tables 10, 18 and 25: P3, segment-local and whole-field, with the gaps to the full context as companions.

Source: scoring spec 5. Bold is the best turn selector: cache methods stand beside them without competing.
"""

from __future__ import annotations

from collections.abc import Sequence

from tpbench_score.sample_seeds import NO_SEED
from tpbench_score.tables.gaps import gap_table
from tpbench_score.tables.grid import (
    KV_METHODS,
    LOOSE,
    PARSED,
    STRICT,
    WHOLE_STRICT,
    Measure,
    Plan,
    truth,
)
from tpbench_score.tables.main import column, grid, other_readers, protocols_and_ratios
from tpbench_score.tables.model import TableResult
from tpbench_score.tables.scores import Scores
from tpbench_score.tables.study import Study

_P3 = "joint_recovery"

GIVEN_PARSED = Measure("strict_given_parsed", truth("strict"), among=truth("parsed"))


def _p3_columns(corpus: str, rows: Scores) -> list[Plan]:
    return [
        column(corpus, rows, _P3, (measure,), label, show_sd=True)
        for measure, label in ((LOOSE, "Loose"), (STRICT, "Strict"))
    ]


def table_10(study: Study) -> list[TableResult]:
    """P3-strict under the segment and the whole-field rule, the share parsed, and strict among the parsed."""

    def make(corpus: str, rows: Scores) -> list[Plan]:
        return [
            column(corpus, rows, _P3, (STRICT,), "Segment"),
            column(corpus, rows, _P3, (WHOLE_STRICT,), "Whole"),
            column(corpus, rows, _P3, (PARSED,), "Parsed"),
            column(corpus, rows, _P3, (GIVEN_PARSED,), "Seg. given parsed"),
        ]

    note = "Seg. given parsed scores another subset for each method: it is no ranking and has no best entry."
    return grid(study, 10, "P3-strict under the two scorers", (_P3,), make, note=note)


def _cache_note(rows: Scores) -> list[str]:
    """Says that cache methods stand beside turn selectors without competing with them."""
    if not len(rows):
        return []
    seeds = ", ".join(str(seed) for seed in rows.seeds() if seed != NO_SEED)
    return [f"Cache methods (sample seed {seeds}) are never marked as best: bold is the best turn selector."]


def table_18(study: Study) -> list[TableResult]:
    """P3, segment-local, for the other readers."""
    readers = other_readers(study)
    title = "P3 of another reader, segment-local"
    results = grid(study, 18, title, (_P3,), _p3_columns, readers=readers)
    return [*results, *_gaps(study, 18, readers)]


def table_25(study: Study) -> list[TableResult]:
    """P3 over seeds, segment-local; cache methods of the role ``kv`` are shown below and never marked as best."""
    cache = study.rows(("kv",), _P3).pick(probe=_P3, method=KV_METHODS)
    title = "P3 over seeds, segment-local"
    results = grid(study, 25, title, (_P3,), _p3_columns, beside=cache, beside_note=_cache_note)
    return [*results, *_gaps(study, 25, [study.reader])]


def _gaps(study: Study, number: int, readers: Sequence[str]) -> list[TableResult]:
    if not study.with_intervals:
        return []
    out = []
    for reader in readers:
        rows = study.rows(("main",), _P3, reader=reader)
        for protocol, ratio, _ in protocols_and_ratios(rows, (_P3,)):
            table = gap_table(study, number, reader, protocol, ratio)
            if table is not None:
                out.append(table)
    return out
