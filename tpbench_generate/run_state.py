"""What a run folder says about itself: whose it is, whether it is done, what a kill left in it, its log."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from tpbench_data.errors import BadInput
from tpbench_data.run_folder import (
    CACHE_FILE,
    LOG_FILE,
    OUTPUTS_FILE,
    PLAN_FILE,
    RUN_FILE,
    SHARD_FILE,
    is_finished,
    read_plan,
    read_run_row,
)
from tpbench_generate.identity import differences
from tpbench_generate.journal import JOURNAL_FILE
from tpbench_generate.locks import Locked, exclusive
from tpbench_generate.shards import Shard, read_shard


def is_done(out: Path) -> bool:
    """Whether nothing is left to do: a journal beside the outputs means that the last step was cut short."""
    return is_finished(out) and not (out / JOURNAL_FILE).exists()


def check_same_run(plan: pa.Table, row: Mapping[str, Any], out: Path, shard: Shard | None = None) -> dict[str, Any]:
    """The row of the run in the folder; raises BadInput if it is another run or share than the one asked for."""
    kept, kept_plan, kept_shard = read_run_row(out), read_plan(out), read_shard(out)
    different = differences(kept, row)
    if not different and not kept_plan.equals(plan):
        here, there = plan.num_rows, kept_plan.num_rows
        different = [
            f"the plan has {there} inputs there and {here} here"
            if here != there
            else "the plan has other inputs, prompts or batches there"
        ]
    if not different and kept_shard != shard:
        different = [f"--shard is {kept_shard or 'unset'} there and {shard or 'unset'} here"]
    if different:
        shown = "; ".join(different[:3]) + (f"; and {len(different) - 3} more" if len(different) > 3 else "")
        raise BadInput(
            f"holds another run ({kept['run_id']}): {shown}",
            file=out,
            remedy="Use the same options as before, or another --out",
        )
    return kept


def foreign_names(out: Path) -> list[str]:
    """What is in a folder without run.json and is not left over from a start that was killed."""
    known = {LOG_FILE, PLAN_FILE, SHARD_FILE, *temporary_names(out)}
    return sorted(path.name for path in out.iterdir() if path.name not in known)


def temporary_names(out: Path) -> list[str]:
    """Temporary files of atomic writes that a kill left behind."""
    targets = (RUN_FILE, PLAN_FILE, SHARD_FILE, CACHE_FILE, OUTPUTS_FILE)
    return [path.name for target in targets for path in out.glob(f".{target}.*.tmp")]


@contextlib.contextmanager
def working_on(out: Path) -> Iterator[None]:
    """Holds the folder for one process and tells of a disk that fails in one line.

    Raises:
        BadInput: Another process works on the folder, or it cannot be written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        with exclusive(out / LOG_FILE, wait=False):
            yield
    except Locked:
        raise BadInput(
            "another process is working on this run", file=out, remedy="Wait for it, or use another --out"
        ) from None
    except OSError as problem:
        raise BadInput(
            f"cannot write: {problem.strerror or problem}",
            file=problem.filename or out,
            remedy="Once that is mended run the same command again: finished batches are kept",
        ) from problem


class RunLog:
    """log.txt: one line per event, with the time in UTC."""

    def __init__(self, out: Path) -> None:
        self._path = out / LOG_FILE

    def write(self, text: str) -> None:
        """Adds a line; what is not ASCII is spelled out."""
        line = (
            f"{datetime.now(UTC).isoformat(timespec='seconds')} {text.encode('ascii', 'backslashreplace').decode()}\n"
        )
        with self._path.open("ab", buffering=0) as file:
            file.write(line.encode())
