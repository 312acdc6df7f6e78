"""One saved answer, whatever file it came from, and the checks that every format shares."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tpbench_data.errors import BadInput

MAX_FILE_BYTES = 4 << 30
"""Largest file of answers; each of its records is read by itself."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One saved answer.

    Attributes:
        input_id: The input it answers.
        text: What the reader generated, as stored.
        error: What went wrong in the reader, ``None`` where nothing did.
        place: Row of the file, or name of the part it was found in; for messages.
    """

    input_id: str
    text: str
    error: str | None
    place: int | str


def json_lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(row, record) of every line; lines end at byte 0x0A only, because U+2028 may stand inside an answer.

    Raises:
        BadInput: A file that is missing or too large, or a line that is not a JSON object.
    """
    if not file.is_file():
        raise BadInput("no such file", file=file)
    if file.stat().st_size > MAX_FILE_BYTES:
        raise BadInput(f"larger than {MAX_FILE_BYTES} bytes", file=file)
    with file.open("rb") as lines:
        for row, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line.decode("utf-8-sig" if row == 1 else "utf-8"))
            except UnicodeDecodeError:
                raise BadInput("is not UTF-8", file=file, row=row, remedy="Save the file as UTF-8") from None
            except (ValueError, RecursionError) as problem:
                reason = "nested too deeply" if isinstance(problem, RecursionError) else str(problem)
                raise BadInput(f"is not JSON ({reason})", file=file, row=row) from None
            if not isinstance(record, dict):
                raise BadInput("is not a JSON object", file=file, row=row)
            yield row, record


def text_field(record: dict[str, Any], field: str, file: Path, place: int | str, *, needed: bool = True) -> str | None:
    """A text of a record.

    Raises:
        BadInput: It is missing though needed, or no text.
    """
    value = record.get(field)
    if isinstance(value, str) or (value is None and not needed):
        return value
    problem = "is missing" if value is None else f"is {type(value).__name__}, not text"
    if isinstance(place, int):
        raise BadInput(problem, file=file, row=place, field=field)
    raise BadInput(f"{problem} ({place})", file=file, field=field)
