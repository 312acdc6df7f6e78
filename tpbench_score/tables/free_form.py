"""Tables 21 and 22: free-form answers, and what the contexts behind them still hold.

Source: scoring spec 3.7, 3.8 and 5. The full context was answered once per budget, so its columns may differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tpbench_data.names import corpus_label, method_label, method_rank
from tpbench_score.statistics.bootstrap import OWN
from tpbench_score.statistics.ranks import best
from tpbench_score.tables.context_facts import boundary_recall, lexical_retention
from tpbench_score.tables.grid import REFERENCE_METHODS, STRICT, Plan, input_notes, method_rows, ratio_key, ratio_text
from tpbench_score.tables.main import corpora_of, facts
from tpbench_score.tables.model import Cell, Column, Number, Row, SeedValue, TableResult
from tpbench_score.tables.study import Study

_PROBE = "free_form"


def table_21(study: Study) -> list[TableResult]:
    """Free-form answer accuracy for every corpus and ratio."""
    out = []
    rows = study.rows(("free_form", "main"), _PROBE).pick(probe=_PROBE)
    for protocol in rows.present("protocol"):
        part = rows.pick(protocol=protocol)
        plans = []
        for corpus in corpora_of(part):
            ratios: list[float | None] = [*part.pick(corpus=corpus).ratios()]
            for ratio in ratios or [None]:
                label = "adaptive" if ratio is None else f"r = {ratio_text(ratio)}"
                column = Column(
                    f"{corpus}.{_PROBE}.strict.{ratio_key(ratio)}", label, corpus_label(corpus), ("strict",)
                )
                plans.append(Plan(column, part.pick(corpus=corpus).at_ratio(ratio), (STRICT,)))
        made = method_rows(plans, study.universe, recipe=OWN if study.with_intervals else None)
        out.append(
            TableResult(
                21,
                "Free-form answer accuracy",
                tuple(plan.column for plan in plans),
                made,
                facts=tuple(facts(study.reader, protocol, None, several_ratios=True)),
                notes=tuple(input_notes(plans, made)),
            )
        )
    return out


Group = tuple[str, float | None, str, str]
"""(protocol, ratio, corpus, method)"""


def _grouped(rows: list[dict[str, Any]]) -> dict[Group, list[dict[str, Any]]]:
    groups: dict[Group, list[dict[str, Any]]] = {}
    for row in rows:
        ratio = None if row["ratio"] is None else round(row["ratio"], 9)
        groups.setdefault((row["protocol"], ratio, row["corpus"], row["method"]), []).append(row)
    return groups


def _cell(items: list[dict[str, Any]]) -> Cell:
    kept = [lexical_retention(item["reference_answer"], item["context"]) for item in items]
    numbers = [Number(sum(kept) / len(kept), per_seed=(SeedValue(None, sum(kept) / len(kept), len(kept)),))]
    if all(item["kept_turns"] is not None for item in items):
        recalls = [boundary_recall(item["boundary_turns"] or [], item["kept_turns"]) for item in items]
        numbers.append(Number(sum(recalls) / len(recalls)))
    else:
        numbers.append(Number(None, why="a rewriter keeps no turns"))
    return Cell(tuple(numbers))


def table_22(study: Study) -> list[TableResult]:
    """Lexical answer retention / boundary-turn recall of the contexts; needs no answers."""
    inputs = study.free_form()
    if inputs is None or not inputs.num_rows:
        return []
    columns = ("corpus", "method", "ratio", "protocol", "context", "reference_answer", "boundary_turns", "kept_turns")
    groups = _grouped([row for row in inputs.select(list(columns)).to_pylist() if row["context"] is not None])
    out = []
    for protocol, ratio in sorted({key[:2] for key in groups}, key=str):
        here = {key[2:]: items for key, items in groups.items() if key[:2] == (protocol, ratio)}
        out.append(_diagnostics_table(here, protocol, ratio))
    return out


def _diagnostics_table(
    here: Mapping[tuple[str, str], list[dict[str, Any]]], protocol: str, ratio: float | None
) -> TableResult:
    corpora = sorted({corpus for corpus, _ in here})
    methods = sorted({method for _, method in here}, key=method_rank)
    by_corpus: list[dict[str, Cell]] = []
    for corpus in corpora:
        cells = {m: _cell(here[corpus, m]) if (corpus, m) in here else Cell((Number(None),)) for m in methods}
        ranked = [m for m in methods if m not in REFERENCE_METHODS]
        for method, mark in zip(ranked, best([cells[m].numbers[0].value for m in ranked]), strict=True):
            first, *others = cells[method].numbers
            cells[method] = Cell((replace(first, best=mark), *others))
        by_corpus.append(cells)
    columns = tuple(
        Column(
            f"{corpus}.{_PROBE}.retention_recall",
            "retention / recall",
            corpus_label(corpus),
            ("retention", "recall"),
            accuracy=False,
        )
        for corpus in corpora
    )
    rows = tuple(
        Row(m, method_label(m), tuple(cells[m] for cells in by_corpus), m in REFERENCE_METHODS) for m in methods
    )
    return TableResult(
        22,
        "Free-form contexts: lexical answer retention / boundary-turn recall",
        columns,
        rows,
        facts=tuple(facts("none", protocol, ratio)[1:]),
        notes=("Bold: highest lexical retention of a compressed method.",),
    )
