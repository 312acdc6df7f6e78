"""Tables 3, 14, 17, 23 and 24: accuracy by probe and by turn budget, and what the accuracy tables share.

Source: scoring spec 5. One table per protocol and ratio, never mixed; columns for every corpus in the release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tpbench_data.names import corpus_label
from tpbench_score.statistics.bootstrap import OWN
from tpbench_score.tables.grid import (
    LOOSE,
    STRICT,
    TOKEN_F1,
    Measure,
    Plan,
    input_notes,
    marks_note,
    method_rows,
    ratio_key,
    ratio_text,
)
from tpbench_score.tables.model import Column, TableResult
from tpbench_score.tables.scores import Scores
from tpbench_score.tables.study import Study


def facts(reader: str, protocol: str, ratio: float | None, *, several_ratios: bool = False) -> list[tuple[str, str]]:
    """What the cells of a table share."""
    out = [("reader", reader)]
    if not several_ratios:
        out.append(("ratio", ratio_text(ratio)))
    return [*out, ("protocol", protocol)]


def corpora_of(rows: Scores) -> list[str]:
    """Corpora in display order: the paper's two first, then by name."""
    first = ["sgd", "multiwoz"]
    return sorted(rows.present("corpus"), key=lambda c: (first.index(c) if c in first else len(first), c))


def table_ratios(rows: Scores, probes: Sequence[str]) -> list[float | None]:
    """The ratios a table is printed for: those at which all its probes were run, else those with any of them."""
    per_probe = [set(rows.pick(probe=probe).ratios()) for probe in probes]
    everywhere = set.intersection(*per_probe) if per_probe else set()
    chosen = sorted(everywhere or set().union(*per_probe))
    return list(chosen) or [None]


def protocols_and_ratios(rows: Scores, probes: Sequence[str]) -> Iterator[tuple[str, float | None, Scores]]:
    """The cells a table is repeated for, with their rows."""
    for protocol in rows.present("protocol"):
        part = rows.pick(protocol=protocol, probe=probes)
        for ratio in table_ratios(part, probes):
            yield protocol, ratio, part.at_ratio(ratio)


ColumnMaker = Callable[[str, Scores], list[Plan]]


def column(
    corpus: str,
    rows: Scores,
    probe: str,
    measures: tuple[Measure, ...],
    label: str,
    *,
    show_sd: bool = False,
    key: str = "",
) -> Plan:
    name = ".".join([corpus, probe, "_".join(m.name for m in measures), *([key] if key else [])])
    column = Column(name, label, corpus_label(corpus), tuple(m.name for m in measures), show_sd=show_sd)
    return Plan(column, rows.pick(probe=probe, corpus=corpus), measures)


def grid(
    study: Study,
    number: int,
    title: str,
    probes: Sequence[str],
    make: ColumnMaker,
    *,
    readers: Sequence[str] | None = None,
    note: str = "",
    beside: Scores | None = None,
    beside_note: Callable[[Scores], list[str]] = lambda rows: [],
) -> list[TableResult]:
    """One table per reader, protocol and ratio; ``beside``: rows of another role that are shown with them, and a
    note on them."""
    out = []
    for reader in [study.reader] if readers is None else readers:
        rows = study.rows(("main",), *probes, reader=reader)
        for protocol, ratio, part in protocols_and_ratios(rows, probes):
            corpora = corpora_of(part)
            notes = [note] if note else []
            if beside is not None:
                other = beside.pick(protocol=protocol, corpus=corpora).at_ratio(ratio)
                part = part.joined(other)
                notes += beside_note(other)
            plans = [plan for corpus in corpora for plan in make(corpus, part)]
            table_rows = method_rows(plans, study.universe, recipe=OWN if study.with_intervals else None)
            notes = [*marks_note(table_rows), *notes, *input_notes(plans, table_rows)]
            out.append(
                TableResult(
                    number,
                    title,
                    tuple(plan.column for plan in plans),
                    table_rows,
                    facts=tuple(facts(reader, protocol, ratio)),
                    notes=tuple(notes + other_readers_note(study, readers)),
                )
            )
    return out


def other_readers_note(study: Study, readers: Sequence[str] | None) -> list[str]:
    """Names the readers that a table of one reader leaves out."""
    if readers is not None or not study.others:
        return []
    return [f"Other readers with outputs here: {', '.join(study.others)} (show one with --reader)."]


def table_3(study: Study) -> list[TableResult]:
    """The three probes at one ratio; means only."""

    def make(corpus: str, rows: Scores) -> list[Plan]:
        return [
            column(corpus, rows, "initial_goal", (STRICT, LOOSE), "P1 strict / loose"),
            column(corpus, rows, "current_value", (STRICT,), "P2 strict"),
            column(corpus, rows, "joint_recovery", (LOOSE,), "P3 loose"),
            column(corpus, rows, "joint_recovery", (STRICT,), "P3 strict"),
        ]

    probes = ("initial_goal", "current_value", "joint_recovery")
    return grid(study, 3, "Main scores on the three probes", probes, make)


def table_23(study: Study) -> list[TableResult]:
    """P1 under three scoring rules."""

    def make(corpus: str, rows: Scores) -> list[Plan]:
        return [
            column(corpus, rows, "initial_goal", (measure,), label, show_sd=True)
            for measure, label in ((STRICT, "Strict"), (LOOSE, "Loose"), (TOKEN_F1, "Token F1"))
        ]

    return grid(study, 23, "P1 under three scoring rules", ("initial_goal",), make)


def _by_ratio(
    study: Study,
    number: int,
    title: str,
    readers: Sequence[str],
    roles: Sequence[str],
    measures: tuple[Measure, ...],
    wanted: Callable[[float], bool] = lambda ratio: True,
) -> list[TableResult]:
    """P2 with a column for every ratio; one table per reader and protocol."""
    out = []
    for reader in readers:
        rows = study.rows(roles, "current_value", reader=reader).pick(probe="current_value")
        for protocol in rows.present("protocol"):
            part = rows.pick(protocol=protocol)
            ratios: list[float | None] = [ratio for ratio in part.ratios() if wanted(ratio)]
            if not ratios and not part.ratios():
                ratios = [None]  # adaptive methods only
            plans = []
            for corpus in corpora_of(part):
                for ratio in ratios:
                    label = "P2" if ratio is None else f"r = {ratio_text(ratio)}"
                    cell = part.at_ratio(ratio)
                    plan = column(corpus, cell, "current_value", measures, label, show_sd=True, key=ratio_key(ratio))
                    plans.append(plan)
            plans = [plan for plan in plans if len(plan.rows)]
            if not plans:
                continue
            table_rows = method_rows(plans, study.universe, recipe=OWN if study.with_intervals else None)
            notes = [*marks_note(table_rows), *input_notes(plans, table_rows)]
            if number != 17:
                notes += other_readers_note(study, None)
            out.append(
                TableResult(
                    number,
                    title,
                    tuple(plan.column for plan in plans),
                    table_rows,
                    facts=tuple(facts(reader, protocol, None, several_ratios=True)),
                    notes=tuple(notes),
                )
            )
    return out


def table_24(study: Study) -> list[TableResult]:
    """P2-strict at every ratio of the main runs (the paper's two are 0.10 and 0.30)."""
    return _by_ratio(study, 24, "P2-strict by turn budget", [study.reader], ("main",), (STRICT,))


def table_14(study: Study) -> list[TableResult]:
    """P2 at the wider budgets, strict and loose."""
    title = "P2 strict / loose at wider turn budgets"
    return _by_ratio(study, 14, title, [study.reader], ("budgets", "main"), (STRICT, LOOSE), lambda ratio: ratio > 0.40)


def other_readers(study: Study) -> list[str]:
    """The readers of Tables 17 and 18: the one asked for, else all but the main one."""
    return [study.reader] if study.reader_given else study.others


def table_17(study: Study) -> list[TableResult]:
    """Table 24 for the other readers."""
    return _by_ratio(study, 17, "P2-strict of another reader", other_readers(study), ("main",), (STRICT,))
