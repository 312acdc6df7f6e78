"""File names for tables: fixed, readable, and different within one call also where upper and lower case are one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from tpbench_score.tables.model import TableResult

_UNSAFE = re.compile(r"[^a-z0-9.]+")
_LONGEST = 80


def _slug(text: str) -> str:
    return _UNSAFE.sub("-", text.lower()).strip("-.")[:_LONGEST] or "x"


def file_stems(tables: Sequence[TableResult]) -> list[str]:
    """One name without ending per table: "table_03", with protocol, ratio and reader where a number comes twice."""
    bare = [table.file_stem for table in tables]
    repeated = Counter(bare)
    stems = []
    for stem, table in zip(bare, tables, strict=True):
        if repeated[stem] > 1:
            known = dict(table.facts)
            parts = [_slug(known[name]) for name in ("protocol", "ratio", "reader") if name in known]
            stem = "_".join([stem, *parts])
        stems.append(stem)
    seen: Counter[str] = Counter()
    out = []
    for stem in stems:
        seen[stem] += 1
        out.append(stem if seen[stem] == 1 else f"{stem}_{seen[stem]}")
    return out
