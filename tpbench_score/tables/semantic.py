"""Table 4: P1 answers that a judge found fully equivalent to the reference, from saved judgments.

Source: scoring spec 4.10. A pair is (reference, answer), judged once. Only "equivalent" scores; "uncertain" stays in
the denominator. A method is shown where all its answers are judged (the paper's judge did not see LLMLingua-2).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tpbench_data.names import corpus_label, method_label
from tpbench_score.statistics.bootstrap import PUBLISHED
from tpbench_score.statistics.ranks import spearman
from tpbench_score.tables.grid import (
    KV_METHODS,
    REFERENCE_METHODS,
    STRICT,
    Measure,
    Plan,
    input_notes,
    method_rows,
    over_seeds,
    truth,
)
from tpbench_score.tables.main import corpora_of, facts, protocols_and_ratios
from tpbench_score.tables.model import Cell, Column, Number, Row, TableResult
from tpbench_score.tables.scores import UNKNOWN, Scores
from tpbench_score.tables.study import Study

_P1, _P2 = "initial_goal", "current_value"
_CODES = {"equivalent": 1, "not_equivalent": 0, "uncertain": 2}
EQUIVALENT = Measure("equivalent", truth("judged"))


@dataclass(frozen=True)
class _Judged:
    rows: Scores
    left_out: dict[str, int]


def with_judgments(study: Study, rows: Scores) -> Scores:
    """The rows with a column ``judged``: 1 equivalent, 0 not, 2 uncertain, UNKNOWN without a judgment.

    An input without an answer needs no judgment: it is not equivalent.
    """
    references = study.references()
    inputs, answers = rows.texts("input_id"), rows.texts("answer")
    judged = np.full(len(rows), UNKNOWN, dtype=np.int8)
    for place, (input_id, answer) in enumerate(zip(inputs, answers, strict=True)):
        label = study.judgments.get((references.get(input_id, ""), answer))
        if label is not None:
            judged[place] = _CODES[label]
        elif not answer:
            judged[place] = 0
    return Scores({**rows.columns, "judged": judged}, rows.names)


def _complete(rows: Scores) -> _Judged:
    left_out = {}
    kept = np.ones(len(rows), dtype=bool)
    for method in rows.present("method"):
        mine = rows.is_in("method", [method])
        absent = int((rows["judged"][mine] == UNKNOWN).sum())
        if absent:
            left_out[method] = absent
            kept &= ~mine
    return _Judged(rows.take(kept), left_out)


def table_4(study: Study) -> list[TableResult]:
    """Full equivalence of P1 answers; with it, how its order agrees with that of P2-strict."""
    if not study.judgments:
        return []
    out = []
    rows = study.rows(("main",), _P1).pick(probe=_P1)
    for protocol, ratio, part in protocols_and_ratios(rows, (_P1,)):
        judged = _complete(with_judgments(study, part))
        if not len(judged.rows):
            continue
        corpora = corpora_of(judged.rows)
        plans = [
            Plan(
                Column(f"{corpus}.{_P1}.equivalent", "P1 equivalent", corpus_label(corpus), ("equivalent",)),
                judged.rows.pick(corpus=corpus),
                (EQUIVALENT,),
            )
            for corpus in corpora
        ]
        made = method_rows(plans, study.universe, recipe=PUBLISHED if study.with_intervals else None)
        uncertain = int((judged.rows["judged"] == 2).sum())
        notes = [f"Uncertain judgments, counted as not equivalent: {uncertain}."]
        for method, absent in judged.left_out.items():
            notes.append(f"{method_label(method)} is left out: {absent} answers have no judgment.")
        shared = tuple(facts(study.reader, protocol, ratio))
        out.append(
            TableResult(
                4,
                "Judged full equivalence of P1 answers",
                tuple(plan.column for plan in plans),
                made,
                facts=shared,
                notes=(*notes, *input_notes(plans, made)),
                intervals=PUBLISHED.signature,
            )
        )
        p2 = study.rows(("main",), _P2).pick(probe=_P2, protocol=protocol).at_ratio(ratio)
        correlation = _correlation(plans, made, p2, corpora)
        if correlation is not None:
            out.append(replace(correlation, facts=shared))
    return out


def _correlation(plans: list[Plan], made: tuple[Row, ...], p2: Scores, corpora: list[str]) -> TableResult | None:
    methods = [row.key for row in made if row.key not in (*REFERENCE_METHODS, *KV_METHODS)]
    cells = []
    for place, corpus in enumerate(corpora):
        judged, strict = [], []
        for row in made:
            value = row.cells[place].numbers[0].value
            mine = p2.pick(corpus=corpus, method=row.key)
            other = over_seeds(mine, STRICT).value if len(mine) else None
            if row.key in methods and value is not None and other is not None:
                judged.append(value)
                strict.append(other)
        cells.append(
            Cell((Number(spearman(judged, strict), "correlation", why="undefined"), Number(len(judged), "count")))
        )
    if not any(cell.numbers[0].value is not None for cell in cells):
        return None
    columns = tuple(
        Column(
            f"{corpus}.spearman", "Spearman / methods", corpus_label(corpus), ("spearman", "methods"), accuracy=False
        )
        for corpus in corpora
    )
    row = Row("semantic_p1.p2_strict", "P1 equivalent and P2 strict", tuple(cells))
    return TableResult(4, "Agreement of the P1 and P2 orders", columns, (row,), part="correlation", head="Pair")
