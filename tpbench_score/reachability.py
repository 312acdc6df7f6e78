"""What a perfect answer can reach: every reference scored as its own answer, in the JSON shape that is asked for.

A reference that its own scorer calls wrong is out of reach for every method and reader. It stays in the frozen set;
this module only counts it, and the ceiling stands beside the tables.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tpbench_data.names import PROBE_LABELS, corpus_label
from tpbench_data.release.reader import Release
from tpbench_data.release.stored_tables import REACHABILITY
from tpbench_score.frozen_inputs import SCORED_CONFIGS
from tpbench_score.records import REASONS, Reference
from tpbench_score.rules import RULES, find_rule

FILE_NAME = REACHABILITY
FORMAT_VERSION = 1
"""Of the stored form, which is that of every stored table."""

_COLUMNS = {
    "initial_goal": ("reference_goal",),
    "current_value": ("reference_value",),
    "joint_recovery": ("reference_goal", "reference_value", "slot_label"),
    "free_form": ("reference_answer",),
}


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a release, whatever methods it was asked with.

    Attributes:
        probe: The probe.
        corpus: The corpus.
        protocol: The protocol.
        example_id: Its example.
        sample_seeds: The samples that hold it.
        answer: Its reference as a reader should give it, as JSON text.
        shown: The reference as people read it.
        reference: What answers are compared with.
    """

    probe: str
    corpus: str
    protocol: str
    example_id: str
    sample_seeds: tuple[int, ...]
    answer: str
    shown: str
    reference: Reference


@dataclass(frozen=True, slots=True)
class Unreachable:
    """A reference that its own answer does not match.

    Attributes:
        scorer: The scorer.
        question: The question.
        strict: Whether at least the strict rule is met; never, or it would not be here.
        loose: Whether the loose rule is met.
        reason: Reason code of `tpbench_score.records.REASONS`.
    """

    scorer: str
    question: Question
    strict: bool
    loose: bool
    reason: str


@dataclass(frozen=True)
class Cell:
    """The ceiling of one cell: means over sample seeds of the shares per seed, as in the tables.

    Attributes:
        probe: The probe.
        corpus: The corpus.
        protocol: The protocol.
        questions: Distinct questions.
        per_seed: Sample seed (``None`` for questions of no sample) -> number of questions.
        reached: Scorer -> measure -> sample seed -> questions that their own reference answers.
    """

    probe: str
    corpus: str
    protocol: str
    questions: int
    per_seed: Mapping[int | None, int]
    reached: Mapping[str, Mapping[str, Mapping[int | None, int]]]

    def ceiling(self, scorer: str, measure: str) -> float:
        """The highest value that any method can have in this cell."""
        shares = [self.reached[scorer][measure][seed] / n for seed, n in self.per_seed.items()]
        return sum(shares) / len(shares)


@dataclass(frozen=True)
class Reachability:
    """The ceilings of a release and what lies above them."""

    cells: Sequence[Cell]
    unreachable: Sequence[Unreachable]


def own_answer(probe: str, row: Mapping[str, Any]) -> tuple[str, str]:
    """The answer that repeats the reference of an input row: (text of the answer, reference as people read it)."""
    if probe == "free_form":
        return row["reference_answer"], row["reference_answer"]
    if probe == "joint_recovery":
        value = f"{row['reference_goal']}; {row['slot_label']}: {row['reference_value']}"
    else:
        value = row[_COLUMNS[probe][0]]
    return json.dumps({"value": value, "support": "", "abstain": False}, ensure_ascii=False), value


def questions(release: Release) -> Iterator[Question]:
    """Every question of a release once, in release order."""
    for probe in SCORED_CONFIGS:
        table = release.table(probe)
        wanted = {"corpus", "protocol", "example_id", "sample_seeds", "value_alternatives", *_COLUMNS[probe]}
        seen: set[tuple[str, str, str]] = set()
        for row in table.select([name for name in table.column_names if name in wanted]).to_pylist():
            key = (row["corpus"], row["protocol"], row["example_id"])
            if key in seen:
                continue
            seen.add(key)
            answer, shown = own_answer(probe, row)
            value = row.get("reference_answer") or row.get("reference_value") or ""
            reference = Reference(
                row["corpus"],
                row.get("reference_goal") or "",
                value,
                alternatives=tuple(row["value_alternatives"] or ()),
            )
            seeds = tuple(row["sample_seeds"] or ())
            yield Question(probe, row["corpus"], row["protocol"], row["example_id"], seeds, answer, shown, reference)


def reachability(release: Release, scorers: Sequence[str] = tuple(RULES)) -> Reachability:
    """Scores every reference of a release as its own answer."""
    groups: dict[tuple[str, str, str], list[Question]] = {}
    for question in questions(release):
        groups.setdefault((question.probe, question.corpus, question.protocol), []).append(question)
    unreachable: list[Unreachable] = []
    cells = [_cell(group, scorers, unreachable) for group in groups.values()]
    return Reachability(cells, unreachable)


def _cell(group: Sequence[Question], scorers: Sequence[str], unreachable: list[Unreachable]) -> Cell:
    first = group[0]
    seeds = sorted({seed for question in group for seed in question.sample_seeds})
    members: dict[int | None, list[int]] = {
        seed: [place for place, question in enumerate(group) if seed in question.sample_seeds] for seed in seeds
    }
    members = members or {None: list(range(len(group)))}
    reached: dict[str, dict[str, dict[int | None, int]]] = {}
    for scorer in scorers:
        rule = find_rule(scorer, first.probe, first.corpus)
        scores = [rule.judge(rule.extract(question.answer), question.reference) for question in group]
        unreachable += [
            Unreachable(scorer, question, score.strict, score.loose, score.reason)
            for question, score in zip(group, scores, strict=True)
            if not score.strict
        ]
        reached[scorer] = {
            measure: {
                seed: sum(getattr(scores[place], measure) for place in places) for seed, places in members.items()
            }
            for measure in ("strict", "loose")
        }
    per_seed = {seed: len(places) for seed, places in members.items()}
    return Cell(first.probe, first.corpus, first.protocol, len(group), per_seed, reached)


# --- as data -------------------------------------------------------------------------------------------------


def as_stored_table(found: Reachability) -> dict[str, Any]:
    """The ceilings as a stored table: one row per cell, one column per scorer with the numbers strict and loose."""
    scorers = list(found.cells[0].reached) if found.cells else []
    table = {
        "kind": "table",
        "title": "Ceiling: every reference scored as its own answer",
        "available": True,
        "part": "reachability",
        "facts": {},
        "head": "Probe and corpus",
        "columns": [
            {"key": scorer, "label": scorer, "group": "", "parts": ["strict", "loose"], "show_sd": False}
            for scorer in scorers
        ],
        "rows": [
            {
                "key": f"{cell.corpus}.{cell.probe}.{cell.protocol}",
                "label": f"{PROBE_LABELS[cell.probe]} {corpus_label(cell.corpus)}, {cell.protocol}, "
                f"{cell.questions} questions",
                "reference": False,
                "cells": [{"numbers": list(_numbers(cell, scorer))} for scorer in scorers],
            }
            for cell in found.cells
        ],
        "notes": [_note(found.unreachable, scorer) for scorer in scorers],
        "signature": f"scorer:{'+'.join(scorers) or 'none'}|mean:seeds",
    }
    return {"format": FORMAT_VERSION, "tables": [table]}


def _numbers(cell: Cell, scorer: str) -> Iterator[dict[str, Any]]:
    for measure in ("strict", "loose"):
        yield {
            "name": measure,
            "value": cell.ceiling(scorer, measure),
            "kind": "rate",
            "best": False,
            "per_seed": [
                {"seed": seed, "value": cell.reached[scorer][measure][seed] / n, "n": n}
                for seed, n in cell.per_seed.items()
            ],
        }


def _note(unreachable: Iterable[Unreachable], scorer: str) -> str:
    mine = [item for item in unreachable if item.scorer == scorer]
    loose = sum(not item.loose for item in mine)
    return (
        f"Under {scorer} {len(mine)} questions are out of reach of the strict rule, {loose} of them of the loose one."
    )


def as_records(found: Reachability) -> list[dict[str, Any]]:
    """Every reference out of reach, one flat record each."""
    return [
        {
            "scorer": item.scorer,
            "probe": item.question.probe,
            "corpus": item.question.corpus,
            "protocol": item.question.protocol,
            "example_id": item.question.example_id,
            "sample_seeds": list(item.question.sample_seeds),
            "reference": item.question.shown,
            "strict": item.strict,
            "loose": item.loose,
            "reason": item.reason,
            "meaning": REASONS[item.reason],
        }
        for item in found.unreachable
    ]
