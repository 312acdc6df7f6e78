"""The finished batches of a run, one JSON line each, safe against being killed at any moment.

A line counts once its newline is on the disk. A line without one was torn by the kill: it is cut off before anything
is appended, or the next record would be glued to it. Damage anywhere else is an error, never skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any

from tpbench_data.errors import BadInput

JOURNAL_FILE = "journal.jsonl"


@dataclass(frozen=True)
class SavedAnswer:
    """What is stored of one distinct prompt; the fields are columns of the `outputs` table.

    Only ``cache`` is not: where the reader compresses its cache, it holds the fields of `CacheFacts`.
    """

    text: str
    error: str | None
    finish_reason: str
    input_truncated: bool | None
    prompt_tokens: int | None
    output_tokens: int | None
    attempts: int
    cache: dict[str, Any] | None = None


@dataclass(frozen=True)
class Recorded:
    """What a journal file holds.

    Attributes:
        answers: Prompt hash -> saved answer, for every finished batch.
        done: The numbers of the finished batches.
        whole: Bytes up to the end of the last whole record.
        torn: Bytes behind it.
    """

    answers: dict[str, SavedAnswer]
    done: set[int]
    whole: int
    torn: int


def read_journal(path: Path, batches: Sequence[Sequence[str]]) -> Recorded:
    """Reads a journal without changing it; a missing file is an empty one.

    Args:
        path: The file.
        batches: The plan's batches (prompt hashes); what the file holds must fit them.

    Raises:
        BadInput: A line is damaged, repeated, or does not belong to the plan.
    """
    data = path.read_bytes() if path.exists() else b""
    whole = data.rfind(b"\n") + 1
    found = Recorded({}, set(), whole, len(data) - whole)
    for number, line in enumerate(data[:whole].split(b"\n")[:-1], start=1):
        _take(found, line, batches, path, number)
    return found


def _take(found: Recorded, line: bytes, batches: Sequence[Sequence[str]], path: Path, number: int) -> None:
    try:
        entry = json.loads(line)
        batch, answers = entry["batch"], {key: _answer(one) for key, one in entry["answers"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise _damaged("is damaged", path, number) from None
    if type(batch) is not int or not 0 <= batch < len(batches):
        raise _damaged("names a batch that the plan lacks", path, number)
    if batch in found.done or set(answers) != set(batches[batch]):
        raise _damaged(f"does not fit batch {batch} of the plan", path, number)
    found.done.add(batch)
    found.answers.update(answers)


def _damaged(problem: str, path: Path, number: int) -> BadInput:
    return BadInput(
        f"this record {problem}",
        file=path,
        row=number,
        remedy="Delete this line and run again (its batch is answered anew), or use another --out",
    )


class Journal:
    """An open journal; use it in a ``with`` block.

    Args:
        path: The file, created if need be.
        batches: The plan's batches (prompt hashes); what the file holds must fit them.

    Attributes:
        answers: Prompt hash -> saved answer, for every finished batch.
        done: The numbers of the finished batches.
        cut: Bytes of a torn last line that were removed on opening.

    Raises:
        BadInput: A line is damaged, repeated, or does not belong to the plan.
    """

    def __init__(self, path: Path, batches: Sequence[Sequence[str]]) -> None:
        self._batches = batches
        found = read_journal(path, batches)
        self.answers, self.done, self.cut = found.answers, found.done, found.torn
        self._file = path.open("ab", buffering=0)
        if self.cut:
            self._file.truncate(found.whole)
            os.fsync(self._file.fileno())

    def append(self, batch: int, answers: Mapping[str, SavedAnswer]) -> None:
        """Adds a finished batch; when this returns, the batch survives a crash."""
        entry = {"batch": batch, "answers": {key: asdict(answers[key]) for key in self._batches[batch]}}
        # ASCII only: no character of an answer can be taken for a line end.
        data = json.dumps(entry, ensure_ascii=True, allow_nan=False).encode() + b"\n"
        while data:
            data = data[self._file.write(data) :]
        os.fsync(self._file.fileno())
        self.done.add(batch)
        self.answers.update(answers)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def _answer(values: Mapping[str, Any]) -> SavedAnswer:
    if set(values) != {field.name for field in fields(SavedAnswer)}:
        raise ValueError("other fields")
    return SavedAnswer(**values)
