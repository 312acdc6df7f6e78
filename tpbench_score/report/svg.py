"""Small helpers for inline SVG: coordinates, text, and labels that do not cover each other.

Figures use classes and the page's colours, so they follow its light and dark form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tpbench_score.report.markup import Markup, tag

WIDTH = 400
"""Width of every panel in user units, about one pixel each, so that text stays readable on a narrow screen."""

PLOT_RIGHT = 252.0
"""Where plots end; the names of the methods stand to the right of it."""


def at(value: float) -> str:
    """A coordinate: one decimal, no negative zero, the same on every platform."""
    text = f"{value:.1f}"
    text = text.removeprefix("-") if float(text) == 0 else text
    return text.removesuffix(".0")


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return tag("line", x1=at(x1), y1=at(y1), x2=at(x2), y2=at(y2), class_=class_)


def path(points: Sequence[tuple[float, float]], class_: str) -> Markup:
    """A line through points."""
    return tag("path", d="M" + "L".join(f"{at(x)} {at(y)}" for x, y in points), class_=class_)


def circle(x: float, y: float, r: float, class_: str) -> Markup:
    """A dot."""
    return tag("circle", cx=at(x), cy=at(y), r=at(r), class_=class_)


def diamond(x: float, y: float, r: float, class_: str) -> Markup:
    """A diamond: the mark of a point of reference."""
    corners = f"M{at(x)} {at(y - r)}L{at(x + r)} {at(y)}L{at(x)} {at(y + r)}L{at(x - r)} {at(y)}Z"
    return tag("path", d=corners, class_=class_)


def rectangle(x: float, y: float, width: float, height: float, class_: str) -> Markup:
    """A rectangle; a width below zero counts as zero."""
    return tag("rect", x=at(x), y=at(y), width=at(max(0.0, width)), height=at(height), class_=class_)


def text(x: float, y: float, content: str, class_: str = "", anchor: str | None = None) -> Markup:
    """Text whose first (or, by ``anchor``, middle or last) letter stands at x."""
    return tag("text", content, x=at(x), y=at(y), class_=class_ or None, text_anchor=anchor)


def panel(height: float, title: str, *content: Any, **attributes: str) -> Markup:
    """A figure that names itself to a screen reader; its numbers stand in a table beside it."""
    shape = f"0 0 {WIDTH} {at(height)}"
    return tag("svg", *content, viewBox=shape, role="img", aria_label=title, class_="panel", **attributes)


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places near the wanted ones, in the same order, at least ``gap`` apart and between ``low`` and ``high``.

    Places that are too close are moved apart around their common centre; where there is no room, the gap shrinks.
    """
    if not wanted:
        return []
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    if len(wanted) > 1:
        gap = min(gap, (high - low) / (len(wanted) - 1))
    groups: list[tuple[float, list[int]]] = []  # (first place, members), each group packed at distance ``gap``
    for index in order:
        groups.append((min(max(wanted[index], low), high), [index]))
        while len(groups) > 1 and groups[-2][0] + gap * len(groups[-2][1]) > groups[-1][0] + 1e-9:
            members = groups[-2][1] + groups[-1][1]
            del groups[-2:]
            centre = sum(wanted[i] for i in members) / len(members)
            first = centre - gap * (len(members) - 1) / 2
            first = min(max(first, low), high - gap * (len(members) - 1))
            groups.append((first, members))
    places = [0.0] * len(wanted)
    for first, members in groups:
        for step, index in enumerate(members):
            places[index] = first + gap * step
    return places


def shortened(label: str, longest: int = 24) -> str:
    """A label that fits beside a figure: a user's method may have any name."""
    return label if len(label) <= longest else label[: longest - 1] + "…"
