"""Tables as JSON: everything unrounded, with per-seed values, counts and marks. Frozen tables have this form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tpbench_data.canonical import pretty_json
from tpbench_score.tables.model import Cell, Number, TableResult, Unavailable

FORMAT_VERSION = 1


def _finite(value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise ValueError(f"a table cell holds {value!r}")
    return value


def _number(number: Number, name: str) -> dict[str, Any]:
    out: dict[str, Any] = {"name": name, "value": _finite(number.value), "kind": number.kind, "best": number.best}
    if number.sd is not None:
        out["sd"] = _finite(number.sd)
    if number.per_seed:
        out["per_seed"] = [{"seed": s.seed, "value": _finite(s.value), "n": s.n} for s in number.per_seed]
    if number.interval is not None:
        out["interval"] = [_finite(end) for end in number.interval]
    if number.why:
        out["why"] = number.why
    return out


def _cell(cell: Cell, parts: tuple[str, ...]) -> dict[str, Any]:
    names = [parts[i] if i < len(parts) else "" for i in range(len(cell.numbers))]
    out: dict[str, Any] = {"numbers": [_number(n, name) for n, name in zip(cell.numbers, names, strict=True)]}
    if cell.text:
        out["text"] = cell.text
    counts = cell.counts
    if counts is not None:
        out["counts"] = {
            "planned": counts.planned,
            "total": counts.total,
            "answered": counts.answered,
            "parsed": counts.parsed,
            "abstained": counts.abstained,
            "errors": counts.errors,
            "missing": counts.missing,
        }
        if counts.turns_kept is not None or counts.words_kept is not None:
            out["kept"] = {"turns": counts.turns_kept, "words": counts.words_kept}
    return out


def table_object(table: TableResult | Unavailable) -> dict[str, Any]:
    """The table as plain data for JSON."""
    out: dict[str, Any] = {"kind": table.kind, "number": table.number, "title": table.title}
    if isinstance(table, Unavailable):
        return {**out, "available": False, "missing": table.missing}
    return {
        **out,
        "available": True,
        "part": table.part,
        "facts": dict(table.facts),
        "head": table.head,
        "columns": [
            {"key": c.key, "label": c.label, "group": c.group, "parts": list(c.parts), "show_sd": c.show_sd}
            for c in table.columns
        ],
        "rows": [
            {
                "key": row.key,
                "label": row.label,
                "reference": row.reference,
                "cells": [_cell(cell, c.parts) for cell, c in zip(row.cells, table.columns, strict=True)],
            }
            for row in table.rows
        ],
        "notes": list(table.notes),
        "signature": table.signature,
    }


def to_json(tables: Sequence[TableResult | Unavailable]) -> str:
    """One object with the list of tables."""
    return pretty_json({"format": FORMAT_VERSION, "tables": [table_object(table) for table in tables]})
