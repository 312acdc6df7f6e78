"""Two scorers on the same outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import run_command
from small_release import probe_row, write_small_release, write_small_run

from tpbench_data.release.reader import Release
from tpbench_score.flips import find_flips

P1 = [probe_row("initial_goal", n) for n in range(2)]
P2 = [probe_row("current_value", n) for n in range(4)]
TEXTS = ['{"value": "12 p.m."}', '{"value": "12:00"}', '{"value": "6 pm", "abstain": "false"}', '{"value": "1:00"}']


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    release = write_small_release(tmp_path / "r", {"initial_goal": P1, "current_value": P2})
    answers: dict[str, Any] = {row["input_id"]: text for row, text in zip(P2, TEXTS, strict=True)}
    answers |= {row["input_id"]: '{"value": "a quiet table"}' for row in P1}
    return release.path, write_small_run(tmp_path / "x", [*P1, *P2], answers)


def test_every_changed_verdict_is_listed_and_counted(folders: tuple[Path, Path]) -> None:
    release, run = folders
    found = find_flips(Release.open(release), [run])
    assert [(change.probe, change.answers) for change in found.changes] == [("initial_goal", 2), ("current_value", 4)]
    values = found.changes[1]
    assert values.right == {"strict": (1, 2), "loose": (1, 2)}
    assert (values.gained, values.lost) == ({"strict": 1, "loose": 1}, {"strict": 0, "loose": 0})
    (row,) = found.rows
    assert (row["input_id"], row["text"], row["reference_value"]) == (P2[0]["input_id"], TEXTS[0], "12 pm")
    assert (row["reason"], row["reason_then"], row["strict"], row["strict_then"]) == (
        "value_differs",
        "match",
        False,
        True,
    )


def test_the_other_direction_loses_what_was_gained(folders: tuple[Path, Path]) -> None:
    release, run = folders
    back = find_flips(Release.open(release), [run], scorers=("tpbench-1", "paper-1"))
    assert back.changes[1].lost == {"strict": 1, "loose": 1}


def test_a_scorer_never_flips_against_itself(folders: tuple[Path, Path]) -> None:
    release, run = folders
    assert not find_flips(Release.open(release), [run], scorers=("paper-1", "paper-1")).rows


def test_the_command(folders: tuple[Path, Path], tmp_path: Path) -> None:
    release, run = folders
    out = tmp_path / "flips.jsonl"
    result = run_command("tpbench-score", "flips", release, "--outputs", run, "--out", out)
    assert result.returncode == 0, result.stderr
    assert "current_value sgd strict: 1 right under paper-1, 2 under tpbench-1 (+1 -0) of 4" in result.stdout
    assert 'tpbench-1  strict (match): "12 p.m."' in result.stdout
    (row,) = [json.loads(line) for line in out.read_text().splitlines()]
    printed = run_command("tpbench-score", "flips", release, "--outputs", run, "--json")
    assert json.loads(printed.stdout)["flips"] == [row]
    again = run_command("tpbench-score", "flips", release, "--outputs", run, "--out", out)
    assert (again.returncode, "already exists" in again.stderr) == (2, True)
