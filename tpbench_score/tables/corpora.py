"""Tables 19 and 20: P2-strict on LongMemEval-KU and RiSAWOZ, where random selection is run with several seeds.

Source: scoring spec 4.8, fourth row. The examples are fixed and only random selection varies: its value is the mean
of the selector seeds' means, its deviation the sample deviation of those means, its interval over per-dialogue means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tpbench_data.names import corpus_label, method_label, method_rank
from tpbench_score.statistics.bootstrap import CORPUS_SIGNATURE, OWN, Interval, corpus_interval, intervals
from tpbench_score.statistics.ranks import best
from tpbench_score.statistics.seeds import sample_sd, seed_mean
from tpbench_score.tables.grid import DELETIONS, REFERENCE_METHODS, STRICT, Plan, counts_of, input_notes, sample_of
from tpbench_score.tables.main import facts, protocols_and_ratios
from tpbench_score.tables.model import Cell, Column, Number, Row, SeedValue, TableResult
from tpbench_score.tables.scores import Scores
from tpbench_score.tables.study import Study

ROLES = ("corpus", "main")
_P2 = "current_value"

LABELS = {"lme_ku": ("lme_ku_p2", "p3_em_strict"), "risawoz": ("risawoz_p2", "p3_correct")}
"""Corpus -> the names that seed its published intervals."""

PUBLISHED_METHODS = {"random": "random_selection", "first_turns": "first_n"}
"""Methods whose published intervals were seeded with another name. Part of the recipe, not of our vocabulary."""


def _per_seed(rows: Scores) -> tuple[SeedValue, ...]:
    """One value per selector seed; methods without one have a single value."""
    out = []
    for seed in np.unique(rows["selector_seed"]):
        right = rows["strict"][rows["selector_seed"] == seed] == 1
        out.append(SeedValue(None if seed < 0 else int(seed), float(right.sum()) / len(right), len(right)))
    return tuple(out)


def _interval(corpus: str, method: str, rows: Scores) -> Interval | None:
    """The published interval where every dialogue has equally many answers, else our own."""
    names = np.array(rows.names["dialogue_id"])
    dialogues, place, sizes = np.unique(names[rows["dialogue_id"]], return_inverse=True, return_counts=True)
    if corpus not in LABELS or len(set(sizes.tolist())) != 1:
        return intervals([sample_of(rows, STRICT)], OWN)[0]
    totals = np.bincount(place, weights=rows["strict"] == 1, minlength=len(dialogues))
    label = "|".join([*LABELS[corpus], PUBLISHED_METHODS.get(method, method)])
    return corpus_interval(label, [int(total) for total in totals], int(sizes[0]))


def _once(rows: Scores) -> Scores:
    """Every input once, whatever samples it belongs to."""
    return rows.take(np.unique(rows["input"], return_index=True)[1])


def _corpus_table(study: Study, number: int, corpus: str) -> list[TableResult]:
    out = []
    for role in ROLES:
        found = study.rows((role,), _P2).pick(probe=_P2, corpus=corpus)
        if len(found):
            break
    for protocol, ratio, part in protocols_and_ratios(found, (_P2,)):
        rows = _once(part)
        methods = sorted(set(rows.present("method")) - set(DELETIONS), key=method_rank)
        numbers: dict[str, Number] = {}
        for method in methods:
            mine = rows.pick(method=method)
            per_seed = _per_seed(mine)
            values = [entry.value for entry in per_seed if entry.value is not None]
            numbers[method] = Number(
                seed_mean(values),
                sd=sample_sd(values),
                per_seed=per_seed,
                counts=counts_of(mine, study.universe),
                interval=_interval(corpus, method, mine),
            )
        plan = Plan(Column(f"{corpus}.{_P2}.strict", "P2 strict", corpus_label(corpus), ("strict",)), rows, (STRICT,))
        table_rows = _rows(methods, numbers)
        n = max(len(np.unique(rows.pick(method=m)["example_id"])) for m in methods)
        out.append(
            TableResult(
                number,
                f"{corpus_label(corpus)} P2-strict",
                (plan.column,),
                table_rows,
                facts=(*facts(study.reader, protocol, ratio), ("n", str(n))),
                notes=(*_notes(numbers), *input_notes([plan], table_rows)),
                mean="selector-seeds",
                intervals=CORPUS_SIGNATURE,
            )
        )
    return out


def _rows(methods: Sequence[str], numbers: dict[str, Number]) -> tuple[Row, ...]:
    ranked = [m for m in methods if m not in REFERENCE_METHODS]
    for method, mark in zip(ranked, best([numbers[m].value for m in ranked]), strict=True):
        numbers[method] = replace(numbers[method], best=mark)
    return tuple(Row(m, method_label(m), (Cell((numbers[m],)),), m in REFERENCE_METHODS) for m in methods)


def _notes(numbers: dict[str, Number]) -> list[str]:
    notes = ["95% intervals over dialogues (published recipe)."]
    for method, number in numbers.items():
        if number.sd is not None:
            seeds = len(number.per_seed)
            notes.append(f"{method_label(method)}: mean of {seeds} selector seeds, deviation {number.sd:.3f}.")
    return notes


def table_19(study: Study) -> list[TableResult]:
    """LongMemEval-KU."""
    return _corpus_table(study, 19, "lme_ku")


def table_20(study: Study) -> list[TableResult]:
    """RiSAWOZ (Chinese), by the ordinary P2 rule."""
    return _corpus_table(study, 20, "risawoz")
