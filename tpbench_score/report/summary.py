"""The first section: what was compared, how much of it was answered, and the headline findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tpbench_data.names import PROBE_LABELS, corpus_label
from tpbench_score.render.numbers import decimal
from tpbench_score.report.figures import facts_line, key
from tpbench_score.report.findings import ProbeFinding, RankFinding, Winner, probe_findings, rank_findings
from tpbench_score.report.markup import Markup, join, tag
from tpbench_score.report.svg import circle, diamond, line
from tpbench_score.report.table_html import caption_of, scrolling
from tpbench_score.tables.grid import ratio_text
from tpbench_score.tables.main import corpora_of
from tpbench_score.tables.model import Number, TableResult
from tpbench_score.tables.study import Study

_PROBE_NAMES = {"initial_goal": "initial goal", "current_value": "current value", "joint_recovery": "both together"}
_LINE = 168.0
_MOST_NAMED = 3


def summary(study: Study, results: Sequence[TableResult]) -> Markup:
    """The whole section, without its heading."""
    probes = [
        join(facts_line(table.facts), _probe_table(found, caption_of(table)))
        for table, found in probe_findings(study, results)
    ]
    ranks = [
        join(facts_line(table.facts), _rank_table(found, caption_of(table))) for table, found in rank_findings(results)
    ]
    parts: list[Any] = [scope(study), notice(study)]
    if probes:
        parts += [tag("h3", "Best compressed method per probe"), probes, _legend()]
    if ranks:
        parts += [tag("h3", "Do P1 and P2 rank the methods alike?"), ranks]
    if not probes and not ranks:
        parts.append(tag("p", "These outputs hold no main run of the three probes; see the tables for what they give."))
    return join(*parts)


def scope(study: Study) -> Markup:
    """What was compared, as a list of terms."""
    scores = study.scores
    once = scores.take(np.unique(scores["input"], return_index=True)[1])
    status = once.names["status"]
    counted = {name: int((once["status"] == code).sum()) for code, name in enumerate(status)}
    answered = len(once) - counted.get("missing", 0)
    readers = [study.reader, *study.others] if len(scores) else []
    terms = [
        ("Reader" if len(readers) == 1 else "Readers", ", ".join(readers)),
        ("Corpora", ", ".join(map(corpus_label, corpora_of(scores)))),
        ("Probes", ", ".join(PROBE_LABELS.get(probe, probe) for probe in sorted(scores.present("probe"), key=_order))),
        ("Conditions", f"{len(scores.present('method'))} methods"),
        ("Ratios", ", ".join(ratio_text(ratio) for ratio in scores.ratios()) or "adaptive"),
        ("Protocol", ", ".join(scores.present("protocol"))),
        ("Scorer", ", ".join(scores.present("scorer"))),
        ("Answers", f"{answered:,} of {len(once):,} planned"),
    ]
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in terms), class_="terms")


def _order(probe: str) -> tuple[str, str]:
    return PROBE_LABELS.get(probe, "~"), probe


def notice(study: Study) -> Markup | None:
    """A sentence on reader errors and missing answers, which count as wrong everywhere."""
    scores = study.scores
    once = scores.take(np.unique(scores["input"], return_index=True)[1])
    named = {name: int(once.is_in("status", [name]).sum()) for name in ("error", "missing")}
    if not any(named.values()):
        return None
    found = [
        f"Reader errors: {named['error']:,}. " if named["error"] else "",
        f"Planned inputs without an answer: {named['missing']:,}. " if named["missing"] else "",
    ]
    return tag("p", *found, "They count as wrong in every number below.", class_="notice")


# --- best method per probe ----------------------------------------------------------------------------------


def _probe_table(found: Sequence[ProbeFinding], source: str) -> Markup:
    heads = ("Probe, strict", "Best compressed", "Mean", "Full context", "Below full context, points", "0 to 1")
    classes = (None, "words", None, None, None, "words")
    head = tag("tr", *(tag("th", name, scope="col", class_=kind) for name, kind in zip(heads, classes, strict=True)))
    bodies = []
    for corpus in dict.fromkeys(finding.corpus for finding in found):
        rows = [tag("tr", tag("th", corpus, scope="rowgroup", colspan=len(heads), class_="corpus"))]
        for finding in (finding for finding in found if finding.corpus == corpus):
            row = tag(
                "tr",
                tag("th", f"{PROBE_LABELS[finding.probe]} {_PROBE_NAMES[finding.probe]}", scope="row"),
                tag("td", tag("strong", _named(finding.best)), class_="words"),
                _number(finding.score),
                _number(finding.full),
                _number(finding.gap),
                tag("td", _strip(finding), class_="strip"),
            )
            rows.append(row)
        bodies.append(tag("tbody", *rows))
    caption = tag("caption", f"Best compressed method per probe, with 95% intervals. From {source}", class_="unseen")
    return scrolling(tag("table", caption, tag("thead", head), *bodies, class_="data findings"))


def _legend() -> Markup:
    return tag(
        "p",
        key(circle(6, 6, 4.4, "dot best"), "best compressed"),
        key(circle(6, 6, 3.4, "dot"), "other methods"),
        key(diamond(6, 6, 5, "reference"), "full context and other points of reference"),
        "Gaps are paired over source dialogues.",
        class_="legend",
    )


def _number(number: Number | None) -> Markup:
    if number is None or number.value is None:
        return tag("td", "–")
    interval = None
    if number.interval is not None:
        low, high = (decimal(end, number.kind) for end in number.interval)
        interval = tag("span", f" [{low}, {high}]", class_="interval")
    return tag("td", decimal(number.value, number.kind), interval)


def _strip(finding: ProbeFinding) -> Markup:
    """All methods of a row of the table on one line from 0 to 1."""

    def x(share: float) -> float:
        return 8 + _LINE * share

    parts = [line(x(0), 12, x(1), 12, "rail")]
    parts += [line(x(end), 8, x(end), 16, "rail") for end in (0.0, 0.5, 1.0)]
    for mark in sorted(finding.marks, key=lambda mark: mark.best):
        if mark.reference:
            parts.append(diamond(x(mark.value), 12, 5, "reference"))
        else:
            if mark.best and finding.score.interval is not None:
                parts.append(line(x(finding.score.interval[0]), 12, x(finding.score.interval[1]), 12, "whisker best"))
            parts.append(circle(x(mark.value), 12, 4.8 if mark.best else 3.4, "dot best" if mark.best else "dot"))
    spoken = ", ".join(f"{mark.label} {decimal(mark.value, 'rate')}" for mark in finding.marks)
    return tag("svg", *parts, viewBox=f"0 0 {_LINE + 16:g} 24", role="img", aria_label=spoken, class_="rail-box")


# --- ranks ---------------------------------------------------------------------------------------------------


def _rank_table(found: Sequence[RankFinding], source: str) -> Markup:
    heads = ("Corpus", "Spearman of P1 and P2 strict", "Methods", "Best on P1 (rank on P2)", "Best on P2 (rank on P1)")
    head = tag("tr", *(tag("th", name, scope="col", class_="words" if i > 2 else None) for i, name in enumerate(heads)))
    rows = [
        tag(
            "tr",
            tag("th", finding.corpus, scope="row"),
            _number(finding.spearman),
            tag("td", finding.methods),
            tag("td", _winners(finding.first), class_="words"),
            tag("td", _winners(finding.second), class_="words"),
        )
        for finding in found
    ]
    caption = tag("caption", f"Rank correlation of P1-strict and P2-strict. From {source}", class_="unseen")
    return scrolling(tag("table", caption, tag("thead", head), tag("tbody", *rows), class_="data findings"))


def _named(best: Sequence[str]) -> str:
    """Equal methods by name, unless there are too many to read; table 3 has them all."""
    return " = ".join(best) if len(best) <= _MOST_NAMED else f"{len(best)} methods, equal"


def _winners(winners: Sequence[Winner]) -> str:
    return " = ".join(f"{label} ({rank:g})" for label, rank in winners)
