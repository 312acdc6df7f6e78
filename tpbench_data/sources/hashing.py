"""The hash of a file that may be larger than memory."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

_CHUNK = 1 << 20


def file_sha256(path: Path) -> str:
    """SHA-256 of a file as 64 hex digits."""
    digest = sha256()
    with path.open("rb") as handle:
        while chunk := handle.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
