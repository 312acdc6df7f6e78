"""Checked access to parsed JSON, so that a malformed corpus ends in one error naming file, row and field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from tpbench_data.errors import BadInput

T = TypeVar("T")


def parse_json(data: bytes, file: str) -> Any:
    """Parses a whole JSON file.

    Raises:
        BadInput: Naming the file and the position of the first problem.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        raise BadInput(f"not valid JSON ({problem})", file=file, remedy="Restore the file from its source") from problem


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value was found: the file and the 1-based number of the record in it."""

    file: str
    row: int | None = None

    def get(self, record: Any, key: str, kind: type[T]) -> T:
        """``record[key]``, which must be there and of the type ``kind``."""
        value = record.get(key) if isinstance(record, dict) else None
        if not isinstance(value, kind):
            raise self.error(f"{key!r} is missing or not a {kind.__name__}", key)
        return value

    def error(self, problem: str, field: str | None = None, remedy: str | None = None) -> BadInput:
        """A BadInput at this place."""
        return BadInput(problem, file=self.file, row=self.row, field=field, remedy=remedy)
