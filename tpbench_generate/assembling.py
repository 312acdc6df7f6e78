"""Between answers by prompt, as a reader gives them, and outputs by input, as a run folder holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import pyarrow as pa

from tpbench_data.release.schema import CACHE, OUTPUTS
from tpbench_generate.journal import SavedAnswer

_FIELDS = tuple(field.name for field in fields(SavedAnswer) if field.name != "cache")


def outputs_table(plan: pa.Table, answers: Mapping[str, SavedAnswer], run_id: str) -> pa.Table:
    """Table `OUTPUTS`: one row per planned input, in plan order.

    Args:
        plan: Table `PLAN`.
        answers: Prompt hash -> answer, for every prompt of the plan.
        run_id: Of the run.
    """
    saved = [answers[key] for key in plan["prompt_hash"].to_pylist()]
    columns: dict[str, Any] = {
        "run_id": [run_id] * len(saved),
        "input_id": plan["input_id"],
        "method": plan["method"],
        "ratio": plan["ratio"],
        "text_source": ["raw"] * len(saved),
    }
    for name in OUTPUTS.names:
        if name not in columns:
            columns[name] = [getattr(answer, name) for answer in saved]
    return pa.table({name: columns[name] for name in OUTPUTS.names}, schema=OUTPUTS)


def cache_table(plan: pa.Table, answers: Mapping[str, SavedAnswer]) -> pa.Table:
    """Table `CACHE`: what was kept of every context; empty where the reader compressed nothing."""
    planned = zip(plan["input_id"].to_pylist(), plan["prompt_hash"].to_pylist(), strict=True)
    rows = [{"input_id": name, **facts} for name, key in planned if (facts := answers[key].cache) is not None]
    return pa.Table.from_pylist(rows, schema=CACHE)


def saved_answers(plan: pa.Table, outputs: pa.Table, cache: pa.Table) -> dict[str, SavedAnswer]:
    """The way back: prompt hash -> answer, from the tables of a finished run in plan order."""
    kept = {row.pop("input_id"): row for row in cache.to_pylist()}
    return {
        key: SavedAnswer(**{name: row[name] for name in _FIELDS}, cache=kept.get(row["input_id"]))
        for key, row in zip(plan["prompt_hash"].to_pylist(), outputs.to_pylist(), strict=True)
    }
