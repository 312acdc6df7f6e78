"""Hashes of prompts: one value per prompt, the same on every path of the code."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tpbench_data.canonical import canonical_json, prompt_hash, sha256_hex

MESSAGE = st.fixed_dictionaries({"role": st.sampled_from(["system", "user", "assistant"]), "content": st.text()})
ANY_TEXT = st.text(st.characters(), min_size=1)  # lone surrogates too


@given(st.lists(MESSAGE | st.fixed_dictionaries({"role": st.just("user"), "content": ANY_TEXT}), max_size=4))
def test_a_prompt_hash_is_the_hash_of_the_canonical_json(messages: list[dict[str, str]]) -> None:
    parts = [[message["role"], message["content"]] for message in messages]
    assert prompt_hash(messages) == sha256_hex(canonical_json(parts))[:16]


def test_a_prompt_hash_keeps_its_value() -> None:
    assert prompt_hash([{"role": "user", "content": 'a\u2028b\x7f\x01"\\\ud800'}]) == "393e7a75c225da31"
