"""``manifest.json``: what a release is made of, with a hash for every file and one digest for all.

The digest is the SHA-256 of the canonical JSON of everything else in the manifest, so it covers every byte of
the release. Source: design page "A release is a folder".
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tpbench_data.canonical import canonical_json, pretty_json, sha256_hex
from tpbench_data.errors import BadInput
from tpbench_data.release.schema import SCHEMA_VERSION

MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 32 * 2**20
MAX_PATH = 150

_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


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
    try:
        text = path.read_bytes().decode("utf-8")
        manifest = json.loads(text)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as problem:
        raise BadInput(f"not valid JSON ({problem})", file=path, remedy="Get the release again") from problem
    if not isinstance(manifest, dict) or not isinstance(manifest.get("schema_version"), int):
        raise BadInput("no schema version in it", file=path, field="schema_version")
    if manifest["schema_version"] > SCHEMA_VERSION:
        raise BadInput(
            f"schema version {manifest['schema_version']} is newer than this tpbench reads ({SCHEMA_VERSION})",
            file=path,
            field="schema_version",
            remedy="Upgrade with: pip install -U tpbench",
        )
    _check_files(manifest, path)
    try:
        unchanged = manifest.get("digest") == digest_of(manifest) and text == pretty_json(manifest)
    except (ValueError, RecursionError) as problem:
        raise BadInput(f"not a manifest ({problem})", file=path) from problem
    if not unchanged:
        crlf = text.replace("\r\n", "\n") == pretty_json(manifest)
        raise BadInput(
            "same content with CRLF line ends" if crlf else "does not match its digest: it was changed after the build",
            file=path,
            field="digest",
            remedy="Check it out without newline conversion" if crlf else "Get the release again",
        )
    return manifest


def path_problem(path: object) -> str | None:
    """Why a path may not stand in a release, or ``None``: plain relative names, short, no links upward."""
    if not isinstance(path, str) or not path:
        return "is not a path"
    if len(path) > MAX_PATH:
        return f"is longer than {MAX_PATH} characters"
    if not all(_SEGMENT.fullmatch(segment) for segment in path.split("/")):
        return "is not a plain relative path of letters, digits, '.', '_' and '-'"
    return None


def _check_files(manifest: dict[str, Any], path: Path) -> None:
    files = manifest.get("files")
    if not isinstance(files, list):
        raise BadInput("not a list", file=path, field="files")
    seen: set[str] = set()
    for number, entry in enumerate(files):
        field = f"files[{number}]"
        if not isinstance(entry, dict) or set(entry) != {"path", "sha256", "bytes", "rows"}:
            raise BadInput("must have path, sha256, bytes and rows", file=path, field=field)
        problem = path_problem(entry["path"])
        if problem:
            raise BadInput(f"{entry['path']!r} {problem}", file=path, field=field)
        if entry["path"].lower() in seen or entry["path"].lower() == MANIFEST:
            raise BadInput(f"{entry['path']!r} is listed twice or differs in case only", file=path, field=field)
        seen.add(entry["path"].lower())
