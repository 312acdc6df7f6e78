"""The build command: protocols, several corpora, bad options and nothing half-written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import run_command

from tpbench_data.budget import keep_count
from tpbench_data.release.reader import Release


def test_nothing_is_overwritten(small_build: Path, sgd_folder: Path) -> None:
    before = (small_build / "manifest.json").read_bytes()
    result = run_command("tpbench-data", "build", f"--corpus=sgd={sgd_folder}", "--out", small_build)
    assert result.returncode == 2
    assert "already exists" in result.stderr
    assert (small_build / "manifest.json").read_bytes() == before


def test_a_failed_build_leaves_nothing_behind(tmp_path: Path, sgd_folder: Path) -> None:
    (sgd_folder / "dialogues_002.json").write_text("[", encoding="utf-8")
    place = tmp_path / "place"
    place.mkdir()
    assert run_command("tpbench-data", "build", f"--corpus=sgd={sgd_folder}", "--out", place / "r").returncode == 2
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ratios=0"], "outside (0, 1]"),
        (["--ratios=1.5"], "outside (0, 1]"),
        (["--ratios=x"], "not a number"),
        (["--methods=magic"], "unknown method 'magic'"),
        (["--seeds=1,x"], "whole numbers"),
        (["--seeds=1,1"], "twice"),
        (["--probes=p2"], "unknown name 'p2'"),
        (["--protocol=mine"], "unknown name 'mine'"),
        (["--corpus=nonsense"], "NAME=PATH"),
        (["--candidates=sgd=missing.tsv"], "no such file"),
        (["--p3-pool=sgd=missing.txt"], "--candidates does not"),
        (["--candidates=other=x.tsv"], "--corpus does not"),
        (["--n=0"], "--n"),
    ],
)
def test_a_bad_option_is_one_error(tmp_path: Path, sgd_folder: Path, options: list[str], message: str) -> None:
    result = run_command("tpbench-data", "build", f"--corpus=sgd={sgd_folder}", *options, "--out", tmp_path / "r")
    assert result.returncode == 2, result.stdout
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "r").exists()


def test_matched_rounds_half_up_and_marks_every_turn(tmp_path: Path, sgd_folder: Path) -> None:
    out = tmp_path / "r"
    result = run_command(
        "tpbench-data", "build", f"--corpus=sgd={sgd_folder}", "--protocol=paper,matched", "--ratios=0.125,1",
        "--out", out,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    rows = Release.open(out).table("joint_recovery").to_pylist()
    by_protocol = {row["protocol"]: row for row in rows if row["method"] == "recency" and row["ratio"] == 0.125}
    assert by_protocol["paper"]["k_turns"] == keep_count(12, 0.125, "round-half-even") == 2  # 1.5 to the even 2
    assert by_protocol["matched"]["k_turns"] == 2
    assert "asked for first" in by_protocol["matched"]["prompt"][1]["content"]
    assert all(row["k_turns"] == 12 for row in rows if row["ratio"] == 1.0 and row["method"] != "no_context")
    assert run_command("tpbench-data", "validate", out).returncode == 0


def test_a_corpus_of_ones_own_in_the_plain_format(tmp_path: Path) -> None:
    turns = [
        {"speaker": "user", "text": "A table at six.", "state": {"cafe": {"time": "six"}}},
        {"speaker": "system", "text": "Six\u2028is\x85full."},
        {"speaker": "user", "text": "Then seven.", "state": {"cafe": {"time": ["seven", "7"]}}},
    ]
    file = tmp_path / "own.jsonl"
    lines = [json.dumps({"dialogue_id": f"d{i}", "turns": turns}, ensure_ascii=False) for i in range(3)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    out = tmp_path / "r"
    result = run_command("tpbench-data", "build", f"--corpus=cafe={file}", "--out", out, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["counts"]["cafe"]["pool"]["questions"] == 3
    row = Release.open(out).table("current_value").to_pylist()[0]
    assert row["value_alternatives"] == ["seven", "7"]
    assert "Six\u2028is\x85full." in row["context"]
    assert run_command("tpbench-data", "validate", out).returncode == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "row 2: not valid JSON"),
        ('{"dialogue_id": "x", "turns": []}', "row 2, field 'turns'"),
        ('{"dialogue_id": "x", "turns": [{"speaker": "bot", "text": "hi"}]}', "unknown speaker 'bot'"),
        ('{"dialogue_id": "x", "turns": [{"speaker": "user", "text": "hi", "state": {"a": {"b": 5}}}]}', "as strings"),
        ('{"dialogue_id": "x", "mood": 1, "turns": [{"speaker": "user", "text": "hi"}]}', "field 'mood'"),
        ('{"dialogue_id": "d0", "turns": [{"speaker": "user", "text": "hi"}]}', "two dialogues have the id 'd0'"),
    ],
)
def test_a_bad_line_of_the_plain_format_is_named(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "own.jsonl"
    first = {"dialogue_id": "d0", "turns": [{"speaker": "user", "text": "hi"}]}
    file.write_text(json.dumps(first) + "\n" + line + "\n", encoding="utf-8")
    result = run_command("tpbench-data", "build", f"--corpus=cafe={file}", "--out", tmp_path / "r")
    assert result.returncode == 2
    assert message in result.stderr


def test_help_has_an_example_for_every_command() -> None:
    for name in ("build", "info", "validate"):
        result = run_command("tpbench-data", name, "--help")
        assert result.returncode == 0
        assert f"tpbench-data {name}" in result.stdout
