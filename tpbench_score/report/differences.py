"""Where the scorers disagree: counts per probe and corpus, and the answers that change sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tpbench_data.names import PROBE_LABELS, corpus_label, method_label
from tpbench_score.flips import MEASURES, Change, changes, flipped
from tpbench_score.records import REASONS
from tpbench_score.report.loading import Answers
from tpbench_score.report.markup import Markup, join, tag
from tpbench_score.report.records import LONGEST_FIELD, cut
from tpbench_score.report.table_html import scrolling

MOST_ROWS = 400
"""Answers that are listed; the page says how many there are in all."""


def differences(answers: Answers) -> Markup | None:
    """The section; ``None`` where there is one scorer only."""
    names = list(answers.scores)
    if len(names) < 2:
        return None
    chosen = pa.array(answers.chosen)
    first, *others = (table.take(chosen) for table in answers.scores.values())
    parts = []
    for name, table in zip(names[1:], others, strict=True):
        parts.append(tag("h3", f"{names[0]} and {name}"))
        parts.append(_counts(names[0], name, changes(first, table)))
        parts.append(_listed(answers, names[0], name, first, table))
    return join(*parts)


def _counts(first: str, second: str, found: Sequence[Change]) -> Markup:
    heads = [f"right, {first}", f"right, {second}", "wrong → right", "right → wrong"]
    groups = tag(
        "tr",
        tag("th", "Probe, corpus", scope="col", rowspan=2, data_column=0),
        tag("th", "Answers", scope="col", rowspan=2, data_column=1),
        *(tag("th", rule, scope="colgroup", colspan=4, class_="group") for rule in map(str.capitalize, MEASURES)),
    )
    leaves = [tag("th", head, scope="col", data_column=2 + i) for i, head in enumerate(heads * 2)]
    rows = []
    for change in found:
        cells: list[int] = [change.answers]
        for rule in MEASURES:
            cells += [*change.right[rule], change.gained[rule], change.lost[rule]]
        label = f"{PROBE_LABELS.get(change.probe, change.probe)} {corpus_label(change.corpus)}"
        body = (tag("td", f"{cell:,}", data_value=cell) for cell in cells)
        rows.append(tag("tr", tag("th", label, scope="row"), *body))
    caption = tag("caption", f"Answers right under {first} and {second}", class_="unseen")
    head = tag("thead", groups, tag("tr", *leaves))
    return scrolling(tag("table", caption, head, tag("tbody", *rows), class_="data sortable"))


def _listed(answers: Answers, first: str, second: str, a: pa.Table, b: pa.Table) -> Markup:
    """The answers that flip under the strict or the loose rule, in release order."""
    places = np.flatnonzero(flipped(a, b))
    if not len(places):
        return tag("p", "No answer changes sides.")
    shown = places[:MOST_ROWS]
    rows_a, rows_b = (table.take(pa.array(shown)).to_pylist() for table in (a, b))
    wanted = answers.inputs.positions(a["input_id"].take(pa.array(shown)))
    references = answers.inputs.table.select(["reference_goal", "reference_value"]).take(pa.array(wanted)).to_pylist()
    rows = [_row(x, y, reference) for x, y, reference in zip(rows_a, rows_b, references, strict=True)]
    heads = ("Item", "Method", "Reference", first, second)
    head = tag("tr", *(tag("th", name, scope="col", class_="words", data_column=i) for i, name in enumerate(heads)))
    caption = tag("caption", f"Answers that {first} and {second} judge differently", class_="unseen")
    table = tag("table", caption, tag("thead", head), tag("tbody", *rows), class_="data sortable texts")
    more = f"Answers judged differently: {len(shown):,} of {len(places):,}"
    if len(shown) < len(places):
        more += " in the order of the release; tpbench-score flips lists them all"
    return tag("details", tag("summary", more), scrolling(table))


def _row(a: Mapping[str, Any], b: Mapping[str, Any], reference: Mapping[str, Any]) -> Markup:
    known = [text for text in (reference["reference_goal"], reference["reference_value"]) if text]
    probe = PROBE_LABELS.get(a["probe"], a["probe"])
    return tag(
        "tr",
        tag("th", f"{probe} {a['example_id']}", scope="row", class_="text"),
        tag("td", method_label(a["method"]), class_="words text"),
        tag("td", cut("; ".join(known), LONGEST_FIELD), class_="words text"),
        *(tag("td", tag("b", _verdict(row)), " ", _answer(row), class_="words text") for row in (a, b)),
    )


def _verdict(row: Mapping[str, Any]) -> str:
    name = "right" if row["strict"] else "right, loose" if row["loose"] else "wrong"
    return f"{name}: {REASONS.get(row['reason'], row['reason'])}."


def _answer(row: Mapping[str, Any]) -> Markup | None:
    return None if row["answer"] is None else tag("q", cut(row["answer"], LONGEST_FIELD))
