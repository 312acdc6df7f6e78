"""Freezing results into a release: a new folder with a new version, the old one untouched.

Results are finished runs, judgments and tables. What the release held stays in it; a table file of the same name
is replaced by the new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from tpbench_data.canonical import prompt_hash
from tpbench_data.errors import BadInput
from tpbench_data.judgment_files import read_judgments
from tpbench_data.release.limits import MAX_JSON_BYTES
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import CONFIGS, INPUT_CONFIGS, JUDGMENTS, OUTPUTS, RUNS
from tpbench_data.release.writer import write_release
from tpbench_data.run_folder import OUTPUTS_FILE, PLAN_FILE, RunFolder, read_run

_OF_THE_MANIFEST = {"digest", "files", "schema_version"}


@dataclass(frozen=True)
class Results:
    """What to freeze.

    Attributes:
        outputs: Finished run folders.
        judgments: Folders or files with judgments (`tpbench_data.judgment_files`).
        tables: Folders with tables as JSON, or single files.
    """

    outputs: tuple[Path, ...] = ()
    judgments: tuple[Path, ...] = ()
    tables: tuple[Path, ...] = ()


def freeze(
    release: Release, results: Results | Sequence[Path], version: str, out: Path, facts: dict[str, Any] | None = None
) -> str:
    """Adds results to a release and returns the digest of the new one.

    Folders with one run id (parts of one run) become one run. Runs are ordered by id, outputs as planned.

    Args:
        release: The release the results were made from.
        results: What to add; a plain list means run folders.
        version: Version of the new release, different from the old one.
        out: Folder to make.
        facts: Facts that change in the manifest (``date_published``, ``homepage``).

    Raises:
        BadInput: Nothing to add, or a result that is unfinished, incomplete, made from other inputs, or frozen
            already.
    """
    given = results if isinstance(results, Results) else Results(outputs=tuple(results))
    if version == release.manifest["release"]:
        raise BadInput(f"version {version} is the old one", remedy="Give a new --release-version")
    if not (given.outputs or given.judgments or given.tables):
        raise BadInput("nothing to freeze", remedy="Give at least one --outputs, --judgments or --tables")
    tables = {config: release.table(config) for config in CONFIGS}
    _add_runs(tables, release, [read_run(folder) for folder in given.outputs])
    _add_judgments(tables, given.judgments)
    stored = release.stored_tables() | _read_tables(given.tables)
    kept = {key: value for key, value in release.manifest.items() if key not in _OF_THE_MANIFEST}
    return write_release(out, tables, kept | (facts or {}) | {"release": version}, stored)


def _add_runs(tables: dict[str, pa.Table], release: Release, parts: list[RunFolder]) -> None:
    if not parts:
        return
    hashes = _prompt_hashes(release)
    frozen = set(tables["runs"]["run_id"].to_pylist())
    answered: dict[str, dict[str, Path]] = {}
    for part in parts:
        run_id = part.run["run_id"]
        if run_id in frozen:
            raise BadInput(f"run {run_id!r} is frozen in this release already", file=part.path)
        _check(part, hashes, answered.setdefault(run_id, {}))
    parts.sort(key=lambda part: (part.run["run_id"], part.outputs["input_id"][0].as_py() if part.plan.num_rows else ""))
    rows = [*tables["runs"].to_pylist(), *_run_rows(parts)]
    tables["runs"] = pa.Table.from_pylist(rows, schema=RUNS)
    tables["outputs"] = pa.concat_tables([tables["outputs"], *(part.outputs.cast(OUTPUTS) for part in parts)])


def _add_judgments(tables: dict[str, pa.Table], paths: Sequence[Path]) -> None:
    for path in paths:
        found = read_judgments(path)
        if found.run is not None and found.run["run_id"] not in tables["runs"]["run_id"].to_pylist():
            tables["runs"] = pa.concat_tables([tables["runs"], pa.Table.from_pylist([found.run], schema=RUNS)])
        known = set(tables["runs"]["run_id"].to_pylist())
        seen = set(tables["judgments"]["judgment_id"].to_pylist())
        columns = found.table.select(["judgment_id", "run_id"]).to_pylist()
        for number, row in enumerate(columns, start=1):
            if row["judgment_id"] in seen:
                raise BadInput(
                    f"judgment {row['judgment_id']!r} is there already", file=path, row=number, field="judgment_id"
                )
            if row["run_id"] not in known:
                raise BadInput(
                    f"run {row['run_id']!r} is not in the release",
                    file=path,
                    row=number,
                    field="run_id",
                    remedy="Freeze the judge's folder, which describes its run, or its run before",
                )
            seen.add(row["judgment_id"])
        tables["judgments"] = pa.concat_tables([tables["judgments"], found.table.cast(JUDGMENTS)])


def _read_tables(paths: Sequence[Path]) -> dict[str, bytes]:
    found: dict[str, Path] = {}
    for path in paths:
        if not path.exists():
            raise BadInput("no such file or folder", file=path, remedy="Give a folder with tables as JSON")
        files = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not files:
            raise BadInput(
                "holds no table as JSON",
                file=path,
                remedy="Make them with: tpbench-score tables R --format json --out DIR",
            )
        for file in files:
            if file.name in found:
                raise BadInput(f"{file.name} is also in {found[file.name].parent}", file=file)
            if file.stat().st_size > MAX_JSON_BYTES:
                raise BadInput(f"larger than {MAX_JSON_BYTES} bytes", file=file)
            found[file.name] = file
    return {name: file.read_bytes() for name, file in found.items()}


def _prompt_hashes(release: Release) -> dict[str, str]:
    return {
        row["input_id"]: prompt_hash(row["prompt"])
        for config in INPUT_CONFIGS
        for row in release.table(config).select(["input_id", "prompt"]).to_pylist()
        if row["prompt"] is not None
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
