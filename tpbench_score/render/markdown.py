"""Tables as GitHub Markdown: **bold**, *italic*, a bullet per note, the signature last."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tpbench_score.render.numbers import Span, cell_spans, merged
from tpbench_score.tables.model import TableResult, Unavailable

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#])")
_IN_CELL = re.compile(r"([\\`*_{}<>|])")


def escape(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _span(span: Span) -> str:
    # Brackets stay as they are: "[low, high]" is no link without a target behind it.
    text = _IN_CELL.sub(r"\\\1", span.text)
    body = text.strip()
    if not body:
        return text
    lead, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    mark = "*" * (2 * span.bold + span.italic)
    return f"{lead}{mark}{body}{mark}{tail}"


def _table(table: TableResult) -> str:
    facts = ", ".join(f"{name} {escape(value)}" for name, value in table.facts)
    lines = [f"**{table.name}. {escape(table.title)}**" + (f" ({facts})" if facts else ""), ""]
    heads = [escape(c.heading) for c in table.columns]
    lines.append("| " + " | ".join([escape(table.head), *heads]) + " |")
    lines.append("|" + "|".join([" --- ", *[" ---: " for _ in heads]]) + "|")
    for row in table.rows:
        label = escape(row.label)
        cells = [f"*{label}*" if row.reference else label]
        for cell, column in zip(row.cells, table.columns, strict=True):
            cells.append("".join(_span(span) for span in merged(cell_spans(cell, column, row.reference))))
        lines.append("| " + " | ".join(cells) + " |")
    lines.append("")
    lines += [f"- {escape(note)}" for note in table.notes]
    if table.signature:
        lines.append(f"- Signature: `{table.signature}`")
    return "\n".join(lines).rstrip("\n") + "\n"


def to_markdown(tables: Sequence[TableResult | Unavailable]) -> str:
    """All tables, a blank line between; one line for each that is not available."""
    parts = []
    for table in tables:
        if isinstance(table, Unavailable):
            parts.append(f"{table.name} ({escape(table.title)}): not available, needs {escape(table.missing)}.\n")
        else:
            parts.append(_table(table))
    return "\n".join(parts)
