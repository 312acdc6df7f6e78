"""Inspect logs, ``.eval`` (a ZIP archive with one JSON file per sample) or ``.json`` (one object with ``samples``).

The id of a sample, or ``input_id`` in its metadata, is the input; the text of its output is the answer. One epoch per
sample: of several it would not be clear which is the answer.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tpbench_data.errors import BadInput
from tpbench_data.output_import.answers import MAX_FILE_BYTES, Answer, text_field

_MAX_SAMPLE_BYTES = 256 << 20
_SAMPLES = "samples/"


def read(file: Path) -> Iterator[Answer]:
    """The answers of a log, samples in the order of their file names.

    Raises:
        BadInput: Not such a log, an unknown compression, or a sample without an answer.
    """
    if not file.is_file():
        raise BadInput("no such file", file=file)
    if file.stat().st_size > MAX_FILE_BYTES:
        raise BadInput(f"larger than {MAX_FILE_BYTES} bytes", file=file)
    found = _from_archive(file) if zipfile.is_zipfile(file) else _from_json(file)
    for place, sample in found:
        yield _answer(sample, file, place)


def _from_archive(file: Path) -> Iterator[tuple[str, Any]]:
    with zipfile.ZipFile(file) as archive:
        names = sorted(name for name in archive.namelist() if name.startswith(_SAMPLES) and name.endswith(".json"))
        if not names:
            raise BadInput("holds no samples", file=file, remedy="Give an .eval log of Inspect")
        for name in names:
            if archive.getinfo(name).file_size > _MAX_SAMPLE_BYTES:
                raise BadInput(f"{name} is larger than {_MAX_SAMPLE_BYTES} bytes", file=file)
            try:
                data = archive.read(name)
            except NotImplementedError as problem:
                raise BadInput(
                    f"{name}: {problem}", file=file, remedy="Convert it with: inspect log convert --to json"
                ) from None
            except (zipfile.BadZipFile, RuntimeError, EOFError) as problem:
                raise BadInput(f"{name} cannot be read: {problem}", file=file) from None
            yield name, _parsed(data, file, name)


def _from_json(file: Path) -> Iterator[tuple[str, Any]]:
    log = _parsed(file.read_bytes(), file, file.name)
    samples = log.get("samples") if isinstance(log, dict) else None
    if not isinstance(samples, list):
        raise BadInput("holds no list of samples", file=file, remedy="Give a log of Inspect, with its samples")
    for number, sample in enumerate(samples, start=1):
        yield f"sample {number}", sample


def _parsed(data: bytes, file: Path, place: str) -> Any:
    try:
        return json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as problem:
        raise BadInput(f"{place} is not JSON ({problem})", file=file) from None


def _answer(sample: Any, file: Path, place: str) -> Answer:
    if not isinstance(sample, dict):
        raise BadInput(f"{place} is no sample", file=file)
    metadata = sample.get("metadata")
    named = metadata if isinstance(metadata, dict) and "input_id" in metadata else {"input_id": sample.get("id")}
    input_id = str(text_field(named, "input_id", file, place))
    error = sample.get("error")
    if error is not None:
        message = error.get("message") if isinstance(error, dict) else error
        return Answer(input_id, "", str(message), place)
    output = sample.get("output")
    text = _text(output) if isinstance(output, dict) else None
    if text is None:
        raise BadInput(f"{place} holds no answer", file=file, field="output")
    return Answer(input_id, text, None, place)


def _text(output: dict[str, Any]) -> str | None:
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    content = message.get("content") if isinstance(message, dict) else output.get("completion")
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else None
