"""Judgments as they lie on disk before they are frozen.

Either a folder with ``judgments.parquet`` and, if a judge made it, its ``run.json``; or one file, Parquet or JSON
Lines, with the columns of the config `judgments`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from tpbench_data.errors import BadInput
from tpbench_data.release.limits import MAX_FILE_BYTES
from tpbench_data.release.parquet_reading import read_parquet
from tpbench_data.release.schema import JUDGMENTS
from tpbench_data.release.strict_json import parse_strict
from tpbench_data.run_folder import RUN_FILE, read_run_row

JUDGMENTS_FILE = "judgments.parquet"
LABELS = ("equivalent", "not_equivalent", "uncertain")


@dataclass(frozen=True)
class JudgmentFile:
    """Judgments of one judge.

    Attributes:
        table: Table `JUDGMENTS`.
        run: The row of the `runs` table that describes the judge, where the folder has one.
    """

    table: pa.Table
    run: dict[str, Any] | None


def read_judgments(path: Path) -> JudgmentFile:
    """Reads a folder or file of judgments.

    Raises:
        BadInput: Nothing there, a damaged file, another column or label, or a null where none may be.
    """
    run = None
    file = path
    if path.is_dir():
        run = read_run_row(path) if (path / RUN_FILE).is_file() else None
        file = path / JUDGMENTS_FILE
    if not file.is_file():
        raise BadInput("no such file", file=file, remedy="Give the folder of `tpbench-generate judge`, or a file")
    if file.stat().st_size > MAX_FILE_BYTES:
        raise BadInput(f"larger than {MAX_FILE_BYTES} bytes", file=file)
    data = file.read_bytes()
    if file.suffix == ".jsonl":
        table = pa.Table.from_pylist(list(_lines(data, file)), schema=JUDGMENTS)
    else:
        table = read_parquet(data, JUDGMENTS, file)
    for number, row in enumerate(table.to_pylist(), start=1):
        for column in ("judgment_id", "run_id", "reference", "answer"):
            if row[column] is None:
                raise BadInput("must not be null", file=file, row=number, field=column)
        if row["label"] not in LABELS:
            raise BadInput(
                f"unknown label {row['label']!r}", file=file, row=number, field="label",
                remedy=f"Use one of: {', '.join(LABELS)}",
            )  # fmt: skip
    return JudgmentFile(table, run)


def _lines(data: bytes, file: Path) -> Iterator[dict[str, Any]]:
    # Only the byte 0x0A ends a line: U+2028 and its kin may stand inside an answer.
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        row = parse_strict(line, f"{file}, row {number}")
        if not isinstance(row, dict) or set(row) - set(JUDGMENTS.names):
            raise BadInput(
                "is not an object with the columns of judgments",
                file=file, row=number, remedy=f"Columns: {', '.join(JUDGMENTS.names)}",
            )  # fmt: skip
        for column, value in row.items():
            if value is not None and not isinstance(value, str):
                raise BadInput("is not a text", file=file, row=number, field=column)
        yield dict.fromkeys(JUDGMENTS.names) | row
