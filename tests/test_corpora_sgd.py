"""The SGD loader: order, archives and every way a corpus can be broken."""

from __future__ import annotations

import json
import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from conftest import run_command, sgd_dialogue

from tpbench_data.corpora import SGD
from tpbench_data.errors import BadInput


def load_ids(path: Path) -> tuple[list[str], str]:
    files = SGD.files(path)
    return [dialogue.dialogue_id for dialogue in SGD.load(files)], files.digest


def test_files_come_in_number_order_and_not_in_name_order(tmp_path: Path) -> None:
    for number in (10, 9, 2):
        dialogues = json.dumps([sgd_dialogue(number)])
        (tmp_path / f"dialogues_{number}.json").write_text(dialogues, encoding="utf-8")
    assert load_ids(tmp_path)[0] == ["1_00002", "1_00009", "1_00010"]


def test_folder_tar_and_zip_give_the_same_dialogues_and_digest(tmp_path: Path, sgd_folder: Path) -> None:
    files = sorted(sgd_folder.iterdir(), reverse=True)
    with tarfile.open(tmp_path / "a.tar.xz", "w:xz") as archive:
        for file in files:
            archive.add(file, f"sgd/train/{file.name}")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as zipped:
        for file in files:
            zipped.write(file, f"sgd/train/{file.name}")
    expected = load_ids(sgd_folder)
    assert len(expected[0]) == 12
    assert load_ids(tmp_path / "a.tar.xz") == expected
    assert load_ids(tmp_path / "a.zip") == expected


def test_the_train_folder_is_taken_where_several_hold_dialogues(tmp_path: Path, sgd_folder: Path) -> None:
    shutil.copytree(sgd_folder, sgd_folder.parent / "dev")
    assert load_ids(sgd_folder.parent)[0] == load_ids(sgd_folder)[0]


def test_states_keep_all_alternatives_and_services(tmp_path: Path) -> None:
    record = sgd_dialogue(1)
    record["services"].append("Taxi_1")
    slots = {"slot_values": {"time": ["6 pm", "six"], "to": ["Harrow"]}}
    record["turns"][2]["frames"].append({"service": "Taxi_1", "state": slots})
    (tmp_path / "dialogues_001.json").write_text(json.dumps([record]), encoding="utf-8")
    (dialogue,) = SGD.load(SGD.files(tmp_path))
    state = dialogue.states[2]
    assert state is not None
    assert state["Taxi_1"]["time"] == ("6 pm", "six")
    assert dialogue.states[1] is None


def broken(folder: Path, change: Any) -> Path:
    file = folder / "dialogues_003.json"
    dialogues = json.loads(file.read_text(encoding="utf-8"))
    change(dialogues)
    file.write_text(json.dumps(dialogues), encoding="utf-8")
    return folder


def no_turns(dialogues: list[dict[str, Any]]) -> None:
    dialogues[1]["turns"] = []


def unknown_service(dialogues: list[dict[str, Any]]) -> None:
    dialogues[1]["turns"][2]["frames"][0]["service"] = "Flights_9"


def value_not_a_list(dialogues: list[dict[str, Any]]) -> None:
    dialogues[1]["turns"][2]["frames"][0]["state"]["slot_values"]["time"] = "6 pm"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (no_turns, ["dialogues_003.json", "row 2", "has no turns"]),
        (unknown_service, ["dialogues_003.json", "row 2", "unknown service 'Flights_9'", "Tables_1"]),
        (value_not_a_list, ["dialogues_003.json", "row 2", "slot 'time'"]),
    ],
)
def test_a_malformed_dialogue_is_named_with_its_file_and_number(
    sgd_folder: Path, change: Any, words: list[str]
) -> None:
    with pytest.raises(BadInput) as problem:
        load_ids(broken(sgd_folder, change))
    for word in words:
        assert word in str(problem.value)


def test_a_damaged_archive_is_one_error(tmp_path: Path, sgd_folder: Path) -> None:
    path = tmp_path / "a.tar.xz"
    with tarfile.open(path, "w:xz") as archive:
        archive.add(sgd_folder, "train")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(BadInput, match="damaged archive"):
        load_ids(path)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: folder.parent / "nowhere", "no such file or folder"),
        (lambda folder: (folder.parent / "empty").mkdir() or folder.parent / "empty", "no file named like"),
        (lambda folder: (folder / "dialogues_003.json").write_text("[{", "utf-8") and folder, "not valid JSON"),
        (lambda folder: broken(folder, no_turns), "has no turns"),
        (lambda folder: [file.write_text("[]", "utf-8") for file in folder.iterdir()] and folder, "holds no dialogue"),
    ],
)
def test_a_bad_corpus_is_one_line_and_exit_2(sgd_folder: Path, make: Any, message: str) -> None:
    out = sgd_folder.parent / "out"
    result = run_command("tpbench-data", "build", "--corpus", f"sgd={make(sgd_folder)}", "--out", out)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) <= 2
    assert not out.exists()
