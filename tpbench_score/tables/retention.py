"""Tables 5, 6 and 7: does the current value survive compression, and does the reader read it where it does.

Source: scoring spec 4.2 and 4.3. The matcher is that of P2-loose, on the whole context in one piece.
"""

from __future__ import annotations

import numpy as np

from tpbench_data.names import corpus_label
from tpbench_data.slots import SLOT_GROUPS, slot_group
from tpbench_score.statistics.bootstrap import OWN
from tpbench_score.tables.grid import (
    KV_METHODS,
    READ_GIVEN_KEPT,
    REFERENCE_METHODS,
    RETAINED,
    STRICT,
    Measure,
    Plan,
    input_notes,
    marks_note,
    method_rows,
    ordered_methods,
    seed_label,
    truth,
)
from tpbench_score.tables.main import corpora_of, facts, grid, protocols_and_ratios
from tpbench_score.tables.model import Column, TableResult
from tpbench_score.tables.scores import Scores
from tpbench_score.tables.study import Study
from tpbench_score.tables.universe import Universe

_P2 = "current_value"
_RETAINED_UNRANKED = Measure("retained", truth("retained"), bold=False, needs="retained")


def known_retention(study: Study) -> bool:
    """Whether any P2 input has a stored context to look into."""
    rows = study.rows(("main",), _P2)
    return bool((rows.pick(probe=_P2)["retained"] >= 0).any())


def table_5(study: Study) -> list[TableResult]:
    """Retention in one sample (the first seed; the paper's is MultiWOZ at seed 42)."""
    if not known_retention(study):
        return []

    def make(corpus: str, rows: Scores) -> list[Plan]:
        column = Column(f"{corpus}.{_P2}.retained", "Retained", corpus_label(corpus), ("retained",))
        mine = rows.pick(corpus=corpus)
        seed = min(mine.seeds())
        return [Plan(column, mine.at_seed(seed), (RETAINED,), seed=seed_label(seed))]

    note = "One sample: the first seed of each corpus."
    return grid(study, 5, "Current value still in the compressed context", (_P2,), make, note=note)


def table_6(study: Study) -> list[TableResult]:
    """P2-strict beside retention and the accuracy on the retained items."""
    if not known_retention(study):
        return []

    def make(corpus: str, rows: Scores) -> list[Plan]:
        mine, label = rows.pick(corpus=corpus), corpus_label(corpus)
        named = ((STRICT, "P2 strict"), (RETAINED, "Retained"), (READ_GIVEN_KEPT, "Read given kept"))
        return [Plan(Column(f"{corpus}.{_P2}.{m.name}", text, label, (m.name,)), mine, (m,)) for m, text in named]

    note = "Read given kept scores another subset for each method: it is no ranking and has no best entry."
    return grid(study, 6, "P2-strict, retention, and accuracy where the value is kept", (_P2,), make, note=note)


def table_7(study: Study) -> list[TableResult]:
    """P2-strict / retention by slot group. SGD as in the paper; other corpora only where SGD is absent."""
    if not known_retention(study):
        return []
    out = []
    rows = study.rows(("main",), _P2)
    for protocol, ratio, part in protocols_and_ratios(rows, (_P2,)):
        corpora = [c for c in corpora_of(part) if c == "sgd"] or corpora_of(part)
        group_of = np.array([slot_group(name) for name in part.names["slot"]], dtype=object)
        plans = []
        for corpus in corpora:
            mine = part.pick(corpus=corpus)
            groups = group_of[mine["slot"]]
            for group in SLOT_GROUPS:
                key = f"{corpus}.{_P2}.{group.split()[0].lower()}"
                column = Column(key, group, corpus_label(corpus), ("strict", "retained"))
                plans.append(Plan(column, mine.take(groups == group), (STRICT, _RETAINED_UNRANKED)))
        methods = [m for m in ordered_methods(plans) if m not in (*REFERENCE_METHODS, *KV_METHODS)]
        # The release's sizes are of whole cells, not of slot groups.
        made = method_rows(plans, Universe(), methods=methods, recipe=OWN if study.with_intervals else None)
        out.append(
            TableResult(
                7,
                "P2-strict / retention by slot group",
                tuple(plan.column for plan in plans),
                made,
                facts=tuple(facts(study.reader, protocol, ratio)),
                notes=("Bold: highest P2-strict.", *marks_note(made), *input_notes(plans, made)),
            )
        )
    return out
