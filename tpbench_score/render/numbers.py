"""Numbers as text (scoring spec 5, "General format").

Rates: three decimals with a leading zero. Points: one decimal. p-values: a x 10^b with three significant digits.
Counts: plain. An absent number is a dash, never NaN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tpbench_score.tables.model import Cell, Column, Kind, Number


@dataclass(frozen=True)
class Signs:
    """How a format writes the signs that plain text lacks."""

    plus_minus: str = " ± "
    times: str = "×10^"
    after_power: str = ""
    dash: str = "–"


PLAIN = Signs()

_DECIMALS: dict[Kind, int] = {"rate": 3, "points": 1, "count": 0, "correlation": 2, "ratio": 2}


@dataclass(frozen=True)
class Span:
    """A piece of a cell with its mark."""

    text: str
    bold: bool = False
    italic: bool = False


def decimal(value: float, kind: Kind, signs: Signs = PLAIN) -> str:
    """A number as text.

    Raises:
        ValueError: not a finite number, which no table may hold.
    """
    if not math.isfinite(value):
        raise ValueError(f"a table cell holds {value!r}")
    if kind == "p":
        if value == 0:  # below the smallest float
            return "<1" + signs.times + "-300" + signs.after_power
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa}{signs.times}{int(exponent)}{signs.after_power}"
    if kind == "rank":
        return f"{value:g}"
    text = f"{value:.{_DECIMALS[kind]}f}"
    return text.removeprefix("-") if float(text) == 0 else text  # no "-0.000"


def number_text(number: Number, column: Column, signs: Signs = PLAIN) -> str:
    """A number with its deviation where the column shows one, and its interval where it has one."""
    if number.value is None:
        return signs.dash
    text = decimal(number.value, number.kind, signs)
    if column.show_sd and number.sd is not None:
        text += signs.plus_minus + decimal(number.sd, number.kind, signs)
    if number.interval is not None:
        low, high = (decimal(end, number.kind, signs) for end in number.interval)
        text += f" [{low}, {high}]"
    return text


def cell_spans(cell: Cell, column: Column, reference: bool, signs: Signs = PLAIN) -> list[Span]:
    """The pieces of a cell in order: numbers separated by a slash, a text, "(n of N)" where inputs are absent."""
    spans: list[Span] = []
    absent = all(number.value is None for number in cell.numbers)
    for number in cell.numbers[:1] if absent else cell.numbers:
        if spans:
            spans.append(Span(" / ", italic=reference))
        spans.append(Span(number_text(number, column, signs), bold=number.best, italic=reference))
    if cell.text:
        spans.append(Span((" " if spans else "") + cell.text, italic=reference))
    counts = cell.counts
    if counts is not None and not counts.complete:
        spans.append(Span(f" ({counts.answered} of {counts.total})", italic=reference))
    return spans or [Span(signs.dash)]


def merged(spans: list[Span]) -> list[Span]:
    """Joins neighbours with the same marks, so that "0.1 / 0.2" is one piece of italic."""
    out: list[Span] = []
    for span in spans:
        if out and (out[-1].bold, out[-1].italic) == (span.bold, span.italic):
            out[-1] = Span(out[-1].text + span.text, span.bold, span.italic)
        else:
            out.append(span)
    return out
