"""Table 9: P3 without the pairs that the alias rule takes for one value.

Source: scoring spec 4.4. Saved answers are scored on the items that stay; denominators shrink and are not refilled.
"Best" is chosen for each threshold by itself, among turn selectors.
"""

from __future__ import annotations

from dataclasses import replace

from tpbench_data.names import corpus_label, method_label
from tpbench_score.statistics.ranks import best
from tpbench_score.tables.grid import (
    DELETIONS,
    KV_METHODS,
    LOOSE,
    REFERENCE_METHODS,
    STRICT,
    Measure,
    counts_of,
    over_seeds,
    seed_label,
)
from tpbench_score.tables.main import corpora_of, facts, protocols_and_ratios
from tpbench_score.tables.model import Cell, Column, Number, Row, TableResult
from tpbench_score.tables.scores import Scores
from tpbench_score.tables.study import Study
from tpbench_score.tables.universe import Universe

_P3 = "joint_recovery"
_NOT_SELECTORS = (*REFERENCE_METHODS, *KV_METHODS, *DELETIONS)


def without_aliases(rows: Scores) -> Scores:
    """The rows whose old and new value the alias rule tells apart."""
    return rows.take(rows["alias_equivalent"] != 1)


def best_selector(rows: Scores, measure: Measure) -> tuple[Number, list[str]]:
    """The highest mean among turn selectors, and the methods that reach it."""
    methods = [m for m in rows.present("method") if m not in _NOT_SELECTORS]
    numbers = [over_seeds(rows.pick(method=m), measure) for m in methods]
    marks = best([number.value for number in numbers])
    leaders = [m for m, mark in zip(methods, marks, strict=True) if mark]
    if not leaders:
        return Number(None, why="no turn selector was run"), []
    return numbers[methods.index(leaders[0])], leaders


def table_9(study: Study) -> list[TableResult]:
    """Full context and the best selector after the exclusion, for every reader and corpus."""
    out = []
    readers = sorted(study.scores.pick(role="main", probe=_P3).present("reader"), key=lambda r: (r != study.reader, r))
    rows = study.scores.pick(role="main", probe=_P3)
    columns = tuple(
        Column(f"{who}.{measure.name}", f"{label} {measure.name}", parts=(measure.name,))
        for who, label in (("full_context", "Full context"), ("best", "Best selector"))
        for measure in (LOOSE, STRICT)
    )
    for protocol, ratio, part in protocols_and_ratios(rows, (_P3,)):
        table_rows, notes = [], []
        for reader in readers:
            for corpus in corpora_of(part):
                mine = part.pick(reader=reader, corpus=corpus)
                if not len(mine):
                    continue
                kept = without_aliases(mine)
                label = f"{reader}, {corpus_label(corpus)}"
                table_rows.append(Row(f"{reader}.{corpus}", label, _cells(mine, study.universe)))
                notes.append(f"{label}: {_sizes(kept)} of {_sizes(mine)} items stay.")
        out.append(
            TableResult(
                9,
                "P3 after excluding pairs that the alias rule accepts",
                columns,
                tuple(table_rows),
                head="Reader, corpus",
                facts=tuple(facts("all", protocol, ratio)),
                notes=(*notes, *_cache_notes(study, protocol, ratio)),
            )
        )
    return out


def _cells(rows: Scores, universe: Universe) -> tuple[Cell, ...]:
    kept = without_aliases(rows)
    full = kept.pick(method="full_context")
    cells = [
        Cell((_counted(over_seeds(full, measure), rows, "full_context", universe),))
        if len(full)
        else Cell((Number(None, why="not run"),))
        for measure in (LOOSE, STRICT)
    ]
    for measure in (LOOSE, STRICT):
        number, leaders = best_selector(kept, measure)
        if leaders:
            number = _counted(number, rows, leaders[0], universe)
        cells.append(Cell((number,), " = ".join(method_label(m) for m in leaders)))
    return tuple(cells)


def _counted(number: Number, rows: Scores, method: str, universe: Universe) -> Number:
    """The number with the counts of a method's items that stay.

    An input that was not asked may stay too: the release's cell is short of as many as before the exclusion.
    """
    mine = rows.pick(method=method)
    before, after = counts_of(mine, universe), counts_of(without_aliases(mine), universe)
    total = after.planned + before.total - before.planned
    counts = replace(after, total=total, turns_kept=before.turns_kept, words_kept=before.words_kept)
    return replace(number, counts=counts)


def _sizes(rows: Scores) -> str:
    """Items per seed, as "152/147/147"."""
    sizes = []
    for seed in rows.seeds():
        part = rows.at_seed(seed)
        sizes.append(str(len(set(part["example_id"].tolist()))))
    return "/".join(sizes)


def _cache_notes(study: Study, protocol: str, ratio: float | None) -> list[str]:
    rows = study.scores.pick(role="kv", probe=_P3, protocol=protocol, method=KV_METHODS).at_ratio(ratio)
    notes = []
    for reader in rows.present("reader"):
        for method in rows.pick(reader=reader).present("method"):
            for corpus in corpora_of(rows.pick(reader=reader, method=method)):
                kept = without_aliases(rows.pick(reader=reader, method=method, corpus=corpus))
                if not len(kept):
                    continue
                loose, strict = (over_seeds(kept, m).value for m in (LOOSE, STRICT))
                seeds = ", ".join(str(seed_label(s)) for s in kept.seeds())
                notes.append(
                    f"{method_label(method)}, {reader}, {corpus_label(corpus)} (seed {seeds}, {_sizes(kept)} items): "
                    f"loose {loose:.3f}, strict {strict:.3f}."
                )
    return notes
