"""Which corpus a folder, archive or file holds, from its content."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tpbench_data.corpora.json_reading import parse_json, stream_records
from tpbench_data.corpora.shapes import Shape, shape_of
from tpbench_data.corpora.source_files import SourceFiles
from tpbench_data.errors import BadInput

_ANY_JSON = r".*\.jsonl?"
_FILES_TRIED = 20


def recognise(path: Path) -> Shape | None:
    """The corpus at ``path``: the first of its JSON files whose first record has a known shape.

    Never raises for content; ``None`` where nothing is recognised.
    """
    for preferred in (r"(^|/)train/", None):
        files = SourceFiles(path, _ANY_JSON, preferred)
        try:
            for tried, (name, data) in enumerate(files):
                shape = shape_of_file(name, data)
                if shape is not None:
                    return shape
                if tried >= _FILES_TRIED:
                    break
        except BadInput:
            continue
    return None


def shape_of_file(name: str, data: bytes) -> Shape | None:
    """The shape of the first record of one file."""
    try:
        if name.endswith(".jsonl"):
            line = next((line for line in data.split(b"\n") if line.strip()), b"null")
            return shape_of(parse_json(line.removeprefix(b"\xef\xbb\xbf"), name))
        record: Any = next((record for _, record in stream_records(data, name)), None)
        return shape_of(record)
    except BadInput:
        return None


def with_hint(problem: BadInput, path: Path, corpus: str) -> BadInput:
    """The same problem, with a hint where the path holds another corpus than the one it was given as."""
    if re.search("this looks like", str(problem)):
        return problem
    shape = recognise(path)
    if shape is None or shape.corpus == corpus or (not shape.corpus and corpus not in _KNOWN):
        return problem
    return BadInput(
        f"{str(problem).rstrip('.')}; this looks like {shape.title}", remedy=f"If it is, use {shape.option}"
    )


_KNOWN = frozenset({"sgd", "multiwoz", "risawoz", "lme_ku"})
