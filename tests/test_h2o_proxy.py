"""The attention proxy: weights that are causal and complete, a planted dialogue, and dialogues beyond the window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import tiny_model, tiny_tokenizer

from tpbench_data.errors import BadInput
from tpbench_data.selectors import SelectionInput
from tpbench_generate.selectors.attention import BadAttention, FeatureModel, Token, _checked_mass, open_feature_model
from tpbench_generate.selectors.h2o_proxy import H2OProxy, turn_of_token

torch = pytest.importorskip("torch", reason="torch is not installed")

LOUD = "Z"


def item(texts: list[str]) -> SelectionInput:
    return SelectionInput("x", ["user", "system"] * len(texts), texts, "question?", ())


def planted_model(folder: Path) -> Path:
    """A one-layer GPT-2 over bytes in which every query attends to the letter Z, wherever it stands before it."""
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = tiny_tokenizer(None, begin=False)
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=len(tokenizer), n_positions=128, n_embd=8, n_layer=1, n_head=1, tie_word_embeddings=False)
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        block = model.transformer.h[0]
        block.ln_1.weight.fill_(1)
        model.transformer.wte.weight[:, 0] = -1  # after the layer norm: Z is high in the first feature, all else low
        model.transformer.wte.weight[tokenizer(LOUD)["input_ids"][0], 0] = 1
        block.attn.c_attn.bias[0] = 4.0  # the query, the same for every token
        block.attn.c_attn.weight[0, 8] = 4.0  # the key follows the first feature
    folder.mkdir(parents=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"hf:{planted_model(tmp_path_factory.mktemp('planted') / 'gpt2')}"


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"hf:{tiny_model(tmp_path_factory.mktemp('llama') / 'llama', tiny_tokenizer(None), positions=128)}"


@pytest.mark.parametrize("place", [0, 2, 5])
def test_the_turn_that_is_attended_most_is_kept(planted: str, place: int) -> None:
    texts = ["a quiet turn"] * 7
    texts[place] = LOUD * 3
    method = H2OProxy(model=planted, max_tokens=128)
    assert method.keep(item(texts), 0.15) == [place]
    scores = method.scores(item(texts))
    assert max(scores) == scores[place] > 2 * sorted(scores)[-2]


def test_mass_is_attention_averaged_over_layers_and_heads_and_summed_over_queries(llama: str) -> None:
    from transformers import AutoModelForCausalLM

    feature = open_feature_model(llama, "cpu")
    tokens = tuple(feature.tokens("Change it to nine."))
    whole = AutoModelForCausalLM.from_pretrained(llama.removeprefix("hf:"), attn_implementation="eager")
    with torch.no_grad():
        weights = whole(torch.tensor([[t.id for t in tokens]]), output_attentions=True).attentions
    stacked = torch.stack(weights)[:, 0].double()
    assert torch.allclose(stacked.sum(-1), torch.ones_like(stacked[..., 0]), atol=1e-5), "each row sums to 1"
    assert not torch.triu(stacked, diagonal=1).any(), "nothing above the diagonal"
    assert np.allclose(feature.mass(tokens), stacked.mean((0, 1)).sum(0).numpy(), atol=1e-5)
    assert feature.mass(tokens).sum() == pytest.approx(len(tokens), abs=1e-3)


@pytest.mark.parametrize("fault", ["row", "future", "nan"])
def test_weights_that_are_not_causal_or_do_not_sum_to_one_are_refused(fault: str) -> None:
    weights = torch.tril(torch.ones(1, 2, 5, 5))
    weights /= weights.sum(-1, keepdim=True)
    assert _checked_mass(weights).sum() == pytest.approx(5)
    if fault == "row":
        weights[0, 1, 3, 0] += 0.1
    elif fault == "future":
        weights = torch.full((1, 2, 5, 5), 0.2)
    else:
        weights[0, 0, 0, 0] = float("nan")
    with pytest.raises(BadAttention):
        _checked_mass(weights)


def test_a_model_whose_layers_give_no_weights_is_refused(llama: str, monkeypatch: pytest.MonkeyPatch) -> None:
    feature = FeatureModel(llama, "cpu")
    model: Any = feature._model
    model.set_attn_implementation("sdpa")
    with pytest.raises(BadAttention, match="0 of 2 layers"):
        feature.mass(tuple(feature.tokens("some text")))
    assert all(not module._forward_hooks for module in model.modules()), "hooks are removed after an error"


def test_beyond_the_window_each_policy_does_what_it_says(planted: str) -> None:
    texts = ["a quiet turn", "a quiet turn", "a quiet turn", LOUD * 3, "a quiet turn"]
    cut = H2OProxy(model=planted, max_tokens=20)
    assert cut.scores(item(texts))[2:] == [0.0, 0.0, 0.0], "turns that were cut off"
    assert cut.scores(item(texts))[1] > 0, "a turn of which a part was read"
    assert H2OProxy(model=planted, max_tokens=20, long="windows").keep(item(texts), 0.2) == [3]
    with pytest.raises(BadInput, match="more than max_tokens = 20"):
        H2OProxy(model=planted, max_tokens=20, long="refuse").keep(item(texts), 0.2)
    with pytest.raises(BadInput, match="128 positions"):
        H2OProxy(model=planted, max_tokens=1024).keep(item(texts), 0.2)


@pytest.mark.parametrize(("length", "last_word_is_read"), [(1024, True), (1025, True), (1026, True), (1027, False)])
def test_a_dialogue_at_and_beyond_1024_tokens(length: int, last_word_is_read: bool, tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "m", tiny_tokenizer(None, adds_begin=False), positions=1024)
    texts = ["x" * (length - 4), "yy", ""]
    scores = H2OProxy(model=f"hf:{model}").scores(item(texts))
    assert scores[0] > 0
    assert (scores[1] > 0) == last_word_is_read
    assert scores[2] == 0.0


@given(st.lists(st.sampled_from(["", "a", "ab c", " d ", "\n", "é🦄"]), min_size=1, max_size=6))
def test_every_token_goes_to_the_turn_its_last_character_stands_in(texts: list[str]) -> None:
    joined = " ".join(texts)
    owners = [turn for turn, text in enumerate(texts) for _ in (*([" "] if turn else []), *text)]
    single = [Token(0, place, place + 1) for place in range(len(joined))]
    with_blank = [Token(0, place, place + 2) for place in range(len(joined) - 1) if joined[place] == " "]
    for token, owner in zip(single, turn_of_token(single, texts), strict=True):
        assert owner == (owners[token.first] if joined[token.first].strip() else None)
    for token, owner in zip(with_blank, turn_of_token(with_blank, texts), strict=True):
        assert owner == (owners[token.end - 1] if joined[token.end - 1].strip() else None)
