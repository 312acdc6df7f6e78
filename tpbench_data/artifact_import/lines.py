"""JSON Lines of the artifact: every damaged row is a problem, none stops the reading."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tpbench_data.artifact_import.findings import Findings

Row = dict[str, Any]


def rows_of(folder: Path, file: str, findings: Findings) -> Iterator[tuple[int, Row]]:
    """(row number, object) of a file; lines end at byte 0x0A only."""
    with (folder / file).open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line.decode("utf-8"))
                # A lone surrogate could not be written again.
                json.dumps(row, ensure_ascii=False).encode("utf-8")
            except (ValueError, RecursionError) as problem:
                findings.problem(file, number, f"is not JSON ({str(problem).splitlines()[0][:120]})")
                continue
            if isinstance(row, dict):
                yield number, row
            else:
                findings.problem(file, number, "is not an object")


def text_of(row: Row, *names: str) -> str | None:
    """The first of some fields that holds a text."""
    return next((row[name] for name in names if isinstance(row.get(name), str)), None)


def object_of(row: Row, name: str) -> Row:
    """An object inside a row, empty where there is none."""
    value = row.get(name)
    return value if isinstance(value, dict) else {}


def turn_of(value: Any) -> int | None:
    """A turn id, ``None`` for anything else."""
    return value if type(value) is int and value >= 0 else None
