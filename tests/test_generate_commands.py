"""The commands around `tpbench-generate run` as a user types them: shares, status, dry runs, retries, failures."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import run_command

pytest.importorskip("torch")
pytest.importorskip("transformers")

from test_generate_run import ENVIRONMENT, arguments, files, generate
from tiny_models import MISTRAL_STYLE, tiny_model, tiny_tokenizer

from tpbench_data.run_folder import read_run


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("models") / "tiny", tiny_tokenizer(MISTRAL_STYLE), positions=4096)


@pytest.fixture(scope="module")
def whole(built_once: Path, model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "whole"
    done = generate(*arguments(built_once, model, out))
    assert done.returncode == 0, done.stderr
    return out


def tool(*arguments: object, **options: Any) -> Any:
    return run_command("tpbench-generate", *arguments, env=ENVIRONMENT, **options)


def test_shares_on_the_command_line_merge_to_the_bytes_of_the_whole_run(
    whole: Path, built_once: Path, model: Path, tmp_path: Path
) -> None:
    folders = [tmp_path / str(index) for index in range(3)]
    for index, folder in enumerate(folders):
        done = generate(*arguments(built_once, model, folder), "--shard", f"{index}/3")
        assert done.returncode == 0, done.stderr
        assert f"share {index}/3 of run tiny-" in done.stdout
        assert "next: tpbench-generate merge" in done.stdout
    early = tool("merge", *folders[:2], "--out", tmp_path / "merged")
    assert (early.returncode, "share 2/3 of this run is missing" in early.stderr) == (2, True)
    done = tool("merge", *folders, "--out", tmp_path / "merged", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["shards"] == 3
    assert files(tmp_path / "merged") == files(whole)
    status = tool("status", whole, *folders)
    assert status.returncode == 0
    assert f"{whole}: run tiny-" in status.stdout
    assert f"{folders[1]}: share 1/3 run tiny-" in status.stdout
    assert status.stdout.count(", finished") == 4
    rows = [json.loads(line) for line in tool("status", *folders, "--json").stdout.splitlines()]
    assert sum(row["inputs"] for row in rows) == 16


def test_a_dry_run_counts_and_estimates_and_writes_nothing(built_once: Path, model: Path, tmp_path: Path) -> None:
    options = arguments(built_once, model, tmp_path / "run")
    told = generate(*options, "--dry-run")
    assert told.returncode == 0, told.stderr
    assert "16 inputs" in told.stdout
    assert "judged by one batch of 2 prompts" in told.stdout
    counted = generate(*options, "--dry-run", "--no-probe", "--json")
    estimate = json.loads(counted.stdout)
    assert estimate["inputs"] == 16
    assert estimate["seconds"] is None
    assert estimate["prompt_tokens"] <= estimate["padded_tokens"]
    assert estimate["new_tokens"] == 40 * estimate["prompts"]
    assert not (tmp_path / "run").exists()
    assert generate(*options, "--no-probe").returncode == 2


def test_options_that_do_not_go_together_are_refused(built_once: Path, model: Path, tmp_path: Path) -> None:
    options = arguments(built_once, model, tmp_path / "run")
    for extra, reason in [
        (["--shard", "3/3"], "'3/3' is no share"),
        (["--shard", "0/2", "--retry-errors"], "Merge the shares first"),
        (["--retry-errors"], "no such run folder"),
        (["--batch-tokens", "0"], "0 is not in the range"),
    ]:
        done = generate(*options, *extra)
        assert done.returncode == 2, extra
        assert reason in done.stderr
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


def test_retry_errors_mends_what_a_better_template_lets_pass(built_once: Path, tmp_path: Path) -> None:
    refusing = "{% if 'quiet table' in messages[0]['content'] %}{{ raise_exception('too loud') }}{% endif %}"
    folder = tiny_model(tmp_path / "fussy", tiny_tokenizer(refusing + MISTRAL_STYLE), positions=4096)
    options = arguments(built_once, folder, tmp_path / "run", probe="current_value", limit=8)
    assert generate(*options).returncode == 0
    status = tool("status", tmp_path / "run")
    assert "error TemplateError:" in status.stdout
    done = generate(*options, "--retry-errors", "--json")
    assert done.returncode == 0, done.stderr
    rows = read_run(tmp_path / "run").outputs.to_pylist()
    assert {row["attempts"] for row in rows} == {1, 2}
    assert all((row["attempts"] == 2) == (row["error"] is not None) for row in rows)


def test_a_token_budget_is_part_of_the_plan(whole: Path, built_once: Path, model: Path, tmp_path: Path) -> None:
    done = generate(*arguments(built_once, model, tmp_path / "run"), "--batch-tokens", "3000")
    assert done.returncode == 0, done.stderr
    one, two = read_run(whole), read_run(tmp_path / "run")
    assert two.run["batch_plan"] == "length-sorted, batch_size=2, batch_tokens=3000"
    assert one.run["run_id"] == two.run["run_id"]
    assert one.outputs["text"].equals(two.outputs["text"])


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files with RLIMIT_FSIZE")
def test_a_disk_that_is_full_is_one_error_and_the_run_goes_on_later(
    whole: Path, built_once: Path, model: Path, tmp_path: Path
) -> None:
    import resource
    import signal
    import subprocess

    room = (whole / "plan.parquet").stat().st_size + 1  # enough to begin, not enough for all answers

    def small_disk() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as on a full disk, the write fails instead
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    options = arguments(built_once, model, tmp_path / "run")
    done = subprocess.run(
        [sys.executable, "-c", "from tpbench_generate.cli import main; main()", "run", *options],
        preexec_fn=small_disk,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stdout
    assert "cannot write: File too large" in done.stderr
    assert "run the same command again" in done.stderr
    assert "Traceback" not in done.stderr
    again = generate(*options)
    assert again.returncode == 0, again.stderr
    assert files(tmp_path / "run") == files(whole)


@pytest.mark.parametrize("name", ["merge", "status", "run", "readers"])
def test_help_has_an_example(name: str) -> None:
    done = tool(name, "--help")
    assert done.returncode == 0
    assert f"tpbench-generate {name}" in done.stdout
    assert "Example" in done.stdout
