"""The columns that ``--counts`` puts beside each accuracy column."""

from __future__ import annotations

from dataclasses import replace

from tpbench_score.tables.model import Cell, Column, Counts, Number, TableResult

LABELS = (
    ("n", "n"),
    ("parse_rate", "parsed"),
    ("abstained", "abst."),
    ("errors", "err."),
    ("missing", "miss."),
    ("turns_kept", "turns"),
    ("words_kept", "words"),
)


def _cells(counts: Counts | None) -> list[Cell]:
    if counts is None:
        return [Cell((Number(None),)) for _ in LABELS]
    parsed = counts.parsed / counts.planned if counts.planned else None
    plain = [counts.abstained, counts.errors, counts.missing]
    return [
        Cell((Number(counts.planned, kind="count"),)),
        Cell((Number(parsed),)),
        *(Cell((Number(value, kind="count"),)) for value in plain),
        *(Cell((Number(value),)) for value in (counts.turns_kept, counts.words_kept)),
    ]


def with_counts(table: TableResult) -> TableResult:
    """The table with n, parse rate, abstentions, errors, missing answers and shares kept after each counted column."""
    counted = [
        column.accuracy and any(row.cells[i].counts is not None for row in table.rows)
        for i, column in enumerate(table.columns)
    ]
    columns: list[Column] = []
    for column, has_counts in zip(table.columns, counted, strict=True):
        columns.append(column)
        if has_counts:
            for key, short in LABELS:
                label = f"{column.label}: {short}"
                columns.append(Column(f"{column.key}.{key}", label, column.group, accuracy=False, short=short))
    rows = []
    for row in table.rows:
        cells: list[Cell] = []
        for cell, has_counts in zip(row.cells, counted, strict=True):
            cells.append(cell)
            if has_counts:
                cells += _cells(cell.counts)
        rows.append(replace(row, cells=tuple(cells)))
    return replace(table, columns=tuple(columns), rows=tuple(rows))
