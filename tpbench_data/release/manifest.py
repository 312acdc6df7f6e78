"""``manifest.json``: what a release is made of, with a hash for every file and one digest for all.

The digest is the SHA-256 of the canonical JSON of everything else in the manifest, so it covers every byte of
the release. Source: design page "A release is a folder".
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tpbench_data.canonical import canonical_json, pretty_json, sha256_hex
from tpbench_data.errors import BadInput
from tpbench_data.release.facts import check_facts
from tpbench_data.release.limits import (
    MAX_FILE_BYTES,
    MAX_FILES,
    MAX_MANIFEST_BYTES,
    MAX_PATH,
    MAX_RELEASE_BYTES,
)
from tpbench_data.release.schema import SCHEMA_VERSION
from tpbench_data.release.strict_json import parse_strict

MANIFEST = "manifest.json"

_SEGMENT = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))}
"""Names that Windows keeps for devices, whatever their ending."""


def digest_of(manifest: dict[str, Any]) -> str:
    """The digest of a manifest: a hash over everything but the digest itself."""
    return sha256_hex(canonical_json({key: value for key, value in manifest.items() if key != "digest"}))


def manifest_text(facts: dict[str, Any], files: list[dict[str, Any]]) -> str:
    """The text of ``manifest.json`` for these facts and files (path, sha256, bytes, rows)."""
    manifest = {**facts, "schema_version": SCHEMA_VERSION, "files": sorted(files, key=lambda f: f["path"])}
    return pretty_json(manifest | {"digest": digest_of(manifest)})


def read_manifest(folder: Path) -> dict[str, Any]:
    """Reads and checks ``manifest.json``: form, schema version and digest (not the files it lists).

    Raises:
        BadInput: Not a release, a newer schema, or a manifest that was edited by hand.
    """
    path = folder / MANIFEST
    if not folder.is_dir():
        raise BadInput("no such folder", file=folder, remedy="Give the folder of a release")
    if not path.is_file():
        raise BadInput("no manifest.json in it", file=folder, remedy="Give the folder of a release")
    if path.stat().st_size > MAX_MANIFEST_BYTES:
        raise BadInput(f"larger than {MAX_MANIFEST_BYTES} bytes", file=path, remedy="This is not a TPBench release")
    data = path.read_bytes()
    manifest = parse_strict(data, path, MAX_MANIFEST_BYTES)
    text = data.decode("utf-8")
    if not isinstance(manifest, dict) or type(manifest.get("schema_version")) is not int:
        raise BadInput("no schema version in it", file=path, field="schema_version")
    if manifest["schema_version"] > SCHEMA_VERSION:
        raise BadInput(
            f"schema version {manifest['schema_version']} is newer than this tpbench reads ({SCHEMA_VERSION})",
            file=path,
            field="schema_version",
            remedy="Upgrade with: pip install -U tpbench",
        )
    _check_files(manifest, path)
    check_facts(manifest, path)
    if manifest.get("digest") != digest_of(manifest) or text != pretty_json(manifest):
        crlf = "\r\n" in text and text.replace("\r\n", "\n") == pretty_json(manifest)
        raise BadInput(
            "same content with CRLF line ends" if crlf else "does not match its digest: it was changed after the build",
            file=path,
            field="digest",
            remedy="Check it out without newline conversion" if crlf else "Get the release again",
        )
    return manifest


def path_problem(path: object) -> str | None:
    """Why a path may not stand in a release, or ``None``.

    A path is relative, short, and made of plain names that every file system can hold.
    """
    if not isinstance(path, str) or not path:
        return "is not a path"
    if len(path) > MAX_PATH:
        return f"is longer than {MAX_PATH} characters"
    if not all(_SEGMENT.fullmatch(segment) for segment in path.split("/")):
        return "is not a plain relative path of letters, digits, '.', '_' and '-'"
    if any(segment.split(".")[0].lower() in _DEVICES for segment in path.split("/")):
        return "holds a name that Windows keeps for a device"
    return None


def _check_files(manifest: dict[str, Any], path: Path) -> None:
    files = manifest.get("files")
    if not isinstance(files, list):
        raise BadInput("not a list", file=path, field="files")
    if len(files) > MAX_FILES:
        raise BadInput(f"lists {len(files)} files, more than {MAX_FILES}", file=path, field="files")
    seen: dict[str, str] = {}
    total = 0
    for number, entry in enumerate(files):
        field = f"files[{number}]"
        if not isinstance(entry, dict) or set(entry) != {"path", "sha256", "bytes", "rows"}:
            raise BadInput("must have path, sha256, bytes and rows", file=path, field=field)
        problem = path_problem(entry["path"]) or _entry_problem(entry)
        if problem:
            raise BadInput(f"{str(entry['path'])[:200]!r} {problem}", file=path, field=field)
        folded = entry["path"].lower()
        if folded in seen or folded == MANIFEST:
            raise BadInput(f"{entry['path']!r} is listed twice or differs in case only", file=path, field=field)
        seen[folded] = entry["path"]
        total += entry["bytes"]
    if total > MAX_RELEASE_BYTES:
        raise BadInput(f"the files have {total} bytes, more than {MAX_RELEASE_BYTES}", file=path, field="files")
    for folded, name in seen.items():
        parts = folded.split("/")
        above = next((p for n in range(1, len(parts)) if (p := "/".join(parts[:n])) in seen), None)
        if above:
            raise BadInput(f"{name!r} lies below the file {seen[above]!r}", file=path, field="files")


def _entry_problem(entry: dict[str, Any]) -> str | None:
    if not isinstance(entry["sha256"], str) or not _SHA256.fullmatch(entry["sha256"]):
        return "has no SHA-256 of 64 hex digits"
    if type(entry["bytes"]) is not int or not 0 <= entry["bytes"] <= MAX_FILE_BYTES:
        return f"has a size that is not between 0 and {MAX_FILE_BYTES} bytes"
    if entry["rows"] is not None and (type(entry["rows"]) is not int or entry["rows"] < 0):
        return "has a number of rows that is none"
    return None
