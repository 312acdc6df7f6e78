"""The stored tables as they stand on the dataset card: one line each, and the reachability table in full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tpbench_data.release.stored_tables import REACHABILITY, StoredTable
from tpbench_data.release.vocabulary import one_line

Stored = Mapping[str, Sequence[StoredTable]]

_NO_REACHABILITY = (
    "Not computed for this release. `tpbench-score reachability` scores every reference as its own answer and counts "
    "those that no answer can match."
)
_NO_TABLES = "None."
_MAX_ROWS = 60


def reachability_text(stored: Stored) -> str:
    """The stored reachability table as Markdown, or a sentence that there is none."""
    tables = [table for table in stored.get(REACHABILITY, ()) if table.available and table.rows]
    if not tables:
        return _NO_REACHABILITY
    text = (
        "Every reference was scored as its own answer. What is below 1 here, no method and no reader can reach; "
        "nothing was removed from the frozen set."
    )
    return "\n\n".join([text, *("\n".join(_markdown(table)) for table in tables)])


def stored_tables_text(stored: Stored) -> str:
    """One line per stored table: file, number, title, size and the best cell counts it states."""
    lines = [
        f"| {_cell(table.name)} | {_cell(table.title)} | {_cell(_facts(table))} | {_shape(table)} | `tables/{name}` |"
        for name, tables in sorted(stored.items())
        for table in tables
    ]
    if not lines:
        return _NO_TABLES
    head = ["| table | title | of | rows x columns | file |", "|---|---|---|---|---|"]
    return "\n".join([*head, *lines]) + "\n\n`tpbench-score verify` computes them again and compares every cell."


def _shape(table: StoredTable) -> str:
    return f"{len(table.rows)} x {len(table.columns)}" if table.available else "not available"


def _facts(table: StoredTable) -> str:
    return ", ".join(f"{key} {value}" for key, value in table.data.get("facts", {}).items())


def _markdown(table: StoredTable) -> Iterator[str]:
    heads = [f"{column.get('group', '')} {column['label']}".strip() for column in table.columns]
    yield f"{_cell(table.title)}:"
    yield ""
    yield f"| {' | '.join(map(_cell, [str(table.data.get('head', '')), *heads]))} |"
    yield f"|---|{'---:|' * len(heads)}"
    for row in table.rows[:_MAX_ROWS]:
        yield f"| {' | '.join([_cell(row['label']), *map(_shown, row['cells'])])} |"
    if len(table.rows) > _MAX_ROWS:
        yield f"| and {len(table.rows) - _MAX_ROWS} more rows |{' |' * len(heads)}"


def _shown(cell: Mapping[str, Any]) -> str:
    numbers = [_number(number.get("value"), str(number.get("kind", ""))) for number in cell.get("numbers", [])]
    return " / ".join(numbers) if numbers else _cell(str(cell.get("text", "")))


def _number(value: float | int | None, kind: str) -> str:
    if value is None:
        return "-"
    return str(int(value)) if kind == "count" or isinstance(value, int) else f"{value:.3f}"


def _cell(text: str) -> str:
    line = one_line(text)
    for mark in "\\`|<>[]*_":
        line = line.replace(mark, f"\\{mark}")
    return line
