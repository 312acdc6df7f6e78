"""Checks of the folder: which files are there, under which names, and whether their bytes are the listed ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tpbench_data.canonical import sha256_hex
from tpbench_data.release.issues import Issue
from tpbench_data.release.manifest import MANIFEST
from tpbench_data.release.schema import CONFIGS

_TOP_FILES = {"README.md", "croissant.json"}
_GET = "Get the release again"
_REMOVE = "Remove it, or keep it outside the release"
_CONVERTED = "Check it out without conversion of line ends (git config core.autocrlf false)"


def check_present(folder: Path, manifest: dict[str, Any]) -> Iterator[Issue]:
    """Files that are missing, not listed, links, or in a place where a release holds none."""
    listed = {entry["path"] for entry in manifest["files"]}
    present: set[str] = set()
    for place, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(place) / name
            relative = path.relative_to(folder).as_posix()
            if path.is_symlink():
                yield Issue(relative, 0, "", "is a symbolic link, which a release may not hold", _REMOVE)
            elif path.is_file():
                present.add(relative)
            elif not path.is_dir():
                yield Issue(relative, 0, "", "is neither a file nor a folder", _REMOVE)
    for name in sorted(present - listed - {MANIFEST}):
        yield Issue(name, 0, "", "is not listed in manifest.json: it was added after the build", _REMOVE)
    for name in sorted(listed - present):
        yield Issue(name, 0, "", "is listed in manifest.json but missing", _GET)
    for name in sorted(_TOP_FILES - listed):
        yield Issue(MANIFEST, 0, "files", f"lists no {name}")
    for name in sorted(manifest["corpora"]):
        if f"LICENSES/{name}.txt" not in listed:
            yield Issue(MANIFEST, 0, "files", f"lists no LICENSES/{name}.txt, the notice of the corpus {name}")
    for name in sorted(listed):
        if not _has_place(name):
            yield Issue(name, 0, "", "has no place in a release", _REMOVE)


def _has_place(path: str) -> bool:
    parts = path.split("/")
    if len(parts) == 1:
        return path in _TOP_FILES
    if len(parts) == 2:
        return (parts[0], Path(path).suffix) in {("tables", ".json"), ("LICENSES", ".txt")}
    return config_of(path) is not None


def config_of(path: str) -> str | None:
    """The config whose table a path is, ``None`` for any other file."""
    parts = path.split("/")
    is_table = len(parts) == 3 and parts[0] == "data" and parts[2].endswith(".parquet")
    return parts[1] if is_table and parts[1] in CONFIGS else None


def check_bytes(entry: dict[str, Any], data: bytes) -> Iterator[Issue]:
    """Whether the bytes of a file are those of its manifest entry."""
    if len(data) == entry["bytes"] and sha256_hex(data) == entry["sha256"]:
        return
    if sha256_hex(data.replace(b"\r\n", b"\n")) == entry["sha256"]:
        yield Issue(entry["path"], 0, "", "same content with CRLF line ends", _CONVERTED)
    else:
        yield Issue(entry["path"], 0, "", "does not match its SHA-256 in manifest.json: its bytes were changed", _GET)
