"""`tpbench-score answers` and `tpbench-score score`, run as a user runs them."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from conftest import run_command
from hypothesis import given
from hypothesis import strategies as st
from small_release import probe_row, write_small_release, write_small_run

from tpbench_data.errors import BadInput
from tpbench_score import score
from tpbench_score.json_lines import json_line, read_json_lines

LINE = {
    "id": "1",
    "probe": "current_value",
    "corpus": "sgd",
    "text": '{"value": "12:00"}',
    "reference_value": "12 pm",
}
ROWS = [probe_row("current_value", n) for n in range(3)]


def answers(tmp_path: Path, content: bytes, *options: object) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "answers.jsonl"
    file.write_bytes(content)
    return run_command("tpbench-score", "answers", file, *options, encoding="utf-8")


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)


def failure(result: subprocess.CompletedProcess[str]) -> str:
    """The message of a command that must refuse its input: exit 2, one or two lines, no traceback."""
    assert result.returncode == 2, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().split("\n")) <= 2
    assert result.stdout == ""
    return result.stderr


# --- answers -------------------------------------------------------------------------------------------------


def test_every_line_in_is_a_line_out(tmp_path: Path) -> None:
    records = [
        LINE,
        LINE | {"id": 2, "probe": "initial_goal", "reference_goal": "book a table", "text": '{"value": "book table"}'},
        LINE | {"id": "3", "probe": "joint_recovery", "reference_goal": "book a table", "text": None, "note": "x"},
    ]
    result = answers(tmp_path, lines(*records))
    assert result.returncode == 0, result.stderr
    out = [json.loads(line) for line in result.stdout.split("\n")[:-1]]
    assert [(row["id"], row["strict"], row["reason"]) for row in out] == [
        ("1", True, "match"),
        (2, True, "match"),
        ("3", False, "no_json"),
    ]
    assert out[1]["token_f1"] == 1.0
    assert out[2]["parsed"] is False
    assert {row["scorer"] for row in out} == {"paper-1"}


def test_line_separators_inside_an_answer_do_not_cut_it(tmp_path: Path) -> None:
    text = json.dumps({"value": "12\u2028pm\u0085x\u2029"}, ensure_ascii=False)
    result = answers(tmp_path, lines(LINE | {"text": text}, LINE | {"id": "2"}))
    assert result.returncode == 0, result.stderr
    assert "\u2028" not in result.stdout
    assert len(result.stdout.splitlines()) == 2
    assert json.loads(result.stdout.splitlines()[0])["answer"] == "12\u2028pm\u0085x\u2029"


def test_windows_line_ends_and_a_byte_order_mark_are_accepted(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + lines(LINE, LINE | {"id": "2"}).replace(b"\n", b"\r\n")
    assert answers(tmp_path, content).stdout.count('"match"') == 2


def test_the_last_line_needs_no_end_and_no_line_needs_to_be_there(tmp_path: Path) -> None:
    assert answers(tmp_path, lines(LINE)[:-1]).stdout.count('"match"') == 1
    empty = answers(tmp_path, b"")
    assert (empty.returncode, empty.stdout) == (0, "")


def test_any_answer_can_be_written(tmp_path: Path) -> None:
    texts = ['{"value": "\\ud800 12 pm"}', '{"value": NaN}', '{"value": [1e999, [-Infinity]]}', "\x00\x7f\ufeff"]
    result = answers(tmp_path, lines(*(LINE | {"id": n, "text": text} for n, text in enumerate(texts))))
    assert result.returncode == 0, result.stderr
    out = [json.loads(line, parse_constant=pytest.fail)["answer"] for line in result.stdout.splitlines()]
    assert out == ["\ud800 12 pm", "nan", ["inf", ["-inf"]], None]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lines(LINE) + b"{broken\n", "answers.jsonl, row 2: is not JSON"),
        (lines(LINE) + b"\n" + lines(LINE | {"id": "2"}), "row 2: is not JSON"),
        (lines(LINE)[:-8] + b"\n", "row 1: is not JSON"),
        (lines(["a"]), "row 1: is not a JSON object"),
        (b'{"id": "\xff"}\n', "row 1: is not UTF-8"),
        (b"[" * 100_000, "row 1: is not JSON (nested too deeply)"),
        (lines(LINE, LINE), "row 2, field 'id': '1' is the id of row 1 as well"),
        (lines({k: v for k, v in LINE.items() if k != "id"}), "row 1, field 'id': is missing"),
        (lines(LINE | {"id": 1.5}), "row 1, field 'id': is neither text nor a whole number"),
        (lines(LINE | {"probe": "P2"}), "row 1, field 'probe': unknown probe 'P2'. Scorer paper-1 knows: initial_goal"),
        (lines(LINE | {"probe": None}), "row 1, field 'probe': is missing"),
        (lines({k: v for k, v in LINE.items() if k != "text"}), "row 1, field 'text': is missing"),
        (lines(LINE | {"text": {"value": "x"}}), "row 1, field 'text': is dict, not text"),
        (lines(LINE | {"corpus": None}), "row 1, field 'corpus': is missing"),
        (lines(LINE | {"reference_value": None}), "row 1, field 'reference_value': is missing"),
        (lines(LINE | {"reference_value": 5}), "row 1, field 'reference_value': is int, not text"),
        (lines(LINE | {"probe": "joint_recovery"}), "row 1, field 'reference_goal': is missing"),
        (lines(LINE | {"value_alternatives": "noon"}), "row 1, field 'value_alternatives': is not a list of texts"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_written(tmp_path: Path, content: bytes, message: str) -> None:
    out = tmp_path / "scores.jsonl"
    assert message in failure(answers(tmp_path, content, "--out", out))
    assert not out.exists()


def test_answers_go_to_a_new_file_only(tmp_path: Path) -> None:
    out = tmp_path / "scores.jsonl"
    printed = answers(tmp_path, lines(LINE)).stdout
    assert answers(tmp_path, lines(LINE), "--out", out).stdout == ""
    assert out.read_text(encoding="utf-8") == printed
    assert "already exists" in failure(answers(tmp_path, lines(LINE | {"id": "2"}), "--out", out))
    assert out.read_text(encoding="utf-8") == printed


def test_answers_under_the_other_scorer(tmp_path: Path) -> None:
    records = [
        LINE | {"text": "{'value': '12 p.m.'}"},
        LINE | {"id": "2", "text": '{"value": "SFO"}', "reference_value": "x", "value_alternatives": ["sfo"]},
    ]
    for scorer, expected in (("paper-1", [(False, None)] * 2), ("tpbench-1", [(True, "repaired"), (True, "strict")])):
        result = answers(tmp_path, lines(*records), "--scorer", scorer)
        out = [json.loads(line) for line in result.stdout.splitlines()]
        assert [(row["strict"], row["parse_level"]) for row in out] == expected
        assert {row["scorer"] for row in out} == {scorer}


def test_answers_from_standard_input() -> None:
    result = run_command("tpbench-score", "answers", "-", input=lines(LINE).decode())
    assert json.loads(result.stdout)["reason"] == "match"
    assert "standard input, row 1" in failure(run_command("tpbench-score", "answers", "-", input="x"))


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    assert "nowhere.jsonl" in failure(run_command("tpbench-score", "answers", tmp_path / "nowhere.jsonl"))


@given(st.lists(st.dictionaries(st.text(), st.text() | st.floats() | st.lists(st.text())), max_size=4))
def test_json_lines_round_trip_any_text(records: list[dict[str, Any]]) -> None:
    data = b"".join(map(json_line, records))
    read = [record for _, record in read_json_lines(data.splitlines(keepends=True), "f")]
    assert data.count(b"\n") == len(records) == len(read)
    assert len(data.decode().splitlines()) == len(records)
    for before, after in zip(records, read, strict=True):
        assert before.keys() == after.keys()
        assert [v for v in before.values() if isinstance(v, str)] == [
            after[k] for k, v in before.items() if isinstance(v, str)
        ]


def test_json_lines_name_the_row() -> None:
    with pytest.raises(BadInput, match="f, row 2: is not a JSON object"):
        list(read_json_lines([b"{}\n", b"3\n"], "f"))


# --- score ---------------------------------------------------------------------------------------------------


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A release, a complete run and one that lacks an output."""
    release = write_small_release(tmp_path / "r", {"current_value": ROWS})
    given_answers: dict[str, Any] = {row["input_id"]: '{"value": "=12 pm"}' for row in ROWS}
    given_answers[ROWS[2]["input_id"]] = RuntimeError("out of memory")
    whole = write_small_run(tmp_path / "whole", ROWS, given_answers)
    del given_answers[ROWS[0]["input_id"]]
    return release.path, whole, write_small_run(tmp_path / "part", ROWS, given_answers, run_id="part-00000000")


def test_counts_in_are_counts_out_plus_named_rest(folders: tuple[Path, Path, Path]) -> None:
    release, whole, _ = folders
    result = run_command("tpbench-score", "score", release, "--outputs", whole)
    assert result.returncode == 0, result.stderr
    first, signature = result.stdout.splitlines()
    assert first == (
        "tiny-00000000 (main) current_value: 3 planned = 2 ok + 1 error + 0 missing; 2 strict, 2 loose, 0 abstained"
    )
    assert signature.startswith("scorer:paper-1|release:")


def test_counts_as_json(folders: tuple[Path, Path, Path]) -> None:
    release, whole, part = folders
    result = run_command(
        "tpbench-score", "score", release, "--outputs", whole, "--outputs", part, "--allow-missing", "--json"
    )
    printed = json.loads(result.stdout)
    assert [(run["run_id"], run["planned"], run["ok"], run["error"], run["missing"]) for run in printed["runs"]] == [
        ("tiny-00000000", 3, 2, 1, 0),
        ("part-00000000", 3, 1, 1, 1),
    ]
    assert "|missing:1|" in printed["signature"]


def test_an_incomplete_run_is_refused(folders: tuple[Path, Path, Path]) -> None:
    release, _, part = folders
    message = failure(run_command("tpbench-score", "score", release, "--outputs", part))
    assert "1 of 3 planned inputs have no output" in message
    assert ROWS[0]["input_id"] in message


def test_the_three_file_formats_hold_the_same_rows(folders: tuple[Path, Path, Path], tmp_path: Path) -> None:
    release, whole, _ = folders
    for ending in ("parquet", "csv", "jsonl"):
        out = tmp_path / f"scores.{ending}"
        result = run_command("tpbench-score", "score", release, "--outputs", whole, "--out", out)
        assert result.returncode == 0, result.stderr
        assert "already exists" in failure(
            run_command("tpbench-score", "score", release, "--outputs", whole, "--out", out)
        )
    expected = score(release, [whole])
    assert pq.read_table(tmp_path / "scores.parquet").equals(expected)
    records = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_bytes().split(b"\n")[:-1]]
    assert records == expected.to_pylist()
    with (tmp_path / "scores.csv").open(encoding="utf-8", newline="") as handle:
        cells = list(csv.DictReader(handle))
    assert [cell["input_id"] for cell in cells] == expected["input_id"].to_pylist()
    assert (cells[0]["strict"], cells[0]["token_f1"], cells[0]["sample_seeds"]) == ("true", "", "[42]")


def test_an_answer_never_runs_as_a_formula(folders: tuple[Path, Path, Path], tmp_path: Path) -> None:
    release, whole, _ = folders
    out = tmp_path / "scores.csv"
    run_command("tpbench-score", "score", release, "--outputs", whole, "--out", out)
    with out.open(encoding="utf-8", newline="") as handle:
        assert next(csv.DictReader(handle))["answer"] == "'=12 pm"


def test_an_unknown_format_is_refused_before_any_work(tmp_path: Path) -> None:
    message = failure(run_command("tpbench-score", "score", tmp_path / "none", "--out", tmp_path / "x.xlsx"))
    assert "End the name of --out in .parquet, .csv, .jsonl" in message


def test_a_release_without_runs_needs_run_folders(folders: tuple[Path, Path, Path]) -> None:
    assert "--outputs" in failure(run_command("tpbench-score", "score", folders[0]))


def test_help_has_an_example_for_each_command() -> None:
    for name in ("answers", "score"):
        result = run_command("tpbench-score", name, "--help")
        assert result.returncode == 0
        assert "Example:" in result.stdout
        assert f"tpbench-score {name}" in result.stdout


def test_a_release_built_from_raw_dialogues_is_scored_as_it_was_built(small_build: Path, tmp_path: Path) -> None:
    from tpbench_data.release.reader import Release
    from tpbench_data.release.schema import PROBE_CONFIGS

    release = Release.open(small_build)
    rows = [row for probe in PROBE_CONFIGS for row in release.table(probe).to_pylist()]
    perfect = {
        row["input_id"]: json.dumps({"value": _own_reference(row, probe)})
        for probe in PROBE_CONFIGS
        for row in release.table(probe).to_pylist()
    }
    run = write_small_run(tmp_path / "run", rows, perfect)
    result = run_command("tpbench-score", "score", small_build, "--outputs", run, "--json")
    assert result.returncode == 0, result.stderr
    for counts in json.loads(result.stdout)["runs"]:
        assert counts["planned"] == counts["ok"] == counts["strict"] == counts["loose"] > 0
    full = [row for row in score(release, [run]).to_pylist() if row["method"] == "full_context"]
    assert {row["retained"] for row in full if row["probe"] != "initial_goal"} == {True}


def _own_reference(row: dict[str, Any], probe: str) -> str:
    if probe == "initial_goal":
        return str(row["reference_goal"])
    if probe == "current_value":
        return str(row["reference_value"])
    return f"{row['reference_goal']}; {row['slot_label']}: {row['reference_value']}"
