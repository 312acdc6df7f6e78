"""The verdict of every saved answer as one bit, small enough to freeze with a release.

A table says that a cell moved; the verdicts say which answer did. They have the form of a stored table: one row per
run and cell, one column per measure, each cell a number of right answers and a text of hexadecimal digits. The first
answer of the cell, in release order, is the highest bit of the first digit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tpbench_data.budget import format_ratio
from tpbench_score.signature import signature_of

FILE_NAME = "verdicts.json"
FORMAT_VERSION = 1
PART = "verdicts"
MEASURES = ("strict", "loose")

_CELL = ("run_id", "role", "probe", "corpus", "protocol", "method", "ratio", "selector_seed")

Places = npt.NDArray[np.int64]


def cells_of(scores: pa.Table) -> Iterator[tuple[str, Places]]:
    """The cells of a score table, in order of first appearance: (key, rows in release order)."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place, cell in enumerate(zip(*(scores[name].to_pylist() for name in _CELL), strict=True)):
        groups.setdefault(cell, []).append(place)
    for cell, places in groups.items():
        *names, ratio, seed = cell
        parts = [*names, "" if ratio is None else format_ratio(ratio), "" if seed is None else str(seed)]
        yield "|".join(parts), np.array(places, dtype=np.int64)


def verdict_table(scores: pa.Table) -> dict[str, Any]:
    """The verdicts of a score table in the form of a stored table file."""
    right = {name: np.asarray(scores[name]).astype(np.bool_) for name in MEASURES}
    rows = [
        {
            "key": key,
            "label": key,
            "reference": False,
            "cells": [
                {
                    "numbers": [{"name": "right", "value": int(right[name][places].sum()), "kind": "count"}],
                    "text": to_hex(right[name][places]),
                }
                for name in MEASURES
            ],
        }
        for key, places in cells_of(scores)
    ]
    scorers = sorted(set(scores["scorer"].to_pylist()))
    table = {
        "kind": "table",
        "title": "Verdict of every saved answer, one bit each in release order",
        "available": True,
        "part": PART,
        "facts": {"scorer": "+".join(scorers)},
        "head": "Run and cell",
        "columns": [{"key": name, "label": name, "group": "", "parts": ["right"]} for name in MEASURES],
        "rows": rows,
        "notes": [],
        "signature": str(signature_of(scores)),
    }
    return {"format": FORMAT_VERSION, "tables": [table]}


def to_hex(bits: npt.NDArray[np.bool_]) -> str:
    """Bits as hexadecimal digits, the last digit filled with zeros."""
    digits = (len(bits) + 3) // 4
    return np.packbits(bits).tobytes().hex()[:digits]


def first_difference(frozen: str, now: str) -> int | None:
    """The place of the first answer whose bit differs; ``None`` where the texts are equal."""
    if frozen == now:
        return None
    for place, (a, b) in enumerate(zip(frozen.ljust(len(now), "0"), now.ljust(len(frozen), "0"), strict=True)):
        if a != b:
            try:
                differing = int(a, 16) ^ int(b, 16)
            except ValueError:
                return 4 * place
            return 4 * place + 4 - differing.bit_length()
    return None


def cell_texts(table: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """(row key, measure) -> bits as text, of a stored table of verdicts."""
    measures = [column["key"] for column in table["columns"]]
    return {
        (row["key"], measure): cell.get("text", "")
        for row in table["rows"]
        for measure, cell in zip(measures, row["cells"], strict=False)
    }
