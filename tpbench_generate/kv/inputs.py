"""The inputs of a run that compresses the cache: every question once, with its full context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from tpbench_data.errors import BadInput
from tpbench_generate.kv import KVMethod, parse_kv
from tpbench_generate.plan import PlannedInput

FULL_CONTEXT = "full_context"


def read_compression(kv: str, methods: Sequence[str], ratios: Sequence[float]) -> tuple[KVMethod, float]:
    """The cache method of a run and its ratio, from the options --kv, --method and --ratio.

    Raises:
        BadInput: An unknown method or setting, not exactly one ratio in (0, 1], or inputs other than full contexts.
    """
    method = parse_kv(kv)
    if len(ratios) != 1 or not 0 < ratios[0] <= 1:
        raise BadInput(
            "a cache method needs one retained fraction in (0, 1]", field="--ratio", remedy="Give --ratio 0.3"
        )
    if set(methods) - {FULL_CONTEXT}:
        raise BadInput("--kv compresses full contexts only", field="--method", remedy="Leave --method out")
    return method, ratios[0]


def full_contexts(tables: Mapping[str, pa.Table], ratio: float, *, release: str) -> dict[str, pa.Table]:
    """The full-context rows of each probe, one per question and protocol, in table order.

    A release repeats them at every ratio, so that a cell is one filter. Of a question's rows the one at the cache's
    ratio is taken, else the first.

    Args:
        tables: Probe config name -> its table in the release.
        ratio: Retained fraction of the cache.
        release: The release's path, for the message.

    Raises:
        BadInput: The release has no full context.
    """
    found = {}
    for probe, table in tables.items():
        chosen: dict[tuple[str, str, str], int] = {}
        columns = table.select(["method", "ratio", "protocol", "corpus", "example_id"]).to_pylist()
        for place, row in enumerate(columns):
            if row["method"] == FULL_CONTEXT:
                key = (row["protocol"], row["corpus"], row["example_id"])
                if key not in chosen or (row["ratio"] == ratio and columns[chosen[key]]["ratio"] != ratio):
                    chosen[key] = place
        found[probe] = table.take(pa.array(sorted(chosen.values()), type=pa.int64()))
    if not any(table.num_rows for table in found.values()):
        raise BadInput(
            "this release has no full_context, which --kv compresses",
            file=release,
            remedy=f"Add it: `tpbench-generate select --release {release} --method full_context --ratio R --out R2`",
        )
    return found


def as_answers_of(inputs: Sequence[PlannedInput], method: str, ratio: float) -> list[PlannedInput]:
    """The inputs, planned as answers of a cache method: its name and ratio go to plan and outputs."""
    return [replace(planned, method=method, ratio=ratio) for planned in inputs]
