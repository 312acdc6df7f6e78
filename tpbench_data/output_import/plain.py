"""Plain JSON Lines: ``input_id``, ``text`` and, where the reader failed, ``error``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tpbench_data.output_import.answers import Answer, json_lines, text_field


def read(file: Path) -> Iterator[Answer]:
    """The answers of a file; a null text is an empty answer, other keys are ignored."""
    for row, record in json_lines(file):
        text = text_field(record, "text", file, row, needed="text" not in record)
        error = text_field(record, "error", file, row, needed=False)
        yield Answer(str(text_field(record, "input_id", file, row)), text or "", error, row)
