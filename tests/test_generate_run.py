"""`tpbench-generate run` as a user types it: real releases, a tiny real model, kills, bad input."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import hears_interrupts, run_command, sgd_dialogue

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tiny_models import MISTRAL_STYLE, tiny_model, tiny_tokenizer

from tpbench_data.run_folder import RunFolder, read_run

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}  # tiny models only get slower with more threads


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus") / "train"
    folder.mkdir()
    for file in range(1, 4):
        dialogues = [sgd_dialogue(file * 10 + place) for place in range(4)]
        (folder / f"dialogues_{file:03d}.json").write_text(json.dumps(dialogues), encoding="utf-8")
    out = folder.parent / "tpbench"
    methods = "full_context,no_context,recency,first_turns"
    built = run_command(
        "tpbench-data", "build", "--corpus", f"sgd={folder}", "--n", 6, "--methods", methods, "--out", out
    )
    assert built.returncode == 0, built.stderr
    return out


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("models") / "tiny", tiny_tokenizer(MISTRAL_STYLE), positions=4096)


def arguments(release: Path, model: Path, out: Path, **options: Any) -> list[str]:
    values: dict[str, Any] = {"release": release, "reader": f"hf:{model}", "out": out, "limit": 16, "batch_size": 2}
    values.update({"max_new_tokens": 40, "device": "cpu", **options})
    return [text for name, value in values.items() for text in (f"--{name.replace('_', '-')}", str(value))]


def generate(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_command("tpbench-generate", "run", *arguments, env=ENVIRONMENT)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "log.txt"}


@pytest.fixture(scope="module")
def whole(release: Path, model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An undisturbed run."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    done = generate(*arguments(release, model, out))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return out


def run_of(folder: Path) -> RunFolder:
    return read_run(folder)


def test_a_run_leaves_the_four_files_and_says_what_to_do_next(whole: Path) -> None:
    assert sorted(path.name for path in whole.iterdir()) == ["log.txt", "outputs.parquet", "plan.parquet", "run.json"]
    run = run_of(whole)
    assert run.plan["input_id"].to_pylist() == run.outputs["input_id"].to_pylist()
    assert run.outputs.num_rows == 16
    assert run.outputs["error"].null_count == 16
    assert set(run.outputs["text_source"].to_pylist()) == {"raw"}
    assert run.run["run_id"].startswith("tiny-")
    assert run.run["system_role"] == "folded"
    assert run.run["batch_plan"] == "length-sorted, batch_size=2"
    begin = tiny_tokenizer(None).bos_token_id
    assert run.run["first_token_ids"].count(begin) == 1
    assert run.outputs["prompt_tokens"].to_pylist() == run.plan["prompt_tokens"].to_pylist()


def test_the_limit_takes_whole_examples_of_every_probe(whole: Path) -> None:
    plan = run_of(whole).plan.to_pylist()
    assert {row["method"] for row in plan} == {"full_context", "no_context", "recency", "first_turns"}
    assert {row["probe"] for row in plan} == {"initial_goal", "current_value", "joint_recovery"}


def test_equal_prompts_have_equal_answers_and_one_place_in_the_plan(whole: Path) -> None:
    run = run_of(whole)
    answers: dict[str, set[str]] = {}
    for planned, output in zip(run.plan.to_pylist(), run.outputs.to_pylist(), strict=True):
        answers.setdefault(planned["prompt_hash"], set()).add(output["text"])
    assert len(answers) < 16  # the no-context prompts of examples with the same slot are the same
    assert all(len(texts) == 1 for texts in answers.values())


def test_only_the_log_has_a_clock_and_no_file_a_machine_path(whole: Path, release: Path) -> None:
    year = time.strftime("%Y-")
    assert year in (whole / "log.txt").read_text()
    for name, data in files(whole).items():
        assert str(release).encode() not in data, name
        assert str(whole).encode() not in data, name
    assert year not in (whole / "run.json").read_text()


def start_and_kill(options: list[str], journal: Path, lines: int) -> None:
    code = "from tpbench_generate.cli import main; main()"
    process = subprocess.Popen([sys.executable, "-c", code, "run", *options], env=ENVIRONMENT)
    try:
        deadline = time.monotonic() + 120
        while not (journal.exists() and journal.read_bytes().count(b"\n") >= lines):
            assert process.poll() is None, "the run ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.005)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def test_killed_twice_and_resumed_it_ends_with_the_same_bytes(
    whole: Path, release: Path, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "killed"
    options = arguments(release, model, out)
    journal = out / "journal.jsonl"
    start_and_kill(options, journal, 1)
    assert not (out / "outputs.parquet").exists()
    start_and_kill(options, journal, 3)
    assert not (out / "outputs.parquet").exists()
    journal.write_bytes(journal.read_bytes()[:-7])
    done = generate(*options)
    assert done.returncode == 0, done.stderr
    assert "torn last record" in done.stderr
    assert files(out) == files(whole)


def test_24_inputs_killed_once_and_a_killed_share_end_with_the_bytes_of_an_undisturbed_run(
    release: Path, model: Path, tmp_path: Path
) -> None:
    def options(out: str, *more: str) -> list[str]:
        return [*arguments(release, model, tmp_path / out, limit=24), *more]

    assert generate(*options("whole")).returncode == 0
    start_and_kill(options("killed"), tmp_path / "killed" / "journal.jsonl", 2)
    assert generate(*options("killed")).returncode == 0
    start_and_kill(options("1", "--shard", "1/2"), tmp_path / "1" / "journal.jsonl", 1)
    for share in ("0", "1"):
        assert generate(*options(share, "--shard", f"{share}/2")).returncode == 0
    merged = run_command("tpbench-generate", "merge", tmp_path / "0", tmp_path / "1", "--out", tmp_path / "merged")
    assert merged.returncode == 0, merged.stderr
    assert run_of(tmp_path / "whole").outputs.num_rows == 24
    assert files(tmp_path / "killed") == files(tmp_path / "whole")
    assert files(tmp_path / "merged") == files(tmp_path / "whole")


def test_ctrl_c_stops_with_130_and_a_hint_and_the_run_can_go_on(
    whole: Path, release: Path, model: Path, tmp_path: Path
) -> None:
    code = "from tpbench_generate.cli import main; main()"
    for attempt in range(5):  # a quick machine may finish before the signal is there
        out = tmp_path / f"stopped{attempt}"
        options = arguments(release, model, out)
        process = subprocess.Popen(
            [sys.executable, "-c", code, "run", *options],
            env=ENVIRONMENT,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=hears_interrupts,
        )
        while not ((out / "journal.jsonl").exists() and b"\n" in (out / "journal.jsonl").read_bytes()):
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        if process.returncode != 0:
            break
    assert process.returncode == 130
    assert "run the same command again" in told
    assert "Traceback" not in told
    done = generate(*options)
    assert done.returncode == 0, done.stderr
    assert files(out) == files(whole)


def test_a_finished_run_is_not_touched_and_another_one_refused(
    whole: Path, release: Path, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    shutil.copytree(whole, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    again = generate(*arguments(release, model, out), "--json")
    assert again.returncode == 0, again.stderr
    summary = json.loads(again.stdout)
    assert summary["was_finished"] is True
    assert (summary["planned"], summary["errors"]) == (16, 0)
    other = generate(*arguments(release, model, out), "--max-new-tokens", "41")
    assert other.returncode == 2
    assert "max_new_tokens is 40 there and 41 here" in other.stderr
    assert "another --out" in other.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_batch_size_changes_no_answer_of_this_model_and_no_run_id(
    whole: Path, release: Path, model: Path, tmp_path: Path
) -> None:
    done = generate(*arguments(release, model, tmp_path / "run"), "--batch-size", "5")
    assert done.returncode == 0, done.stderr
    one, two = run_of(whole), run_of(tmp_path / "run")
    assert one.run["run_id"] == two.run["run_id"]
    assert one.outputs["text"].equals(two.outputs["text"])


def test_a_prompt_that_the_template_refuses_is_an_error_row_and_all_of_them_exit_1(
    release: Path, tmp_path: Path
) -> None:
    refusing = "{% if 'quiet table' in messages[0]['content'] %}{{ raise_exception('too loud') }}{% endif %}"
    folder = tiny_model(tmp_path / "fussy", tiny_tokenizer(refusing + MISTRAL_STYLE), positions=4096)
    options = arguments(release, folder, tmp_path / "run", probe="current_value", limit=8)
    done = generate(*options)
    assert done.returncode == 0, done.stderr
    assert "8 inputs" in done.stdout
    errors = run_of(tmp_path / "run").outputs["error"].to_pylist()
    assert 0 < sum(error is not None for error in errors) < 8
    assert {error for error in errors if error} == {"TemplateError: too loud"}
    nothing = generate(
        *arguments(release, folder, tmp_path / "none", probe="current_value", method="full_context", limit=2)
    )
    assert nothing.returncode == 1
    assert "0 answered, 2 errors" in nothing.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_progress_is_shown_on_a_terminal_with_rate_and_time_left(release: Path, model: Path, tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    code = "from tpbench_generate.cli import main; main()"
    options = arguments(release, model, tmp_path / "run", probe="initial_goal", method="recency")
    done = subprocess.run(
        [sys.executable, "-c", code, "run", *options],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=theirs,
        check=True,
    )
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    os.close(theirs)
    prompts = len(set(run_of(tmp_path / "run").plan["prompt_hash"].to_pylist()))
    assert f"{prompts}/{prompts} prompts" in shown
    assert "/s, 0:00:0" in shown
    assert shown.endswith("\r\n")
    assert b"prompts," not in done.stdout


def test_cut_prompts_are_marked_and_counted(release: Path, model: Path, tmp_path: Path) -> None:
    options = arguments(release, model, tmp_path / "run", probe="initial_goal", limit=4)
    done = generate(*options, "--max-input-tokens", "300", "--truncation-side", "right", "--json")
    assert done.returncode == 0, done.stderr
    run = run_of(tmp_path / "run")
    cut = run.outputs["input_truncated"].to_pylist()
    assert json.loads(done.stdout)["truncated"] == sum(cut) > 0
    for tokens, is_cut in zip(run.outputs["prompt_tokens"].to_pylist(), cut, strict=True):
        assert tokens <= 300
        assert not is_cut or tokens == 300


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--method", "dycp"], "tpbench-generate select"),
        (["--ratio", "0.5"], "no ratio '0.5'"),
        (["--ratio", "half"], "'half' is not a number"),
        (["--seed", "7"], "no seed '7'"),
        (["--probe", "P2"], "there is no probe 'P2'. Probes: initial_goal"),
        (["--probe", "free_form"], "no probe 'free_form'"),
        (["--corpus", "multiwoz"], "no corpus 'multiwoz'"),
        (["--reader", "gpt-17"], "there is no reader 'gpt-17'. Known readers: smollm2-135m, hf:"),
        (["--reader", "hf:./nowhere"], "no such model folder"),
        (["--release", "nowhere"], "nowhere"),
        (["--limit", "0"], "0 is not in the range"),
        (["--role", "star"], "'star' is not one of"),
        (["--device", "quantum"], "'quantum' cannot be used here"),
    ],
)
def test_bad_input_is_one_error_exit_2_and_leaves_no_folder(
    release: Path, model: Path, tmp_path: Path, options: list[str], reason: str
) -> None:
    done = generate(*arguments(release, model, tmp_path / "run"), *options)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 4
    assert not (tmp_path / "run").exists()


def test_the_out_folder_is_never_somebody_else_s(release: Path, model: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    done = generate(*arguments(release, model, tmp_path))
    assert done.returncode == 2
    assert "holds 'notes.txt' but no run" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt"]


def test_help_is_fast_and_has_an_example() -> None:
    begin = time.monotonic()
    done = run_command("tpbench-generate", "run", "--help")
    assert time.monotonic() - begin < 2
    assert "Example" in done.stdout
    assert "tpbench-generate run --release R --reader smollm2-135m" in done.stdout


def test_help_loads_no_model_library() -> None:
    code = (
        "import sys, tpbench_generate.cli as c; c.cli.main(['run', '--help'], standalone_mode=False);"
        "print([m for m in ('torch', 'transformers', 'pyarrow', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_readers_are_listed() -> None:
    done = run_command("tpbench-generate", "readers")
    assert done.returncode == 0
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert names[:4] == ["smollm2-135m", "hf:MODEL[@REVISION]", "openai:MODEL[@URL]", "FILE.yaml"]
    assert {"paper-llama-p1", "paper-mistral-p2", "paper-lme-ku", "paper-risawoz", "paper-chunkkv"} <= set(names)
    assert list(json.loads(run_command("tpbench-generate", "readers", "--json").stdout)) == names
