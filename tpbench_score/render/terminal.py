"""Tables for a person at a terminal, drawn by rich."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tpbench_score.render.numbers import cell_spans
from tpbench_score.tables.model import TableResult, Unavailable

if TYPE_CHECKING:
    from rich.console import Console


def print_tables(tables: Sequence[TableResult | Unavailable], console: Console) -> None:
    """Prints every table with its notes and signature; one line for each that is not available."""
    from rich.table import Table
    from rich.text import Text

    for table in tables:
        if isinstance(table, Unavailable):
            line = f"{table.name} ({table.title}): not available, needs {table.missing}."
            console.print(Text(line, style="dim"))
            continue
        facts = ", ".join(f"{name} {value}" for name, value in table.facts)
        title = Text(f"{table.name}. {table.title}" + (f" ({facts})" if facts else ""), style="bold")
        grid = Table(title=title, title_justify="left")
        grid.add_column(Text(table.head))
        for column in table.columns:
            heading = column.short or f"{column.group}\n{column.label}".strip()
            grid.add_column(Text(heading), justify="right")
        for row in table.rows:
            cells = [Text(row.label, style="italic" if row.reference else "")]
            for cell, column in zip(row.cells, table.columns, strict=True):
                text = Text()
                for span in cell_spans(cell, column, row.reference):
                    text.append(span.text, style=" ".join(["bold"] * span.bold + ["italic"] * span.italic))
                cells.append(text)
            grid.add_row(*cells)
        console.print()
        console.print(grid)
        for note in table.notes:
            console.print(Text(note, style="dim"))
        if table.signature:
            console.print(Text(f"Signature: {table.signature}", style="dim"))
