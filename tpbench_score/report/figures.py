"""What all figures share: a figure with caption, the picture, and the table of its numbers folded below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tpbench_score.report.markup import Markup, join, tag
from tpbench_score.report.table_html import notes_of, table_element
from tpbench_score.tables.model import TableResult

Facts = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Part:
    """One reader, protocol and ratio of a figure.

    Attributes:
        facts: which.
        panels: the pictures, one per corpus, side by side where there is room.
        results: tables with the numbers that are drawn, folded below.
    """

    facts: Facts
    panels: tuple[Markup, ...]
    results: tuple[TableResult, ...] = ()


def figure(caption: str, legend: Sequence[Any], parts: Sequence[Part]) -> Markup | None:
    """A figure; ``None`` where nothing can be drawn.

    Args:
        caption: what it shows, as one or two sentences.
        legend: what the marks mean.
        parts: what is drawn.
    """
    drawn = [part for part in parts if part.panels]
    if not drawn:
        return None
    return tag("figure", tag("figcaption", caption), tag("p", *legend, class_="legend"), *map(_part, drawn))


def _part(part: Part) -> Markup:
    numbers = (
        tag("details", tag("summary", f"The numbers: {result.title}"), table_element(result), notes_of(result))
        for result in part.results
    )
    return join(facts_line(part.facts), tag("div", *part.panels, class_="panels"), *numbers)


def key(mark: Markup, meaning: str, width: int = 12) -> Markup:
    """One entry of a legend: a mark, drawn in a box of 12 units height, and what it means."""
    small = " small" if width == 12 else ""
    drawn = tag("svg", mark, viewBox=f"0 0 {width} 12", class_=f"sample{small}", aria_hidden="true")
    return tag("span", drawn, f" {meaning} ", class_="key")


def panel_title(corpus: str) -> Markup:
    """The name of a corpus above its panel."""
    return tag("p", corpus, class_="panel-title")


def facts_line(facts: Facts) -> Markup:
    """Reader, ratio and protocol of a result, in one line."""
    return tag("p", ", ".join(f"{name} {value}" for name, value in facts), class_="facts")


def by_facts(results: Sequence[TableResult]) -> list[list[TableResult]]:
    """Results of one figure that belong together, in order."""
    out: dict[Facts, list[TableResult]] = {}
    for result in results:
        out.setdefault(result.facts, []).append(result)
    return list(out.values())


def corpora(result: TableResult) -> list[str]:
    """The groups (corpora) of the columns, in order."""
    return list(dict.fromkeys(column.group for column in result.columns))
