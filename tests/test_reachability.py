"""Every reference scored as its own answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import run_command
from small_release import probe_row, write_small_release

from tpbench_data.release.reader import Release
from tpbench_data.release.stored_tables import read_stored_table
from tpbench_score.reachability import as_records, as_stored_table, own_answer, reachability


@pytest.fixture
def release(tmp_path: Path) -> Release:
    goals = ["I need a doctor", "please book a quiet table", "please book a quiet table"]
    p1 = [
        probe_row("initial_goal", n, reference_goal=goal, sample_seeds=[42] if n else [42, 43], method=method)
        for n, goal in enumerate(goals)
        for method in ("recency", "uniform_stride")
    ]
    p1 = [row | {"input_id": f"{row['input_id']}{row['method']}"} for row in p1]
    p2 = [probe_row("current_value", n, reference_value=value) for n, value in enumerate(["12 pm", "none", "—"])]
    p3 = [probe_row("joint_recovery", n, reference_value=value) for n, value in enumerate(["12:30 pm", "a;b"])]
    return write_small_release(tmp_path / "r", {"initial_goal": p1, "current_value": p2, "joint_recovery": p3})


def test_questions_count_once_and_ceilings_are_means_over_seeds(release: Release) -> None:
    cells = {cell.probe: cell for cell in reachability(release).cells}
    goals = cells["initial_goal"]
    assert (goals.questions, goals.per_seed) == (3, {42: 3, 43: 1})
    assert goals.ceiling("paper-1", "strict") == pytest.approx((2 / 3 + 0) / 2)  # one content word is never strict
    assert goals.ceiling("paper-1", "loose") == goals.ceiling("tpbench-1", "strict") == 1.0
    assert cells["current_value"].ceiling("paper-1", "strict") == pytest.approx(1 / 3)  # "none" abstains
    assert cells["current_value"].ceiling("tpbench-1", "strict") == pytest.approx(2 / 3)
    assert cells["joint_recovery"].ceiling("paper-1", "strict") == 0.5  # a semicolon in the value
    assert cells["joint_recovery"].ceiling("tpbench-1", "strict") == 1.0


def test_what_is_out_of_reach_is_named_with_its_reason(release: Release) -> None:
    found = [
        (record["scorer"], record["reference"], record["loose"], record["reason"])
        for record in as_records(reachability(release))
    ]
    assert found == [
        ("paper-1", "I need a doctor", True, "loose_match"),
        ("paper-1", "none", False, "no_answer"),
        ("paper-1", "—", False, "reference_empty"),
        ("tpbench-1", "—", False, "reference_empty"),
        ("paper-1", "please book a quiet table; time: a;b", False, "unparsed"),
    ]


@pytest.mark.parametrize(
    ("probe", "row", "answer"),
    [
        ("initial_goal", {"reference_goal": 'a "b"'}, {"value": 'a "b"', "support": "", "abstain": False}),
        (
            "joint_recovery",
            {"reference_goal": "g", "slot_label": "s", "reference_value": "v"},
            {"value": "g; s: v", "support": "", "abstain": False},
        ),
    ],
)
def test_the_answer_has_the_shape_that_readers_are_asked_for(probe: str, row: Any, answer: Any) -> None:
    assert json.loads(own_answer(probe, row)[0]) == answer


def test_the_stored_form_is_one_that_freeze_takes(release: Release, tmp_path: Path) -> None:
    (table,) = read_stored_table("reachability.json", json.dumps(as_stored_table(reachability(release))).encode())
    assert [row["key"] for row in table.rows] == [
        "sgd.initial_goal.matched",
        "sgd.current_value.matched",
        "sgd.joint_recovery.matched",
    ]
    result = run_command("tpbench-score", "reachability", release.path, "--out", tmp_path / "tables/reachability.json")
    assert result.returncode == 0, result.stderr
    frozen = tmp_path / "r2"
    options = ("--tables", tmp_path / "tables", "--release-version", "0.0.2", "--out", frozen)
    assert run_command("tpbench-data", "freeze", release.path, *options).returncode == 0
    assert "Every reference was scored as its own answer" in (frozen / "README.md").read_text(encoding="utf-8")


def test_the_command(release: Release, tmp_path: Path) -> None:
    result = run_command("tpbench-score", "reachability", release.path, "--limit", 1)
    assert "current_value sgd matched tpbench-1: strict 0.667, loose 0.667 of 3 questions" in result.stdout
    assert 'not strict under paper-1: initial_goal sgd_d0__qa_00 "I need a doctor": loose_match' in result.stdout
    assert "and 4 more" in result.stdout
    printed = json.loads(run_command("tpbench-score", "reachability", release.path, "--json").stdout)
    assert len(printed["unreachable"]) == 5
    wrong = run_command("tpbench-score", "reachability", release.path, "--out", tmp_path / "x.csv")
    assert (wrong.returncode, "ends in .json" in wrong.stderr) == (2, True)
