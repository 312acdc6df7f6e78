"""A run folder: one reader's saved answers to some inputs of a release.

    run.json         the row of the `runs` table
    plan.parquet     the planned inputs and their batches: the denominator of the run
    outputs.parquet  one answer per planned input, in plan order; present only when the run is finished
    cache.parquet    what was kept of each context; only where the run compressed the reader's cache
    shard.json       only in a share of a run (`--shard`), which `tpbench-generate merge` joins with the others
    log.txt          what happened when; the only file with a clock in it, outside every byte guarantee

Source: design page "A release is a folder", last paragraph on run folders.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa

from tpbench_data.canonical import pretty_json
from tpbench_data.errors import BadInput
from tpbench_data.files import write_parquet, write_text
from tpbench_data.release.reader import read_parquet
from tpbench_data.release.schema import CACHE, OUTPUTS, PLAN, RUNS

RUN_FILE = "run.json"
PLAN_FILE = "plan.parquet"
OUTPUTS_FILE = "outputs.parquet"
CACHE_FILE = "cache.parquet"
LOG_FILE = "log.txt"
SHARD_FILE = "shard.json"

_MAX_RUN_BYTES = 4 << 20
"""A run row has a few kilobytes; a larger file is not one, and is not read into memory."""


@dataclass(frozen=True)
class RunFolder:
    """A finished run.

    Attributes:
        path: The folder.
        run: The row of the `runs` table, every column of it, unknown = None.
        plan: Table `PLAN`, in plan order.
        outputs: Table `OUTPUTS` as stored. Whether it answers the plan is for the scorer to judge.
    """

    path: Path
    run: dict[str, Any]
    plan: pa.Table
    outputs: pa.Table


def read_run(path: str | Path) -> RunFolder:
    """Reads a finished run folder.

    Raises:
        BadInput: The folder or a file is missing, the run is unfinished, a file is damaged or has other columns
            than this version knows, or the files belong to different runs.
    """
    folder = Path(path)
    run = read_run_row(folder)
    plan = read_plan(folder)
    if (folder / SHARD_FILE).is_file():
        raise BadInput(
            "is only a share of a run", file=folder, remedy="Join all shares with `tpbench-generate merge` first"
        )
    if not is_finished(folder):
        raise BadInput(
            "this run is not finished",
            file=folder,
            remedy="Run the same `tpbench-generate run` command again: it goes on where it stopped",
        )
    outputs = _read_table(folder / OUTPUTS_FILE, OUTPUTS)
    if plan.num_rows != run["n_planned"]:
        raise BadInput(
            f"holds {plan.num_rows} inputs, but {RUN_FILE} says that {run['n_planned']} were planned",
            file=folder / PLAN_FILE,
            remedy="Restore the file that was changed: the plan is the denominator of the run",
        )
    strangers = [name for name in outputs["run_id"].unique().to_pylist() if name != run["run_id"]]
    if strangers:
        raise BadInput(
            f"holds answers of run '{strangers[0]}', but {RUN_FILE} describes '{run['run_id']}'",
            file=folder / OUTPUTS_FILE,
            field="run_id",
            remedy="Keep each run in its own folder",
        )
    return RunFolder(folder, run, plan, outputs)


def is_finished(folder: Path) -> bool:
    """Whether the run has its outputs; they are written last and in one step."""
    return (folder / OUTPUTS_FILE).is_file()


def read_run_row(folder: Path) -> dict[str, Any]:
    """The `runs` row of a run folder, finished or not; raises BadInput."""
    if not folder.is_dir():
        raise BadInput("no such run folder", file=folder, remedy="Give the --out folder of `tpbench-generate run`")
    path = folder / RUN_FILE
    if not path.is_file():
        raise BadInput(f"not a run folder: it has no {RUN_FILE}", file=folder)
    if path.stat().st_size > _MAX_RUN_BYTES:
        raise BadInput(f"larger than {_MAX_RUN_BYTES} bytes, so not a run description", file=path)
    try:
        row = json.loads(path.read_bytes().decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as problem:
        raise BadInput(f"not valid JSON: {problem}", file=path) from None
    if not isinstance(row, dict):
        raise BadInput("not a JSON object", file=path)
    return _checked_row(row, path)


def read_plan(folder: Path) -> pa.Table:
    """The plan of a run folder, finished or not (table `PLAN`); raises BadInput."""
    return _read_table(folder / PLAN_FILE, PLAN)


def read_cache(folder: Path) -> pa.Table:
    """What was kept of each context (table `CACHE`), in plan order; empty where the run compressed nothing.

    Raises:
        BadInput: The file is damaged or has other columns.
    """
    path = folder / CACHE_FILE
    return _read_table(path, CACHE) if path.is_file() else CACHE.empty_table()


def write_run_row(folder: Path, row: Mapping[str, Any]) -> None:
    """Writes run.json; ``row`` must have exactly the columns of the `runs` table."""
    path = folder / RUN_FILE
    write_text(path, pretty_json(_checked_row(dict(row), path)))


def write_plan(folder: Path, plan: pa.Table) -> None:
    """Writes plan.parquet; ``plan`` is a table of schema `PLAN`."""
    write_parquet(folder / PLAN_FILE, plan.cast(PLAN))


def write_cache(folder: Path, cache: pa.Table) -> None:
    """Writes cache.parquet; ``cache`` is a table of schema `CACHE`."""
    write_parquet(folder / CACHE_FILE, cache.cast(CACHE))


def write_outputs(folder: Path, outputs: pa.Table) -> None:
    """Writes outputs.parquet, which finishes the run; ``outputs`` is a table of schema `OUTPUTS` in plan order."""
    write_parquet(folder / OUTPUTS_FILE, outputs.cast(OUTPUTS))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _checked_row(row: dict[str, Any], path: Path) -> dict[str, Any]:
    """The row with its columns in schema order, after checking names and types."""
    unknown = sorted(set(row) - set(RUNS.names))
    if unknown:
        raise BadInput(
            "unknown field", file=path, field=unknown[0], remedy="It may come from a newer tpbench: upgrade to read it"
        )
    missing = [name for name in RUNS.names if name not in row]
    if missing:
        raise BadInput("missing field", file=path, field=missing[0])
    for column in RUNS:
        try:
            pa.array([row[column.name]], type=column.type)
        except (pa.ArrowException, OverflowError, TypeError, ValueError) as problem:
            reason = str(problem).splitlines()[0]
            raise BadInput(f"not a {column.type}: {reason}", file=path, field=column.name) from None
    for name in ("run_id", "n_planned"):
        if row[name] is None:
            raise BadInput("must not be null", file=path, field=name)
    return {name: row[name] for name in RUNS.names}


def _read_table(path: Path, schema: pa.Schema) -> pa.Table:
    if not path.is_file():
        raise BadInput("file is missing", file=path, remedy="Restore it from the run it belongs to, or run again")
    table = read_parquet(path.read_bytes(), schema, path)
    if table["input_id"].null_count:
        raise BadInput("must not be null", file=path, field="input_id")
    return table
