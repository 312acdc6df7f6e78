"""Which method is best if P1 and P2 count differently: weighted means over every weight, and where the best changes.

Source: scoring spec 4.7. Everything is computed from unrounded means. `mix.js` adds the slider to what stands here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from tpbench_score.render.numbers import decimal
from tpbench_score.report.figures import corpora, panel_title
from tpbench_score.report.markup import Markup, tag
from tpbench_score.report.svg import PLOT_RIGHT, at, circle, line, panel, path, shortened, spread, text
from tpbench_score.statistics.crossing import crossing_weight
from tpbench_score.statistics.ranks import best
from tpbench_score.tables.model import TableResult

CAPTION = (
    "Weighted mean of P1-strict and P2-strict for every weight of P1: at the left only P2 counts, at the right only "
    "P1. Where two lines cross, the two methods change places; the heavy line is the best at each weight."
)
START = 0.5
"""Weight at which the page opens."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 32.0, PLOT_RIGHT, 14.0, 234.0


@dataclass(frozen=True)
class Mixed:
    """A method with its unrounded means on the two probes."""

    key: str
    label: str
    first: float
    second: float

    def at(self, weight: float) -> float:
        """The weighted mean; ``weight`` is that of P1, 0 to 1."""
        return weight * self.first + (1 - weight) * self.second


@dataclass(frozen=True)
class Lead:
    """The methods with the highest weighted mean between two weights; several where they are equal throughout."""

    low: float
    high: float
    methods: tuple[Mixed, ...]

    @property
    def labels(self) -> str:
        """Their names."""
        return " = ".join(method.label for method in self.methods)


def leads(methods: Sequence[Mixed]) -> list[Lead]:
    """Who is best at which weight, from weight 0 to weight 1."""
    crossings = {0.0, 1.0}
    for a, b in combinations(methods, 2):
        weight = crossing_weight(a.first, a.second, b.first, b.second)
        if weight is not None:
            crossings.add(weight)
    ends = sorted(crossings)
    out: list[Lead] = []
    for low, high in pairwise(ends):
        marks = best([method.at((low + high) / 2) for method in methods])
        leading = tuple(method for method, mark in zip(methods, marks, strict=True) if mark)
        if out and out[-1].methods == leading:
            out[-1] = Lead(out[-1].low, high, leading)
        else:
            out.append(Lead(low, high, leading))
    return out


def mixed_methods(ranks: TableResult, corpus: str) -> list[Mixed]:
    """The methods of a corpus in the table of Figure 2: its first measure is P1-strict, its last P2-strict."""
    places = [i for i, column in enumerate(ranks.columns) if column.group == corpus]
    out = []
    for row in ranks.rows:
        first, second = (row.cells[i].numbers[1].value for i in (places[0], places[-1]))
        if first is not None and second is not None:
            out.append(Mixed(row.key, row.label, first, second))
    return out


def mix_panels(ranks: TableResult, prefix: str) -> tuple[list[Markup], dict[str, list[list[Any]]]]:
    """The panels of one reader, protocol and ratio, and what the slider needs: panel id -> [label, P1, P2]."""
    panels, data = [], {}
    for number, corpus in enumerate(corpora(ranks)):
        methods = mixed_methods(ranks, corpus)
        if len(methods) < 2:
            continue
        panel_id = f"{prefix}-{number}"
        data[panel_id] = [[method.label, method.first, method.second] for method in methods]
        found = leads(methods)
        panels.append(
            tag(
                "div",
                panel_title(corpus),
                _panel(corpus, methods, found),
                _leads_table(found, corpus),
                _order(methods, corpus),
                id=panel_id,
                class_="mix",
            )
        )
    return panels, data


def slider() -> Markup:
    """The slider; hidden until the script that moves it runs."""
    return tag(
        "div",
        tag("label", "Weight of P1", for_="mix-weight"),
        tag("span", "only P2", class_="end", aria_hidden="true"),
        tag("input", type="range", id="mix-weight", min="0", max="1", step="0.01", value=START),
        tag("span", "only P1", class_="end", aria_hidden="true"),
        tag("output", f"{START:.2f}", for_="mix-weight", id="mix-shown"),
        class_="slider",
        id="mix-control",
        hidden=True,
    )


def _panel(corpus: str, methods: list[Mixed], found: list[Lead]) -> Markup:
    def x(weight: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * weight

    def y(score: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * score

    parts = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(line(x(0), y(tick), x(1), y(tick), "grid"))
        if tick in (0.0, 0.5, 1.0):
            parts.append(text(x(0) - 7, y(tick) + 4, f"{tick:.1f}", "axis", "end"))
            parts.append(text(x(tick), _BOTTOM + 17, f"{tick:.1f}", "axis", "middle"))
    parts.append(text((_LEFT + _RIGHT) / 2, _BOTTOM + 35, "weight of P1", "axis", "middle"))
    parts.append(line(x(START), y(0), x(START), y(1) - 6, "cursor"))
    leading = {method.key for lead in found for method in lead.methods}
    labels = spread([y(method.first) for method in methods], 15, _TOP, _BOTTOM)
    for method, label_y in zip(methods, labels, strict=True):
        mark = " first" if method.key in leading else ""
        parts.append(path([(x(0), y(method.second)), (x(1), y(method.first))], f"line thin{mark}"))
        parts.append(line(_RIGHT + 3, y(method.first), _RIGHT + 14, label_y, "leader"))
        parts.append(text(_RIGHT + 18, label_y + 4, shortened(method.label, 20), f"name{mark}"))
    top = [(x(0), y(found[0].methods[0].at(0)))]
    top += [(x(lead.high), y(lead.methods[0].at(lead.high))) for lead in found]
    parts.append(path(top, "line envelope"))
    for lead in found[1:]:
        place, height = x(lead.low), y(lead.methods[0].at(lead.low))
        parts.append(circle(place, height, 4, "dot second"))
        parts.append(text(place, height - 9, decimal(lead.low, "rate"), "value", "middle"))
    dots = [circle(x(START), y(method.at(START)), 3, "dot moving") for method in methods]
    spoken = "; ".join(
        f"{lead.labels} from {decimal(lead.low, 'rate')} to {decimal(lead.high, 'rate')}" for lead in found
    )
    scale = {"data_x0": at(x(0)), "data_x1": at(x(1)), "data_y0": at(y(0)), "data_y1": at(y(1))}
    return panel(_BOTTOM + 42, f"Best by weight of P1 on {corpus}: {spoken}", *parts, *dots, **scale)


def _leads_table(found: list[Lead], corpus: str) -> Markup:
    rows = [
        tag(
            "tr",
            tag("td", f"{decimal(lead.low, 'rate')} to {decimal(lead.high, 'rate')}", class_="words"),
            tag("td", lead.labels, class_="words"),
        )
        for lead in found
    ]
    return tag(
        "table",
        tag("caption", f"Best method by weight of P1, {corpus}", class_="unseen"),
        tag(
            "thead",
            tag(
                "tr",
                tag("th", "Weight of P1", scope="col", class_="words"),
                tag("th", "Best", scope="col", class_="words"),
            ),
        ),
        tag("tbody", *rows),
        class_="data small",
    )


def _order(methods: list[Mixed], corpus: str) -> Markup:
    """The order at the opening weight; the script keeps it in step with the slider."""
    ordered = sorted(methods, key=lambda method: (-method.at(START), method.label))
    rows = [
        tag(
            "tr",
            tag("th", method.label, scope="row"),
            tag("td", decimal(method.at(START), "rate")),
        )
        for method in ordered
    ]
    head = tag("tr", tag("th", "Method", scope="col"), tag("th", "Weighted mean", scope="col"))
    caption = tag("caption", f"Order on {corpus} at weight ", tag("span", f"{START:.2f}", class_="weight"))
    return tag("table", caption, tag("thead", head), tag("tbody", *rows), class_="data small order")
