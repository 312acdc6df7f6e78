"""A table of the registry as HTML: complete without scripts; `sort.js` turns its column heads into buttons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from tpbench_score.render.counts import LABELS, with_counts
from tpbench_score.render.numbers import PLAIN, Span, cell_spans, decimal, merged
from tpbench_score.report.markup import Markup, join, tag
from tpbench_score.tables.model import Cell, Column, Row, TableResult


def caption_of(result: TableResult) -> str:
    """Name, title and facts as one line."""
    listed = ", ".join(f"{name} {value}" for name, value in result.facts)
    return f"{result.name}. {result.title}" + (f" ({listed})" if listed else "")


def table_element(result: TableResult, caption: str | None = None) -> Markup:
    """The table with its caption for screen readers, in a box that scrolls where the page is narrow."""
    return scrolling(
        tag(
            "table",
            tag("caption", caption or caption_of(result), class_="unseen"),
            tag("thead", *_heads(result)),
            tag("tbody", *(_row(row, result.columns) for row in result.rows)),
            class_="data sortable",
        )
    )


def scrolling(table: Markup) -> Markup:
    """A box around something wide."""
    return tag("div", table, class_="wide")


def notes_of(result: TableResult) -> Markup:
    """The sentences under a table and its signature."""
    notes = [tag("li", note) for note in result.notes]
    if result.signature:
        notes.append(tag("li", "Signature: ", tag("code", result.signature)))
    return tag("ul", *notes, class_="notes") if notes else Markup()


def counts_element(result: TableResult) -> Markup:
    """Folded away: n, parse rate, abstentions, errors and missing answers behind the accuracy columns."""
    counted = _counts_only(result)
    if counted is None:
        return Markup()
    summary = "Answers behind it: n, parse rate, abstained, errors, missing, turns and words kept"
    return tag("details", tag("summary", summary), table_element(counted, f"Counts of {caption_of(result)}"))


def _counts_only(result: TableResult) -> TableResult | None:
    """The columns that `with_counts` adds; neighbours with the same numbers are one block."""
    wide = with_counts(result)
    blocks: list[tuple[list[str], tuple[Column, ...], list[tuple[Cell, ...]]]] = []
    place = 0
    for column in result.columns:
        following = wide.columns[place + 1 : place + 1 + len(LABELS)]
        has_counts = len(following) == len(LABELS) and following[0].key == f"{column.key}.{LABELS[0][0]}"
        if has_counts:
            cells = [row.cells[place + 1 : place + 1 + len(LABELS)] for row in wide.rows]
            known = blocks[-1] if blocks else None
            if known and known[2] == cells and known[1][0].group == column.group:
                known[0].append(column.label)
            else:
                blocks.append(([column.label], following, cells))
        place += 1 + (len(LABELS) if has_counts else 0)
    if not blocks:
        return None
    columns = [
        replace(column, label=short, short="", group=f"{column.group} {', '.join(labels)}".strip())
        for labels, block, _ in blocks
        for column, (_, short) in zip(block, LABELS, strict=True)
    ]
    rows = [
        replace(row, cells=tuple(cell for _, _, cells in blocks for cell in cells[number]))
        for number, row in enumerate(result.rows)
    ]
    return replace(result, columns=tuple(columns), rows=tuple(rows))


# --- heads and cells -----------------------------------------------------------------------------------------


def _heads(result: TableResult) -> list[Markup]:
    """One row of column heads, or two where neighbouring columns share a group."""
    leaves = [
        _head(column.short or column.label, place + 1, words=_of_words(result, place))
        for place, column in enumerate(result.columns)
    ]
    if not any(column.group for column in result.columns):
        return [tag("tr", _head(result.head, 0), *leaves)]
    groups = []
    for group, members in groupby(result.columns, key=lambda column: column.group):
        width = sum(1 for _ in members)
        cell = tag("th", group, scope="colgroup", colspan=width, class_="group") if group else tag("td", colspan=width)
        groups.append(cell)
    return [tag("tr", _head(result.head, 0, rowspan=2), *groups), tag("tr", *leaves)]


def _head(label: str, place: int, rowspan: int | None = None, words: bool = False) -> Markup:
    return tag("th", label, scope="col", rowspan=rowspan, data_column=place, class_="words" if words else None)


def _of_words(result: TableResult, place: int) -> bool:
    """Whether a column holds no number at all."""
    return all(not row.cells[place].numbers for row in result.rows)


def _row(row: Row, columns: Sequence[Column]) -> Markup:
    cells = [_cell(cell, column, row.reference) for cell, column in zip(row.cells, columns, strict=True)]
    label = tag("em", row.label) if row.reference else row.label
    return tag("tr", tag("th", label, scope="row"), *cells)


def _cell(cell: Cell, column: Column, reference: bool) -> Markup:
    first = next((number.value for number in cell.numbers if number.value is not None), None)
    bare = replace(cell, numbers=tuple(replace(number, interval=None) for number in cell.numbers))
    spans = [_span(span) for span in merged(cell_spans(bare, column, reference))]
    why = next((number.why for number in cell.numbers if number.value is None and number.why), None)
    return tag(
        "td",
        *spans,
        _intervals(cell),
        class_="words" if not cell.numbers else "mixed" if cell.text else None,
        data_value=None if first is None else repr(float(first)),
        title=why if first is None else None,
    )


def _span(span: Span) -> Markup:
    inner: Markup | str = span.text
    if span.italic:
        inner = tag("em", inner)
    if span.bold:
        inner = tag("strong", inner)
    return join(inner)


def _intervals(cell: Cell) -> list[Markup]:
    """The intervals of the numbers of a cell, each on a line of its own."""
    found = []
    for number in cell.numbers:
        if number.interval is not None:
            low, high = (decimal(end, number.kind, PLAIN) for end in number.interval)
            found.append(tag("span", f" [{low}, {high}]", class_="interval"))
    return found
