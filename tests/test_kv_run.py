"""`run --kv` as a user types it: one input per question, what was kept of each context, and the same bytes again."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import run_command, sgd_dialogue

pytest.importorskip("kvpress", reason="kvpress is not installed")

from tiny_models import LLAMA_STYLE, tiny_model, tiny_tokenizer

from tpbench_data.budget import keep_count
from tpbench_data.run_folder import read_cache, read_run

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kv-run")
    tiny_model(folder / "tiny", tiny_tokenizer(LLAMA_STYLE), positions=4096)
    corpus = folder / "train"
    corpus.mkdir()
    dialogues = [sgd_dialogue(number) for number in range(8)]
    (corpus / "dialogues_001.json").write_text(json.dumps(dialogues), encoding="utf-8")
    for name, methods in (("R", "full_context,recency"), ("bare", "recency")):
        built = run_command(
            "tpbench-data", "build", f"--corpus=sgd={corpus}", "--n=4", "--ratios=0.3,0.5", f"--methods={methods}",
            "--out", folder / name,
        )  # fmt: skip
        assert built.returncode == 0, built.stderr
    return folder


def run(place: Path, out: Path, *options: str, release: str = "R") -> subprocess.CompletedProcess[str]:
    return run_command(
        "tpbench-generate", "run", "--release", place / release, "--reader", f"hf:{place / 'tiny'}", "--device=cpu",
        "--max-new-tokens=6", *options, "--out", out, env=ENVIRONMENT,
    )  # fmt: skip


def test_each_question_is_answered_once_under_the_cache_method_s_name(place: Path, tmp_path: Path) -> None:
    done = run(place, tmp_path / "a", "--kv=snapkv", "--ratio=0.3", "--probe=current_value", "--json")
    assert done.returncode == 0, done.stderr
    found = read_run(tmp_path / "a")
    assert found.run["role"] == "kv"
    assert json.loads(found.run["kv_settings"]) == {
        "method": "snapkv", "budget": "exact", "window_size": 64, "kernel_size": 5, "ratio": 0.3,
        "mode": "context_only",
    }  # fmt: skip
    assert found.run["batch_plan"].endswith("batch_size=1")
    rows = found.outputs.to_pylist()
    assert {(row["method"], row["ratio"]) for row in rows} == {("snapkv", 0.3)}
    questions = [row["input_id"].split("|")[1] for row in rows]
    assert len(questions) == len(set(questions)) > 4
    assert all("|full_context|0.3|" in row["input_id"] for row in rows)
    kept = read_cache(tmp_path / "a").to_pylist()
    assert [row["input_id"] for row in kept] == [row["input_id"] for row in rows]
    for row in kept:
        assert row["entries"] == [keep_count(row["context_tokens"], 0.3, "floor")] * 2
        assert not row["passed_whole"]
    assert json.loads(done.stdout)["passed_whole"] == 0


def test_a_ratio_that_the_release_lacks_takes_each_question_once(place: Path, tmp_path: Path) -> None:
    done = run(place, tmp_path / "a", "--kv=chunkkv(chunk_length=10)", "--ratio=0.2", "--role=chunk_sweep", "--limit=3")
    assert done.returncode == 0, done.stderr
    found = read_run(tmp_path / "a")
    assert found.run["role"] == "chunk_sweep"
    assert {(row["method"], row["ratio"]) for row in found.outputs.to_pylist()} == {("chunkkv", 0.2)}
    assert found.outputs.num_rows == 3


def test_short_contexts_pass_whole_and_are_counted(place: Path, tmp_path: Path) -> None:
    options = ["--kv=snapkv(window_size=2000)", "--ratio=0.3", "--limit=2"]
    done = run(place, tmp_path / "a", *options)
    assert "2 contexts were too short to be compressed and passed whole" in done.stdout
    kept = read_cache(tmp_path / "a").to_pylist()
    assert all(row["passed_whole"] and row["entries"] == [row["context_tokens"]] * 2 for row in kept)
    assert "2 contexts" in run(place, tmp_path / "a", *options).stdout, "also when nothing is left to do"


def test_the_same_run_twice_and_an_uncompressed_one(place: Path, tmp_path: Path) -> None:
    for name in "ab":
        assert run(place, tmp_path / name, "--kv=streamingllm", "--ratio=0.5", "--limit=4").returncode == 0
    files = [
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir() if path.name != "log.txt"}
        for name in "ab"
    ]
    assert files[0] == files[1]
    assert sorted(files[0]) == ["cache.parquet", "outputs.parquet", "plan.parquet", "run.json"]
    assert run(place, tmp_path / "c", "--method=full_context", "--limit=4").returncode == 0
    assert not (tmp_path / "c" / "cache.parquet").exists()
    assert read_cache(tmp_path / "c").num_rows == 0
    other = run(place, tmp_path / "a", "--kv=streamingllm", "--ratio=0.3", "--limit=4")
    assert other.returncode == 2
    assert "holds another run" in other.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kv=snapkv"], "one retained fraction"),
        (["--kv=snapkv", "--ratio=0.3,0.5"], "one retained fraction"),
        (["--kv=snapkv", "--ratio=0"], "one retained fraction"),
        (["--kv=snapkv", "--ratio=0.3", "--method=recency"], "full contexts only"),
        (["--kv=magic", "--ratio=0.3"], "unknown method 'magic'"),
        (["--kv=MagicPress", "--ratio=0.3"], "kvpress has no press MagicPress"),
        (["--kv=chunkkv", "--ratio=0.3", "--attention=eager"], "Use sdpa"),
    ],
)
def test_a_bad_option_is_one_error(place: Path, tmp_path: Path, options: list[str], message: str) -> None:
    done = run(place, tmp_path / "a", *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "a").exists()


def test_a_release_without_full_contexts_is_told_how_to_get_them(place: Path, tmp_path: Path) -> None:
    done = run(place, tmp_path / "a", "--kv=snapkv", "--ratio=0.3", release="bare")
    assert done.returncode == 2
    assert "tpbench-generate select" in done.stderr
