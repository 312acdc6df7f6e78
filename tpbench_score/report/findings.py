"""The headline findings, computed from the tables: best compressed method, gap to the full context, agreement of ranks.

Functions from table results to records; `summary.py` shows them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tpbench_data.names import PROBES
from tpbench_score.report.rank_figure import RankLine, rank_lines
from tpbench_score.statistics.bootstrap import intervals
from tpbench_score.tables.main import protocols_and_ratios
from tpbench_score.tables.matched import in_points, mean_difference, paired
from tpbench_score.tables.model import Number, Row, TableResult
from tpbench_score.tables.scores import Scores
from tpbench_score.tables.study import Study

_P3 = "joint_recovery"
_FULL = "full_context"


@dataclass(frozen=True)
class Mark:
    """One method on the line from 0 to 1."""

    label: str
    value: float
    reference: bool
    best: bool


@dataclass(frozen=True)
class ProbeFinding:
    """One probe of one corpus under its strict rule.

    Attributes:
        corpus: label of the corpus.
        probe: config name of the probe.
        best: the best compressed methods; several where they are equal.
        score: the mean of the best, with its interval.
        full: the mean of the full context with its interval; ``None`` where it was not run.
        gap: full context minus best in points, paired over source dialogues; ``None`` where ``full`` is.
        marks: every method that has a mean.
    """

    corpus: str
    probe: str
    best: tuple[str, ...]
    score: Number
    full: Number | None
    gap: Number | None
    marks: tuple[Mark, ...]


Winner = tuple[str, float]
"""The best method of one probe, and its rank in the other."""


@dataclass(frozen=True)
class RankFinding:
    """How far P1-strict and P2-strict agree on the order of the compressed methods of a corpus.

    Attributes:
        corpus: label of the corpus.
        spearman: rank correlation; its value is ``None`` where it is undefined.
        methods: how many methods are ranked.
        first: the best of P1, with their ranks in P2.
        second: the best of P2, with their ranks in P1.
    """

    corpus: str
    spearman: Number
    methods: int
    first: tuple[Winner, ...]
    second: tuple[Winner, ...]


def probe_findings(study: Study, results: Sequence[TableResult]) -> Iterator[tuple[TableResult, list[ProbeFinding]]]:
    """For each table 3 (one per protocol and ratio), what it shows; without any compressed method, nothing."""
    tables = [result for result in results if (result.kind, result.number) == ("table", 3)]
    if not tables:
        return
    rows = study.rows(("main",), *PROBES, reader=dict(tables[0].facts)["reader"])
    # Table 3 is made for these cells, in this order.
    for table, (_, _, part) in zip(tables, protocols_and_ratios(rows, PROBES), strict=True):
        found = [_finding(table, place, part, results) for place in range(len(table.columns))]
        known = [finding for finding in found if finding is not None]
        if known:
            yield table, known


def _finding(table: TableResult, place: int, part: Scores, results: Sequence[TableResult]) -> ProbeFinding | None:
    column = table.columns[place]
    corpus, probe, _ = column.key.rsplit(".", 2)
    leaders = [row for row in table.rows if _strict(row, place).best]
    if "strict" not in column.parts or not leaders:
        return None
    full = next((_strict(row, place) for row in table.rows if row.key == _FULL), None)
    if full is not None and full.value is None:
        full = None
    gap = None
    if full is not None:
        gap = (
            _gap_beside_table_25(results, table, f"{corpus}.{_P3}.strict_gap", leaders[0].key) if probe == _P3 else None
        )
        gap = gap or _paired_gap(part.pick(probe=probe, corpus=corpus), leaders[0].key)
    marks = []
    for row in table.rows:
        number = _strict(row, place)
        if number.value is not None:
            marks.append(Mark(row.label, number.value, row.reference, number.best))
    best = tuple(row.label for row in leaders)
    return ProbeFinding(column.group, probe, best, _strict(leaders[0], place), full, gap, tuple(marks))


def _strict(row: Row, place: int) -> Number:
    """The strict number of a cell of table 3: the first of "strict / loose"."""
    return row.cells[place].numbers[0]


def _paired_gap(rows: Scores, method: str) -> Number:
    sample = paired(rows, _FULL, method)
    return replace(mean_difference(sample), interval=in_points(intervals([sample])[0]))


def _gap_beside_table_25(results: Sequence[TableResult], table: TableResult, key: str, method: str) -> Number | None:
    """The gap with the published interval, so that one page has one number for it."""
    for result in results:
        if (result.number, result.part, result.facts) == (25, "gaps", table.facts):
            for column, cell in zip(result.columns, _cells(result, method), strict=False):
                if column.key == key and cell.value is not None:
                    return cell
    return None


def _cells(result: TableResult, key: str) -> list[Number]:
    return next(([cell.numbers[0] for cell in row.cells] for row in result.rows if row.key == key), [])


def rank_findings(results: Sequence[TableResult]) -> Iterator[tuple[TableResult, list[RankFinding]]]:
    """For each Figure 2 (one per protocol and ratio), what its ranks show corpus by corpus."""
    figures = [result for result in results if (result.kind, result.number) == ("figure", 2)]
    for ranks in (result for result in figures if not result.part):
        correlation = next(other for other in figures if other.part == "correlation" and other.facts == ranks.facts)
        found = []
        # The first row is P1-strict against P2-strict.
        for column, cell in zip(correlation.columns, correlation.rows[0].cells, strict=True):
            _, lines = rank_lines(ranks, column.group)
            found.append(
                RankFinding(column.group, cell.numbers[0], len(lines), _winners(lines, 0, -1), _winners(lines, -1, 0))
            )
        yield ranks, found


def _winners(lines: Sequence[RankLine], here: int, there: int) -> tuple[Winner, ...]:
    best = min(item.ranks[here] for item in lines)
    return tuple((item.label, item.ranks[there]) for item in lines if item.ranks[here] == best)
