"""Checking a release in depth: grammar, bytes, schema, joins, order and the meaning of every row.

Nothing stops at the first problem: every check adds to one list, which is sorted at the end.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from tpbench_data.canonical import sha256_hex
from tpbench_data.errors import BadInput
from tpbench_data.release.issues import Issue
from tpbench_data.release.manifest import MANIFEST, path_problem, read_manifest
from tpbench_data.release.output_checks import check_outputs
from tpbench_data.release.reader import read_parquet
from tpbench_data.release.row_checks import InputChecks, check_dialogues
from tpbench_data.release.schema import CONFIGS, INPUT_CONFIGS

_TOP_FILES = {"README.md", "croissant.json"}
_TOP_FOLDERS = {"data", "tables", "LICENSES"}


def validate(folder: Path) -> list[Issue]:
    """Every problem of a release folder, sorted; an empty list means that it is sound.

    Raises:
        BadInput: The folder is no release at all, or its schema is newer than this program.
    """
    try:
        manifest = read_manifest(folder)
    except BadInput as problem:
        if not (folder / MANIFEST).is_file() or "newer than this tpbench" in str(problem):
            raise
        return [Issue(MANIFEST, 0, "", str(problem))]
    issues = list(_check_present(folder, manifest))
    tables: dict[str, list[tuple[str, pa.Table]]] = {}
    for entry in manifest["files"]:
        path = folder / entry["path"]
        if path.is_symlink() or not path.is_file():
            continue  # reported by _check_present
        data = path.read_bytes()
        issues += _check_bytes(entry, data)
        config = _config_of(entry["path"])
        if config is None:
            continue
        try:
            table = read_parquet(data, CONFIGS[config], Path(entry["path"]))
        except BadInput as problem:
            issues.append(Issue(entry["path"], problem.row or 0, problem.field or "", problem.problem))
            continue
        if table.num_rows != entry["rows"]:
            issues.append(
                Issue(entry["path"], 0, "rows", f"holds {table.num_rows} rows, the manifest says {entry['rows']}")
            )
        tables.setdefault(config, []).append((entry["path"], table))
    issues += _check_rows(tables, manifest)
    return sorted(set(issues))


def _check_present(folder: Path, manifest: dict[str, Any]) -> Iterator[Issue]:
    listed = {entry["path"] for entry in manifest["files"]}
    present: set[str] = set()
    for place, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(place) / name
            relative = path.relative_to(folder).as_posix()
            if path.is_symlink():
                yield Issue(relative, 0, "", "is a symbolic link, which a release may not hold")
            elif path.is_file():
                present.add(relative)
    for name in sorted(present - listed - {MANIFEST}):
        yield Issue(name, 0, "", "is not listed in manifest.json: it was added after the build")
    for name in sorted(listed - present):
        yield Issue(name, 0, "", "is listed in manifest.json but missing")
    for name in sorted(listed):
        top = name.split("/")[0]
        if path_problem(name) is None and name not in _TOP_FILES and top not in _TOP_FOLDERS:
            yield Issue(name, 0, "", "has no place in a release")


def _check_bytes(entry: dict[str, Any], data: bytes) -> Iterator[Issue]:
    if sha256_hex(data) == entry["sha256"] and len(data) == entry["bytes"]:
        return
    if sha256_hex(data.replace(b"\r\n", b"\n")) == entry["sha256"]:
        yield Issue(entry["path"], 0, "", "same content with CRLF line ends: check it out without conversion")
    else:
        yield Issue(entry["path"], 0, "", "does not match its SHA-256 in manifest.json: its bytes were changed")


def _config_of(path: str) -> str | None:
    parts = path.split("/")
    is_table = len(parts) == 3 and parts[0] == "data" and parts[2].endswith(".parquet")
    return parts[1] if is_table and parts[1] in CONFIGS else None


def _check_rows(tables: dict[str, list[tuple[str, pa.Table]]], manifest: dict[str, Any]) -> Iterator[Issue]:
    dialogues: dict[tuple[str, str], dict[str, Any]] = {}
    for path, table in tables.get("dialogues", []):
        yield from check_dialogues(path, table, dialogues)
    checks = InputChecks(dialogues, manifest)
    for config in INPUT_CONFIGS:
        for path, table in tables.get(config, []):
            yield from checks.check(path, table, config)
    runs = {row["run_id"]: row for _, table in tables.get("runs", []) for row in table.to_pylist()}
    yield from check_outputs(tables.get("outputs", []), runs, checks.inputs)
