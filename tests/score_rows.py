"""Score tables for tests: rows in the form that ``tpbench_score.score`` gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("run_id", "reader", "role", "input_id", "example_id", "probe", "corpus")),
        *((name, pa.string()) for name in ("language", "dialogue_id", "slot", "method")),
        ("ratio", pa.float64()),
        ("selector_seed", pa.int64()),
        ("protocol", pa.string()),
        ("sample_seeds", pa.list_(pa.int64())),
        ("alias_equivalent", pa.bool_()),
        ("scorer", pa.string()),
        ("strict", pa.bool_()),
        ("loose", pa.bool_()),
        ("token_f1", pa.float64()),
        *((name, pa.bool_()) for name in ("parsed", "goal_ok", "value_strict", "value_loose")),
        *((name, pa.bool_()) for name in ("whole_strict", "whole_loose", "abstained", "superseded", "retained")),
        *((name, pa.string()) for name in ("answer", "goal_segment", "value_segment", "reason", "status", "error")),
    ]
)

PROBES = {"P1": "initial_goal", "P2": "current_value", "P3": "joint_recovery"}


def row(**changes: Any) -> dict[str, Any]:
    """One score row: a wrong answer of a P2 item, with changes."""
    out: dict[str, Any] = dict.fromkeys(SCHEMA.names)
    out |= {
        "run_id": "reader-00000000",
        "reader": "reader",
        "role": "main",
        "example_id": "e0",
        "probe": "current_value",
        "corpus": "sgd",
        "language": "en",
        "method": "recency",
        "ratio": 0.3,
        "protocol": "paper",
        "sample_seeds": [42],
        "scorer": "paper-1",
        "strict": False,
        "loose": False,
        "abstained": False,
        "reason": "value_differs",
        "status": "ok",
    }
    out |= changes
    out["dialogue_id"] = out["dialogue_id"] or out["example_id"]
    if out["input_id"] is None:
        key = ("corpus", "example_id", "probe", "method", "ratio", "selector_seed", "protocol")
        out["input_id"] = "|".join(str(out[name]) for name in key)
    return out


def table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Score rows as the Arrow table that tables are made from."""
    return pa.Table.from_pylist([dict(r) for r in rows], schema=SCHEMA)


def cell(
    correct: Sequence[int],
    sizes: Sequence[int],
    *,
    loose: Sequence[int] | None = None,
    seeds: Sequence[int] = (42, 43, 44),
    **facts: Any,
) -> list[dict[str, Any]]:
    """Rows of one method with a given number of right answers per sample seed; every seed has its own examples."""
    out = []
    for place, (seed, right, size) in enumerate(zip(seeds, correct, sizes, strict=True)):
        also = right if loose is None else loose[place]
        for i in range(size):
            out.append(
                row(
                    example_id=f"s{seed}-{i:03d}",
                    sample_seeds=[seed],
                    strict=i < right,
                    loose=i < max(also, right) if loose is None else i < also,
                    **facts,
                )
            )
    return out
