"""JSON Lines that survive any text: lines end at byte 0x0A only, and every character can be written.

A reader that splits at U+2028, U+2029 or U+0085 would cut a record in two, so they are written as escapes, and so
are lone surrogates, which UTF-8 cannot hold.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from tpbench_data.errors import BadInput

_ESCAPED = str.maketrans({character: f"\\u{ord(character):04x}" for character in "\u2028\u2029\u0085"})


def json_text(value: Any) -> str:
    """A JSON value as one line of JSON text; NaN and infinity, which JSON lacks, as their printed form."""
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False).translate(_ESCAPED)


def json_line(record: dict[str, Any]) -> bytes:
    """A record as one line of UTF-8 with its end."""
    # Inside JSON text, the escape that this error handler writes for a lone surrogate is the JSON escape for it.
    return json_text(record).encode("utf-8", "backslashreplace") + b"\n"


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value


def read_json_lines(lines: Iterable[bytes] | BinaryIO, file: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(row, record) of every line of a file opened in binary mode.

    Raises:
        BadInput: A line is not UTF-8 or not a JSON object; the message names file and row.
    """
    for row, line in enumerate(lines, start=1):
        try:
            text = line.decode("utf-8-sig" if row == 1 else "utf-8")
            record = json.loads(text)
        except UnicodeDecodeError:
            raise BadInput("is not UTF-8", file=file, row=row, remedy="Save the file as UTF-8") from None
        except (ValueError, RecursionError) as problem:
            reason = "nested too deeply" if isinstance(problem, RecursionError) else str(problem)
            raise BadInput(f"is not JSON ({reason})", file=file, row=row) from None
        if not isinstance(record, dict):
            raise BadInput("is not a JSON object", file=file, row=row)
        yield row, record
