"""What the runs, saved outputs and judgments of a release must satisfy.

Known run and input, one answer each, none missing, and the method and ratio of the input that was answered.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from tpbench_data.judgment_files import LABELS
from tpbench_data.names import ROLES
from tpbench_data.release.issues import Issue

Row = dict[str, Any]
Parts = list[tuple[str, pa.Table]]
Cells = Mapping[str, tuple[str | None, float | None]]
"""Input id -> its method and ratio."""
Runs = Mapping[str, Row]
"""Run id -> row of `runs`."""

_RUN_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_OUTPUT_COLUMNS = ["run_id", "input_id", "method", "ratio", "text", "text_source", "finish_reason", "error"]
_SOURCES = ("raw", "json_span", "rebuilt")
_REASONS = ("stop", "length", "error", None)


def check_results(
    runs: Parts, outputs: Parts, judgments: Parts, inputs: Cells | None, complete: bool
) -> Iterator[Issue]:
    """Checks the three configs of results.

    Args:
        runs: Files of `runs` with their tables.
        outputs: Files of `outputs`.
        judgments: Files of `judgments`.
        inputs: The inputs of the release; ``None`` where some could not be read, so that none is called unknown.
        complete: Whether all three could be read, so that what is missing is missing.
    """
    known: dict[str, tuple[str, int, Row]] = {}
    for path, table in runs:
        for number, row in enumerate(table.to_pylist(), start=1):
            yield from (Issue(path, number, *found) for found in _check_run(row, known))
            if row["run_id"] is not None:
                known.setdefault(row["run_id"], (path, number, row))
    rows = {run_id: row for run_id, (_, _, row) in known.items()} if complete else None
    answered: Counter[str] = Counter()
    yield from check_outputs(outputs, rows, inputs, answered)
    yield from check_judgments(judgments, rows, answered)
    for run_id, (path, number, row) in sorted(known.items()) if complete else ():
        if answered[run_id] != row["n_planned"]:
            problem = f"{run_id} planned {row['n_planned']} answers, {answered[run_id]} are there"
            yield Issue(path, number, "n_planned", problem)


def _check_run(row: Row, known: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if row["run_id"] in known:
        yield "run_id", f"{row['run_id']!r} appears twice"
    if row["run_id"] is None or not _RUN_ID.fullmatch(row["run_id"]):
        yield "run_id", f"{row['run_id']!r} is not a name of a-z, 0-9, '.', '_' and '-'"
    if row["role"] not in ROLES:
        yield "role", f"{row['role']!r} is not one of {', '.join(ROLES)}"


def check_outputs(parts: Parts, runs: Runs | None, inputs: Cells | None, answered: Counter[str]) -> Iterator[Issue]:
    """Checks saved outputs and counts them per run into ``answered``; ``None`` = could not be read."""
    seen: set[tuple[str, str]] = set()
    for path, table in parts:
        for number, row in enumerate(table.select(_OUTPUT_COLUMNS).to_pylist(), start=1):
            key = (row["run_id"], row["input_id"])
            if key in seen:
                yield Issue(path, number, "input_id", f"{row['input_id']!r} is answered twice by {row['run_id']}")
            seen.add(key)
            answered[row["run_id"]] += 1
            yield from (Issue(path, number, *found) for found in _check_output(row, runs, inputs))


def _check_output(row: Row, runs: Runs | None, inputs: Cells | None) -> Iterator[tuple[str, str]]:
    run = (runs or {}).get(row["run_id"])
    if run is None and runs is not None:
        yield "run_id", f"{row['run_id']!r} is not among the runs"
    cell = (inputs or {}).get(row["input_id"])
    if cell is None and inputs is not None:
        yield "input_id", f"{row['input_id']!r} is not among the inputs"
    elif cell is not None and run is not None and run["kv_settings"] is None and (row["method"], row["ratio"]) != cell:
        yield "method", "and ratio are not those of the input, and the run compresses no cache"
    if row["text"] is None:
        yield "text", "is null"
    if row["text_source"] not in _SOURCES:
        yield "text_source", f"{row['text_source']!r} is not one of {', '.join(_SOURCES)}"
    if row["finish_reason"] not in _REASONS:
        yield "finish_reason", f"{row['finish_reason']!r} is not one of stop, length, error"
    if (row["finish_reason"] == "error") != (row["error"] is not None):
        yield "finish_reason", "and error do not agree"


def check_judgments(parts: Parts, runs: Runs | None, answered: Counter[str]) -> Iterator[Issue]:
    """Checks judgments and counts those of judge runs into ``answered``; ``None`` = could not be read."""
    seen: set[str] = set()
    for path, table in parts:
        for number, row in enumerate(table.to_pylist(), start=1):
            if row["judgment_id"] in seen:
                yield Issue(path, number, "judgment_id", f"{row['judgment_id']!r} appears twice")
            seen.add(row["judgment_id"])
            if runs is not None and row["run_id"] not in runs:
                yield Issue(path, number, "run_id", f"{row['run_id']!r} is not among the runs")
            elif runs is not None and runs[row["run_id"]]["role"] == "judge":
                answered[row["run_id"]] += 1
            if row["label"] not in LABELS:
                yield Issue(path, number, "label", f"{row['label']!r} is not one of {', '.join(LABELS)}")
            for column in ("judgment_id", "reference", "answer"):
                if row[column] is None:
                    yield Issue(path, number, column, "is null")
