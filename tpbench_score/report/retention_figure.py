"""Table 6 as a picture: what a method keeps against what the reader makes of it, one panel per corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tpbench_score.render.numbers import decimal
from tpbench_score.report.figures import Part, corpora, figure, key, panel_title
from tpbench_score.report.markup import Markup, tag
from tpbench_score.report.svg import PLOT_RIGHT, circle, diamond, line, panel, shortened, spread, text
from tpbench_score.statistics.bootstrap import Interval
from tpbench_score.tables.model import TableResult

CAPTION = (
    "Current value still in the context (retention) against P2-strict accuracy. On the diagonal the reader finds "
    "every value that is kept; the distance below it is lost in reading. Crosses: 95% intervals."
)
_LEFT, _RIGHT, _TOP, _BOTTOM = 32.0, PLOT_RIGHT, 12.0, 232.0


@dataclass(frozen=True)
class Point:
    """One method: retention and accuracy with their intervals."""

    label: str
    reference: bool
    retained: float
    strict: float
    across: Interval | None
    along: Interval | None


def points_of(result: TableResult, corpus: str) -> list[Point]:
    """The methods of a corpus that have both numbers."""
    named = {column.parts[0]: i for i, column in enumerate(result.columns) if column.group == corpus}
    out = []
    for row in result.rows:
        strict, retained = (row.cells[named[name]].numbers[0] for name in ("strict", "retained"))
        if strict.value is not None and retained.value is not None:
            out.append(
                Point(row.label, row.reference, retained.value, strict.value, retained.interval, strict.interval)
            )
    return out


def retention_figure(results: Sequence[TableResult]) -> Markup | None:
    """The figure from Table 6 of every reader, protocol and ratio; ``None`` where no retention is known."""
    legend = [
        key(circle(6, 6, 4, "dot"), "compressed"),
        key(diamond(6, 6, 5, "reference"), "point of reference"),
        "The numbers are those of Table 6.",
    ]
    parts = []
    for result in results:
        drawn = [(corpus, points_of(result, corpus)) for corpus in corpora(result)]
        panels = (tag("div", panel_title(corpus), _panel(corpus, points)) for corpus, points in drawn if points)
        parts.append(Part(result.facts, tuple(panels)))
    return figure(CAPTION, legend, parts)


def _panel(corpus: str, points: list[Point]) -> Markup:
    def x(share: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * share

    def y(share: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * share

    parts = [line(x(0), y(0), x(1), y(1), "diagonal")]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts += [line(x(tick), y(0), x(tick), y(1), "grid"), line(x(0), y(tick), x(1), y(tick), "grid")]
        if tick in (0.0, 0.5, 1.0):
            parts.append(text(x(tick), y(0) + 17, f"{tick:.1f}", "axis", "middle"))
            parts.append(text(x(0) - 7, y(tick) + 4, f"{tick:.1f}", "axis", "end"))
    parts.append(text((_LEFT + _RIGHT) / 2, _BOTTOM + 36, "retention", "axis", "middle"))
    parts.append(text(x(0) + 6, y(1) + 14, "P2 strict", "axis"))
    labels = spread([y(point.strict) for point in points], 16, _TOP + 4, _BOTTOM)
    for point, label_y in zip(points, labels, strict=True):
        px, py = x(point.retained), y(point.strict)
        kind = "reference" if point.reference else "dot"
        if point.across is not None and not point.reference:
            parts.append(line(x(point.across[0]), py, x(point.across[1]), py, "cross-hair"))
        if point.along is not None and not point.reference:
            parts.append(line(px, y(point.along[0]), px, y(point.along[1]), "cross-hair"))
        parts.append(line(px + 6, py, _RIGHT + 14, label_y, "leader"))
        parts.append(diamond(px, py, 5.5, kind) if point.reference else circle(px, py, 4.4, kind))
        name = "name quiet" if point.reference else "name"
        parts.append(text(_RIGHT + 18, label_y + 4, shortened(point.label, 20), name))
    spoken = "; ".join(
        f"{point.label} keeps {decimal(point.retained, 'rate')} and reads {decimal(point.strict, 'rate')}"
        for point in points
    )
    return panel(_BOTTOM + 44, f"Retention and P2-strict on {corpus}: {spoken}", *parts)
