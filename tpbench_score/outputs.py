"""Joining saved outputs to the inputs they answer: the plan of a run is its denominator.

Nothing is dropped: a duplicate, an unknown id, or an input whose prompt is not the release's is an error; a planned
input without output is missing, which only the caller may allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tpbench_data.errors import BadInput
from tpbench_data.run_folder import OUTPUTS_FILE, PLAN_FILE, RunFolder, read_run
from tpbench_score.frozen_inputs import FrozenInputs, Positions, index_in

_LISTED = 5
"""Ids that a message spells out."""


@dataclass(frozen=True)
class PlannedInputs:
    """Inputs of one run in one role, in release order, with what the run answered.

    Attributes:
        run: The row of the `runs` table.
        positions: Row of each planned input in `FrozenInputs.table`.
        method: Method of each input: the KV-cache method where the run compressed the cache.
        ratio: Nominal ratio of each input, null for adaptive methods.
        text: Answer texts, null where missing.
        error: What went wrong in the reader, null where nothing did.
        answered: Whether the run has an output for the input.
    """

    run: Mapping[str, Any]
    positions: Positions
    method: pa.ChunkedArray
    ratio: pa.ChunkedArray
    text: pa.ChunkedArray
    error: pa.ChunkedArray
    answered: npt.NDArray[np.bool_]


def load_outputs(
    inputs: FrozenInputs, outputs: Sequence[str | Path | RunFolder] | None, *, allow_missing: bool
) -> list[PlannedInputs]:
    """The planned inputs of every run, runs in the order given.

    Folders with the same run id and role are parts of one run: their plans are united.

    Args:
        inputs: The inputs of the release.
        outputs: Run folders, or ``None`` for the runs stored in the release.
        allow_missing: Keep planned inputs without output instead of raising.

    Raises:
        BadInput: A duplicate, unknown or (unless allowed) missing id, or a run made from another release.
    """
    if outputs is None:
        return _stored_runs(inputs)
    runs: dict[tuple[str, str], list[RunFolder]] = {}
    for given in outputs:
        folder = given if isinstance(given, RunFolder) else read_run(given)
        runs.setdefault((folder.run["run_id"], folder.run["role"]), []).append(folder)
    if not runs:
        raise BadInput("no run folder given", remedy="Give the --out folder of `tpbench-generate run`")
    plans = _Plans(inputs)
    loaded = [_from_folders(plans, folders) for folders in runs.values()]
    if not allow_missing:
        for planned, folders in zip(loaded, runs.values(), strict=True):
            _check_complete(inputs, planned, folders[0].path / OUTPUTS_FILE)
    return loaded


def _stored_runs(inputs: FrozenInputs) -> list[PlannedInputs]:
    """The runs of the release; there the outputs of a run are its plan."""
    release = inputs.release
    file = release.path / "data" / "outputs"
    outputs, runs = release.table("outputs"), release.table("runs").to_pylist()
    known = pa.array([run["run_id"] for run in runs], pa.string())
    _refuse(index_in(outputs["run_id"], known) < 0, outputs, "run_id", "is not among the runs", file)
    loaded = []
    for run in runs:
        rows = np.flatnonzero(np.asarray(pc.equal(outputs["run_id"], run["run_id"])))
        answers = outputs.take(pa.array(rows))
        if run["role"] == "judge" and not len(rows):
            continue  # a judge answers no input of the release: its labels are in `judgments`
        if len(rows) != run["n_planned"]:
            raise BadInput(
                f"run '{run['run_id']}' planned {run['n_planned']} inputs, but {len(rows)} outputs are stored",
                file=file,
                remedy="Get the release again",
            )
        _refuse_duplicates(answers, file, rows)
        positions = inputs.positions(answers["input_id"])
        _refuse_unknown(positions, answers, file, rows)
        loaded.append(_planned(run, positions, answers, answers, np.arange(len(rows))))
    return loaded


def _from_folders(plans: _Plans, folders: Sequence[RunFolder]) -> PlannedInputs:
    parts = [plans.positions(folder) for folder in folders]
    for folder in folders:
        _check_outputs(folder)
    if len(folders) == 1:
        plan, outputs, positions = folders[0].plan, folders[0].outputs, parts[0]
    else:
        _refuse_answered_twice(folders)
        plan = pa.concat_tables([folder.plan for folder in folders])
        first = np.flatnonzero(_is_first(plan))
        plan, positions = plan.take(pa.array(first)), np.concatenate(parts)[first]
        outputs = pa.concat_tables([folder.outputs for folder in folders])
    return _planned(folders[0].run, positions, plan, outputs, _places_in(outputs, plan))


def _places_in(outputs: pa.Table, plan: pa.Table) -> Positions:
    """The row of each planned input among the outputs, -1 for none; a finished run has them in plan order."""
    if outputs["input_id"].equals(plan["input_id"]):
        return np.arange(plan.num_rows)
    return index_in(plan["input_id"], outputs["input_id"])


def _planned(
    run: Mapping[str, Any], positions: Positions, plan: pa.Table, outputs: pa.Table, found: Positions
) -> PlannedInputs:
    """Puts a plan into release order; ``found`` is the row of each planned input in ``outputs``, -1 for none."""
    order = np.argsort(positions, kind="stable")
    planned, found = plan.select(["method", "ratio"]).take(pa.array(order)), found[order]
    answers = outputs.select(["text", "error"]).take(pa.array(found, mask=found < 0))
    return PlannedInputs(
        run=run,
        positions=positions[order],
        method=planned["method"],
        ratio=planned["ratio"],
        text=answers["text"],
        error=answers["error"],
        answered=found >= 0,
    )


# --- checks --------------------------------------------------------------------------------------------------


class _Plans:
    """Where the planned inputs of run folders stand in the release, the last plan remembered: most readers have one."""

    def __init__(self, inputs: FrozenInputs) -> None:
        self._inputs = inputs
        self._last: tuple[pa.Table, Positions] | None = None

    def positions(self, folder: RunFolder) -> Positions:
        """The row of each planned input of a folder, which must fit the release."""
        asked = folder.plan.select(["input_id", "prompt_hash"])
        if self._last is None or not asked.equals(self._last[0]):
            self._last = (asked, self._checked(folder.plan, folder.path / PLAN_FILE))
        return self._last[1]

    def _checked(self, plan: pa.Table, file: Path) -> Positions:
        positions = self._inputs.positions(plan["input_id"])
        if len(np.unique(positions)) < len(positions):  # ids that stand twice, or more than one unknown id
            _refuse_duplicates(plan, file)
        _refuse_unknown(positions, plan, file)
        _check_prompts(self._inputs, plan, positions, file)
        return positions


def _check_outputs(folder: RunFolder) -> None:
    plan, outputs = folder.plan, folder.outputs
    if not outputs["input_id"].equals(plan["input_id"]):
        file = folder.path / OUTPUTS_FILE
        _refuse_duplicates(outputs, file)
        unplanned = index_in(outputs["input_id"], plan["input_id"]) < 0
        _refuse(unplanned, outputs, "input_id", "is not in the plan of this run", file)


def _refuse_unknown(positions: Positions, table: pa.Table, file: Path, rows: Positions | None = None) -> None:
    _refuse(
        positions < 0,
        table,
        "input_id",
        "is not an input of this release",
        file,
        rows,
        remedy="Score the run against the release it was made from",
    )


def _check_prompts(inputs: FrozenInputs, plan: pa.Table, positions: Positions, file: Path) -> None:
    frozen = inputs.prompt_hashes(positions)
    planned = np.array(plan["prompt_hash"].to_pylist(), dtype=object)
    differs = (frozen != np.array(None)) & (frozen != planned)
    _refuse(
        differs,
        plan,
        "input_id",
        "has another prompt here: the run was made from another release",
        file,
        remedy="Score the run against the release it was made from",
    )


def _is_first(table: pa.Table) -> npt.NDArray[np.bool_]:
    """Which rows are the first with their input id."""
    ids = table["input_id"].combine_chunks()
    return np.equal(index_in(ids, ids), np.arange(len(ids)))


def _refuse_duplicates(table: pa.Table, file: Path, rows: Positions | None = None) -> None:
    _refuse(~_is_first(table), table, "input_id", "appears twice", file, rows)


def _refuse(
    bad: npt.NDArray[np.bool_],
    table: pa.Table,
    field: str,
    problem: str,
    file: Path,
    rows: Positions | None = None,
    remedy: str | None = None,
) -> None:
    """Raises for the first row marked ``bad``; ``rows`` are the places of the rows in the file, if filtered."""
    places = np.flatnonzero(bad)
    if not len(places):
        return
    first = int(places[0])
    more = f" (so do {len(places) - 1} more rows)" if len(places) > 1 else ""
    raise BadInput(
        f"{table[field][first].as_py()!r} {problem}{more}",
        file=file,
        row=(first if rows is None else int(rows[first])) + 1,
        field=field,
        remedy=remedy,
    )


def _refuse_answered_twice(folders: Sequence[RunFolder]) -> None:
    answered: dict[str, Path] = {}
    for folder in folders:
        ids = folder.outputs["input_id"].to_pylist()
        for row, input_id in enumerate(ids, start=1):
            if input_id in answered:
                raise BadInput(
                    f"{input_id!r} is answered in {answered[input_id]} as well, by the same run",
                    file=folder.path / OUTPUTS_FILE,
                    row=row,
                    field="input_id",
                    remedy="Give each run folder once",
                )
        answered |= dict.fromkeys(ids, folder.path)


def _check_complete(inputs: FrozenInputs, planned: PlannedInputs, file: Path) -> None:
    missing = planned.positions[~planned.answered]
    if not len(missing):
        return
    shown = ", ".join(str(name) for name in inputs.texts("input_id", missing[:_LISTED]))
    more = f" and {len(missing) - _LISTED} more" if len(missing) > _LISTED else ""
    raise BadInput(
        f"{len(missing)} of {len(planned.positions)} planned inputs have no output: {shown}{more}",
        file=file,
        remedy="Finish the run, or pass --allow-missing to count them as wrong",
    )
