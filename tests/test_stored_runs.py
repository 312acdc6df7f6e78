"""Runs stored in a release beside run folders: one table, nothing counted twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import run_command

from tpbench_data.embedded import embedded_release
from tpbench_data.files import write_parquet
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import OUTPUTS, PLAN
from tpbench_data.release.stored_runs import stored_runs
from tpbench_data.run_folder import RunFolder, write_run_row
from tpbench_score import score


@pytest.fixture(scope="module")
def release() -> Release:
    return Release.open(embedded_release())


def main_run(release: Release) -> RunFolder:
    """The stored run with most answers, which are to turn selectors."""
    return max(stored_runs(release), key=lambda run: run.outputs.num_rows)


def folder_of_recency(release: Release, place: Path, run_id: str) -> Path:
    """A run folder with the stored answers to the inputs of one method, under another run id."""
    run = main_run(release)
    rows = [row for row in run.outputs.to_pylist() if row["method"] == "recency"]
    ids = {row["input_id"] for row in rows}
    place.mkdir()
    plan = [row for row in run.plan.to_pylist() if row["input_id"] in ids]
    write_run_row(place, {**run.run, "run_id": run_id, "reader": "other", "n_planned": len(rows)})
    write_parquet(place / "plan.parquet", PLAN.empty_table().from_pylist(plan, schema=PLAN))
    table = OUTPUTS.empty_table().from_pylist([row | {"run_id": run_id} for row in rows], schema=OUTPUTS)
    write_parquet(place / "outputs.parquet", table)
    return place


def test_stored_runs_as_folders_score_as_the_release_does(release: Release) -> None:
    assert score(release, stored_runs(release)).equals(score(release))


def test_a_new_run_stands_beside_the_stored_ones(release: Release, tmp_path: Path) -> None:
    new = folder_of_recency(release, tmp_path / "new", "other-00000000")
    both = run_command("tpbench-score", "tables", release.path, "--outputs", new, "--stored", "--table", 2)
    assert both.returncode == 0, both.stderr
    assert "other-00000000" in run_command("tpbench-score", "tables", release.path, "--outputs", new).stdout
    alone = run_command("tpbench-score", "tables", release.path, "--outputs", new, "--reader", "smollm2-135m+shed@1")
    assert alone.returncode == 2
    with_stored = run_command(
        "tpbench-score", "tables", "--outputs", new, "--stored", "--reader", "smollm2-135m+shed@1"
    )
    assert with_stored.returncode == 0, with_stored.stderr


def test_an_answer_that_is_stored_already_is_not_counted_twice(release: Release, tmp_path: Path) -> None:
    run = main_run(release)
    again = folder_of_recency(release, tmp_path / "again", run.run["run_id"])
    result = run_command("tpbench-score", "tables", release.path, "--outputs", again, "--stored")
    assert result.returncode == 2
    assert "is answered in" in result.stderr
