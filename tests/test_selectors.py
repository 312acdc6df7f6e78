"""Turn selectors and budgets: the published vectors and the two protocols."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpbench_data.budget import keep_count, parse_ratio
from tpbench_data.errors import BadInput
from tpbench_data.selectors import SELECTORS, SelectionInput, parse_selector


def item(n: int, example_id: str = "x", evidence: tuple[int, ...] = ()) -> SelectionInput:
    return SelectionInput(example_id, ["user", "system"] * n, [f"text {i}" for i in range(n)], "question?", evidence)


@pytest.mark.parametrize(
    ("example_id", "n", "seed", "expected"),
    [
        ("v20_sgd_18_00112__qa_00", 18, 42, [3, 9, 10, 14, 16]),
        ("v20_sgd_17_00069__qa_00", 20, 42, [3, 9, 10, 17, 18, 19]),
        ("v20_sgd_109_00078__qa_01", 28, 42, [0, 1, 8, 12, 21, 22, 24, 25]),
        ("Car_goal_1-1", 20, 42, [5, 6, 8, 10, 13, 14]),
        ("Car_goal_1-1", 20, 43, [0, 1, 6, 12, 14, 16]),
        ("Car_goal_1-1", 20, 44, [2, 3, 10, 11, 14, 16]),
        ("Car_goal_1-1", 20, 45, [2, 3, 12, 13, 16, 17]),
        ("Car_goal_1-1", 20, 46, [0, 2, 4, 15, 16, 18]),
    ],
)
def test_random_draws_the_published_turns(example_id: str, n: int, seed: int, expected: list[int]) -> None:
    assert parse_selector(f"random(seed={seed})").keep(item(n, example_id), 0.3) == expected


@pytest.mark.parametrize(
    ("n", "expected"),
    [(18, [0, 4, 7, 11, 14]), (20, [0, 3, 7, 10, 13, 17]), (28, [0, 4, 7, 10, 14, 18, 21, 24])],
)
def test_uniform_stride_keeps_the_published_turns(n: int, expected: list[int]) -> None:
    assert parse_selector("uniform_stride").keep(item(n), 0.3) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("full_context", list(range(10))),
        ("no_context", []),
        ("recency", [7, 8, 9]),
        ("first_turns", [0, 1, 2]),
        ("first_user_recent", [0, 8, 9]),
        ("oracle_evidence", [4, 6, 9]),
    ],
)
def test_each_selector_keeps_what_it_says(name: str, expected: list[int]) -> None:
    assert parse_selector(name).keep(item(10, evidence=(6, 4)), 0.3) == expected


def test_oracle_keeps_the_most_important_evidence_when_the_budget_is_short() -> None:
    assert parse_selector("oracle_evidence").keep(item(10, evidence=(7, 6, 2, 1)), 0.2) == [6, 7]


def test_first_user_recent_with_one_turn_keeps_only_the_user_turn() -> None:
    late_user = SelectionInput("x", ["system", "user", "system"], ["a", "b", "c"], "q", ())
    assert parse_selector("first_user_recent").keep(late_user, 0.1) == [1]


@pytest.mark.parametrize(
    ("n", "ratio", "rule", "kept"),
    [
        (25, 0.1, "round-half-even", 2),
        (5, 0.5, "round-half-even", 2),
        (45, 0.7, "round-half-even", 32),  # a float product would give 31
        (90, 0.7, "floor", 63),  # a float product would give 62
        (100, 0.1, "floor", 10),
        (6, 0.3, "round-half-even", 2),
        (6, 0.3, "floor", 1),
        (5, 0.5, "round-half-up", 3),
        (1, 0.1, "floor", 1),
        (7, 1.0, "round-half-up", 7),
    ],
)
def test_budgets_are_exact(n: int, ratio: float, rule: str, kept: int) -> None:
    assert keep_count(n, ratio, rule) == kept  # type: ignore[arg-type]


@given(st.integers(1, 2000), st.sampled_from([0.1, 0.3, 0.5]), st.booleans())
def test_published_rounding_is_reproduced_by_exact_fractions(n: int, ratio: float, even: bool) -> None:
    n += n % 2 if even else 0
    assert keep_count(n, ratio, "round-half-even") == max(1, round(n * ratio))


@given(st.integers(1, 300), st.floats(0.01, 1.0), st.sampled_from(sorted(SELECTORS)))
def test_every_selector_keeps_ascending_turns_within_the_budget(n: int, ratio: float, name: str) -> None:
    ratio = round(ratio, 3)
    kept = SELECTORS[name]().keep(item(n, evidence=(n // 2, n - 1)), ratio)
    k = keep_count(n, ratio, "round-half-even")
    assert kept == sorted(set(kept))
    assert len(kept) == {"full_context": n, "no_context": 0}.get(name, k)


@pytest.mark.parametrize("ratio", ["0", "1.5", "-1", "nan", "a third"])
def test_a_ratio_outside_its_range_is_refused(ratio: str) -> None:
    with pytest.raises(BadInput):
        parse_ratio(ratio)


@pytest.mark.parametrize("name", sorted(SELECTORS))
def test_a_printed_method_parses_back(name: str) -> None:
    selector = SELECTORS[name]()
    assert parse_selector(str(selector)) == selector
    assert parse_selector("random(seed=7)") == SELECTORS["random"](seed=7)  # type: ignore[call-arg]


@pytest.mark.parametrize("text", ["nonsense", "recency(k=3)", "random(seed=x)", "random seed", ""])
def test_an_unknown_method_or_setting_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_selector(text)
