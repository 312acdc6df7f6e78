"""Figure 2: ranks of the compressed methods in three measures, their correlation, and where two methods cross.

Source: scoring spec 4.6 and 4.7.
"""

from __future__ import annotations

from itertools import permutations

from tpbench_data.names import corpus_label, method_label
from tpbench_score.statistics.crossing import crossing_weight
from tpbench_score.statistics.ranks import average_ranks, spearman
from tpbench_score.tables.grid import KV_METHODS, LOOSE, REFERENCE_METHODS, STRICT, Plan, ordered_methods, over_seeds
from tpbench_score.tables.main import corpora_of, facts, protocols_and_ratios
from tpbench_score.tables.model import Cell, Column, Number, Row, TableResult
from tpbench_score.tables.scores import Scores
from tpbench_score.tables.study import Study

_P1, _P2 = "initial_goal", "current_value"
MEASURES = (("P1 strict", _P1, STRICT), ("P1 loose", _P1, LOOSE), ("P2 strict", _P2, STRICT))
CONTENT_METHODS = ("h2o_proxy", "embedding_mmr", "llmlingua2", "bm25", "dense_topk", "dycp", "dycp_budget")
"""Selectors that read the dialogue: dashed lines in the figure; the others use position alone: solid lines."""


def _means(rows: Scores, corpus: str, methods: list[str]) -> dict[str, list[float]]:
    """Method -> its three means, for methods that have all three."""
    out: dict[str, list[float]] = {}
    for method in methods:
        values = []
        for _, probe, measure in MEASURES:
            mine = rows.pick(corpus=corpus, probe=probe, method=method)
            value = over_seeds(mine, measure).value if len(mine) else None
            if value is not None:
                values.append(value)
        if len(values) == len(MEASURES):
            out[method] = values
    return out


def figure_2(study: Study) -> list[TableResult]:
    """Ranks per corpus, 1 = best, ties averaged; with the Spearman correlation and the crossings as companions."""
    out = []
    rows = study.rows(("main",), _P1, _P2)
    for protocol, ratio, part in protocols_and_ratios(rows, (_P1, _P2)):
        whole = Plan(Column("all", "all"), part, ())
        methods = [m for m in ordered_methods([whole]) if m not in (*REFERENCE_METHODS, *KV_METHODS)]
        means = {corpus: _means(part, corpus, methods) for corpus in corpora_of(part)}
        means = {corpus: found for corpus, found in means.items() if len(found) > 1}
        if not means:
            continue
        shared = tuple(facts(study.reader, protocol, ratio))
        shown = [m for m in methods if any(m in found for found in means.values())]
        out += [
            _rank_table(means, shown, shared),
            _correlation_table(means, shared),
            _crossing_table(means, shown, shared),
        ]
    return out


def _rank_table(
    means: dict[str, dict[str, list[float]]], shown: list[str], shared: tuple[tuple[str, str], ...]
) -> TableResult:
    cells: dict[str, list[Cell]] = {method: [] for method in shown}
    columns = []
    for corpus, found in means.items():
        for place, (label, probe, measure) in enumerate(MEASURES):
            key = f"{corpus}.{probe}.{measure.name}.rank"
            columns.append(Column(key, label, corpus_label(corpus), ("rank", "value"), accuracy=False))
            ranks = dict(zip(found, average_ranks([values[place] for values in found.values()]), strict=True))
            for method in shown:
                known = method in found
                rank = Number(ranks[method], "rank") if known else Number(None, "rank", why="not run")
                cells[method].append(Cell((rank, Number(found[method][place] if known else None))))
    rows = tuple(Row(method, method_label(method), tuple(cells[method])) for method in shown)
    dashed = ", ".join(method_label(m) for m in shown if m in CONTENT_METHODS) or "none"
    return TableResult(
        2,
        "Ranks and means of the compressed methods",
        tuple(columns),
        rows,
        kind="figure",
        facts=shared,
        notes=("Entry: rank (1 = best, ties share the average) / mean.", f"Dashed lines (use content): {dashed}."),
    )


def _correlation_table(means: dict[str, dict[str, list[float]]], shared: tuple[tuple[str, str], ...]) -> TableResult:
    pairs = ((0, 2), (1, 2), (0, 1))
    rows = []
    for a, b in pairs:
        cells = []
        for found in means.values():
            value = spearman([v[a] for v in found.values()], [v[b] for v in found.values()])
            why = "" if value is not None else "one side is constant"
            cells.append(Cell((Number(value, "correlation", why=why), Number(len(found), "count"))))
        label = f"{MEASURES[a][0]} and {MEASURES[b][0]}"
        rows.append(Row(label.replace(" ", "_").lower(), label, tuple(cells)))
    columns = tuple(
        Column(
            f"{corpus}.spearman", "Spearman / methods", corpus_label(corpus), ("spearman", "methods"), accuracy=False
        )
        for corpus in means
    )
    return TableResult(
        2,
        "Rank correlations over the compressed methods",
        columns,
        tuple(rows),
        kind="figure",
        part="correlation",
        head="Pair",
        facts=shared,
    )


def _crossing_table(
    means: dict[str, dict[str, list[float]]], shown: list[str], shared: tuple[tuple[str, str], ...]
) -> TableResult:
    rows = []
    for a, b in permutations(shown, 2):
        cells = []
        for found in means.values():
            weight = None
            if a in found and b in found and found[a][0] > found[b][0]:
                weight = crossing_weight(found[a][0], found[a][2], found[b][0], found[b][2])
            cells.append(Cell((Number(weight, why="" if weight is not None else "no crossing"),)))
        if any(cell.numbers[0].value is not None for cell in cells):
            rows.append(Row(f"{a}.{b}", f"{method_label(a)} / {method_label(b)}", tuple(cells)))
    columns = tuple(Column(f"{c}.crossing", "P1 weight", corpus_label(c), accuracy=False) for c in means)
    return TableResult(
        2,
        "Weight of P1-strict at which two methods have equal weighted means",
        columns,
        tuple(rows),
        kind="figure",
        part="crossing",
        head="Better on P1 / better on P2",
        facts=shared,
        notes=("Weighted mean: w times P1-strict plus 1 - w times P2-strict, from unrounded means.",),
    )
