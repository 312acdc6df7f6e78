"""What the saved outputs of a release must satisfy: known run and input, one answer each, none missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from tpbench_data.release.issues import Issue

Row = dict[str, Any]


def check_outputs(parts: list[tuple[str, pa.Table]], runs: dict[str, Row], inputs: set[str]) -> Iterator[Issue]:
    """Checks saved outputs: known run and input, one answer each, and as many as the run planned."""
    seen: set[tuple[str, str]] = set()
    answered: Counter[str] = Counter()
    for path, table in parts:
        columns = table.select(["run_id", "input_id", "text", "finish_reason", "error"]).to_pylist()
        for number, row in enumerate(columns, start=1):
            key = (row["run_id"], row["input_id"])
            if key in seen:
                yield Issue(path, number, "input_id", f"{row['input_id']!r} is answered twice by {row['run_id']}")
            seen.add(key)
            answered[row["run_id"]] += 1
            if row["run_id"] not in runs:
                yield Issue(path, number, "run_id", f"{row['run_id']!r} is not among the runs")
            if row["input_id"] not in inputs:
                yield Issue(path, number, "input_id", f"{row['input_id']!r} is not among the inputs")
            if row["text"] is None:
                yield Issue(path, number, "text", "is null")
            if (row["finish_reason"] == "error") != (row["error"] is not None):
                yield Issue(path, number, "finish_reason", "and error do not agree")
    for run_id, run in sorted(runs.items()):
        if answered[run_id] != run["n_planned"]:
            yield Issue(
                "data/runs",
                0,
                "n_planned",
                f"{run_id} planned {run['n_planned']} answers, {answered[run_id]} are there",
            )
