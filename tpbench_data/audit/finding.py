"""What an audit returns: small tables, notes, and problems that make the command fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class AuditTable:
    """A small table.

    Attributes:
        title: What is counted.
        columns: Column heads.
        rows: Cells; numbers stay numbers for ``--json``.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass
class Audit:
    """The result of one audit.

    Attributes:
        name: Short name, as in ``--only``.
        title: One line.
        tables: Counts and examples.
        notes: What to keep in mind.
        problems: What must not be; any of them makes the command exit with 1.
    """

    name: str
    title: str
    tables: list[AuditTable] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Adds a table; one without rows is left out."""
        if rows:
            self.tables.append(AuditTable(title, tuple(columns), tuple(map(tuple, rows))))

    def as_dict(self) -> dict[str, Any]:
        """The audit as plain data, for ``--json``."""
        return {
            "name": self.name,
            "title": self.title,
            "tables": [{"title": t.title, "columns": t.columns, "rows": t.rows} for t in self.tables],
            "notes": self.notes,
            "problems": self.problems,
        }

    def lines(self) -> list[str]:
        """The audit as text, columns aligned."""
        out = [f"{self.name}: {self.title}"]
        for table in self.tables:
            cells = [list(map(_shown, row)) for row in (table.columns, *table.rows)]
            widths = [max(len(row[place]) for row in cells) for place in range(len(table.columns))]
            out.append(f"  {table.title}")
            for row in cells:
                out.append(
                    "    " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
                )
        out += [f"  note: {note}" for note in self.notes]
        out += [f"  PROBLEM: {problem}" for problem in self.problems]
        return out


def percent(part: int, whole: int) -> float | None:
    """A share in percent with one decimal; ``None`` of nothing."""
    return round(100 * part / whole, 1) if whole else None


def _shown(cell: Any) -> str:
    return "-" if cell is None else str(cell)
