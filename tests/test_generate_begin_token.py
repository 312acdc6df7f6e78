"""The token ids that reach a model, for templates of four families: one begin token, and both ends on record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
from test_generate_prompting import STYLES
from tiny_models import tiny_model, tiny_tokenizer
from transformers import LlamaModel

from tpbench_data.canonical import sha256_hex
from tpbench_data.templates import CURRENT_VALUE
from tpbench_generate.answering import encoder_of
from tpbench_generate.engine import run_row
from tpbench_generate.plan import Batching, PlannedInput, make_plan
from tpbench_generate.readers import open_reader
from tpbench_generate.readers.base import Reader

CONTEXT = "\n".join(f"[T{turn}] USER: the number {turn * 37 % 101} of {turn}." for turn in range(12))
LONG = CURRENT_VALUE.messages(CONTEXT, "number")
SHORT = CURRENT_VALUE.messages("[T0] USER: one.", "number")

SYSTEM = LONG[0]["content"]
FIRST = {
    "llama": "<s><|start_header_id|>system",
    "mistral": f"<s>[INST] {SYSTEM}",
    "gemma": f"<s><start_of_turn>user\n{SYSTEM}",
    "qwen": f"<|im_start|>system\n{SYSTEM}",
}
LAST = {
    "llama": "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    "mistral": f"{LONG[-1]['content']} [/INST]",
    "gemma": "<end_of_turn>\n<start_of_turn>model\n",
    "qwen": "<|im_end|>\n<|im_start|>assistant\n",
}


@pytest.fixture(scope="module", params=STYLES)
def style(request: pytest.FixtureRequest) -> str:
    torch.set_num_threads(1)  # tiny models only get slower with more
    return str(request.param)


@pytest.fixture(scope="module")
def model(style: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    template, begin, _, _ = STYLES[style]
    return tiny_model(tmp_path_factory.mktemp(style) / "tiny", tiny_tokenizer(template, begin=begin), positions=4096)


def reached(monkeypatch: pytest.MonkeyPatch, reader: Reader, batch: list[Any]) -> list[list[int]]:
    """The ids that the model itself was given until the first new token came, one list per prompt, padding left out."""
    seen: list[Any] = []
    forward = LlamaModel.forward

    def watched(self: Any, input_ids: Any = None, **rest: Any) -> Any:
        seen.append(input_ids)
        return forward(self, input_ids=input_ids, **rest)

    monkeypatch.setattr(LlamaModel, "forward", watched)
    encoded = [reader.encode(messages) for messages in batch]
    reader.load()
    reader.generate(encoded)
    pad = reader.settings.pad_token_id
    rows = torch.cat(seen, dim=1).tolist()
    longest = max(len(one.ids) for one in encoded)
    return [[token for token in row[:longest] if token != pad] for row in rows]


def test_a_batch_reaches_the_model_with_one_begin_token_each(
    model: Path, style: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = open_reader(f"hf:{model}", device="cpu", max_new_tokens=1)
    batch = [SHORT, LONG]
    ids = reached(monkeypatch, reader, batch)
    assert ids == [list(reader.encode(messages).ids) for messages in batch]
    for row in ids:
        assert row.count(tiny_tokenizer(None).bos_token_id) == int(STYLES[style][1])


def test_a_compressed_cache_gets_the_same_ids(model: Path, style: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("kvpress", reason="kvpress is not installed")
    from tpbench_generate.kv import parse_kv

    plain = open_reader(f"hf:{model}", device="cpu", max_new_tokens=1)
    reader = open_reader(f"hf:{model}", device="cpu", max_new_tokens=1, kv=(parse_kv("streamingllm"), 0.5))
    ids = reached(monkeypatch, reader, [LONG])
    assert ids == [list(plain.encode(LONG).ids)]
    assert ids[0].count(tiny_tokenizer(None).bos_token_id) == int(STYLES[style][1])


def test_the_run_records_both_ends_of_the_first_prompt_and_the_template(model: Path, style: str) -> None:
    template, _, role, _ = STYLES[style]
    reader = open_reader(f"hf:{model}", device="cpu", max_new_tokens=4)
    plan = make_plan([PlannedInput("i", "current_value", "recency", 0.3, tuple(LONG))], encoder_of(reader), Batching(1))
    row = run_row(plan, reader, role="main", batch_plan="b", release_digest="d")
    tokenizer = tiny_tokenizer(None)
    first, last = tokenizer.decode(row["first_token_ids"]), tokenizer.decode(row["last_token_ids"])
    assert (len(row["first_token_ids"]), len(row["last_token_ids"])) == (8, 8)
    assert FIRST[style].startswith(first)
    assert LAST[style].endswith(last)
    assert row["template_hash"] == sha256_hex(template)
    assert row["system_role"] == role
