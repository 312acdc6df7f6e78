"""Explanations: what was seen, said, parsed and compared, for every run and scorer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import run_command
from small_release import probe_row, write_small_release, write_small_run

from tpbench_data.errors import BadInput
from tpbench_data.release.reader import Release
from tpbench_score.explain import explain
from tpbench_score.rules import RULES

P2 = [probe_row("current_value", n) for n in range(2)]
P3 = [probe_row("joint_recovery", n) for n in range(2)]


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    release = write_small_release(tmp_path / "r", {"current_value": P2, "joint_recovery": P3})
    rows = [*P2, *P3]
    first: dict[str, Any] = dict.fromkeys((row["input_id"] for row in rows), "{'value': 'noon\u2028'}")
    first[P3[0]["input_id"]] = '{"value": "book a table; time: 12 pm"}'
    second: dict[str, Any] = dict.fromkeys((row["input_id"] for row in P2), RuntimeError("out of memory"))
    one = write_small_run(tmp_path / "one", rows, first)
    return release.path, one, write_small_run(tmp_path / "two", P2, second, run_id="two-00000000")


def test_every_run_that_planned_the_input_is_explained(folders: tuple[Path, Path, Path]) -> None:
    release, one, two = folders
    (found,) = explain(Release.open(release), P2[0]["input_id"], [one, two])
    assert found["input"]["reference_value"] == "12 pm"
    assert [(a["run_id"], a["status"], a["error"]) for a in found["answers"]] == [
        ("tiny-00000000", "ok", None),
        ("two-00000000", "error", "out of memory"),
    ]
    published, ours = found["answers"][0]["verdicts"]
    assert (published["strict"], published["object"], published["reason"]) == (False, None, "no_json")
    assert (ours["strict"], ours["object"], ours["parse_level"]) == (True, {"value": "noon\u2028"}, "repaired")
    assert ours["forms"]["form of the answer as a value"] == "12:00"
    assert ours["forms"]["forms of the accepted values"] == ["12:00"]


def test_an_example_is_explained_with_all_its_inputs(folders: tuple[Path, Path, Path]) -> None:
    release, one, _ = folders
    found = explain(Release.open(release), P3[0]["example_id"], [one])
    assert [one["input"]["probe"] for one in found] == ["current_value", "joint_recovery"]
    verdict = found[1]["answers"][0]["verdicts"][0]
    assert (verdict["parsed"], verdict["goal_segment"], verdict["value_strict"]) == (True, "book a table", True)
    assert verdict["forms"]["words of the goal segment"] == ["book", "table"]


def test_kept_and_dropped_turns_of_a_built_release(built_once: Path, tmp_path: Path) -> None:
    release = Release.open(built_once)
    row = next(r for r in release.table("current_value").to_pylist() if r["method"] == "recency")
    run = write_small_run(tmp_path / "run", [row], {row["input_id"]: "{}"})
    (found,) = explain(release, row["input_id"], [run])
    turns = found["turns"]
    assert [turn["turn"] for turn in turns if turn["kept"]] == row["kept_turns"]
    assert [turn["turn"] for turn in turns if turn["update"]] == [row["update_turn"]]
    assert [turn["turn"] for turn in turns if turn["answer"]] == row["answer_turns"]
    assert found["question"].startswith("Question: ")
    assert row["context"] not in found["question"]


def test_an_unknown_id_names_ids_like_it(folders: tuple[Path, Path, Path]) -> None:
    with pytest.raises(BadInput, match=r"no input or example has the id 'd0__qa'\. Ids like it: sgd.sgd_d0__qa_00"):
        explain(Release.open(folders[0]), "d0__qa", [folders[1]])


def test_every_rule_says_what_it_compares() -> None:
    for rules in RULES.values():
        for rule in rules.values():
            assert rule.criterion.endswith(".")


def test_the_command(folders: tuple[Path, Path, Path]) -> None:
    release, one, two = folders
    name = P2[0]["input_id"]
    result = run_command(
        "tpbench-score", "explain", name, release, "--outputs", one, "--outputs", two, encoding="utf-8"
    )
    assert result.returncode == 0, result.stderr
    assert "tpbench-1: right, strict. match: right under the strict rule" in result.stdout
    assert "\u2028" not in result.stdout
    assert "run two-00000000 (main, recency at 0.3): error" in result.stdout
    printed = run_command("tpbench-score", "explain", name, release, "--outputs", one, "--scorer", "paper-1", "--json")
    (found,) = json.loads(printed.stdout)
    assert [v["scorer"] for v in found["answers"][0]["verdicts"]] == ["paper-1"]
