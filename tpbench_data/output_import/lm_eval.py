"""Sample logs of lm-evaluation-harness: JSON Lines with ``doc`` (which carries our ``input_id``) and ``resps``.

The first response of the first request is the answer; ``filtered_resps`` are what a filter made of it, so not raw.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tpbench_data.errors import BadInput
from tpbench_data.output_import.answers import Answer, json_lines, text_field


def read(file: Path) -> Iterator[Answer]:
    """The answers of a ``samples_*.jsonl`` file."""
    for row, record in json_lines(file):
        document = record.get("doc")
        if not isinstance(document, dict):
            raise BadInput("is missing", file=file, row=row, field="doc", remedy="Log samples with --log_samples")
        yield Answer(str(text_field(document, "input_id", file, row)), _response(record, file, row), None, row)


def _response(record: dict[str, Any], file: Path, row: int) -> str:
    found = record.get("resps")
    while isinstance(found, list) and found:
        found = found[0]
    if not isinstance(found, str):
        raise BadInput("holds no text", file=file, row=row, field="resps", remedy="Use a task of type generate_until")
    return found
