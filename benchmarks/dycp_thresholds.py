"""Does DyCP's threshold drop scattered evidence? Retention on P2 by the form of the evidence, for several theta.

    python benchmarks/dycp_thresholds.py RELEASE --out benchmarks

The evidence of a question are the turns that state its reference value, whoever speaks; a span is a run of such turns
without a gap. Evidence is isolated if every span is one turn, else contiguous.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from table import markdown, save, share

from tpbench_data.release.reader import Release
from tpbench_generate.cases import Case, cases_of
from tpbench_generate.methods import load_method

THETAS = (0.0, 0.5, 1.0, 2.0)
OTHERS = (
    ("dycp_budget", 0.2), ("dense_topk", 0.2), ("dycp_budget", 0.3), ("dense_topk", 0.3), ("bm25", 0.3),
    ("recency", 0.3), ("random", 0.3),
)  # fmt: skip
"""Methods with a ratio: 0.2 is about what DyCP keeps at theta 1, 0.3 what it keeps at theta 0."""


@dataclass(frozen=True)
class Question:
    """A case and its evidence, as spans of turn ids."""

    case: Case
    spans: tuple[tuple[int, ...], ...]

    @property
    def turns(self) -> set[int]:
        """Every turn of the evidence."""
        return {turn for span in self.spans for turn in span}


GROUPS: dict[str, Callable[[Question], bool]] = {
    "all": lambda q: True,
    "1 span": lambda q: len(q.spans) == 1,
    "2 spans": lambda q: len(q.spans) == 2,
    "3 or more spans": lambda q: len(q.spans) >= 3,
    "isolated": lambda q: all(len(span) == 1 for span in q.spans),
    "contiguous": lambda q: any(len(span) > 1 for span in q.spans),
}


def spans_of(turns: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Ascending turn ids as runs without a gap."""
    spans: list[list[int]] = []
    for turn in turns:
        if spans and turn == spans[-1][-1] + 1:
            spans[-1].append(turn)
        else:
            spans.append([turn])
    return tuple(map(tuple, spans))


def main() -> None:
    """Applies every method to every question and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", type=Path)
    parser.add_argument("--out", type=Path, default=Path("benchmarks"))
    given = parser.parse_args()
    cases = cases_of(Release.open(given.release), ["current_value"], protocols=["paper"])
    questions = [Question(case, spans_of(case.row["answer_turns"])) for case in cases if case.row["answer_turns"]]
    methods = [*((f"dycp(theta={theta})", None) for theta in THETAS), *OTHERS]
    numbers = []
    for text, ratio in methods:
        selector = load_method(text).selector
        kept = [set(selector.keep(question.case.item, ratio)) for question in questions]
        for group, belongs in GROUPS.items():
            pairs = [(q, k) for q, k in zip(questions, kept, strict=True) if belongs(q)]
            numbers.append({"method": text, "ratio": ratio, "group": group} | _count(pairs))
    head = ("method", *(f"{group} (n={_n(numbers, group)})" for group in GROUPS))
    body = []
    for text, ratio in methods:
        name = text.replace("dycp(theta=", "dycp, theta ").rstrip(")")
        name += "" if ratio is None else f", ratio {ratio:g}"
        mine = [one for one in numbers if (one["method"], one["ratio"]) == (text, ratio)]
        body.append((name, *(_cell(one) for one in mine)))
    lengths = sorted(question.case.item.n_turns for question in questions)
    report = (
        f"# DyCP: retention by the form of the evidence\n\n{len(questions)} P2 questions on real SGD dialogues"
        f" ({lengths[0]} to {lengths[-1]} turns, median {lengths[len(lengths) // 2]}), tau = 0.6, encoder"
        " all-MiniLM-L6-v2. Each cell: value kept % / evidence turns kept % / all spans touched % / turns kept %."
        " *Value kept*: at least one turn that states the value is kept. *All spans touched*: at least one turn of"
        " every span is kept.\n\n" + markdown(head, body) + _reading(numbers)
    )
    save(given.out, "dycp_thresholds", report, {"cells": numbers})


def _count(pairs: Sequence[tuple[Question, set[int]]]) -> dict[str, Any]:
    return {
        "n": len(pairs),
        "value_kept": sum(bool(q.turns & kept) for q, kept in pairs),
        "evidence_turns": sum(len(q.turns & kept) / len(q.turns) for q, kept in pairs),
        "all_spans": sum(all(set(span) & kept for span in q.spans) for q, kept in pairs),
        "turns": sum(len(kept) / q.case.item.n_turns for q, kept in pairs),
    }


def _cell(one: dict[str, Any]) -> str:
    return " / ".join(share(one[key], one["n"], 0) for key in ("value_kept", "evidence_turns", "all_spans", "turns"))


def _n(numbers: Sequence[dict[str, Any]], group: str) -> int:
    return int(next(one["n"] for one in numbers if one["group"] == group))


def _reading(numbers: Sequence[dict[str, Any]]) -> str:
    def rate(theta: float, group: str, key: str) -> float:
        one = next(one for one in numbers if (one["method"], one["group"]) == (f"dycp(theta={theta})", group))
        return 100 * one[key] / one["n"] if one["n"] else 0.0

    lines = ["\nFrom theta 0 to theta 1, the published value, the loss in points:\n"]
    for group in GROUPS:
        value = rate(0.0, group, "value_kept") - rate(1.0, group, "value_kept")
        spans = rate(0.0, group, "all_spans") - rate(1.0, group, "all_spans")
        turns = rate(0.0, group, "turns") - rate(1.0, group, "turns")
        lines.append(f"- {group}: value kept {value:.1f}, all spans touched {spans:.1f}, turns kept {turns:.1f}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
