"""Tables 15 and 16: methods that compress the reader's cache, and the chunk length of ChunkKV.

Source: scoring spec 5. Turn fractions and cache fractions have different physical units, so best marks are found
among the cache methods alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tpbench_data.names import PROBE_LABELS, corpus_label, method_label, method_rank
from tpbench_score.statistics.bootstrap import OWN, intervals
from tpbench_score.statistics.ranks import best
from tpbench_score.tables.alias import best_selector
from tpbench_score.tables.grid import (
    STRICT,
    Measure,
    Values,
    counts_of,
    over_seeds,
    sample_of,
    truth,
)
from tpbench_score.tables.main import corpora_of, facts, protocols_and_ratios
from tpbench_score.tables.model import Cell, Column, Number, Row, TableResult
from tpbench_score.tables.scores import Scores
from tpbench_score.tables.study import Study

PROBES = ("current_value", "joint_recovery")
DEFAULT_CHUNK = 20
"""Chunk length of the paper's ChunkKV runs."""

CHUNK_KEY = "chunk_length"


def _malformed(rows: Scores) -> Values:
    return (rows.is_in("status", ["error"]) | rows.is_in("reason", ["no_json"])).astype(np.float64)


MALFORMED = Measure("malformed", _malformed, bold=False)
ABSTAINED = Measure("abstained", truth("abstained"), bold=False)
_PLAIN_STRICT = Measure("strict", truth("strict"), bold=False)


def chunk_length(study: Study, run: str) -> int | None:
    """The chunk length a run was made with."""
    value = study.kv_settings.get(run, {}).get(CHUNK_KEY)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _cell_rows(study: Study, kv: Scores, sweep: Scores, method: str) -> tuple[Scores, str]:
    """The rows of a cache method, and a note where the chunk sweep stands in for the method's own run."""
    own = kv.pick(method=method)
    lengths = {run: chunk_length(study, run) for run in own.present("run_id")}
    wanted = next((length for length in lengths.values() if length is not None), DEFAULT_CHUNK)
    same = [run for run in sweep.pick(method=method).present("run_id") if chunk_length(study, run) == wanted]
    if same:
        return sweep.pick(method=method, run_id=same[0]), f"{method_label(method)} of the chunk sweep ({same[0]})"
    return own, ""


def table_15(study: Study) -> list[TableResult]:
    """Cache methods beside the best turn selector on the same sample."""
    out = []
    kv = study.rows(("kv",), *PROBES)
    sweep = study.rows(("chunk_sweep",), *PROBES)
    either = kv.joined(sweep) if len(sweep) else kv
    methods = sorted(either.present("method"), key=method_rank)
    for protocol, ratio, part in protocols_and_ratios(either, PROBES):
        swept = sweep.pick(protocol=protocol).at_ratio(ratio)
        own = kv.pick(protocol=protocol).at_ratio(ratio)
        main = study.rows(("main",), *PROBES).pick(protocol=protocol).at_ratio(ratio)
        rows, notes = [], []
        for probe in PROBES:
            for corpus in corpora_of(part):
                here = {"probe": probe, "corpus": corpus}
                label = f"{PROBE_LABELS[probe]} {corpus_label(corpus)}"
                cells, used = [], part.take(np.zeros(len(part), dtype=bool))
                for method in methods:
                    found, note = _cell_rows(study, own.pick(**here), swept.pick(**here), method)
                    used = used.joined(found)
                    cells.append(_number(study, found))
                    notes += [f"{label}: {note}."] if note else []
                if len(used):
                    seeds = [seed for seed in used.seeds() if seed in main.seeds()]
                    selectors = main.pick(**here)
                    selectors = selectors.take(np.isin(selectors["seed"], seeds))
                    number, leaders = best_selector(selectors, STRICT)
                    cells = _marked(cells)
                    cells.append(Cell((number,), " = ".join(method_label(m) for m in leaders)))
                    rows.append(Row(f"{probe}.{corpus}", label, tuple(cells)))
        if rows:
            columns = [Column(method, method_label(method), parts=("strict",)) for method in methods]
            columns.append(Column("best_selector", "Best turn selector", parts=("strict",), accuracy=False))
            seeds_text = ", ".join(str(seed) for seed in part.seeds())
            out.append(
                TableResult(
                    15,
                    "Strict accuracy of cache methods",
                    tuple(columns),
                    tuple(rows),
                    head="Probe, corpus",
                    facts=(*facts(study.reader, protocol, ratio), ("sample seed", seeds_text)),
                    notes=("Bold: best cache method of a row with more than one.", *notes),
                )
            )
    return out


def _number(study: Study, rows: Scores) -> Cell:
    if not len(rows):
        return Cell((Number(None, why="not run"),))
    number = over_seeds(rows, STRICT)
    interval = intervals([sample_of(rows, STRICT)], OWN)[0] if study.with_intervals else None
    return Cell((_with(number, study, rows, interval),))


def _with(number: Number, study: Study, rows: Scores, interval: tuple[float, float] | None) -> Number:
    return replace(number, counts=counts_of(rows, study.universe), interval=interval)


def _marked(cells: list[Cell]) -> list[Cell]:
    values = [cell.numbers[0].value for cell in cells]
    if sum(value is not None for value in values) < 2:
        return cells
    return [
        replace(cell, numbers=(replace(cell.numbers[0], best=mark),))
        for cell, mark in zip(cells, best(values), strict=True)
    ]


def table_16(study: Study) -> list[TableResult]:
    """ChunkKV at several chunk lengths: strict, malformed, abstained."""
    out = []
    measures = (("P2 strict", _PLAIN_STRICT), ("Malformed", MALFORMED), ("Abstain", ABSTAINED))
    sweep = study.rows(("chunk_sweep",), "current_value").pick(probe="current_value")
    for protocol, ratio, part in protocols_and_ratios(sweep, ("current_value",)):
        runs = sorted(
            (length, run) for run in part.present("run_id") if (length := chunk_length(study, run)) is not None
        )
        if not runs:
            continue
        corpora = corpora_of(part)
        rows = []
        for length, run in runs:
            cells = []
            for corpus in corpora:
                mine = part.pick(run_id=run, corpus=corpus)
                for _, measure in measures:
                    number = over_seeds(mine, measure) if len(mine) else Number(None, why="not run")
                    cells.append(Cell((_with(number, study, mine, None),) if len(mine) else (number,)))
            rows.append(Row(str(length), str(length), tuple(cells)))
        columns = tuple(
            Column(f"{corpus}.current_value.{measure.name}", label, corpus_label(corpus), (measure.name,))
            for corpus in corpora
            for label, measure in measures
        )
        seeds_text = ", ".join(str(seed) for seed in part.seeds())
        out.append(
            TableResult(
                16,
                "ChunkKV by chunk length",
                columns,
                tuple(rows),
                head="Chunk length",
                facts=(*facts(study.reader, protocol, ratio), ("sample seed", seeds_text)),
                notes=("Malformed: the reader failed or its answer holds no JSON object.",),
            )
        )
    return out
