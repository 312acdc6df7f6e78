"""`tpbench-generate reproduce`: equal answers, changed ones with their gap, and another model refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import run_command

pytest.importorskip("torch")
pytest.importorskip("transformers")

from test_generate_run import ENVIRONMENT
from tiny_models import LLAMA_STYLE, MISTRAL_STYLE, tiny_model, tiny_tokenizer

from tpbench_data.files import write_parquet
from tpbench_data.run_folder import read_run


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("models") / "tiny", tiny_tokenizer(LLAMA_STYLE), positions=4096)


@pytest.fixture(scope="module")
def run(built_once: Path, model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "a"
    done = run_command(
        "tpbench-generate", "run", "--release", built_once, "--reader", f"hf:{model}", "--device", "cpu", "--limit", 12,
        "--max-new-tokens", 12, "--batch-size", 4, "--share-beginnings", "--out", out, env=ENVIRONMENT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out


def reproduce(release: Path, run: Path, model: Path, *options: object) -> Any:
    return run_command(
        "tpbench-generate", "reproduce", "--release", release, "--outputs", run, "--reader", f"hf:{model}",
        "--device", "cpu", *options, env=ENVIRONMENT,
    )  # fmt: skip


def test_a_sample_in_other_batches_gives_the_saved_answers(built_once: Path, run: Path, model: Path) -> None:
    done = reproduce(built_once, run, model, "--sample", 5)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "5 outputs answered again: 5 equal, 0 different\n"


def test_changed_answers_are_shown_with_the_gap_and_fail(
    built_once: Path, run: Path, model: Path, tmp_path: Path
) -> None:
    changed = shutil.copytree(run, tmp_path / "changed")
    outputs = read_run(changed).outputs
    rows = [row | {"text": f"x{row['text']}"} for row in outputs.to_pylist()]
    (changed / "outputs.parquet").unlink()
    write_parquet(changed / "outputs.parquet", outputs.from_pylist(rows, schema=outputs.schema))
    done = reproduce(built_once, changed, model, "--json")
    assert done.returncode == 1
    result = json.loads(done.stdout)
    assert len(result["different"]) == result["outputs"] == len(rows)
    texts = {row["input_id"]: row["text"] for row in rows}
    for one in result["different"]:
        assert one["before"] == texts[one["input_id"]] == f"x{one['now']}"
        assert one["gap"] >= 0  # greedy decoding took the likeliest token
    assert "logit gap" in reproduce(built_once, changed, model).stdout


def test_another_model_is_refused_with_what_differs(built_once: Path, run: Path, tmp_path: Path) -> None:
    other = tiny_model(tmp_path / "other", tiny_tokenizer(MISTRAL_STYLE), positions=4096)
    done = reproduce(built_once, run, other)
    assert done.returncode == 2
    assert "template_hash is" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_release_without_runs_says_so(built_once: Path, model: Path) -> None:
    done = run_command("tpbench-generate", "reproduce", "--release", built_once, env=ENVIRONMENT)
    assert done.returncode == 2
    assert "no saved answer" in done.stderr
