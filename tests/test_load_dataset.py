"""Both ways of loading a release as a dataset give the same rows, and strings stay strings."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import run_command

import tpbench_data
from tpbench_data.errors import BadInput
from tpbench_data.release.reader import Release

datasets = pytest.importorskip("datasets")


@pytest.fixture(autouse=True)
def offline_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def test_plain_datasets_and_ours_return_the_rows_of_the_release(
    small_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small_build.parent)
    assert small_build.name == "tpbench"
    release = Release.open(small_build)
    assert release.configs == ["dialogues", "initial_goal", "current_value", "joint_recovery"]
    for config in release.configs:
        expected = release.table(config).to_pylist()
        assert datasets.load_dataset("tpbench", config, split="test").to_list() == expected
        assert tpbench_data.load_dataset("tpbench", config).to_list() == expected
        streamed = tpbench_data.load_dataset(small_build, config, streaming=True)
        assert list(streamed) == expected


def test_strings_that_look_like_something_else_stay_strings(tmp_path: Path) -> None:
    values = ["007", "2019-03-01", "None", "true", "1e5", "a\u2028b", "01223351241"]
    texts = []
    for number, value in enumerate(values):
        texts.append({"speaker": "user", "text": f"say {value}", "state": {"s": {"v": [f"x{number}"]}}})
        texts.append({"speaker": "user", "text": f"now {value}", "state": {"s": {"v": [value]}}})
    dialogues = [{"dialogue_id": str(i), "turns": texts[2 * i : 2 * i + 2]} for i in range(len(values))]
    for number, dialogue in enumerate(dialogues):
        dialogue["dialogue_id"] = f"{number:03d}"
        dialogue["turns"] = texts[2 * number : 2 * number + 2]
    file = tmp_path / "own.jsonl"
    file.write_text("\n".join(json.dumps(d, ensure_ascii=False) for d in dialogues), encoding="utf-8")
    out = tmp_path / "r"
    result = run_command("tpbench-data", "build", f"--corpus=own={file}", "--methods=full_context", "--out", out)
    assert result.returncode == 0, result.stderr
    loaded = datasets.load_dataset(os.fspath(out), "current_value", split="test")
    assert sorted(loaded["reference_value"]) == sorted(values)
    assert sorted(loaded["dialogue_id"]) == [f"{i:03d}" for i in range(len(values))]


def test_an_unknown_config_or_split_is_one_clear_error(small_build: Path) -> None:
    with pytest.raises(BadInput, match="Known configs"):
        tpbench_data.load_dataset(small_build, "p2")
    with pytest.raises(BadInput, match="one split"):
        tpbench_data.load_dataset(small_build, "current_value", split="train")
    with pytest.raises(BadInput, match="It has: dialogues"):
        tpbench_data.load_dataset(small_build, "judgments")
