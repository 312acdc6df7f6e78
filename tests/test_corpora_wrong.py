"""A corpus given as another one, or a damaged file: one message that says what it looks like."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import run_command, sgd_dialogue
from corpus_files import (
    legacy_dialogue,
    longmemeval_question,
    multiwoz22_dialogue,
    plain_dialogue,
    risawoz_dialogue,
    write_json,
    write_plain,
)

from tpbench_data.corpora.recognise import recognise

MAKERS: dict[str, Callable[[Path], Path]] = {
    "sgd": lambda folder: write_json(folder / "dialogues_001.json", [sgd_dialogue(1)]),
    "multiwoz-2.2": lambda folder: write_json(folder / "dialogues_001.json", [multiwoz22_dialogue()]),
    "multiwoz-legacy": lambda folder: write_json(folder / "data.json", {"A.json": legacy_dialogue()}),
    "risawoz": lambda folder: write_json(folder / "all_test600_new.json", [risawoz_dialogue()]),
    "longmemeval": lambda folder: write_json(folder / "longmemeval_s_cleaned.json", [longmemeval_question()]),
    "plain": lambda folder: write_plain(folder / "own.jsonl", plain_dialogue()),
}
TITLES = {
    "sgd": ("SGD", "--corpus sgd=PATH"),
    "multiwoz-2.2": ("MultiWOZ 2.2", "--corpus multiwoz=PATH"),
    "multiwoz-legacy": ("MultiWOZ in the legacy layout", "--corpus multiwoz=PATH"),
    "risawoz": ("RiSAWOZ", "--corpus risawoz=PATH"),
    "longmemeval": ("LongMemEval", "--corpus lme_ku=PATH"),
    "plain": ("dialogues in the plain format", "--corpus NAME=PATH"),
}
NAMES = {"sgd": "sgd", "multiwoz": "multiwoz-2.2", "risawoz": "risawoz", "lme_ku": "longmemeval", "mine": "plain"}


@pytest.mark.parametrize("layout", sorted(MAKERS))
def test_every_layout_is_recognised_by_its_content(tmp_path: Path, layout: str) -> None:
    MAKERS[layout](tmp_path)
    shape = recognise(tmp_path)
    assert shape is not None
    assert shape.format == layout


@pytest.mark.parametrize("layout", sorted(MAKERS))
@pytest.mark.parametrize("as_file", [False, True])
def test_a_wrong_corpus_is_named_for_what_it_looks_like(tmp_path: Path, layout: str, as_file: bool) -> None:
    file = MAKERS[layout](tmp_path)
    title, option = TITLES[layout]
    for name, expected in NAMES.items():
        if expected.split("-")[0] == layout.split("-")[0]:
            continue
        path = file if as_file else tmp_path
        result = run_command("tpbench-data", "build", f"--corpus={name}={path}", "--out", tmp_path / "r")
        assert result.returncode == 2, f"{layout} was taken for {name}"
        assert f"this looks like {title}" in result.stderr, result.stderr
        assert option in result.stderr
        assert len(result.stderr.strip().splitlines()) <= 2
        assert "Traceback" not in result.stderr


@pytest.mark.parametrize("name", ["multiwoz", "risawoz", "lme_ku"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "neither a JSON list nor an object"),
        (b"[]", "holds no dialogue"),
        (b"[{]", "not valid JSON"),
        (b'[{"a": NaN}]', "not valid JSON"),
        (b'[{"a": "\xff"}]', "not UTF-8"),
        (b'"text"', "neither a JSON list nor an object"),
        (b'[{"a": 1}] x', "text after the end"),
        (b'[{"a": 1}', "expected"),
        (b"[1]", "is missing"),
        (b"[" * 100_000, "not valid JSON"),
    ],
)
def test_a_damaged_file_is_one_error(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    names = {"multiwoz": "dialogues_001.json", "risawoz": "all.json", "lme_ku": "longmemeval_s.json"}
    (tmp_path / names[name]).write_bytes(content)
    result = run_command("tpbench-data", "build", f"--corpus={name}={tmp_path}", "--out", tmp_path / "r")
    assert result.returncode == 2
    if content == b'[{"a": 1}] x':
        message = "is missing"  # the record is looked at first
    assert message in result.stderr or "is missing" in result.stderr, result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) <= 2


def test_two_dialogues_with_one_id_are_refused_by_every_pool(tmp_path: Path) -> None:
    for name, file, records in (
        ("multiwoz", "dialogues_001.json", [multiwoz22_dialogue()] * 2),
        ("risawoz", "all.json", [risawoz_dialogue()] * 2),
        ("lme_ku", "longmemeval_s.json", [longmemeval_question()] * 2),
    ):
        write_json(tmp_path / name / file, records)
        result = run_command("tpbench-data", "build", f"--corpus={name}={tmp_path / name}", "--out", tmp_path / "r")
        assert result.returncode == 2
        assert "two dialogues have the id" in result.stderr
