"""Contexts made elsewhere: summaries, token-pruned text, the output of a memory system; one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from tpbench_data.errors import BadInput

_FIELDS = ("example_id", "probe", "context")
_OPTIONAL = ("corpus",)


@dataclass(frozen=True, slots=True)
class GivenContext:
    """One line of the file; ``corpus`` is None where the line names none."""

    row: int
    example_id: str
    probe: str
    context: str
    corpus: str | None


def read_contexts(path: Path) -> list[GivenContext]:
    """Reads ``{"example_id": ..., "probe": ..., "context": ...}`` lines, optionally with ``corpus``.

    Lines end at the byte 0x0A only, so a context may hold any other line separator.

    Raises:
        BadInput: No such file, a line that is not such an object, or one question twice; names the line.
    """
    if not path.is_file():
        raise BadInput("no such file", file=path, field="--contexts")
    found: list[GivenContext] = []
    seen: dict[tuple[str, str, str | None], int] = {}
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        given = _read_line(line, path, number)
        key = (given.probe, given.example_id, given.corpus)
        if key in seen:
            raise BadInput(
                f"{given.probe} of {given.example_id!r} has a context in row {seen[key]} already", file=path, row=number
            )
        seen[key] = number
        found.append(given)
    if not found:
        raise BadInput("holds no contexts", file=path)
    return found


def _read_line(line: bytes, path: Path, number: int) -> GivenContext:
    try:
        record = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_no_repeats)
    except (ValueError, RecursionError) as problem:
        raise BadInput(f"not a JSON object: {problem}", file=path, row=number) from None
    if not isinstance(record, Mapping):
        raise BadInput("not a JSON object", file=path, row=number)
    unknown = sorted(set(record) - {*_FIELDS, *_OPTIONAL})
    if unknown:
        raise BadInput(
            "unknown field", file=path, row=number, field=unknown[0], remedy=f"Fields: {', '.join(_FIELDS)}, corpus"
        )
    for field in _FIELDS:
        _check_text(record.get(field), path, number, field)
    if record.get("corpus") is not None:
        _check_text(record["corpus"], path, number, "corpus")
    return GivenContext(number, record["example_id"], record["probe"], record["context"], record.get("corpus"))


def _check_text(value: Any, path: Path, number: int, field: str) -> None:
    if not isinstance(value, str):
        raise BadInput("missing or not a text", file=path, row=number, field=field)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise BadInput("holds half of a surrogate pair", file=path, row=number, field=field) from None


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a field stands twice")
    return record


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
