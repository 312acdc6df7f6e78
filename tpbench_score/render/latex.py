r"""Tables as LaTeX ``tabular`` (package booktabs): \textbf for the best, \textit for points of reference."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from tpbench_score.render.numbers import Signs, Span, cell_spans, merged
from tpbench_score.tables.model import TableResult, Unavailable

SIGNS = Signs(plus_minus=" \x01pm\x02 ", times="\x01times 10^{", after_power="}\x02", dash="--")
"""Stands for the mathematical signs until the rest is escaped."""

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "–": "--",
}
_CHARACTER = re.compile("|".join(re.escape(character) for character in _ESCAPES))
_MATH = re.compile("\x01(.*?)\x02")


def escape(text: str) -> str:
    """Text that LaTeX prints as it is, on one line."""
    return _CHARACTER.sub(lambda found: _ESCAPES[found.group()], " ".join(text.split(" ")).replace("\n", " "))


def _with_math(text: str) -> str:
    pieces = _MATH.split(text)
    return "".join(rf"$\{piece}$" if i % 2 else escape(piece) for i, piece in enumerate(pieces))


def _span(span: Span) -> str:
    text = _with_math(span.text)
    lead, body, tail = re.fullmatch(r"(\s*)(.*?)(\s*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    if not body:
        return text
    if span.italic:
        body = rf"\textit{{{body}}}"
    if span.bold:
        body = rf"\textbf{{{body}}}"
    return f"{lead}{body}{tail}"


def _comment(text: str) -> str:
    return "% " + " ".join(text.split())


def _heads(table: TableResult) -> list[str]:
    lines = []
    if any(column.group for column in table.columns):
        cells, rules, place = [""], [], 2
        for group, members in groupby(table.columns, key=lambda column: column.group):
            width = len(list(members))
            cells.append(rf"\multicolumn{{{width}}}{{c}}{{{escape(group)}}}")
            if group:
                rules.append(rf"\cmidrule(lr){{{place}-{place + width - 1}}}")
            place += width
        lines.append(" & ".join(cells) + r" \\")
        lines.append(" ".join(rules))
    lines.append(" & ".join([escape(table.head), *(escape(c.short or c.label) for c in table.columns)]) + r" \\")
    return lines


def _table(table: TableResult) -> str:
    facts = ", ".join(f"{name} {value}" for name, value in table.facts)
    lines = [
        _comment(f"{table.name}. {table.title}" + (f" ({facts})" if facts else "")),
        rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
        r"\toprule",
        *_heads(table),
        r"\midrule",
    ]
    for row in table.rows:
        cells = [_span(Span(row.label, italic=row.reference))]
        for cell, column in zip(row.cells, table.columns, strict=True):
            cells.append("".join(_span(s) for s in merged(cell_spans(cell, column, row.reference, SIGNS))))
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [_comment(note) for note in table.notes]
    if table.signature:
        lines.append(_comment(f"Signature: {table.signature}"))
    return "\n".join(lines) + "\n"


def to_latex(tables: Sequence[TableResult | Unavailable]) -> str:
    """All tables, a blank line between; a comment for each that is not available."""
    parts = ["% Needs \\usepackage{booktabs}.\n"]
    for table in tables:
        if isinstance(table, Unavailable):
            parts.append(_comment(f"{table.name} ({table.title}): not available, needs {table.missing}.") + "\n")
        else:
            parts.append(_table(table))
    return "\n".join(parts)
