"""Joins the shares of a run into the folder that an undivided run would have left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from tpbench_data.errors import BadInput
from tpbench_data.files import new_folder
from tpbench_data.run_folder import read_plan, read_run_row, write_cache, write_outputs, write_plan, write_run_row
from tpbench_generate.assembling import cache_table, outputs_table
from tpbench_generate.identity import joined_environment
from tpbench_generate.journal import JOURNAL_FILE, SavedAnswer, read_journal
from tpbench_generate.run_state import RunLog, check_same_run
from tpbench_generate.shards import Shard, batches_of, missing_shares, read_shard


@dataclass(frozen=True)
class MergeSummary:
    """What was joined: run id, new folder, number of shares, planned inputs, and how many ended in an error."""

    run_id: str
    folder: str
    shards: int
    planned: int
    errors: int


def merge_shards(folders: Sequence[Path], out: Path) -> MergeSummary:
    """Writes the whole run into a new folder; the shares are left as they are.

    Args:
        folders: Every share once, in any order.
        out: The new folder.

    Raises:
        BadInput: A folder holds no share or one of another run, a share is missing, given twice or not finished, or
            ``out`` exists.
    """
    shares = sorted(((_share(folder), folder) for folder in folders), key=lambda pair: (pair[0].of, pair[0].index))
    first_folder = shares[0][1]
    row, plan = read_run_row(first_folder), read_plan(first_folder)
    _check_complete(shares)
    batches = batches_of(plan)
    answers: dict[str, SavedAnswer] = {}
    for shard, folder in shares:
        kept = check_same_run(plan, row, folder, shard)
        row = {**row, **joined_environment(row, kept)}
        answers |= _answers(folder, shard, batches)
    _write(out, row, plan, answers, shares)
    errors = sum(answers[key].error is not None for key in plan["prompt_hash"].to_pylist())
    return MergeSummary(row["run_id"], str(out), len(shares), plan.num_rows, errors)


def _share(folder: Path) -> Shard:
    read_run_row(folder)
    shard = read_shard(folder)
    if shard is None:
        raise BadInput("holds a whole run, not a share", file=folder, remedy="Give the folders made with --shard")
    return shard


def _check_complete(shares: Sequence[tuple[Shard, Path]]) -> None:
    first, first_folder = shares[0]
    seen: dict[int, Path] = {}
    for shard, folder in shares:
        if shard.of != first.of:
            raise BadInput(f"is share {shard}, but {first_folder} is share {first}", file=folder)
        if shard.index in seen:
            raise BadInput(f"is share {shard}, as is {seen[shard.index]}", file=folder, remedy="Give each share once")
        seen[shard.index] = folder
    if missing := missing_shares([shard for shard, _ in shares]):
        raise BadInput(f"share {', '.join(missing)} of this run is missing", remedy="Give the folder of every share")


def _answers(folder: Path, shard: Shard, batches: Sequence[Sequence[str]]) -> dict[str, SavedAnswer]:
    found = read_journal(folder / JOURNAL_FILE, batches)
    own = {number for number in range(len(batches)) if shard.takes(number)}
    if strange := sorted(found.done - own):
        raise BadInput(f"holds batch {strange[0]}, which is not in share {shard}", file=folder / JOURNAL_FILE)
    if to_do := len(own - found.done):
        raise BadInput(
            f"share {shard} is not finished: {to_do} of {len(own)} batches are to do",
            file=folder,
            remedy="Run its `tpbench-generate run --shard` command again: it goes on where it stopped",
        )
    return found.answers


def _write(
    out: Path,
    row: dict[str, Any],
    plan: pa.Table,
    answers: dict[str, SavedAnswer],
    shares: Sequence[tuple[Shard, Path]],
) -> None:
    cache = cache_table(plan, answers)
    with new_folder(out) as folder:
        write_plan(folder, plan)
        write_run_row(folder, row)
        if cache.num_rows:
            write_cache(folder, cache)
        write_outputs(folder, outputs_table(plan, answers, row["run_id"]))
        RunLog(folder).write(f"merged {len(shares)} shares: {', '.join(folder.name for _, folder in shares)}")
