"""Writing a score table: Parquet for programs, CSV for a spreadsheet, JSON Lines for everything else."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from tpbench_data.errors import BadInput
from tpbench_data.files import parquet_bytes, write_bytes
from tpbench_score.json_lines import json_line, json_text

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet takes a cell that starts so for a formula; an answer of a reader must never run as one."""


def csv_bytes(table: pa.Table) -> bytes:
    """The table as CSV: UTF-8, one header line, LF line ends, nulls empty, lists as JSON text.

    Text that a spreadsheet would run as a formula gets a leading apostrophe.
    """
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(table.column_names)
    columns = [table[name].to_pylist() for name in table.column_names]
    writer.writerows([_cell(value) for value in row] for row in zip(*columns, strict=True))
    return sink.getvalue().encode("utf-8")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA_STARTS) else value
    return json_text(value)


def jsonl_bytes(table: pa.Table) -> bytes:
    """The table as JSON Lines, keys in column order."""
    return b"".join(json_line(row) for row in table.to_pylist())


FORMATS: Mapping[str, Callable[[pa.Table], bytes]] = {
    ".parquet": parquet_bytes,
    ".csv": csv_bytes,
    ".jsonl": jsonl_bytes,
}
"""File ending -> the bytes of a table in that format."""


def check_target(path: Path) -> None:
    """Raises BadInput where a score table cannot be written to ``path``: wrong ending, or a file is there."""
    if path.suffix not in FORMATS:
        raise BadInput("no such format", file=path, remedy=f"End the name of --out in {', '.join(FORMATS)}")
    if path.exists():
        raise BadInput("already exists", file=path, remedy="Choose another --out, or move the old file away")


def write_scores(path: Path, table: pa.Table) -> None:
    """Writes a table in the format that the ending of ``path`` names, atomically."""
    check_target(path)
    write_bytes(path, FORMATS[path.suffix](table))
