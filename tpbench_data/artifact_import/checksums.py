"""Checking an artifact against the hash lists that it holds, in the usual text form or as JSON."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

from tpbench_data.artifact_import.findings import Findings

_LIST_NAMES = re.compile(
    r"(SHA256SUMS|sha256sums|checksums|CHECKSUMS|MANIFEST|manifest)([._-].*)?(\.txt|\.sha256|\.json)?"
)
_LINE = re.compile(r"(?P<hash>[0-9a-fA-F]{64}) [ *](?P<path>.+)")
_HASH = re.compile(r"[0-9a-f]{64}")
_MAX_LIST_BYTES = 64 << 20
_CHUNK = 1 << 20


def check_hashes(folder: Path, findings: Findings) -> int:
    """Checks every file that a hash list in the top folder names; returns how many were checked."""
    checked = 0
    for listing in sorted(folder.iterdir()):
        if not (listing.is_file() and _LIST_NAMES.fullmatch(listing.name)) or listing.stat().st_size > _MAX_LIST_BYTES:
            continue
        for path, expected in _entries(listing):
            checked += 1
            target = folder / path
            if not _inside(folder, target):
                findings.problem(listing.name, 0, f"names {path!r}, which is outside the folder")
            elif not target.is_file():
                findings.problem(path, 0, f"is missing, but {listing.name} lists it")
            elif (found := _digest(target)) != expected:
                findings.problem(path, 0, _mismatch(target, expected, found, listing.name))
    return checked


def _entries(listing: Path) -> Iterator[tuple[str, str]]:
    """(path, hash) of a list; a file that is no hash list gives none. CRLF line ends are accepted."""
    text = listing.read_bytes().decode("utf-8", "replace")
    if listing.suffix == ".json":
        yield from _json_entries(text)
        return
    for line in text.split("\n"):
        match = _LINE.fullmatch(line.rstrip("\r"))
        if match:
            yield match["path"].removeprefix("./"), match["hash"].lower()


def _json_entries(text: str) -> Iterator[tuple[str, str]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return
    files = found.get("files", found) if isinstance(found, dict) else found
    pairs = files.items() if isinstance(files, dict) else ((None, entry) for entry in files if isinstance(files, list))
    for path, entry in pairs:
        value = entry.get("sha256") if isinstance(entry, dict) else entry
        name = path if path is not None else entry.get("path") if isinstance(entry, dict) else None
        if isinstance(name, str) and isinstance(value, str) and _HASH.fullmatch(value.lower()):
            yield name, value.lower()


def _inside(folder: Path, target: Path) -> bool:
    return target.resolve().is_relative_to(folder.resolve())


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as handle:
        while chunk := handle.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _mismatch(path: Path, expected: str, found: str, listing: str) -> str:
    data = path.read_bytes() if path.stat().st_size <= _MAX_LIST_BYTES else b""
    if data and hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest() == expected:
        return f"has CRLF line ends, but {listing} hashes the same content with LF: check it out without conversion"
    return f"has SHA-256 {found[:12]}..., but {listing} says {expected[:12]}..."
