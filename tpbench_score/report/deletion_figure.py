"""Figure 3 as a picture: what the reader answers with all turns, without the update turn, and without a control turn.

Source: scoring spec 5 (F3). The condition that was changed has a heavy frame, the removed turn is red.
"""

from __future__ import annotations

from collections.abc import Sequence

from tpbench_score.render.numbers import decimal
from tpbench_score.report.figures import Part, corpora, figure, key, panel_title
from tpbench_score.report.markup import Markup, tag
from tpbench_score.report.svg import WIDTH, line, panel, rectangle, text
from tpbench_score.tables.model import Number, TableResult

CAPTION = (
    "What the reader answers from the full context, without the turn that holds the update, and without another turn "
    "of the same speaker instead. Whiskers: 95% intervals."
)
_REMOVED = {"drop_update": 5, "drop_update_control": 3}
"""Which of the eight turns of the sketch is missing in a condition."""
_TURNS, _UPDATE = 8, 5
_BAR_LEFT, _BAR_RIGHT, _BAR, _BLOCK = 122.0, 344.0, 15.0, 92.0


def deletion_figure(results: Sequence[TableResult]) -> Markup | None:
    """The figure from Figure 3 of every reader, protocol and ratio; ``None`` where nothing was deleted."""
    legend = [
        key(rectangle(0, 1, 12, 10, f"bar {kind}"), meaning)
        for kind, meaning in (("current", "current value"), ("old", "superseded value"), ("none", "no answer"))
    ]
    legend += [
        key(rectangle(1, 1, 10, 10, "turn update"), "update turn"),
        key(rectangle(1, 1, 10, 10, "turn removed"), "deleted turn"),
    ]
    parts = []
    for result in results:
        panels = (tag("div", panel_title(corpus), _panel(result, corpus)) for corpus in corpora(result))
        parts.append(Part(result.facts, tuple(panels), (result,)))
    return figure(CAPTION, legend, parts)


def _panel(result: TableResult, corpus: str) -> Markup:
    places = [i for i, column in enumerate(result.columns) if column.group == corpus]
    labels = [result.columns[i].label for i in places]
    parts = []
    spoken = []
    for number, row in enumerate(result.rows):
        top = number * _BLOCK
        removed = _REMOVED.get(row.key)
        if row.key == "drop_update":
            parts.append(rectangle(1.5, top + 1.5, WIDTH - 3, _BLOCK - 7, "heavy"))
        parts.append(text(10, top + 21, row.label, "name strong"))
        parts.append(_sketch(top + 11, removed))
        for step, (place, class_) in enumerate(zip(places, ("current", "old", "none"), strict=True)):
            parts += _bar(row.cells[place].numbers[0], class_, result.columns[place].label, top + 31 + step * 17)
        values = (row.cells[place].numbers[0].value for place in places)
        said = ", ".join(
            f"{label.lower()} {'not known' if value is None else decimal(value, 'rate')}"
            for label, value in zip(labels, values, strict=True)
        )
        spoken.append(f"{row.label}: {said}")
    return panel(len(result.rows) * _BLOCK - 3, f"{corpus}. {'. '.join(spoken)}.", *parts)


def _sketch(top: float, removed: int | None) -> Markup:
    """Eight turns in a row; the update turn is filled, the removed turn is red and crossed out."""
    parts = []
    for turn in range(_TURNS):
        x = _BAR_RIGHT - 14 * (_TURNS - turn) + 2
        class_ = "turn update" if turn == _UPDATE else "turn"
        if turn == removed:
            class_ = "turn removed"
            parts.append(line(x + 2, top + 2, x + 8, top + 8, "cross"))
            parts.append(line(x + 8, top + 2, x + 2, top + 8, "cross"))
        parts.insert(0, rectangle(x, top, 10, 10, class_))
    return tag("g", *parts)


def _bar(number: Number, class_: str, label: str, top: float) -> list[Markup]:
    width = _BAR_RIGHT - _BAR_LEFT
    parts = [text(_BAR_LEFT - 8, top + 11, label, "axis", "end"), rectangle(_BAR_LEFT, top, width, _BAR - 3, "track")]
    if number.value is None:
        return [*parts, text(_BAR_RIGHT + 8, top + 11, "–", "value")]
    parts.append(rectangle(_BAR_LEFT, top, width * number.value, _BAR - 3, f"bar {class_}"))
    if number.interval is not None:
        low, high = (_BAR_LEFT + width * end for end in number.interval)
        parts += [line(low, top + 6, high, top + 6, class_) for class_ in ("halo", "whisker")]
    parts.append(text(_BAR_RIGHT + 8, top + 11, decimal(number.value, "rate"), "value"))
    return parts
