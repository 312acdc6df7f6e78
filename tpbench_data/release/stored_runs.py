"""The runs that a release holds, in the form of run folders, so that they can stand beside new ones."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from tpbench_data.canonical import prompt_hash
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import INPUT_CONFIGS, PLAN
from tpbench_data.run_folder import RunFolder


def stored_runs(release: Release) -> list[RunFolder]:
    """One run folder per run of the release that answered inputs; there the outputs of a run are its plan."""
    outputs = release.table("outputs")
    if not outputs.num_rows:
        return []
    asked = {
        row["input_id"]: (config, None if row["prompt"] is None else prompt_hash(row["prompt"]))
        for config in INPUT_CONFIGS
        for row in release.table(config).select(["input_id", "prompt"]).to_pylist()
    }
    folders = []
    for run in release.table("runs").to_pylist():
        answers = outputs.filter(pc.equal(outputs["run_id"], run["run_id"]))
        if not answers.num_rows:
            continue
        rows = answers.select(["input_id", "method", "ratio", "prompt_tokens"]).to_pylist()
        plan = [
            {**row, "probe": probe, "prompt_hash": key, "batch": None}
            for row in rows
            for probe, key in [asked.get(row["input_id"], (None, None))]
        ]
        folders.append(RunFolder(release.path, run, pa.Table.from_pylist(plan, schema=PLAN), answers))
    return folders
