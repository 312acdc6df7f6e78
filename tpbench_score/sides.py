"""The two sides of a comparison: a run, a method, or a method of a run, named on the command line.

recency                 a method, in the one run that has it
random(seed=43)         a method and the selector seed of its rows
smollm2-135m-0f3a9c21   a run: its id, its reader, or its folder
runs/x:recency          a method of a run
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tpbench_data.errors import BadInput
from tpbench_data.run_folder import RUN_FILE, read_run_row

_SEEDED = re.compile(r"(?P<method>.+?)\(seed=(?P<seed>\d+)\)")

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Side:
    """One side.

    Attributes:
        name: As it was given.
        run: Run id, ``None`` where only a method was named.
        method: Method, ``None`` where only a run was named.
        seed: Selector seed, ``None`` where none was named.
    """

    name: str
    run: str | None
    method: str | None
    seed: int | None = None


def run_folders(names: Sequence[str]) -> list[Path]:
    """The run folders among the names of sides, without repeats."""
    return list(dict.fromkeys(folder for name in names if (folder := _folder(name)[0]) is not None))


def read_side(name: str, scores: pa.Table) -> Side:
    """What a name stands for among scored outputs.

    Raises:
        BadInput: Neither a run nor a method of the scored outputs, or a reader with several runs.
    """
    folder, rest = _folder(name)
    if folder is not None:
        run: str | None = read_run_row(folder)["run_id"]
    else:
        run = _run(name, scores)
        if run is not None:
            return Side(name, run, None)
        head, colon, tail = name.partition(":")
        run = _run(head, scores) if colon else None
        rest = tail if run is not None else name
    if not rest:
        return Side(name, run, None)
    seeded = _SEEDED.fullmatch(rest)
    method, seed = (seeded["method"], int(seeded["seed"])) if seeded else (rest, None)
    methods = sorted(set(scores["method"].to_pylist()))
    if method not in methods:
        runs = sorted(set(scores["run_id"].to_pylist()))
        raise BadInput(
            f"{name!r} is neither a run nor a method here",
            remedy=f"Runs: {', '.join(runs) or 'none'}. Methods: {', '.join(methods) or 'none'}",
        )
    return Side(name, run, method, seed)


def chosen(side: Side, other: Side, scores: pa.Table) -> tuple[Side, Mask]:
    """The side with its run and, where either side has one, its method; and its rows.

    Raises:
        BadInput: Several runs, methods or selector seeds fit, so it is not clear what is compared.
    """
    mask = np.ones(scores.num_rows, dtype=np.bool_)
    if side.method is not None:
        mask &= np.asarray(pc.equal(scores["method"], side.method))
    if side.seed is not None:
        mask &= np.asarray(pc.fill_null(pc.equal(scores["selector_seed"], side.seed), False))
    run = side.run or _only_run(side, other, scores, mask)
    mask &= np.asarray(pc.equal(scores["run_id"], run))
    if not mask.any():
        raise BadInput(f"{side.name!r} has no outputs")
    method: str | None = side.method
    if method is None and other.method is not None:
        method = _only(scores["method"].filter(pa.array(mask)), f"run {run!r} has several methods", f"{run}:METHOD")
    if method is not None and side.seed is None:
        seeds = scores["selector_seed"].filter(pa.array(mask)).drop_null()
        if len(seeds.unique()) > 1:
            _only(seeds, f"{side.name!r} has several selector seeds", f"{method}(seed=N)")
    return Side(side.name, run, method, side.seed), mask


def _folder(name: str) -> tuple[Path | None, str]:
    """The run folder that a name begins with, and the method behind it."""
    if (Path(name) / RUN_FILE).is_file():
        return Path(name), ""
    head, colon, tail = name.rpartition(":")
    return (Path(head), tail) if colon and (Path(head) / RUN_FILE).is_file() else (None, "")


def _run(name: str, scores: pa.Table) -> str | None:
    if pc.any(pc.equal(scores["run_id"], name)).as_py():
        return name
    runs = sorted(set(scores.filter(pc.equal(scores["reader"], name))["run_id"].to_pylist()))
    if len(runs) > 1:
        raise BadInput(f"reader {name!r} has several runs", remedy=f"Name one: {', '.join(runs)}")
    return runs[0] if runs else None


def _only_run(side: Side, other: Side, scores: pa.Table, mask: Mask) -> str:
    runs = sorted(set(scores["run_id"].filter(pa.array(mask)).to_pylist()))
    if other.run in runs:
        return str(other.run)
    if len(runs) > 1:
        raise BadInput(
            f"{side.name!r} occurs in several runs",
            remedy=f"Name one, such as {runs[0]}:{side.name} ({', '.join(runs)})",
        )
    if not runs:
        raise BadInput(f"{side.name!r} has no outputs")
    return str(runs[0])


def _only(values: pa.ChunkedArray, problem: str, form: str) -> str:
    found = sorted(map(str, values.unique().to_pylist()))
    if len(found) > 1:
        raise BadInput(f"{problem}: {', '.join(found)}", remedy=f"Name one: {form}")
    return str(found[0])
