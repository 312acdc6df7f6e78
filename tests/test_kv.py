"""Cache compression: exact budgets, positions after compression, and nothing changed where nothing is removed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("kvpress", reason="kvpress is not installed")

import torch
from tiny_models import LLAMA_STYLE, MISTRAL_STYLE, tiny_model, tiny_tokenizer

from tpbench_data.budget import keep_count
from tpbench_data.errors import BadInput
from tpbench_data.templates import CURRENT_VALUE, CURRENT_VALUE_ZH
from tpbench_generate import kv
from tpbench_generate.kv import KV_METHODS, KVMethod, WrongCache, parse_kv
from tpbench_generate.kv.base import removed_for
from tpbench_generate.readers.base import Answer, ReaderOptions
from tpbench_generate.readers.kv import KVReader, SplitPrompt
from tpbench_generate.readers.model_source import find_model
from tpbench_generate.readers.transformers_reader import TransformersReader

CONTEXT = "\n".join(f"[T{turn}] USER: the number {turn * 37 % 101} of {turn}." for turn in range(16))
SMALL_WINDOWS = [
    "snapkv(window_size=8, kernel_size=3)",
    "pyramidkv(window_size=8, kernel_size=3, beta=4)",
    "pyramidkv(window_size=64)",
    "streamingllm",
    "streamingllm(n_sink=1)",
    *(f"chunkkv(window_size=16, chunk_length={length})" for length in (7, 10, 20, 40)),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("kv") / "tiny"
    return f"hf:{tiny_model(folder, tiny_tokenizer(LLAMA_STYLE), positions=4096)}"


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Tiny models only get slower with more threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@cache
def loaded(model: str, attention: str) -> Any:
    """The model itself, loaded once for all readers of this module."""
    plain = TransformersReader(find_model(model), ReaderOptions(device="cpu", attention=attention))
    plain.load()
    return plain._model


def reader(model: str, method: str, ratio: float, **options: Any) -> KVReader:
    chosen = {"max_new_tokens": 12, "device": "cpu", **options}
    tool = KVReader(find_model(model), ReaderOptions(**chosen), parse_kv(method), ratio)
    tool._model = loaded(model, tool.settings.attention or "sdpa")
    return tool


def messages(context: str = CONTEXT, slot: str = "number") -> list[dict[str, str]]:
    return CURRENT_VALUE.messages(context, slot)


def answers(reader: TransformersReader, contexts: Sequence[str]) -> list[Answer]:
    return [reader.generate([reader.encode(messages(context))])[0] for context in contexts]


# Budgets


@given(st.integers(1, 5000), st.integers(1, 5000))
def test_the_removed_fraction_gives_the_exact_count_when_truncated_and_when_rounded(kept: int, length: int) -> None:
    kept = min(kept, length)
    removed = removed_for(kept, length)
    assert 0 <= removed < 1
    assert int(length * (1 - removed)) == kept
    assert round(length * (1 - removed)) == kept


def test_the_library_s_own_product_is_one_short_where_it_was_measured_to_be() -> None:
    short = [n for n in range(1, 2000) if keep_count(n, 0.1, "kvpress") != max(1, n // 10)]
    assert short == list(range(20, 2000, 10))
    assert keep_count(10, 0.1, "kvpress") == 1, "version 0.5.5 no longer empties the cache"
    assert all(keep_count(n, 0.3, "kvpress") == keep_count(n, 0.3, "floor") for n in range(1, 2000))
    assert sum(keep_count(n, 0.7, "kvpress") != keep_count(n, 0.7, "floor") for n in range(1, 2000)) == 34


@pytest.mark.parametrize("method", SMALL_WINDOWS)
@pytest.mark.parametrize("budget", ["exact", "kvpress"])
def test_every_layer_holds_the_stated_entries_at_every_length(model: str, method: str, budget: str) -> None:
    name, _, inside = method.partition("(")
    text = f"{name}(budget={budget}{', ' + inside if inside else ')'}"
    for ratio in (0.1, 0.3, 0.7):
        tool = reader(model, text, ratio, max_new_tokens=1)
        least = tool._method.least_context
        for length in (*range(least - 2, least + 5), 90, 99, 100, 101, 250):
            ids = tuple(5 + i * 7 % 200 for i in range(length + 9))
            answer = tool.generate([SplitPrompt(ids, False, length)])[0]  # raises WrongCache on any difference
            assert answer.cache is not None
            assert answer.cache.context_tokens == length
            assert answer.cache.passed_whole == (length <= least)
            if length <= least:
                assert set(answer.cache.entries) == {length}, "too short: passed whole and marked"
            elif name == "snapkv" and budget == "exact":
                assert set(answer.cache.entries) == {keep_count(length, ratio, "floor")}


@pytest.mark.parametrize("length", [3, 10, 63, 64, 65, 68, 69, 90, 100])
@pytest.mark.parametrize("method", sorted(KV_METHODS))
def test_the_lengths_that_gave_rubbish_elsewhere(model: str, method: str, length: int) -> None:
    for ratio in (0.1, 0.7):
        tool = reader(model, method, ratio, max_new_tokens=1)
        cache = tool.generate([SplitPrompt(tuple(range(5, 14 + length)), False, length)])[0].cache
        assert cache is not None
        assert cache.passed_whole == (length <= (8 if method == "streamingllm" else 68))
        assert min(cache.entries) >= 1


def test_another_number_of_entries_than_stated_stops_the_run(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = reader(model, "streamingllm", 0.3)
    monkeypatch.setattr(KVMethod, "removed", lambda self, length, ratio: 0.5)
    with pytest.raises(WrongCache, match="layer 0 holds 50 entries of a context of 100 tokens"):
        tool.generate([SplitPrompt(tuple(range(5, 115)), False, 100)])


# Positions


@pytest.mark.parametrize("method", SMALL_WINDOWS)
def test_with_nothing_removed_the_answer_is_that_of_the_uncompressed_reader(model: str, method: str) -> None:
    contexts = [CONTEXT, CONTEXT[:300], "short", ""]
    plain = TransformersReader(find_model(model), ReaderOptions(max_new_tokens=12, device="cpu"))
    kept = reader(model, method, 1.0)
    assert [kept.encode(messages(text)).ids for text in contexts] == [
        plain.encode(messages(text)).ids for text in contexts
    ]
    for mine, theirs in zip(answers(kept, contexts), answers(plain, contexts), strict=True):
        assert (mine.text, mine.finish_reason, mine.output_tokens) == (
            theirs.text,
            theirs.finish_reason,
            theirs.output_tokens,
        )


def masked_answer(tool: KVReader, prompt: SplitPrompt, hidden: range, n_new: int) -> list[int]:
    """The answer of the uncompressed model when question and answer cannot see some context tokens.

    Every token stands at its place in the whole prompt: this is what a correct compression amounts to.
    """
    ids = list(prompt.ids)
    for _ in range(n_new):
        size = len(ids)
        mask = torch.tril(torch.ones(size, size, dtype=torch.bool))
        mask[prompt.context_tokens :, hidden.start : hidden.stop] = False
        bias = torch.zeros(size, size).masked_fill(~mask, torch.finfo(torch.float32).min)
        with torch.inference_mode():
            logits = tool._model(input_ids=torch.tensor([ids]), attention_mask=bias[None, None], use_cache=False).logits
        ids.append(int(logits[0, -1].argmax()))
    return ids[len(prompt.ids) :]


@pytest.mark.parametrize("ratio", [0.1, 0.3, 0.7])
@pytest.mark.parametrize("step", [False, True])
def test_after_compression_question_and_answer_stand_where_they_stood(model: str, ratio: float, step: bool) -> None:
    tool = reader(model, "streamingllm", ratio)
    prompt = tool.encode(messages())
    tool.load()
    with torch.inference_mode():
        context = torch.tensor([prompt.ids[: prompt.context_tokens]])
        cache = tool._read_context(context, whole=False)
        new_ids = tool._go_on(
            cache, torch.tensor([prompt.ids[prompt.context_tokens :]]), prompt.context_tokens, step=step
        )
    n_kept = keep_count(prompt.context_tokens, ratio, "floor")
    hidden = range(4, prompt.context_tokens - (n_kept - 4))
    assert len(hidden) == prompt.context_tokens - n_kept
    assert new_ids == masked_answer(tool, prompt, hidden, len(new_ids))
    shifted = prompt.context_tokens - len(hidden)
    with torch.inference_mode():
        wrong = tool._go_on(
            tool._read_context(context, whole=False),
            torch.tensor([prompt.ids[prompt.context_tokens :]]),
            shifted,
            step=step,
        )
    assert wrong != new_ids, "the test can tell a wrong position"


def test_layers_of_different_lengths_are_read_token_by_token(model: str) -> None:
    tool = reader(model, "pyramidkv(window_size=8, kernel_size=3, beta=4)", 0.3)
    prompt = tool.encode(messages())
    answer = tool.generate([prompt])[0]
    assert answer.cache is not None
    low, high = answer.cache.entries
    assert low > high >= 8, "the pyramid is active"
    assert abs((low + high) / 2 - 0.3 * prompt.context_tokens) <= 2


def test_a_batch_gives_what_single_prompts_give(model: str) -> None:
    tool = reader(model, "snapkv(window_size=8)", 0.3)
    prompts = [tool.encode(messages(CONTEXT[: 100 * n])) for n in (9, 4, 7)]
    assert tool.generate(prompts) == [tool.generate([prompt])[0] for prompt in prompts]


# Splitting


def test_the_prompt_is_split_before_the_last_question_mark_and_keeps_its_tokens(model: str) -> None:
    tool = reader(model, "snapkv", 0.3)
    tricky = f"{CONTEXT}\n\nQuestion: is this one? No.\n"
    prompt = tool.encode(messages(tricky))
    text = tool._tokenizer.decode(prompt.ids[: prompt.context_tokens])
    assert text.endswith("is this one? No.\n")
    assert tool._tokenizer.decode(prompt.ids[prompt.context_tokens :]).startswith("\n\nQuestion: After the most")
    begin = tool._tokenizer.bos_token_id
    assert prompt.ids.count(begin) == 1


def test_a_chinese_prompt_is_split_too(model: str) -> None:
    tool = reader(model, "snapkv", 0.3)
    prompt = tool.encode(CURRENT_VALUE_ZH.messages("[T0] USER: 我要去厦门。", "目的地"))
    assert tool._tokenizer.decode(prompt.ids[prompt.context_tokens :]).startswith("\n\n问题：")


def test_a_prompt_without_a_question_is_an_error_of_this_prompt(model: str) -> None:
    with pytest.raises(ValueError, match="no question"):
        reader(model, "snapkv", 0.3).encode([{"role": "user", "content": "hello"}])


@pytest.mark.parametrize("side", ["left", "right"])
def test_only_the_context_is_cut_to_the_limit(model: str, side: str) -> None:
    whole = reader(model, "snapkv", 0.3).encode(messages())
    n_question = len(whole.ids) - whole.context_tokens
    tool = reader(model, "snapkv", 0.3, max_input_tokens=n_question + 100, truncation_side=side)
    cut = tool.encode(messages())
    assert cut.truncated
    assert cut.context_tokens == 100
    assert cut.ids[100:] == whole.ids[whole.context_tokens :], "the question is whole"
    assert cut.ids[0] == whole.ids[0], "the begin token stays"
    if side == "right":
        assert cut.ids[:100] == whole.ids[:100]
    else:
        assert cut.ids[1:100] == whole.ids[whole.context_tokens - 99 : whole.context_tokens]
    with pytest.raises(ValueError, match="the limit is"):
        reader(model, "snapkv", 0.3, max_input_tokens=n_question + 1).encode(messages())


# Names, settings, refusals


@pytest.mark.parametrize("text", [*SMALL_WINDOWS, *sorted(KV_METHODS), "snapkv(budget=kvpress)", "KnormPress"])
def test_a_cache_method_reads_back_from_its_printed_form(text: str) -> None:
    method = parse_kv(text)
    assert parse_kv(str(method)) == method
    assert method.settings()["method"] == method.name


def test_any_press_is_named_by_its_class_and_its_cache_is_recorded(model: str) -> None:
    tool = reader(model, "KnormPress", 0.3)
    answer = answers(tool, [CONTEXT])[0]
    assert answer.cache is not None
    assert not answer.cache.passed_whole
    assert set(answer.cache.entries) == {keep_count(answer.cache.context_tokens, 0.3, "kvpress")}
    assert tool._method.name == "knorm"
    tova = parse_kv("ExpectedAttentionPress(n_future_positions=128, n_sink=2)")
    assert str(tova) == "ExpectedAttentionPress(n_future_positions=128, n_sink=2)"
    assert tova.name == "expected_attention"
    assert tova.least_context >= 128


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("snap", "Known methods: chunkkv, snapkv"),
        ("snapkv(window=3)", "Its settings: budget, window_size, kernel_size"),
        ("snapkv(window_size=0)", "at least 1"),
        ("chunkkv(chunk_length=0)", "at least 1"),
        ("pyramidkv(budget=round)", "Known: exact, kvpress"),
        ("NoSuchPress", "kvpress has no press NoSuchPress"),
        ("SnapKVPress", "Write --kv snapkv"),
        ("ChunkKVPress", "Write --kv chunkkv"),
        ("AdaKVPress", "refuses its settings"),
        ("ThinKPress(key_channel_compression_ratio=2.0)", "has no compression ratio"),
        ("KnormPress(compression_ratio=0.5)", "Give it with --ratio"),
    ],
)
def test_what_is_no_cache_method_is_told(text: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_kv(text)
    assert message in str(caught.value)


def test_versions_that_were_never_tested_together_are_refused_at_the_start(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kv, "TESTED_PAIRS", (("0.1.0", "4.0.0"),))
    with pytest.raises(BadInput, match=r"pip install kvpress==0\.1\.0 transformers==4\.0\.0"):
        reader(model, "snapkv", 0.3)


def test_chunks_and_eager_attention_do_not_go_together(model: str) -> None:
    with pytest.raises(BadInput, match="Use sdpa"):
        reader(model, "chunkkv", 0.3, attention="eager")
    answers(reader(model, "snapkv(window_size=8)", 0.3, attention="eager"), [CONTEXT])


def test_a_model_with_sliding_windows_is_refused(tmp_path: Path) -> None:
    from transformers import MistralConfig, MistralForCausalLM

    tokenizer = tiny_tokenizer(MISTRAL_STYLE)
    config = MistralConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, sliding_window=16,
    )  # fmt: skip
    MistralForCausalLM(config).save_pretrained(tmp_path / "m")
    tokenizer.save_pretrained(tmp_path / "m")
    tool = KVReader(find_model(f"hf:{tmp_path / 'm'}"), ReaderOptions(device="cpu"), parse_kv("snapkv"), 0.3)
    with pytest.raises(BadInput, match="sliding window"):
        tool.load()


def test_settings_make_the_run_another_run(model: str) -> None:
    texts = {
        reader(model, text, ratio).settings.kv_settings
        for text in ("snapkv", "chunkkv", "chunkkv(chunk_length=10)")
        for ratio in (0.3, 0.5)
    }
    assert len(texts) == 6
    assert '"chunk_length":20' in str(reader(model, "chunkkv", 0.3).settings.kv_settings)
    assert "kvpress" in reader(model, "snapkv", 0.3).environment.library_versions
