"""Prompts as token ids: one begin token, no lost system prompt, no date, the right end cut."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import GEMMA_STYLE, LLAMA_STYLE, MISTRAL_STYLE, QWEN_STYLE, tiny_tokenizer

from tpbench_data.canonical import sha256_hex
from tpbench_data.errors import BadInput

pytest.importorskip("transformers")

from tpbench_generate.readers.prompting import PromptEncoder, fold_system

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which city?"}]

STYLES = {
    "llama": (LLAMA_STYLE, True, "native", "<|eot_id|>"),
    "mistral": (MISTRAL_STYLE, True, "folded", "</s>"),
    "gemma": (GEMMA_STYLE, True, "folded", "<end_of_turn>"),
    "qwen": (QWEN_STYLE, False, "native", "<|im_end|>"),
}


def encoder(template: str | None, *, begin: bool = True, adds_begin: bool = True, **options: Any) -> PromptEncoder:
    return PromptEncoder(tiny_tokenizer(template, begin=begin, adds_begin=adds_begin), **options)


def text_of(ids: tuple[int, ...]) -> str:
    return str(tiny_tokenizer(None).decode(ids))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("adds_begin", [True, False])
def test_there_is_one_begin_token_where_the_template_wants_one_and_else_none(style: str, adds_begin: bool) -> None:
    template, begin, _, _ = STYLES[style]
    ids = encoder(template, begin=begin, adds_begin=adds_begin).encode(MESSAGES).ids
    begin_id = tiny_tokenizer(None).bos_token_id
    assert ids.count(begin_id) == (1 if begin else 0)
    assert (ids[0] == begin_id) is begin


@pytest.mark.parametrize("style", STYLES)
def test_the_plain_way_would_double_it(style: str) -> None:
    # What the encoder is for: rendering to text and tokenizing that text with special tokens.
    template, begin, _, _ = STYLES[style]
    tokenizer = tiny_tokenizer(template, begin=begin)
    ids = tokenizer(encoder(template, begin=begin).render(MESSAGES))["input_ids"]
    assert ids.count(tiny_tokenizer(None).bos_token_id) == (2 if begin else 0)


def test_a_begin_token_that_only_the_tokenizer_adds_is_not_lost() -> None:
    begin_id = tiny_tokenizer(None).bos_token_id
    assert encoder(QWEN_STYLE, begin=True, adds_begin=True).encode(MESSAGES).ids.count(begin_id) == 1
    assert encoder(QWEN_STYLE, begin=True, adds_begin=False).encode(MESSAGES).ids.count(begin_id) == 0


def test_a_template_that_writes_it_twice_is_mended() -> None:
    ids = encoder("{{ bos_token }}" + LLAMA_STYLE).encode(MESSAGES).ids
    assert ids.count(tiny_tokenizer(None).bos_token_id) == 1


@pytest.mark.parametrize("style", STYLES)
def test_the_system_text_reaches_the_model_once_under_a_named_rule(style: str) -> None:
    template, begin, role, _ = STYLES[style]
    made = encoder(template, begin=begin)
    assert made.system_role == role
    text = text_of(made.encode(MESSAGES).ids)
    assert text.count("Be brief.") == 1
    if role == "folded":
        assert "Be brief.\n\nWhich city?" in text


def test_a_template_that_silently_drops_the_system_prompt_is_found_out() -> None:
    template = "{% for m in messages %}{% if m['role'] == 'user' %}U: {{ m['content'] }}\n{% endif %}{% endfor %}A:"
    made = encoder(template)
    assert made.system_role == "folded"
    assert text_of(made.encode(MESSAGES).ids) == "<s>U: Be brief.\n\nWhich city?\nA:"


def test_without_a_template_it_is_system_blank_line_user() -> None:
    made = encoder(None)
    assert text_of(made.encode(MESSAGES).ids) == "<s>Be brief.\n\nWhich city?"
    assert (made.system_role, made.template_hash, made.end_of_turn_id) == ("folded", None, None)


@pytest.mark.parametrize("style", STYLES)
def test_the_token_that_ends_a_turn_is_read_off_the_template(style: str) -> None:
    template, begin, _, end = STYLES[style]
    assert encoder(template, begin=begin).end_of_turn_id == tiny_tokenizer(None).convert_tokens_to_ids(end)


def test_a_template_without_an_end_token_has_none() -> None:
    assert encoder("{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}").end_of_turn_id is None


def test_no_clock_gets_into_a_prompt() -> None:
    template = (
        "{% if not date_string is defined %}{% set date_string = strftime_now('%d %b %Y') %}{% endif %}"
        "{{ date_string }} {{ strftime_now('%Y-%m-%d') }} {{ messages[-1]['content'] }}"
    )
    assert encoder(template).render(MESSAGES).startswith("26 Jul 2024 2024-07-26 ")


def test_the_template_hash_is_of_its_text() -> None:
    assert encoder(QWEN_STYLE).template_hash == sha256_hex(QWEN_STYLE)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("style", STYLES)
def test_a_long_prompt_is_cut_at_the_side_asked_for_and_marked(style: str, side: str) -> None:
    template, begin, _, _ = STYLES[style]
    whole = encoder(template, begin=begin).encode(MESSAGES)
    limit = len(whole.ids) - 5
    cut = encoder(template, begin=begin, max_input_tokens=limit, truncation_side=side).encode(MESSAGES)
    assert not whole.truncated
    assert cut.truncated
    assert len(cut.ids) == limit
    if side == "right":
        assert cut.ids == whole.ids[:limit]
    elif begin:
        assert cut.ids == (whole.ids[0], *whole.ids[6:])  # the begin token stays
    else:
        assert cut.ids == whole.ids[5:]


def test_a_prompt_of_exactly_the_limit_is_not_cut() -> None:
    whole = encoder(LLAMA_STYLE).encode(MESSAGES)
    same = encoder(LLAMA_STYLE, max_input_tokens=len(whole.ids)).encode(MESSAGES)
    assert same == whole


@given(st.text(max_size=40), st.integers(2, 60), st.sampled_from(["left", "right"]))
def test_cut_prompts_never_exceed_the_limit_and_keep_one_begin_token(text: str, limit: int, side: str) -> None:
    made = encoder(MISTRAL_STYLE, max_input_tokens=limit, truncation_side=side)
    whole = encoder(MISTRAL_STYLE).encode([{"role": "user", "content": text}])
    cut = made.encode([{"role": "user", "content": text}])
    assert len(cut.ids) == min(limit, len(whole.ids))
    assert cut.truncated == (len(whole.ids) > limit)
    assert cut.ids[0] == tiny_tokenizer(None).bos_token_id
    assert cut.ids[1] != cut.ids[0] or "<s>" in text


def test_an_empty_prompt_is_an_error_not_an_empty_batch_row() -> None:
    with pytest.raises(ValueError, match="no tokens"):
        encoder(None, begin=False).encode([{"role": "user", "content": ""}])


def test_a_broken_template_is_told_when_the_reader_is_opened() -> None:
    with pytest.raises(BadInput, match="chat template does not work"):
        encoder("{{ messages[0]['nothing']['at all'] }}")


def test_several_templates_without_a_default_are_told() -> None:
    tokenizer = tiny_tokenizer(None)
    tokenizer.chat_template = {"one": QWEN_STYLE, "two": LLAMA_STYLE}
    with pytest.raises(BadInput, match="multiple chat templates"):
        PromptEncoder(tokenizer)


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ("su", [("user", "0\n\n1")]),
        ("ssu", [("user", "0\n\n1\n\n2")]),
        ("u", [("user", "0")]),
        ("s", [("user", "0")]),
        ("suau", [("user", "0\n\n1"), ("assistant", "2"), ("user", "3")]),
        ("usu", [("user", "0"), ("user", "1\n\n2")]),
        ("us", [("user", "0"), ("user", "1")]),
    ],
)
def test_folding_keeps_every_text_in_order(roles: str, expected: list[tuple[str, str]]) -> None:
    names = {"s": "system", "u": "user", "a": "assistant"}
    messages = [{"role": names[role], "content": str(k)} for k, role in enumerate(roles)]
    assert [(m["role"], m["content"]) for m in fold_system(messages)] == expected
