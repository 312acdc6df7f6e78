"""Figure 2 as a picture: how the rank of each compressed method changes from P1 to P2, one panel per corpus.

Source: scoring spec 5 (F2): rank 1 on top, solid lines for selectors that use position alone, dashed lines for those
that read the content. The best method of P1-strict and that of P2-strict stand out in colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tpbench_score.report.figures import Part, by_facts, corpora, figure, key, panel_title
from tpbench_score.report.markup import Markup, tag
from tpbench_score.report.svg import PLOT_RIGHT, at, circle, line, panel, shortened, spread, text
from tpbench_score.tables.model import TableResult
from tpbench_score.tables.ranks import CONTENT_METHODS

CAPTION = (
    "Rank of each compressed method in P1 (the first request) and in P2 (the current value); 1 is best and "
    "ties share the average rank."
)
_LEFT, _RIGHT, _TOP, _STEP = 34.0, PLOT_RIGHT - 4, 34.0, 27.0


@dataclass(frozen=True)
class RankLine:
    """One method: its ranks by measure, and its mean in the last one."""

    key: str
    label: str
    ranks: tuple[float, ...]
    last_mean: float


def rank_lines(result: TableResult, corpus: str) -> tuple[list[str], list[RankLine]]:
    """The measures of a corpus, and the methods that have a rank in each of them."""
    places = [i for i, column in enumerate(result.columns) if column.group == corpus]
    measures = [result.columns[i].label for i in places]
    lines = []
    for row in result.rows:
        cells = [row.cells[i].numbers for i in places]
        ranks = [numbers[0].value for numbers in cells]
        mean = cells[-1][1].value
        if mean is not None and all(rank is not None for rank in ranks):
            lines.append(RankLine(row.key, row.label, tuple(rank for rank in ranks if rank is not None), mean))
    return measures, lines


def rank_figure(results: Sequence[TableResult]) -> Markup | None:
    """The figure; ``None`` where there are no ranks.

    Args:
        results: Figure 2 and its companions ("correlation", "crossing") for every reader, protocol and ratio.
    """
    legend = [
        key(line(0, 6, 26, 6, "line"), "uses position alone", 26),
        key(line(0, 6, 26, 6, "line dashed"), "reads the content", 26),
        key(line(0, 6, 26, 6, "line first"), "best on P1", 26),
        key(line(0, 6, 26, 6, "line second"), "best on P2", 26),
    ]
    return figure(CAPTION, legend, [_part(group) for group in by_facts(results)])


def _part(group: list[TableResult]) -> Part:
    ranks = next(result for result in group if not result.part)
    panels = []
    for corpus in corpora(ranks):
        measures, lines = rank_lines(ranks, corpus)
        if lines:
            panels.append(tag("div", panel_title(corpus), _panel(corpus, measures, lines)))
    return Part(ranks.facts, tuple(panels), tuple(group))


def _panel(corpus: str, measures: list[str], lines: list[RankLine]) -> Markup:
    deepest = max(rank for item in lines for rank in item.ranks)
    height = _TOP + _STEP * (deepest - 1) + 22
    xs = [_LEFT + (_RIGHT - _LEFT) * i / (len(measures) - 1) for i in range(len(measures))]

    def y(rank: float) -> float:
        return _TOP + _STEP * (rank - 1)

    parts = [text(x, 14, label, "axis", "middle") for x, label in zip(xs, measures, strict=True)]
    parts += [line(x, _TOP - 10, x, y(deepest) + 10, "grid") for x in xs]
    parts += [text(6, y(rank) + 4, str(rank), "axis") for rank in range(1, int(deepest) + 1)]
    labels = spread([y(item.ranks[-1]) for item in lines], 15, _TOP, height - 10)
    best_first, best_last = (min(item.ranks[i] for item in lines) for i in (0, -1))
    for item, label_y in sorted(
        zip(lines, labels, strict=True), key=lambda pair: _mark(pair[0], best_first, best_last)
    ):
        mark = _mark(item, best_first, best_last)
        points = list(zip(xs, map(y, item.ranks), strict=True))
        dashed = " dashed" if item.key in CONTENT_METHODS else ""
        pieces = [f"M{at(points[0][0])} {at(points[0][1])}"]
        for (x1, y1), (x2, y2) in pairwise(points):
            middle = at((x1 + x2) / 2)
            pieces.append(f"C{middle} {at(y1)} {middle} {at(y2)} {at(x2)} {at(y2)}")
        parts.append(tag("path", d="".join(pieces), class_=f"line {mark}{dashed}".strip()))
        parts += [circle(x, dot, 3.6, f"dot {mark}".strip()) for x, dot in points]
        parts.append(line(_RIGHT + 6, points[-1][1], _RIGHT + 14, label_y, "leader"))
        parts.append(text(_RIGHT + 18, label_y + 4, shortened(item.label, 20), f"name {mark}".strip()))
    spoken = "; ".join(f"{item.label} {', '.join(f'{rank:g}' for rank in item.ranks)}" for item in lines)
    return panel(height, f"Ranks on {corpus} in {', '.join(measures)}: {spoken}", *parts)


def _mark(item: RankLine, best_first: float, best_last: float) -> str:
    """The colour of a line; sorts so that coloured lines are drawn last."""
    if item.ranks[-1] == best_last:
        return "second"
    return "first" if item.ranks[0] == best_first else ""
