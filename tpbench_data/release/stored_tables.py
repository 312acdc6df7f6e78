"""Tables frozen with a release (``tables/*.json``): data to this package, computed and compared by `tpbench_score`.

A file is one JSON object with the list ``tables``; a table has columns and rows, a row one cell per column, a
cell its numbers (name, value, kind) and, where it stands for answers, the counts behind them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tpbench_data.errors import BadInput
from tpbench_data.release.strict_json import parse_strict

REACHABILITY = "reachability.json"

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*\.json")
_MAX_CELLS = 200_000

Json = Mapping[str, Any]


@dataclass(frozen=True)
class StoredTable:
    """One table of a stored file.

    Attributes:
        file: Name of the file.
        data: The table as stored.
    """

    file: str
    data: Json

    @property
    def available(self) -> bool:
        """Whether the table has cells; one that could not be made only says what it lacked."""
        return bool(self.data.get("available", True))

    @property
    def name(self) -> str:
        """ "Table 3", or the title where a table has no number."""
        number = self.data.get("number")
        kind = str(self.data.get("kind", "table")).capitalize()
        return f"{kind} {number}" if isinstance(number, int) else self.title

    @property
    def title(self) -> str:
        """The title."""
        return str(self.data.get("title", ""))

    @property
    def key(self) -> str:
        """What tells this table from the others of a release: number, part and the facts all its cells share."""
        facts = self.data.get("facts", {})
        shared = [f"{key} {value}" for key, value in sorted(facts.items())]
        return ", ".join([self.name, *filter(None, [str(self.data.get("part", ""))]), *shared])

    @property
    def columns(self) -> Sequence[Json]:
        """The columns (key, label, group)."""
        return list(self.data.get("columns", []))

    @property
    def rows(self) -> Sequence[Json]:
        """The rows (key, label, cells)."""
        return list(self.data.get("rows", []))

    def cells(self) -> Iterator[tuple[Json, Json, Json]]:
        """Every cell with its row and column."""
        for row in self.rows:
            for column, cell in zip(self.columns, row["cells"], strict=False):
                yield row, column, cell


def read_stored_table(name: str, data: bytes) -> list[StoredTable]:
    """The tables of a stored file.

    Raises:
        BadInput: A file name, a JSON text or a form that a stored table may not have.
    """
    path = Path("tables") / name
    if not _NAME.fullmatch(name):
        raise BadInput("is not a name for a stored table", file=path, remedy="Use a-z, 0-9, '.', '_', '-' and .json")
    document = parse_strict(data, path)
    found = document.get("tables") if isinstance(document, dict) else None
    if not isinstance(found, list) or type(document.get("format")) is not int:
        raise BadInput(
            "is not a stored table (an object with format and tables)",
            file=path,
            remedy="Make it with: tpbench-score tables R --format json --out DIR",
        )
    cells = 0
    for number, table in enumerate(found):
        problem = _form_problem(table)
        if problem:
            raise BadInput(problem, file=path, field=f"tables[{number}]", remedy="Make the table again")
        cells += len(table.get("columns", ())) * len(table.get("rows", ()))
    if cells > _MAX_CELLS:
        raise BadInput(f"has {cells} cells, more than {_MAX_CELLS}", file=path)
    return [StoredTable(name, table) for table in found]


def _form_problem(table: Any) -> str | None:
    if not isinstance(table, dict):
        return "is not an object"
    if not isinstance(table.get("title"), str):
        return "has no title"
    if not isinstance(table.get("facts", {}), dict):
        return "has facts that are not an object"
    columns, rows = table.get("columns", []), table.get("rows", [])
    if not _objects_with(columns, "key", "label") or not _objects_with(rows, "key", "label"):
        return "has columns or rows without key and label"
    for row in rows:
        cells = row.get("cells")
        if not isinstance(cells, list) or len(cells) != len(columns):
            return f"does not have one cell per column in row {row['key'][:80]!r}"
        if not all(_is_cell(cell) for cell in cells):
            return f"has a cell without numbers in row {row['key'][:80]!r}"
    return None


def _objects_with(values: Any, *keys: str) -> bool:
    return isinstance(values, list) and all(
        isinstance(value, dict) and all(isinstance(value.get(key), str) for key in keys) for value in values
    )


def _is_cell(cell: Any) -> bool:
    if not isinstance(cell, dict) or not isinstance(cell.get("numbers", []), list):
        return False
    if not isinstance(cell.get("counts", {}), dict) or not isinstance(cell.get("text", ""), str):
        return False
    return all(
        isinstance(number, dict) and type(number.get("value")) in (int, float, type(None)) and "value" in number
        for number in cell.get("numbers", [])
    )
