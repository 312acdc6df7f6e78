"""The plain format: what anyone may write by hand, and every way to get it wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import run_command
from corpus_files import plain_dialogue, write_plain

from tpbench_data.corpora import corpus_named
from tpbench_data.dialogue import AuthoredQuestion, Dialogue
from tpbench_data.release.reader import Release


def load(path: Path) -> list[Dialogue]:
    corpus = corpus_named("cafe")
    return list(corpus.dialogues(corpus.files(path)))


def test_questions_come_with_their_evidence(tmp_path: Path) -> None:
    (dialogue,) = load(write_plain(tmp_path / "own.jsonl", plain_dialogue()))
    assert dialogue.questions == (
        AuthoredQuestion(
            question="When does the user want the table?",
            answer="half past eight",
            old_answer="six",
            slot="time",
            transition_type="replace_value",
            update_turn=4,
            boundary_turns=(4,),
            support_turns=(3, 4, 5),
        ),
    )


def test_turn_lists_default_to_the_update_turn(tmp_path: Path) -> None:
    record = plain_dialogue()
    question = {key: record["questions"][0][key] for key in ("question", "answer", "transition_type", "update_turn")}
    (dialogue,) = load(write_plain(tmp_path / "own.jsonl", record | {"questions": [question]}))
    (asked,) = dialogue.questions
    assert (asked.boundary_turns, asked.support_turns, asked.distractor_turns) == ((4,), (4,), ())
    assert (asked.slot, asked.old_answer) == ("", "")


def test_a_byte_order_mark_crlf_and_blank_lines_are_fine(tmp_path: Path) -> None:
    lines = [json.dumps(plain_dialogue(name)) for name in ("a", "b")]
    path = tmp_path / "own.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n\r\n".join(lines).encode() + b"\r\n\r\n")
    assert [dialogue.dialogue_id for dialogue in load(path)] == ["a", "b"]


def broken(**changes: Any) -> dict[str, Any]:
    record = plain_dialogue()
    record["questions"][0] |= changes
    return record


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (broken(update_turn=7), ["field 'update_turn'", "not a turn", "count from 0"]),
        (broken(update_turn=True), ["'update_turn' is missing or not a int"]),
        (broken(support_turns=[5, 4]), ["field 'support_turns'", "ascending"]),
        (broken(support_turns=[4, 99]), ["field 'support_turns'"]),
        (broken(transition_type="swap"), ["unknown type 'swap'", "replace_value"]),
        (broken(answer=" "), ["field 'answer'", "is empty"]),
        (broken(mood=1), ["unknown key", "field 'mood'"]),
        (plain_dialogue(""), ["field 'dialogue_id'", "is empty"]),
        (plain_dialogue(questions={}), ["'questions' is missing or not a list"]),
        (plain_dialogue(turns=[{"speaker": "user", "text": "\ud800"}]), ["lone surrogate"]),
    ],
)
def test_a_bad_record_is_one_error_with_line_and_field(tmp_path: Path, record: Any, words: list[str]) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(f"{json.dumps(plain_dialogue('ok'))}\n{json.dumps(record)}\n", encoding="utf-8")
    result = run_command("tpbench-data", "build", f"--corpus=cafe={path}", "--out", tmp_path / "r")
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert "row 2" in result.stderr
    if "\ud800" not in json.loads(json.dumps(record)).get("turns", [{}])[0].get("text", ""):
        assert all(word in result.stderr for word in words), result.stderr


def test_typed_looking_values_stay_the_text_they_are(tmp_path: Path) -> None:
    """Field report 1: readers that guess types turn "007" into 7 and a date into a timestamp."""
    values = ["5", "007", "2019-03-01", "25:50 (or 26)", "None", "01223351241"]
    records = []
    for number, value in enumerate(values):
        record = plain_dialogue(f"d{number}")
        for turn in record["turns"][4:]:
            turn["state"]["cafe"]["time"] = [value]
        record["turns"][4]["text"] = f"Make it {value}."
        record["questions"][0]["answer"] = value
        records.append(record)
    out = tmp_path / "r"
    path = write_plain(tmp_path / "own.jsonl", *records)
    result = run_command("tpbench-data", "build", f"--corpus=cafe={path}", "--methods=recency", "--out", out)
    assert result.returncode == 0, result.stderr
    release = Release.open(out)
    rows = release.table("free_form").to_pylist()
    assert [row["reference_answer"] for row in rows] == values
    assert sorted(set(release.table("current_value")["reference_value"].to_pylist())) == sorted(values)
    assert run_command("tpbench-data", "validate", out).returncode == 0


def test_the_example_of_the_documentation_builds(tmp_path: Path) -> None:
    page = (Path(__file__).parent.parent / "docs" / "corpora.md").read_text(encoding="utf-8")
    example = page.split("```json\n", 1)[1].split("\n```", 1)[0]
    path = write_plain(tmp_path / "own.jsonl", json.loads(example))
    result = run_command("tpbench-data", "build", f"--corpus=mine={path}", "--out", tmp_path / "r")
    assert result.returncode == 0, result.stderr
    assert run_command("tpbench-data", "validate", tmp_path / "r").returncode == 0
