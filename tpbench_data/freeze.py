"""Freezing finished runs into a release: a new folder with a new version, the old one untouched."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from tpbench_data.canonical import prompt_hash
from tpbench_data.errors import BadInput
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import CONFIGS, OUTPUTS, RUNS
from tpbench_data.release.writer import write_release
from tpbench_data.run_folder import OUTPUTS_FILE, PLAN_FILE, RunFolder, read_run

_OF_THE_MANIFEST = {"digest", "files", "schema_version"}


def freeze(release: Release, folders: Sequence[Path], version: str, out: Path) -> str:
    """Adds finished runs to a release and returns the digest of the new one.

    Folders with one run id (parts of one run) become one run. Runs are ordered by id, outputs as planned.

    Args:
        release: The release the runs were made from.
        folders: Run folders.
        version: Version of the new release, different from the old one.
        out: Folder to make.

    Raises:
        BadInput: A run is unfinished, incomplete, made from other inputs, or frozen already.
    """
    if version == release.manifest["release"]:
        raise BadInput(f"version {version} is the old one", remedy="Give a new --release-version")
    parts = [read_run(folder) for folder in folders]
    if not parts:
        raise BadInput("no run to freeze", remedy="Give at least one --outputs")
    hashes = _prompt_hashes(release)
    answered: dict[str, dict[str, Path]] = {row["run_id"]: {} for row in release.table("runs").to_pylist()}
    for run_id in answered:
        if any(part.run["run_id"] == run_id for part in parts):
            raise BadInput(f"run {run_id!r} is frozen in this release already", file=release.path)
    for part in parts:
        _check(part, hashes, answered.setdefault(part.run["run_id"], {}))
    parts.sort(key=lambda part: (part.run["run_id"], part.outputs["input_id"][0].as_py()))
    tables = {config: release.table(config) for config in CONFIGS}
    rows = [*tables["runs"].to_pylist(), *_run_rows(parts)]
    tables["runs"] = pa.Table.from_pylist(sorted(rows, key=lambda row: row["run_id"]), schema=RUNS)
    tables["outputs"] = pa.concat_tables([tables["outputs"], *(part.outputs.cast(OUTPUTS) for part in parts)])
    facts = {key: value for key, value in release.manifest.items() if key not in _OF_THE_MANIFEST}
    return write_release(out, tables, facts | {"release": version})


def _prompt_hashes(release: Release) -> dict[str, str]:
    return {
        row["input_id"]: prompt_hash(row["prompt"])
        for probe in release.probes
        for row in release.table(probe).select(["input_id", "prompt"]).to_pylist()
    }


def _check(part: RunFolder, hashes: dict[str, str], seen: dict[str, Path]) -> None:
    planned = part.plan.select(["input_id", "prompt_hash"]).to_pylist()
    for number, row in enumerate(planned, start=1):
        if hashes.get(row["input_id"]) != row["prompt_hash"]:
            raise BadInput(
                f"{row['input_id']!r} is not an input of this release, or has another prompt there",
                file=part.path / PLAN_FILE,
                row=number,
                remedy="Freeze a run into the release it was made from",
            )
        if row["input_id"] in seen:
            raise BadInput(
                f"{row['input_id']!r} is answered in {seen[row['input_id']]} too",
                file=part.path / PLAN_FILE,
                row=number,
            )
        seen[row["input_id"]] = part.path
    if part.outputs["input_id"].to_pylist() != [row["input_id"] for row in planned]:
        raise BadInput(
            "does not hold one output per planned input, in plan order",
            file=part.path / OUTPUTS_FILE,
            remedy="Run the same `tpbench-generate run` command again",
        )


def _run_rows(parts: Sequence[RunFolder]) -> list[dict[str, Any]]:
    """One row per run; where the parts of a run differ (batch plan, device), all values are kept."""
    rows: dict[str, dict[str, Any]] = {}
    for part in parts:
        row = rows.setdefault(part.run["run_id"], dict(part.run) | {"n_planned": 0})
        row["n_planned"] += part.run["n_planned"]
        for key in ("batch_plan", "device", "library_versions", "release_digest"):
            if part.run[key] not in (None, *str(row[key]).split("; ")):
                row[key] = f"{row[key]}; {part.run[key]}"
    return list(rows.values())
