"""Small releases and run folders for tests, written through the project's own writers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from tpbench_data.canonical import prompt_hash
from tpbench_data.inputs import input_id
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import CONFIGS, OUTPUTS, PLAN, PROBE, RUNS
from tpbench_data.release.writer import write_release
from tpbench_data.run_folder import write_outputs, write_plan, write_run_row

FACTS: dict[str, Any] = {
    "release": "0.0.1",
    "builder": "test",
    "value_rule": "first",
    "protocols": ["matched"],
    "seeds": [42],
    "n": 1,
    "ratios": [0.3],
    "methods": ["recency"],
    "counts": {},
    "corpora": {
        "sgd": {
            "title": "T",
            "licence": "CC-BY-4.0",
            "language": "en",
            "files": 1,
            "sha256": "0" * 64,
            "homepage": "",
            "citation": "",
        }
    },
}


def probe_row(probe: str, number: int = 0, **changes: Any) -> dict[str, Any]:
    """One input of a probe: the user wanted a quiet table and moved it from 6 pm to 12 pm."""
    row: dict[str, Any] = dict.fromkeys(PROBE.names)
    row |= {
        "example_id": f"sgd_d{number}__qa_00",
        "corpus": "sgd",
        "language": "en",
        "dialogue_id": f"d{number}",
        "sample_seeds": [42],
        "method": "recency",
        "method_config": "recency",
        "ratio": 0.3,
        "n_turns": 10,
        "k_turns": 3,
        "kept_turns": [7, 8, 9],
        "context": f"[T8] USER: Make it noon, 12 pm, table {number}.",
        "protocol": "matched",
    }
    if probe != "current_value":
        row["reference_goal"] = "please book a quiet table"
    if probe != "initial_goal":
        row |= {"slot": "time", "slot_label": "time", "old_value": "6 pm", "reference_value": "12 pm"}
        row["alias_equivalent"] = False
    row |= changes
    if row["prompt"] is None and "prompt" not in changes:
        row["prompt"] = [{"role": "user", "content": f"{probe} {row['method']} {row['context']}"}]
    keys = ("corpus", "example_id", "method_config", "ratio", "selector_seed", "protocol")
    row["input_id"] = changes.get("input_id") or input_id(probe=probe, **{key: row[key] for key in keys})
    return row


def run_row(run_id: str = "tiny-00000000", n_planned: int = 0, **changes: Any) -> dict[str, Any]:
    """A row of the `runs` table."""
    row: dict[str, Any] = dict.fromkeys(RUNS.names)
    return row | {"run_id": run_id, "role": "main", "reader": "tiny", "n_planned": n_planned} | changes


def output_rows(run_id: str, rows: Iterable[Mapping[str, Any]], answers: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the `outputs` table for the inputs that ``answers`` (input id -> text, or an exception) names."""
    made = []
    for row in rows:
        if row["input_id"] not in answers:
            continue
        answer = answers[row["input_id"]]
        failed = isinstance(answer, Exception)
        output = dict.fromkeys(OUTPUTS.names) | {
            "run_id": run_id,
            "input_id": row["input_id"],
            "method": row["method"],
            "ratio": row["ratio"],
            "text": "" if failed else answer,
            "text_source": "raw",
            "error": str(answer) if failed else None,
            "finish_reason": "error" if failed else "stop",
            "attempts": 1,
        }
        made.append(output)
    return made


def write_small_release(
    out: Path,
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    runs: Sequence[Mapping[str, Any]] = (),
    outputs: Sequence[Mapping[str, Any]] = (),
) -> Release:
    """A release with these probe rows (by config), runs and outputs."""
    tables = {config: pa.Table.from_pylist(list(found), schema=CONFIGS[config]) for config, found in rows.items()}
    tables["runs"] = pa.Table.from_pylist(list(runs), schema=RUNS)
    tables["outputs"] = pa.Table.from_pylist(list(outputs), schema=OUTPUTS)
    write_release(out, tables, FACTS)
    return Release.open(out)


def write_small_run(
    folder: Path,
    rows: Sequence[Mapping[str, Any]],
    answers: Mapping[str, Any],
    run_id: str = "tiny-00000000",
    outputs: Sequence[Mapping[str, Any]] | None = None,
    **run_changes: Any,
) -> Path:
    """A run folder that plans ``rows`` and holds ``answers`` (or exactly the rows ``outputs``)."""
    folder.mkdir(parents=True)
    plan = [
        dict.fromkeys(PLAN.names)
        | {"input_id": row["input_id"], "method": row["method"], "ratio": row["ratio"], "batch": 0}
        | {"prompt_hash": prompt_hash(row["prompt"])}
        for row in rows
    ]
    write_plan(folder, pa.Table.from_pylist(plan, schema=PLAN))
    write_run_row(folder, run_row(run_id, len(plan), **run_changes))
    answered = output_rows(run_id, rows, answers) if outputs is None else list(outputs)
    write_outputs(folder, pa.Table.from_pylist(answered, schema=OUTPUTS))
    return folder
