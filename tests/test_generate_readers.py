"""Readers by name, preset, file and entry point."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from conftest import run_command

from tpbench_data.errors import BadInput
from tpbench_generate.readers import find_reader, open_reader
from tpbench_generate.readers.base import Answer, Encoded, Environment, Messages, Reader, ReaderOptions, ReaderSettings
from tpbench_generate.readers.presets import PRESETS
from tpbench_generate.readers.server import Server
from tpbench_generate.readers.specs import listed

LLAMA_REVISION = "0e9e39f249a16976918f6564b8830bc894c89659"


def test_presets_hold_what_the_record_says() -> None:
    p1, kv, mistral = (find_reader(f"paper-{name}") for name in ("llama-p1", "kv", "mistral-p3"))
    assert p1.model == f"hf:meta-llama/Llama-3.1-8B-Instruct@{LLAMA_REVISION}"
    assert (p1.batch_size, p1.batch_tokens) == (8, 8000)
    assert p1.options({}) == ReaderOptions(96, 7168, "left", "bfloat16", "eager")
    assert kv.options({}).truncation_side == "right"
    assert (mistral.options({}).attention, mistral.options({}).max_new_tokens, mistral.batch_size) == ("eager", 128, 1)
    assert find_reader("paper-lme-ku").options({}).max_input_tokens == 32768


def test_what_the_user_says_goes_before_a_preset() -> None:
    options = find_reader("paper-llama-p1").options({"dtype": "float32", "attention": None})
    assert (options.dtype, options.attention) == ("float32", "eager")


def test_every_preset_can_be_listed_and_has_a_pinned_revision() -> None:
    for name, preset in PRESETS.items():
        assert name in listed()
        assert len(preset.model.rpartition("@")[2]) == 40


def write(folder: Path, text: str) -> Path:
    path = folder / "reader.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_reader_file_names_a_server(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    text = """
backend: openai
model: meta-llama/Llama-3.1-8B-Instruct
base_url: http://node7:8000/v1
revision: 0e9e39f
concurrency: 32
timeout_s: 300
parameters: {top_k: 1}
max_new_tokens: 128
"""
    spec = find_reader(str(write(tmp_path, text)))
    assert spec.server == Server(
        "meta-llama/Llama-3.1-8B-Instruct",
        "http://node7:8000/v1",
        revision="0e9e39f",
        concurrency=32,
        timeout_s=300,
        parameters={"top_k": 1},
    )
    assert spec.name == "openai:meta-llama/Llama-3.1-8B-Instruct"
    assert (spec.options({}).max_new_tokens, spec.batch_size) == (128, 64)
    assert spec.options({"max_new_tokens": 5}).max_new_tokens == 5


def test_a_reader_file_names_a_local_model(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    text = (
        "backend: transformers\nmodel: smollm2-135m\nname: small\nattention: eager\nbatch_size: 2\nbatch_tokens: 900\n"
    )
    spec = find_reader(str(write(tmp_path, text)))
    assert (spec.name, spec.model, spec.batch_size, spec.batch_tokens) == ("small", "smollm2-135m", 2, 900)
    assert spec.options({}).attention == "eager"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- a", "must be a mapping"),
        ("a: [", "not valid YAML"),
        ("backend: vllm\nmodel: m", "field 'backend': must be transformers or openai"),
        ("backend: openai", "field 'model'"),
        ("backend: openai\nmodel: m\nkey: sk-1", "field 'key': unknown key. Known: api_key_env"),
        ("backend: openai\nmodel: m\nconcurrency: many", "field 'concurrency': has the wrong type"),
        ("backend: openai\nmodel: m\nconcurrency: true", "field 'concurrency': has the wrong type"),
        ("backend: openai\nmodel: m\nbase_url: ftp://h", "field 'base_url'"),
        ("backend: openai\nmodel: m\nattention: eager", "field 'attention': unknown key"),
        ("backend: transformers\nmodel: m\ndtype: int3", "field 'dtype': must be one of"),
        ("backend: transformers\nmodel: m\nbatch_size: 0", "field 'batch_size'"),
        ("backend: transformers\nmodel: !!python/object/apply:os.system [true]", "not valid YAML"),
    ],
)
def test_a_bad_reader_file_is_one_error_that_names_file_and_field(tmp_path: Path, text: str, reason: str) -> None:
    pytest.importorskip("yaml")
    with pytest.raises(BadInput) as told:
        find_reader(str(write(tmp_path, text)))
    assert "reader.yaml" in str(told.value)
    assert reason in str(told.value)
    assert "sk-1" not in str(told.value)


def test_a_missing_file_and_an_unknown_name_are_told() -> None:
    with pytest.raises(BadInput, match="no such reader file"):
        find_reader("nowhere.yaml")
    with pytest.raises(BadInput, match=r"there is no reader 'gpt-17'. Known readers: smollm2-135m"):
        find_reader("gpt-17")
    with pytest.raises(BadInput, match="cannot be compressed"):
        open_reader("openai:m@http://h/v1", kv=object(), max_new_tokens=None)  # type: ignore[arg-type]


class Echo(Reader):
    """Somebody else's reader."""

    def __init__(self, argument: str, options: ReaderOptions) -> None:
        if argument == "broken":
            raise RuntimeError("no such voice")
        empty: dict[str, Any] = dict.fromkeys(
            ("model_revision", "dtype", "attention", "max_input_tokens", "truncation_side", "system_role")
        )
        self.settings = ReaderSettings(
            reader=f"echo:{argument}", slug="echo", model_id=argument, backend="echo", decoding="greedy",
            max_new_tokens=options.max_new_tokens, stop_token_ids=None, pad_token_id=None, template_hash=None, **empty,
        )  # fmt: skip
        self.environment = Environment("here", {})

    def encode(self, messages: Messages) -> Encoded:
        return Encoded((1,), truncated=False)

    def load(self) -> None:
        pass

    def generate(self, batch: Sequence[Encoded]) -> list[Answer]:
        return [Answer("echo", "stop", 1) for _ in batch]


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        metadata.EntryPoint("echo", f"{__name__}:Echo", "tpbench.readers"),
        metadata.EntryPoint("gone", "no_such_module:Reader", "tpbench.readers"),
        metadata.EntryPoint("other", "builtins:divmod", "tpbench.readers"),
    ]

    def found(*, group: str, name: str | None = None) -> list[metadata.EntryPoint]:
        return [point for point in points if group == point.group and name in (None, point.name)]

    monkeypatch.setattr(metadata, "entry_points", found)


def test_an_entry_point_is_a_reader(plugins: None) -> None:
    reader = open_reader("echo:hall", max_new_tokens=3)
    assert isinstance(reader, Echo)
    assert (reader.settings.model_id, reader.settings.max_new_tokens) == ("hall", 3)
    assert "echo:…" in listed()


@pytest.mark.parametrize(
    ("name", "reason"), [("echo:broken", "no such voice"), ("gone", "no_such_module"), ("other", "cannot be opened")]
)
def test_a_broken_entry_point_is_told_with_its_origin(plugins: None, name: str, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        open_reader(name)


def test_help_names_the_kinds_of_readers() -> None:
    done = run_command("tpbench-generate", "readers", "--help")
    assert "Example:" in done.stdout
