"""Common beginnings read once: the same answers as prompt by prompt, whatever the groups look like."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tiny_models import LLAMA_STYLE, tiny_model, tiny_tokenizer

from tpbench_generate.readers import open_reader
from tpbench_generate.readers.transformers_reader import TransformersReader

A, B = "The table is for four at six pm. " * 4, "No, make that half past eight, please. " * 5
TEXTS = [
    A + "When?",
    A + "For how many people is it?",
    A + "What did the user want first of all, in a few words?",
    B + "When?",
    B + "Why was it changed?",
    "All alone.",
    A[:40] + "another end",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("models") / "tiny", tiny_tokenizer(LLAMA_STYLE))


def reader_of(model: Path, **options: Any) -> TransformersReader:
    reader = open_reader(f"hf:{model}", max_new_tokens=24, device="cpu", **options)
    assert isinstance(reader, TransformersReader)
    return reader


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize(
    "chosen", [range(3), range(5), range(7), [5, 0, 1], [0, 3, 1, 4], [6, 0, 1, 2], [5, 6], [0], [3, 4, 5]]
)
def test_answers_are_those_of_the_plain_reader(model: Path, attention: str, chosen: list[int]) -> None:
    plain, sharing = reader_of(model, attention=attention), reader_of(model, attention=attention, share_beginnings=True)
    prompts = [plain.encode([{"role": "user", "content": TEXTS[k]}]) for k in chosen]
    assert sharing.generate(prompts) == [plain.generate([prompt])[0] for prompt in prompts]


def test_what_is_common_is_read_once(model: Path) -> None:
    reader = reader_of(model, share_beginnings=True)
    reader.load()
    seen: list[tuple[int, int]] = []
    reader._model.model.embed_tokens.register_forward_hook(
        lambda module, args, output: seen.append(tuple(args[0].shape))
    )
    prompts = [reader.encode([{"role": "user", "content": text}]) for text in TEXTS[:3]]
    reader.generate(prompts)
    (rows, width), (all_rows, rest) = seen[:2]
    assert (rows, all_rows) == (1, 3)
    assert width + rest == max(len(prompt.ids) for prompt in prompts)
    assert width > len(A)


def test_sharing_is_no_setting_of_the_run(model: Path) -> None:
    assert reader_of(model, share_beginnings=True).settings == reader_of(model).settings
