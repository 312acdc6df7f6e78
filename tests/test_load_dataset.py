"""Every way of loading a release as a dataset gives the same rows, typed as declared, and strings stay strings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import run_command
from full_release import TRICKY, full_once, full_release  # noqa: F401  (fixtures)
from loopback_hub import WRITER, loopback_hub

import tpbench_data
from tpbench_data.errors import BadInput
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import CONFIGS

datasets = pytest.importorskip("datasets")


@pytest.fixture(autouse=True)
def offline_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def test_by_folder_name_and_by_path_every_config_is_the_rows_of_the_release(
    full_release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(full_release.parent)
    assert full_release.name == "tpbench"
    release = Release.open(full_release)
    assert release.configs == list(CONFIGS)
    for config in release.configs:
        expected = release.table(config).to_pylist()
        plain = datasets.load_dataset("tpbench", config, split="test")
        assert plain.to_list() == expected
        assert plain.features == datasets.Features.from_arrow_schema(CONFIGS[config])
        ours = tpbench_data.load_dataset("tpbench", config)
        assert (ours.to_list(), ours.features) == (expected, plain.features)
        assert tpbench_data.load_dataset(full_release, config).to_list() == expected
        streamed = tpbench_data.load_dataset(full_release, config, streaming=True)
        assert list(streamed) == expected
        assert streamed.features == plain.features


_HUB_PROGRAM = """
import json, sys
import datasets, tpbench_data
from tpbench_data.release.reader import Release
release = Release.open(sys.argv[1])
equal = {}
for config in release.configs:
    expected = release.table(config).to_pylist()
    loads = [load(sys.argv[2], config, split="test", revision="v0.3.0", streaming=streaming)
             for load in (datasets.load_dataset, tpbench_data.load_dataset) for streaming in (False, True)]
    equal[config] = [list(rows) == expected and rows.features == loads[0].features for rows in loads]
try:
    tpbench_data.load_dataset(sys.argv[2], "outputs", revision="v9")
except tpbench_data.BadInput as problem:
    equal["unknown revision"] = str(problem)
print(json.dumps(equal))
"""


def test_by_hub_id_every_config_is_the_rows_of_the_release_streamed_too(full_once: Path, tmp_path: Path) -> None:
    with loopback_hub() as hub:
        environment = os.environ | {
            "HF_ENDPOINT": hub.url, "HF_HUB_DISABLE_XET": "1", "HF_TOKEN": WRITER, "HF_HOME": str(tmp_path / "home"),
            "HF_DATASETS_CACHE": str(tmp_path / "datasets"),
        }  # fmt: skip
        published = run_command("tpbench-data", "publish", full_once, "--repo-id", "lab/tpbench", env=environment)
        assert published.returncode == 0, published.stderr
        # A new process, because the libraries read the address of the Hub when they are imported.
        result = subprocess.run(
            [sys.executable, "-c", _HUB_PROGRAM, str(full_once), "lab/tpbench"],
            capture_output=True, text=True, check=False, env=environment, cwd=tmp_path,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        found = json.loads(result.stdout.splitlines()[-1])
    assert "has no revision 'v9'" in found.pop("unknown revision")
    assert found == dict.fromkeys(CONFIGS, [True] * 4)


def test_strings_that_look_like_something_else_stay_strings(full_once: Path) -> None:
    for load in (datasets.load_dataset, tpbench_data.load_dataset):
        texts = set(load(os.fspath(full_once), "outputs", split="test")["text"])
        assert set(TRICKY) <= texts
        answers = load(os.fspath(full_once), "judgments", split="test")["answer"]
        assert list(answers) == list(TRICKY)


def test_labels_that_look_like_numbers_dates_and_nothing_survive_the_build(tmp_path: Path) -> None:
    values = ["007", "2019-03-01", "None", "true", "1e5", "a\u2028b", "01223351241", "5", "25:50 (or 26)", "null"]
    dialogues = []
    for number, value in enumerate(values):
        turns = [
            {"speaker": "user", "text": f"say {value}", "state": {"s": {"v": [f"x{number}"]}}},
            {"speaker": "user", "text": f"now {value}", "state": {"s": {"v": [value]}}},
        ]
        dialogues.append({"dialogue_id": f"{number:03d}", "turns": turns})
    file = tmp_path / "own.jsonl"
    file.write_text("\n".join(json.dumps(d, ensure_ascii=False) for d in dialogues), encoding="utf-8")
    out = tmp_path / "r"
    result = run_command("tpbench-data", "build", f"--corpus=own={file}", "--methods=full_context", "--out", out)
    assert result.returncode == 0, result.stderr
    for load in (datasets.load_dataset, tpbench_data.load_dataset):
        loaded = load(os.fspath(out), "current_value", split="test")
        assert sorted(loaded["reference_value"]) == sorted(values)
        assert sorted(loaded["dialogue_id"]) == [f"{i:03d}" for i in range(len(values))]


def test_a_changed_file_is_an_error_and_not_a_dataset(full_release: Path) -> None:
    file = full_release / "data/runs/test-00000-of-00001.parquet"
    other = full_release / "data/judgments/test-00000-of-00001.parquet"
    file.write_bytes(other.read_bytes())
    with pytest.raises(BadInput, match="was changed"):
        tpbench_data.load_dataset(full_release, "runs")


def test_an_unknown_config_split_or_name_is_one_clear_error(small_build: Path) -> None:
    with pytest.raises(BadInput, match="Known configs"):
        tpbench_data.load_dataset(small_build, "p2")
    with pytest.raises(BadInput, match="one split"):
        tpbench_data.load_dataset(small_build, "current_value", split="train")
    with pytest.raises(BadInput, match="It has: dialogues"):
        tpbench_data.load_dataset(small_build, "judgments")
    with pytest.raises(BadInput, match="not a Hub id"):
        tpbench_data.load_dataset("no-such-folder", "current_value")
