"""What goes wrong on other people's machines, on the real command line: one clear error each, and nothing lost."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from conftest import run_command

pytest.importorskip("torch")
pytest.importorskip("transformers")

from test_generate_commands import model, tool, whole
from test_generate_run import ENVIRONMENT, arguments, files, generate

from tpbench_data.run_folder import read_run

__all__ = ["model", "whole"]  # fixtures

MAIN = "from tpbench_generate.cli import main; main()"


def run_code(code: str, *arguments: object, **more: str) -> subprocess.CompletedProcess[str]:
    """The command in a process in which something was prepared first."""
    command = [sys.executable, "-c", f"{code}\n{MAIN}", *map(str, arguments)]
    return subprocess.run(command, env={**ENVIRONMENT, **more}, capture_output=True, text=True, check=False)


def is_one_line(done: subprocess.CompletedProcess[str]) -> bool:
    return done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1 and "Traceback" not in done.stderr


# --- packages that are not there


@pytest.mark.parametrize(
    ("package", "options"),
    [
        ("openai", ["--reader", "openai:m@http://127.0.0.1:9/v1"]),
        ("torch", ["--reader", "hf:lab/model"]),
        ("transformers", ["--reader", "smollm2-135m"]),
        ("yaml", ["--reader", "reader.yaml"]),
        ("kvpress", ["--reader", "hf:lab/model", "--kv", "snapkv", "--ratio", "0.3"]),
    ],
)
def test_a_missing_package_names_the_extra(built_once: Path, tmp_path: Path, package: str, options: list[str]) -> None:
    (tmp_path / "reader.yaml").write_text("backend: openai\nmodel: m\n")
    hiding = (
        "import importlib.util, sys, os\n"
        f"os.chdir({str(tmp_path)!r})\n"
        f"hidden, find = {package!r}, importlib.util.find_spec\n"
        "sys.modules[hidden] = None\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == hidden else find(name, *rest)"
    )
    done = run_code(hiding, "run", "--release", built_once, "--out", tmp_path / "run", *options)
    assert is_one_line(done), done.stderr
    assert f"needs the package '{package}'. Install it with: pip install 'tpbench[generate]'" in done.stderr
    assert not (tmp_path / "run").exists()


# --- models that the Hub does not hand out


@contextmanager
def refusing_hub(status: int, code: str) -> Iterator[str]:
    """A Hub on the loopback interface that refuses every file with the header that the real one sends."""

    class Refusing(BaseHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            """Nothing: the tests look at what the user sees."""

        def do_GET(self) -> None:
            self.do_HEAD()

        def do_HEAD(self) -> None:
            self.send_response(status)
            self.send_header("X-Error-Code", code)
            self.send_header("X-Error-Message", "refused")
            self.send_header("Content-Length", "0")
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize(
    ("status", "code", "reader", "reason"),
    [
        (401, "GatedRepo", "hf:lab/gated", "model lab/gated is gated. Accept its licence"),
        (403, "GatedRepo", "hf:lab/gated@v1", "model lab/gated@v1 is gated. Accept its licence"),
        (404, "RepoNotFound", "hf:lab/none", "there is no model lab/none on the Hugging Face Hub, or it is private"),
        (404, "RevisionNotFound", "hf:lab/model@v9", "model lab/model has no revision 'v9'"),
    ],
)
def test_a_model_that_the_hub_refuses(
    built_once: Path, tmp_path: Path, status: int, code: str, reader: str, reason: str
) -> None:
    options = ["--release", built_once, "--reader", reader, "--device", "cpu", "--out", tmp_path / "run"]
    with refusing_hub(status, code) as url:
        hub = {"HF_ENDPOINT": url, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "0"}
        done = run_command("tpbench-generate", "run", *options, env={**ENVIRONMENT, **hub})
    assert is_one_line(done), done.stderr
    assert reason in done.stderr
    assert not (tmp_path / "run").exists()


# --- memory that runs out

SMALL_MEMORY = """
import functools, torch
from transformers import LlamaForCausalLM
forward = LlamaForCausalLM.forward

@functools.wraps(forward)
def limited(self, input_ids=None, **rest):
    if {full}:
        {fault}
    return forward(self, input_ids=input_ids, **rest)

LlamaForCausalLM.forward = limited
"""
ON_A_GPU = 'raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")'
ON_A_CPU = "torch.empty(1 << 60, dtype=torch.uint8)"


@pytest.mark.parametrize("fault", [ON_A_GPU, ON_A_CPU], ids=["gpu", "cpu"])
def test_a_batch_that_does_not_fit_is_answered_prompt_by_prompt(
    whole: Path, built_once: Path, model: Path, tmp_path: Path, fault: str
) -> None:
    small = SMALL_MEMORY.format(full="input_ids.shape[0] > 1", fault=fault)
    done = run_code(small, "run", *arguments(built_once, model, tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    outputs = read_run(tmp_path / "run").outputs
    assert outputs["text"].equals(read_run(whole).outputs["text"])
    assert set(outputs["attempts"].to_pylist()) == {2}
    assert outputs["error"].null_count == outputs.num_rows


@pytest.mark.parametrize("fault", [ON_A_GPU, ON_A_CPU], ids=["gpu", "cpu"])
def test_a_prompt_that_does_not_fit_is_an_error_of_its_kind_and_can_be_retried(
    whole: Path, built_once: Path, model: Path, tmp_path: Path, fault: str
) -> None:
    lengths = read_run(whole).plan["prompt_tokens"].to_pylist()
    limit = sorted(lengths)[len(lengths) // 2]
    options = arguments(built_once, model, tmp_path / "run")
    # A batch is padded to its longest prompt, so a short one may need its second try.
    done = run_code(SMALL_MEMORY.format(full=f"input_ids.shape[1] > {limit}", fault=fault), "run", *options)
    assert done.returncode == 0, done.stderr
    errors = read_run(tmp_path / "run").outputs["error"].to_pylist()
    assert [error is not None for error in errors] == [length > limit for length in lengths]
    assert all(error.startswith("OutOfMemoryError: ") for error in errors if error)
    assert "error OutOfMemoryError: " in tool("status", tmp_path / "run").stdout
    again = generate(*options, "--retry-errors")
    assert again.returncode == 0, again.stderr
    assert read_run(tmp_path / "run").outputs["text"].equals(read_run(whole).outputs["text"])


def test_a_model_that_does_not_fit_stops_the_run_which_goes_on_where_it_fits(
    whole: Path, built_once: Path, model: Path, tmp_path: Path
) -> None:
    options = arguments(built_once, model, tmp_path / "run")
    for fault in (ON_A_GPU, ON_A_CPU):
        moving = f"import torch\nfrom transformers import LlamaForCausalLM\ndef move(*a, **k):\n    {fault}\n"
        done = run_code(f"{moving}LlamaForCausalLM.to = move", "run", *options)
        assert is_one_line(done), done.stderr
        assert "does not fit into memory. Choose a smaller model, another --device" in done.stderr
    again = generate(*options)
    assert again.returncode == 0, again.stderr
    assert files(tmp_path / "run") == files(whole)


# --- disks that are full, folders that may not be written

can_mount = pytest.mark.skipif(
    shutil.which("unshare") is None
    or subprocess.run(
        ["unshare", "-rm", "sh", "-c", "mount -t tmpfs tmpfs /mnt"], capture_output=True, check=False
    ).returncode
    != 0,
    reason="this machine lets no process mount a file system of its own",
)


def in_own_mounts(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs a shell script that may mount, unseen by others; ``run`` is our program, "$@" are the arguments."""
    run = f"run() {{ {sys.executable} -c '{MAIN}' \"$@\"; }}\n"
    command = ["unshare", "-rm", "bash", "-c", run + script, "bash", *map(str, arguments)]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)


@can_mount
def test_a_full_disk_is_one_error_and_the_run_goes_on_once_there_is_room(
    whole: Path, built_once: Path, model: Path, tmp_path: Path
) -> None:
    disk, kept = tmp_path / "disk", tmp_path / "kept"
    disk.mkdir()
    begin = sum(-(-(whole / name).stat().st_size // 4096) for name in ("plan.parquet", "run.json", "log.txt"))
    script = f"""
        mount -t tmpfs -o size={(begin + 1) * 4096} tmpfs {disk} || exit 9
        run run "$@"; echo first $?
        ls {disk}/run
        mount -o remount,size=10M {disk} || exit 9
        run run "$@"; echo second $?
        cp -r {disk}/run {kept}
    """
    done = in_own_mounts(script, *arguments(built_once, model, disk / "run"))
    assert "first 2\n" in done.stdout, done.stderr
    assert "journal.jsonl\n" in done.stdout
    assert "outputs.parquet\n" not in done.stdout
    assert "second 0\n" in done.stdout
    told = done.stderr.strip().splitlines()
    assert "cannot write: No space left on device. Once that is mended run the same command again" in told[0]
    assert all("torn last record" in line for line in told[1:])
    assert files(kept) == files(whole)


@can_mount
def test_a_run_folder_that_became_read_only_is_one_error_and_is_as_it_was(
    whole: Path, built_once: Path, model: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "run"))
    (folder / "outputs.parquet").unlink()  # as if it had been interrupted
    before = files(folder)
    script = f"""
        mount --bind {folder} {folder} && mount -o remount,ro,bind {folder} || exit 9
        run run "$@"
    """
    options = arguments(built_once, model, folder)
    done = in_own_mounts(script, *options)
    assert is_one_line(done), done.stderr
    assert "cannot write: Read-only file system" in done.stderr
    assert files(folder) == before
    assert generate(*options).returncode == 0
    assert files(folder) == files(whole)


@pytest.mark.skipif(sys.platform != "linux", reason="uses /proc, where nobody may write")
@pytest.mark.parametrize("command", ["run", "select", "merge", "judge"])
def test_a_folder_that_may_not_be_written_is_one_error_of_every_command(
    whole: Path, built_once: Path, model: Path, tmp_path: Path, command: str
) -> None:
    out = "/proc/tpbench/out"
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(json.dumps({"reference": "a table", "answer": "a table", "question": "What?"}) + "\n")
    share = tmp_path / "share"
    if command == "merge":
        assert generate(*arguments(built_once, model, share), "--shard", "0/1").returncode == 0
    options = {
        "run": arguments(built_once, model, Path(out)),
        "select": ["--release", built_once, "--method", "bm25", "--ratio", "0.4", "--out", out],
        "merge": [share, "--out", out],
        "judge": ["--pairs", pairs, "--reader", f"hf:{model}", "--out", out],
    }[command]
    done = tool(command, *options)
    assert is_one_line(done), done.stderr
    assert "/proc" in done.stderr


# --- a release that is not the one that was planned


def test_a_release_that_changed_since_the_plan_is_refused_and_nothing_is_touched(
    whole: Path, built_once: Path, model: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "run"))
    (folder / "outputs.parquet").unlink()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    corpus = next(built_once.parent.glob("corpus/*"))
    other = tmp_path / "tpbench"
    built = run_command("tpbench-data", "build", "--corpus", f"sgd={corpus}", "--n", 5, "--out", other)
    assert built.returncode == 0, built.stderr
    for more in ([], ["--retry-errors"]):
        done = generate(*arguments(other, model, folder), *more)
        assert is_one_line(done), done.stderr
        assert "release_digest is" in done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert generate(*arguments(built_once, model, folder)).returncode == 0
    assert files(folder) == files(whole)
