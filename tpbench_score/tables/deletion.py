"""Tables 11, 12 and 13 and Figure 3: what a reader answers once the evidence is gone.

Source: scoring spec 4.5. With one sample seed a rate is a share of items and gets a Wilson interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tpbench_data.names import corpus_label, method_label
from tpbench_score.statistics.bootstrap import OWN
from tpbench_score.statistics.paired import PairedFlips, paired_flips
from tpbench_score.statistics.wilson import Z, wilson_interval
from tpbench_score.tables.grid import DELETIONS, LOOSE, STRICT, Measure, Plan, input_notes, method_rows, truth
from tpbench_score.tables.main import corpora_of, facts, protocols_and_ratios
from tpbench_score.tables.model import Cell, Column, Number, Row, TableResult
from tpbench_score.tables.scores import Scores
from tpbench_score.tables.study import Study

ROLES = ("deletion", "main")
CONDITIONS = ("full_context", *DELETIONS)
COMPARISONS = (
    ("update", "Update turn vs control", "drop_update", "drop_update_control"),
    ("evidence", "All evidence vs control", "drop_evidence", "drop_evidence_control"),
)

_P2 = "current_value"
WILSON = f"wilson({Z})"
ABSTAINED = Measure("abstained", truth("abstained"), bold=False)
OLD_VALUE = Measure("superseded", truth("superseded"), bold=False, needs="superseded")
_PLAIN_STRICT = replace(STRICT, bold=False)
_PLAIN_LOOSE = replace(LOOSE, bold=False)


def deletion_rows(study: Study) -> Scores:
    """P2 rows of the deletion conditions and the full context that was run with them."""
    for role in ROLES:
        rows = study.rows((role,), _P2).pick(probe=_P2, method=CONDITIONS)
        if any(method in rows.present("method") for method in DELETIONS):
            return rows
    return study.scores.take(np.zeros(len(study.scores), dtype=bool))


def _tables(
    study: Study,
    number: int,
    title: str,
    groups: Sequence[tuple[str, tuple[Measure, ...]]],
    *,
    conditions: Sequence[str] = CONDITIONS,
    figure: bool = False,
) -> list[tuple[TableResult, Scores]]:
    out = []
    for protocol, ratio, part in protocols_and_ratios(deletion_rows(study), (_P2,)):
        part = part.pick(method=conditions)
        if not set(part.present("method")) & set(DELETIONS):
            continue
        plans = [
            Plan(
                Column(
                    f"{corpus}.{_P2}.{'_'.join(m.name for m in measures)}",
                    label,
                    corpus_label(corpus),
                    tuple(m.name for m in measures),
                ),
                part.pick(corpus=corpus),
                measures,
            )
            for corpus in corpora_of(part)
            for label, measures in groups
        ]
        present = [method for method in conditions if method in part.present("method")]
        made = method_rows(plans, study.universe, methods=present, unranked=DELETIONS)
        if study.with_intervals:
            made = _with_intervals(study, plans, made, present)
        result = TableResult(
            number,
            title,
            tuple(plan.column for plan in plans),
            tuple(replace(row, reference=False) for row in made),
            kind="figure" if figure else "table",
            head="Condition",
            facts=(*facts(study.reader, protocol, ratio), ("sample seed", _seeds(part))),
            notes=(*_size_notes(part), *input_notes(plans, made)),
            intervals=WILSON if all(len(plan.rows.seeds()) == 1 for plan in plans) else OWN.signature,
        )
        out.append((result, part))
    return out


def _seeds(rows: Scores) -> str:
    return ", ".join(str(seed) for seed in rows.seeds())


def _with_intervals(
    study: Study, plans: Sequence[Plan], made: tuple[Row, ...], present: Sequence[str]
) -> tuple[Row, ...]:
    if any(len(plan.rows.seeds()) != 1 for plan in plans):
        return method_rows(plans, study.universe, methods=present, unranked=DELETIONS, recipe=OWN)
    return tuple(replace(row, cells=tuple(_wilson(cell) for cell in row.cells)) for row in made)


def _wilson(cell: Cell) -> Cell:
    numbers = []
    for number in cell.numbers:
        n = number.per_seed[0].n if number.per_seed else 0
        share = number.value
        found = None if share is None else wilson_interval(round(share * n), n)
        numbers.append(replace(number, interval=found))
    return replace(cell, numbers=tuple(numbers))


def _size_notes(rows: Scores) -> list[str]:
    """Conditions with fewer items than the full context, because no control could be matched."""
    notes = []
    for corpus in corpora_of(rows):
        sizes = {}
        for method in CONDITIONS:
            mine = rows.pick(corpus=corpus, method=method)
            if len(mine):
                sizes[method] = len(mine)
        if len(set(sizes.values())) > 1:
            listed = ", ".join(f"{method_label(m)} {n}" for m, n in sizes.items())
            notes.append(f"{corpus_label(corpus)} items: {listed}.")
    return notes


def table_11(study: Study) -> list[TableResult]:
    """Strict P2 accuracy under the five conditions."""
    groups = (("P2 strict", (_PLAIN_STRICT,)),)
    return [result for result, _ in _tables(study, 11, "P2-strict in the paired deletion experiment", groups)]


def table_12(study: Study) -> list[TableResult]:
    """Strict and loose accuracy, and the paired tests of each deletion against its control."""
    groups = (("strict / loose", (_PLAIN_STRICT, _PLAIN_LOOSE)),)
    out = []
    for result, rows in _tables(study, 12, "P2 in the deletion experiment, strict / loose", groups):
        out.append(result)
        paired = _paired_rows(rows)
        if paired:
            out.append(
                TableResult(
                    12,
                    "Paired tests of each deletion against its control, P2-strict",
                    _PAIRED_COLUMNS,
                    paired,
                    part="paired",
                    head="Comparison",
                    facts=result.facts,
                    intervals=WILSON,
                    notes=(
                        "Flips: items right from the full context and wrong under the condition, with Wilson's 95% "
                        "interval of their share.",
                        "Only deletion: wrong after the deletion, right under the control; only control: the reverse. "
                        "Exact two-sided McNemar among items right from the full context, and over all items.",
                    ),
                )
            )
    return out


_PAIRED_COLUMNS = tuple(
    Column(key, label, accuracy=False)
    for key, label in (
        ("n", "n"),
        ("full_correct", "Right in full"),
        ("deletion_flips", "Deletion flips"),
        ("control_flips", "Control flips"),
        ("discordant", "Only deletion / only control"),
        ("p_conditional", "p, right in full"),
        ("all_discordant", "All items: only deletion / only control"),
        ("p_all_items", "p, all items"),
        ("counterfactual", "Right, flipped, control right"),
    )
)


def flips_of(rows: Scores, deletion: str, control: str) -> PairedFlips:
    """The flips of a deletion against its control, on items that have all three conditions."""
    right: dict[str, dict[tuple[int, int], bool]] = {}
    for method in ("full_context", deletion, control):
        mine = rows.pick(method=method)
        keys = zip(mine["example_id"].tolist(), mine["seed"].tolist(), strict=True)
        right[method] = dict(zip(keys, (mine["strict"] == 1).tolist(), strict=True))
    common = sorted(set.intersection(*(set(found) for found in right.values())))
    return paired_flips(*([found[key] for key in common] for found in right.values()))


def _paired_rows(rows: Scores) -> tuple[Row, ...]:
    out = []
    for corpus in corpora_of(rows):
        mine = rows.pick(corpus=corpus)
        for key, label, deletion, control in COMPARISONS:
            flips = flips_of(mine, deletion, control)
            if flips.n:
                out.append(Row(f"{corpus}.{key}", f"{corpus_label(corpus)}: {label}", _flip_cells(flips)))
    return tuple(out)


def _flip_cells(flips: PairedFlips) -> tuple[Cell, ...]:
    def count(value: int) -> Number:
        return Number(value, "count")

    def share(value: int) -> Cell:
        number = Number(value / flips.full_correct if flips.full_correct else None)
        interval = wilson_interval(value, flips.full_correct)
        return Cell((count(value), replace(number, interval=interval)))

    return (
        Cell((count(flips.n),)),
        Cell((count(flips.full_correct),)),
        share(flips.deletion_flips),
        share(flips.control_flips),
        Cell((count(flips.deletion_only), count(flips.control_only))),
        Cell((Number(flips.p_conditional, "p"),)),
        Cell((count(flips.all_deletion_only), count(flips.all_control_only))),
        Cell((Number(flips.p_all_items, "p"),)),
        Cell((Number(flips.counterfactual_rate), Number(flips.counterfactual_rate_given_full))),
    )


def table_13(study: Study) -> list[TableResult]:
    """Explicit refusals and answers with the superseded value."""
    groups = (("Abstain", (ABSTAINED,)), ("Old value", (OLD_VALUE,)))
    return [result for result, _ in _tables(study, 13, "What the reader answers when evidence is deleted", groups)]


def figure_3(study: Study) -> list[TableResult]:
    """Current value, superseded value and no answer for full context, update turn deleted, control deleted."""
    groups = (
        ("Current value", (_PLAIN_STRICT,)),
        ("Superseded value", (OLD_VALUE,)),
        ("No answer", (ABSTAINED,)),
    )
    conditions = ("full_context", "drop_update", "drop_update_control")
    title = "Deleting the update turn moves the reader to the value it replaced"
    made = _tables(study, 3, title, groups, conditions=conditions, figure=True)
    return [result for result, _ in made]
