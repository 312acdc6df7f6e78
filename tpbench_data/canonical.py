"""Canonical JSON and hashes: the only way any part of TPBench turns data into bytes to be hashed.

One place, because a second serialisation would give a second digest for the same data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import orjson


def canonical_json(value: Any) -> str:
    """Compact JSON with sorted keys and unescaped text; raises ``ValueError`` for NaN and infinity."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def pretty_json(value: Any) -> str:
    """Indented JSON with sorted keys and a final newline, for files that people read."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, indent=2, allow_nan=False) + "\n"


def sha256_hex(data: bytes | str) -> str:
    """SHA-256 as 64 hex digits; text is encoded as UTF-8 (lone surrogates kept by ``surrogatepass``)."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()


def prompt_hash(messages: Sequence[Mapping[str, str]]) -> str:
    """16 hex digits that identify a prompt (its roles and contents)."""
    parts = [[m["role"], m["content"]] for m in messages]
    try:
        data = orjson.dumps(parts)  # the bytes of `canonical_json`, twenty times as fast
    except orjson.JSONEncodeError:  # a lone surrogate
        return sha256_hex(canonical_json(parts))[:16]
    return hashlib.sha256(data).hexdigest()[:16]
