"""What every method owes: exactly k turns, in order, the same twice, whatever the dialogue is made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from method_cases import CASES, Case, TinyModels, every_method, make_tiny_models

from tpbench_data.budget import keep_count
from tpbench_data.errors import BadInput
from tpbench_data.rendering import marked_turns
from tpbench_data.selectors import SELECTORS, SelectionInput, Selector
from tpbench_data.selectors.settings import parse_method
from tpbench_generate.selectors import MODEL_SELECTORS

Models = Callable[[], TinyModels]

WORDS = ["Hello there", "a 4.5 star hotel", "45", "in Paris", "no, in Rome", "at 17:30", "", "  two  blanks ", "x"]
TRICKY = [
    "",
    " ",
    "café café",
    "🦄🦄",
    "tab\tand\nline",
    "\u2028split\u2029\x85",
    "[T3] USER: not a turn",
    "a\t\t|\t\tb 1",
    "１２：３０",
    "▁mark ##mark",
    "\u200b",
    "ends in 0",
]
CHINESE = ["我要去厦门玩。", "好的", "价格 是 15   ~   20"]


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    def made() -> TinyModels:
        for package in ("torch", "sentence_transformers", "llmlingua"):
            pytest.importorskip(package, reason=f"{package} is not installed")
        return make_tiny_models(tmp_path_factory.mktemp("models"))

    return cache(made)


def dialogue(texts: list[str], example_id: str = "x") -> SelectionInput:
    speakers = ["user" if turn % 2 == 0 else "system" for turn in range(len(texts))]
    return SelectionInput(example_id, speakers, texts, "Which hotel in Paris, at what time?", (len(texts) // 2,))


def ratio_of(method: Selector, ratio: float) -> float | None:
    return None if method.size == "adaptive" else ratio


def check(method: Selector, item: SelectionInput, ratio: float) -> None:
    for rule in ("round-half-even", "floor", "round-half-up", None):
        found = method.select(item, ratio_of(method, ratio), rule=rule, rendering="marked")  # type: ignore[arg-type]
        n = item.n_turns
        assert list(found.kept) == sorted(set(found.kept)), "order and duplicates"
        assert all(0 <= turn < n for turn in found.kept)
        k = keep_count(n, ratio, rule or method.published_budget)  # type: ignore[arg-type]
        if method.size == "k":
            assert len(found.kept) == found.budget == k
            assert found.rule == (rule or method.published_budget)
        elif method.size == "adaptive":
            assert 1 <= len(found.kept) <= n
            assert found.budget is None
        assert found.context == "\n".join(
            f"[T{turn}] {'USER' if turn % 2 == 0 else 'SYSTEM'}: {item.texts[turn]}" for turn in found.kept
        )


@every_method
def test_exactly_k_turns_in_order_at_every_length(case: Case, models: Models) -> None:
    method = case.make(models)
    for n in (1, 2, 3, 5, 6, 10, 25):
        item = dialogue([WORDS[turn % len(WORDS)] for turn in range(n)])
        for ratio in (0.1, 0.3, 0.5, 0.7, 1.0):
            check(method, item, ratio)


@every_method
def test_one_turn_is_kept_even_if_it_is_empty(case: Case, models: Models) -> None:
    method = case.make(models)
    for text in ("Hello", "", " "):
        kept = method.keep(dialogue([text]), ratio_of(method, 0.1))
        assert kept == ([] if method.size == "none" else [0])


@every_method
def test_a_dialogue_of_empty_turns_is_no_error(case: Case, models: Models) -> None:
    check(case.make(models), dialogue([""] * 7), 0.3)


@every_method
def test_two_thousand_turns(case: Case, models: Models) -> None:
    texts = [f"{WORDS[turn % len(WORDS)]} {turn % 7}" for turn in range(2000)]
    check(case.make(models), dialogue(texts), 0.1)


@every_method
def test_characters_of_every_kind(case: Case, models: Models) -> None:
    texts = TRICKY + ([] if case.splits_words else CHINESE)
    method = case.make(models)
    check(method, dialogue(texts), 0.5)
    for text in texts:
        check(method, dialogue([text, "plain", text]), 0.4)


@every_method
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_text_at_any_ratio(case: Case, models: Models, data: st.DataObject) -> None:
    alphabet = st.characters(codec="utf-8", max_codepoint=0x2FF if case.splits_words else None)
    texts = data.draw(st.lists(st.text(alphabet, max_size=12), min_size=1, max_size=8))
    check(case.make(models), dialogue(texts), data.draw(st.floats(0.01, 1).map(lambda value: round(value, 3))))


@every_method
def test_the_same_twice_and_many_at_once_as_one_by_one_in_any_order(case: Case, models: Models) -> None:
    method = case.make(models)
    items = [dialogue(WORDS[start:] + WORDS[:start], f"d{start}") for start in range(len(WORDS))]
    ratio = ratio_of(method, 0.3)
    alone = [method.select(item, ratio) for item in items]
    assert [method.select(item, ratio) for item in items] == alone
    assert method.select_many(items, ratio) == alone
    assert method.select_many(items[::-1], ratio) == alone[::-1]


@every_method
def test_the_printed_and_the_pinned_form_read_back(case: Case, models: Models) -> None:
    method = case.make(models)
    known = SELECTORS | MODEL_SELECTORS
    assert parse_method(str(method), known) == method
    pinned = method.pinned()
    assert parse_method(str(pinned), known) == pinned
    assert str(pinned.pinned() if not method.needs_model else pinned) == str(pinned)
    if method.needs_model:
        assert "@files-sha256:" in str(pinned)
        assert "/" not in str(pinned), "a path of this machine must not be stored"


def test_every_method_of_the_package_is_in_the_list() -> None:
    assert {case.text.split("(")[0] for case in CASES} == set(SELECTORS) | set(MODEL_SELECTORS)


@pytest.mark.parametrize("name", sorted(name for name in SELECTORS | MODEL_SELECTORS if name != "dycp"))
def test_a_missing_ratio_is_told(name: str) -> None:
    with pytest.raises(BadInput, match="needs a ratio"):
        (SELECTORS | MODEL_SELECTORS)[name]().keep(dialogue(["a"]), None)


def test_each_protocol_renders_as_it_should(models: Models) -> None:
    item = dialogue(["Hello there", "Hi", "Bye"])
    for case in CASES:
        method = case.make(models)
        published = method.select(item, ratio_of(method, 1.0))
        plain = method.name in ("h2o_proxy", "embedding_mmr", "llmlingua2")
        assert published.rendering == ("plain" if plain else "marked")
        matched = method.select(item, ratio_of(method, 1.0), rule="round-half-up", rendering="marked")
        assert marked_turns(matched.context) == list(matched.kept)
