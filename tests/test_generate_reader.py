"""Real readers on tiny random models: greedy, stopped at the right tokens, the same in a batch as alone."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tpbench_data.errors import BadInput

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
from tiny_models import LLAMA_STYLE, MISTRAL_STYLE, QWEN_STYLE, tiny_model, tiny_tokenizer

from tpbench_generate.identity import settings_columns
from tpbench_generate.readers import READERS, open_reader
from tpbench_generate.readers.transformers_reader import TransformersReader

torch.set_num_threads(1)  # tiny models only get slower with more

PROMPTS = [
    [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]
    for text in (
        "a",
        "Which city?",
        "x" * 90,
        "The 11th, or the 12th of March at half past eight?",
        "é厦门🙂",
        "?" * 33,
    )
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("models") / "Tiny Llama!", tiny_tokenizer(LLAMA_STYLE))


def reader_of(folder: Path, **options: Any) -> TransformersReader:
    options.setdefault("max_new_tokens", 24)
    reader = open_reader(f"hf:{folder}", device="cpu", **options)
    assert isinstance(reader, TransformersReader)
    return reader


def altered(model: Path, target: Path, name: str, **changes: Any) -> Path:
    """A copy of a model folder with some values of one JSON file changed."""
    shutil.copytree(model, target)
    values = json.loads((target / name).read_text())
    (target / name).write_text(json.dumps({**values, **changes}))
    return target


def texts(reader: TransformersReader, batched: bool = True) -> list[str]:
    encoded = [reader.encode(prompt) for prompt in PROMPTS]
    reader.load()
    answers = reader.generate(encoded) if batched else [reader.generate([one])[0] for one in encoded]
    return [answer.text for answer in answers]


def test_a_padded_batch_answers_as_each_prompt_alone(model: Path) -> None:
    reader = reader_of(model)
    together, alone = texts(reader), texts(reader, batched=False)
    assert together == alone
    assert len(set(together)) > 3  # the model does answer different things


def test_eager_and_sdpa_attention_agree_on_a_padded_batch(model: Path) -> None:
    assert texts(reader_of(model, attention="eager")) == texts(reader_of(model))


def plain_greedy(folder: Path, prompt: tuple[int, ...], steps: int) -> list[int]:
    """New token ids by the shortest possible loop over the plain model: no batch, no cache, no generate()."""
    from transformers import AutoModelForCausalLM

    plain = AutoModelForCausalLM.from_pretrained(folder)
    ids = list(prompt)
    with torch.no_grad():
        for _ in range(steps):
            ids.append(int(plain(torch.tensor([ids])).logits[0, -1].argmax()))
    return ids[len(prompt) :]


def test_it_is_the_greedy_continuation_of_the_plain_model(model: Path) -> None:
    reader = reader_of(model, max_new_tokens=10)
    prompt = reader.encode(PROMPTS[3])
    new = plain_greedy(model, prompt.ids, 10)
    assert not set(new) & set(reader.settings.stop_token_ids or ())
    assert reader.generate([prompt])[0].text == tiny_tokenizer(None).decode(new, skip_special_tokens=True)


def test_sampling_and_penalties_of_the_model_s_own_configuration_are_not_used(model: Path, tmp_path: Path) -> None:
    changes = {"do_sample": True, "temperature": 5.0, "repetition_penalty": 9.0, "max_length": 40, "num_beams": 3}
    other = altered(model, tmp_path / "other", "generation_config.json", **changes)
    assert texts(reader_of(other)) == texts(reader_of(model))


def _stopping(model: Path, target: Path) -> tuple[Path, int, int]:
    """A copy that stops, besides at its end token, at the 5th token it says to one prompt; the token; its place."""
    said = plain_greedy(model, reader_of(model).encode(PROMPTS[1]).ids, 5)
    end = tiny_tokenizer(None).eos_token_id
    folder = altered(model, target, "generation_config.json", eos_token_id=[end, said[4]])
    return folder, said[4], said.index(said[4])


def test_every_stop_id_of_the_generation_configuration_counts(model: Path, tmp_path: Path) -> None:
    folder, stop, place = _stopping(model, tmp_path / "stopping")
    reader = reader_of(folder)
    answer = reader.generate([reader.encode(PROMPTS[1])])[0]
    assert stop in (reader.settings.stop_token_ids or ())
    assert answer.finish_reason == "stop"
    assert answer.output_tokens == place + 1
    whole = reader_of(model).generate([reader.encode(PROMPTS[1])])[0]
    assert (whole.finish_reason, whole.output_tokens) == ("length", 24)
    assert whole.text.startswith(answer.text)


def test_an_answer_that_stops_early_in_a_batch_is_cut_there(model: Path, tmp_path: Path) -> None:
    folder, _, _ = _stopping(model, tmp_path / "stopping")
    reader = reader_of(folder)
    encoded = [reader.encode(prompt) for prompt in PROMPTS]
    together, alone = reader.generate(encoded), [reader.generate([one])[0] for one in encoded]
    assert together == alone
    assert {"stop", "length"} == {answer.finish_reason for answer in together}


def test_the_end_of_turn_token_stops_though_the_configuration_forgets_it(model: Path) -> None:
    tokenizer = tiny_tokenizer(None)
    expected = sorted(tokenizer.convert_tokens_to_ids(["</s>", "<|eot_id|>"]))
    assert list(reader_of(model).settings.stop_token_ids or ()) == expected


def test_the_pad_id_comes_from_the_generation_configuration(model: Path, tmp_path: Path) -> None:
    assert reader_of(model).settings.pad_token_id == tiny_tokenizer(None).pad_token_id
    other = altered(model, tmp_path / "other", "generation_config.json", pad_token_id=7)
    assert reader_of(other).settings.pad_token_id == 7
    assert texts(reader_of(other)) == texts(reader_of(model))


def test_a_model_without_generation_configuration_stops_at_the_end_token_of_its_configuration(
    model: Path, tmp_path: Path
) -> None:
    shutil.copytree(model, tmp_path / "old")
    (tmp_path / "old" / "generation_config.json").unlink()
    assert reader_of(tmp_path / "old").settings.stop_token_ids == reader_of(model).settings.stop_token_ids


def test_a_cut_prompt_is_marked_and_the_limit_recorded(model: Path) -> None:
    reader = reader_of(model, max_input_tokens=20, truncation_side="right")
    encoded = reader.encode(PROMPTS[2])
    assert encoded.truncated
    assert len(encoded.ids) == 20
    assert (reader.settings.max_input_tokens, reader.settings.truncation_side) == (20, "right")


def test_the_default_limit_leaves_room_for_the_answer(model: Path, tmp_path: Path) -> None:
    assert reader_of(model, max_new_tokens=48).settings.max_input_tokens == 2000
    small = altered(model, tmp_path / "small", "config.json", max_position_embeddings=60)
    reader = reader_of(small, max_new_tokens=30)
    encoded = reader.encode(PROMPTS[2])
    assert len(encoded.ids) == 30
    assert reader.generate([encoded])[0].output_tokens == 30


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"max_input_tokens": 2040}, r"exceed the model's 2048 positions.*at most 2024"),
        ({"max_new_tokens": 2048}, "leaves no room"),
        ({"max_new_tokens": 0}, "at least 1"),
        ({"max_input_tokens": 1}, "at least 2"),
        ({"truncation_side": "top"}, "left or right"),
        ({"dtype": "int3"}, "one of auto, float32"),
    ],
)
def test_options_that_do_not_fit_are_refused(model: Path, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        reader_of(model, **options)


@pytest.mark.parametrize("device", ["cuda:99", "quantum"])
def test_a_device_that_is_not_there_is_refused(model: Path, device: str) -> None:
    with pytest.raises(BadInput, match=f"'{device}' cannot be used here"):
        open_reader(f"hf:{model}", device=device)


def test_an_unknown_attention_is_refused_when_loading(model: Path) -> None:
    with pytest.raises(BadInput, match="cannot be loaded"):
        reader_of(model, attention="magic").load()


def test_settings_say_what_was_resolved(model: Path) -> None:
    settings = reader_of(model).settings
    assert (settings.dtype, settings.attention, settings.backend, settings.decoding) == (
        "float32",
        "sdpa",
        "transformers",
        "greedy",
    )
    assert settings.slug == "tiny-llama"
    assert settings.model_id == "Tiny Llama!"
    assert (settings.model_revision or "").startswith("files-sha256:")
    assert "threads" in reader_of(model).environment.device


def _run_id(folder: Path, **options: Any) -> str:
    return str(settings_columns(reader_of(folder, **options).settings, "main")["run_id"])


def test_a_moved_model_keeps_its_run_id_and_changed_weights_or_template_get_another(
    model: Path, tmp_path: Path
) -> None:
    shutil.copytree(model, tmp_path / "elsewhere" / model.name)
    assert _run_id(tmp_path / "elsewhere" / model.name) == _run_id(model)
    other = tiny_model(tmp_path / "weights" / model.name, tiny_tokenizer(LLAMA_STYLE), seed=1)
    assert _run_id(other) != _run_id(model)
    template = tiny_model(tmp_path / "template" / model.name, tiny_tokenizer(MISTRAL_STYLE))
    assert _run_id(template) != _run_id(model)


def test_bfloat16_on_request_is_recorded_and_used(model: Path) -> None:
    reader = reader_of(model, dtype="bfloat16")
    assert reader.settings.dtype == "bfloat16"
    assert len(texts(reader)) == len(PROMPTS)


def test_text_is_stored_as_decoded_with_its_spaces(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "m", tiny_tokenizer(QWEN_STYLE, begin=False))
    reader = reader_of(folder)
    ids = tiny_tokenizer(None)("  a ?  b n't\n\n", add_special_tokens=False)["input_ids"]
    answer = reader._answer([*ids, tiny_tokenizer(None).convert_tokens_to_ids("<|im_end|>"), 3, 3])
    assert (answer.text, answer.finish_reason) == ("  a ?  b n't\n\n", "stop")
    assert answer.output_tokens == len(ids) + 1


def test_code_that_a_model_brings_is_never_run(model: Path, tmp_path: Path) -> None:
    folder = altered(
        model,
        tmp_path / "coded",
        "config.json",
        model_type="brought_along",
        auto_map={"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"},
    )
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with pytest.raises(BadInput, match="needs code of its own"):
        reader_of(folder)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gpt-17", "there is no reader 'gpt-17'.*smollm2-135m, hf:"),
        ("", "there is no reader ''"),
        ("hf:", "no such model folder"),
        ("hf:./nowhere", "no such model folder"),
        ("hf:/nowhere/at/all", "no such model folder"),
        ("hf:a b", "neither a folder nor a Hugging Face model id"),
        ("hf:a/b/c", "neither a folder nor"),
    ],
)
def test_a_reader_that_does_not_exist_is_refused(name: str, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        open_reader(name)


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no config.json"):
        open_reader(f"hf:{tmp_path}")


def test_a_damaged_model_is_one_line(model: Path, tmp_path: Path) -> None:
    shutil.copytree(model, tmp_path / "bad")
    (tmp_path / "bad" / "config.json").write_text("{")
    with pytest.raises(BadInput, match="cannot be loaded") as caught:
        reader_of(tmp_path / "bad")
    assert "\n" not in str(caught.value)
    shutil.copytree(model, tmp_path / "cut")
    (tmp_path / "cut" / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(BadInput, match="cannot be loaded"):
        reader_of(tmp_path / "cut").load()


def test_a_hub_model_without_network_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(BadInput, match=r"nobody/nothing@v1 .*cannot be (reached|loaded)"):
        open_reader("hf:nobody/nothing@v1")


def test_every_listed_reader_has_a_line() -> None:
    assert list(READERS)[:2] == ["smollm2-135m", "hf:MODEL[@REVISION]"]
    assert all(READERS.values())


def test_settings_are_frozen(model: Path) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        reader_of(model).settings.dtype = "float16"  # type: ignore[misc]


def test_memory_that_runs_out_in_a_batch_is_answered_prompt_by_prompt(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from tpbench_generate.answering import answer_batch

    reader = reader_of(model)
    reader.load()
    generate = reader._model.generate

    def crowded(**inputs: object) -> object:
        if len(inputs["input_ids"]) > 1:  # type: ignore[arg-type]
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        return generate(**inputs)

    monkeypatch.setattr(reader._model, "generate", crowded)
    alone = [answer_batch(reader, [prompt])[0].text for prompt in PROMPTS[:2]]
    together = answer_batch(reader, PROMPTS[:2])
    assert [answer.text for answer in together] == alone
    assert [answer.attempts for answer in together] == [2, 2]


def test_a_gguf_file_is_a_model_with_its_hash_as_revision(tmp_path: Path) -> None:
    from tpbench_generate.readers.model_source import file_sha256, find_model

    path = tmp_path / "My-Model.Q4.gguf"
    path.write_bytes(b"GGUF of nothing")
    source = find_model(f"hf:{path}")
    assert (source.location, source.gguf_file, source.slug) == (str(tmp_path), path.name, "my-model.q4")
    assert source.model_revision == f"gguf-sha256:{file_sha256(path)}"
    with pytest.raises(BadInput, match="cannot be loaded"):
        open_reader(f"hf:{path}")
