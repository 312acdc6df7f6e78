"""`tpbench-generate check`: the table, the gaps, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import run_command

pytest.importorskip("torch")
pytest.importorskip("transformers")

from test_generate_run import ENVIRONMENT
from tiny_models import LLAMA_STYLE, tiny_model, tiny_tokenizer

from tpbench_generate.comparison import Setting, answer_all, compare, differences
from tpbench_generate.readers import open_reader
from tpbench_generate.readers.transformers_reader import TransformersReader


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("models") / "tiny", tiny_tokenizer(LLAMA_STYLE), positions=4096)


def check(release: Path, model: Path, *options: object) -> Any:
    return run_command(
        "tpbench-generate", "check", "--release", release, "--reader", f"hf:{model}", "--device", "cpu",
        "--max-new-tokens", 16, "--limit", 8, *options, env=ENVIRONMENT,
    )  # fmt: skip


def test_the_table_has_all_settings_and_float32_does_not_differ(built_once: Path, model: Path) -> None:
    done = check(built_once, model)
    assert done.returncode == 0, done.stderr
    for name in ("serial, sdpa", "batched, sdpa", "batched, sdpa, shared beginnings", "serial, eager"):
        assert name in done.stdout
    result = json.loads(check(built_once, model, "--json", "--dtype", "bfloat16").stdout)
    assert result["dtype"] == "bfloat16"
    assert len(result["settings"]) == 6
    assert result["settings"][0]["different"] == []


def test_a_served_model_cannot_be_checked(built_once: Path) -> None:
    done = run_command(
        "tpbench-generate", "check", "--release", built_once, "--reader", "openai:m@http://127.0.0.1:9/v1"
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def reader_of(model: Path) -> TransformersReader:
    reader = open_reader(f"hf:{model}", max_new_tokens=6, device="cpu")
    assert isinstance(reader, TransformersReader)
    return reader


def test_a_difference_is_told_with_its_token_and_gap(model: Path) -> None:
    reader = reader_of(model)
    prompts = [reader.encode([{"role": "user", "content": text}]).ids for text in ("one", "two")]
    answers = answer_all(reader, prompts, [(0,), (1,)])
    logits = reader.next_logits([*prompts[1], *answers[1][:2]])
    assert max(range(len(logits)), key=logits.__getitem__) == answers[1][2]
    second = sorted(range(len(logits)), key=lambda token: -logits[token])[1]
    other = {0: answers[0], 1: [*answers[1][:2], second, *answers[1][3:]]}
    (found,) = differences(reader, prompts, answers, other)
    assert (found.prompt, found.token) == (1, 2)
    assert found.gap == pytest.approx(logits[answers[1][2]] - logits[second])
    assert found.gap > 0


def test_a_reader_is_opened_once_per_kind(model: Path) -> None:
    opened: list[Setting] = []

    def open_one(setting: Setting) -> TransformersReader:
        opened.append(setting)
        return reader_of(model)

    settings = [Setting("a", ((0,), (1,)), "sdpa"), Setting("b", ((0, 1),), "sdpa"), Setting("c", ((0, 1),), "eager")]
    compared = compare([(1, 40, 41), (1, 50)], settings, open_one)
    assert [one.setting.name for one in compared] == ["a", "b", "c"]
    assert [one.differences for one in compared] == [(), (), ()]
    assert [setting.name for setting in opened] == ["a", "c", "a"]
