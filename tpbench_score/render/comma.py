"""Tables as CSV: one column per number, safe to open in a spreadsheet.

A cell of text that begins with a character a spreadsheet reads as a formula gets a leading apostrophe; numbers keep
their sign. An absent number is an empty cell. Marks (bold, italic) have no place here: JSON carries them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tpbench_score.render.numbers import PLAIN, decimal
from tpbench_score.tables.model import Cell, Column, Number, TableResult, Unavailable

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def safe_text(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _line(fields: Sequence[str]) -> str:
    # Not csv.writer: before Python 3.13 it leaves a lone carriage return unquoted when lines end with "\\n".
    quoted = ['"' + f.replace('"', '""') + '"' if any(c in f for c in ',"\r\n') else f for f in fields]
    return ",".join(quoted) + "\n"


def _plain(value: float | None, number: Number) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if number.kind == "p" else decimal(value, number.kind, PLAIN)


def _parts(column: Column, cells: Sequence[Cell]) -> list[tuple[str, Callable[[Cell], str]]]:
    """The CSV columns of one table column: their suffixes and how to fill them."""
    out: list[tuple[str, Callable[[Cell], str]]] = []
    width = max((len(cell.numbers) for cell in cells), default=0)

    def get(place: int, what: Callable[[Number], float | None]) -> Callable[[Cell], str]:
        def fill(cell: Cell) -> str:
            if place >= len(cell.numbers):
                return ""
            return _plain(what(cell.numbers[place]), cell.numbers[place])

        return fill

    for place in range(width):
        name = f" [{column.parts[place]}]" if width > 1 and place < len(column.parts) else ""
        numbers = [cell.numbers[place] for cell in cells if place < len(cell.numbers)]
        out.append((name, get(place, lambda n: n.value)))
        if column.show_sd and any(n.sd is not None for n in numbers):
            out.append((f"{name} SD", get(place, lambda n: n.sd)))
        if any(n.interval is not None for n in numbers):
            out.append((f"{name} low", get(place, lambda n: n.interval[0] if n.interval else None)))
            out.append((f"{name} high", get(place, lambda n: n.interval[1] if n.interval else None)))
    if any(cell.text for cell in cells):
        out.append((" text" if width else "", lambda cell: safe_text(cell.text)))
    if any(cell.counts is not None and not cell.counts.complete for cell in cells):
        out.append((" answered", lambda cell: str(cell.counts.answered) if cell.counts else ""))
        out.append((" of", lambda cell: str(cell.counts.total) if cell.counts else ""))
    return out


def _table(table: TableResult) -> str:
    parts = [_parts(column, [row.cells[i] for row in table.rows]) for i, column in enumerate(table.columns)]
    header = ["table", *(name for name, _ in table.facts), table.head]
    for column, columns in zip(table.columns, parts, strict=True):
        header += [f"{column.group} {column.label}".strip() + suffix for suffix, _ in columns]
    lines = [_line([safe_text(text) for text in [*header, "signature"]])]
    name = (
        f"{table.number} {table.part}".strip()
        if table.kind == "table"
        else f"Figure {table.number} {table.part}".strip()
    )
    for row in table.rows:
        line = [name, *(safe_text(value) for _, value in table.facts), safe_text(row.label)]
        for cell, columns in zip(row.cells, parts, strict=True):
            line += [fill(cell) for _, fill in columns]
        lines.append(_line([*line, safe_text(table.signature)]))
    return "".join(lines)


def to_csv(tables: Sequence[TableResult | Unavailable]) -> str:
    """All tables, a blank line between. Tables that are not available have no rows and are left out."""
    return "\n".join(_table(table) for table in tables if isinstance(table, TableResult))
