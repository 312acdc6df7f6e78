"""The printed form of a method: what is printed reads back equal, whatever text or number stands in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpbench_data.errors import BadInput
from tpbench_data.selectors import SelectionInput, Selector
from tpbench_data.selectors.settings import check_setting_types, make_method, parse_method, split_methods


@dataclass(frozen=True)
class Every(Selector):
    """A method with one setting of each kind."""

    name: ClassVar[str] = "every"
    summary: ClassVar[str] = "a setting of each kind"

    count: int = 1
    weight: float = 0.5
    text: str = "plain"
    flag: bool = False
    mode: Literal["slow", "quick mode"] = "slow"
    limit: int | None = None
    note: str | None = None

    def pick(self, item: SelectionInput, k: int) -> Iterable[int]:
        return range(k)


METHODS: dict[str, type[Selector]] = {"every": Every}


@given(
    st.builds(
        Every,
        count=st.integers(),
        weight=st.floats(allow_nan=False, allow_infinity=False),
        text=st.text(),
        flag=st.booleans(),
        mode=st.sampled_from(["slow", "quick mode"]),
        limit=st.none() | st.integers(),
        note=st.none() | st.text() | st.just("none"),
    )
)
def test_any_settings_read_back_equal_and_survive_a_comma_list(method: Every) -> None:
    printed = str(method)
    assert parse_method(printed, METHODS) == method
    assert str(parse_method(printed, METHODS)) == printed
    assert split_methods(f"recency,{printed},first_turns") == ["recency", printed, "first_turns"]
    assert all(char >= " " for char in printed), "a line end inside a stored name would tear files by line"
    assert not set(printed) & set("\x85\u2028\u2029")


def test_only_settings_that_differ_from_the_default_are_printed() -> None:
    assert str(Every()) == "every"
    assert str(Every(weight=0.1, text="a b", limit=3)) == 'every(weight=0.1, text="a b", limit=3)'
    assert str(Every(text="hf:ORG/model-1@ab12")) == "every(text=hf:ORG/model-1@ab12)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("every(count=1.5)", "not a whole number"),
        ("every(weight=nan)", "not a number"),
        ("every(weight=inf)", "not a number"),
        ("every(weight=1e999)", "not a number"),
        ("every(flag=yes)", "not true or false"),
        ("every(mode=quick)", "Known: slow, quick mode"),
        ("every(count=1, count=2)", "given twice"),
        ("every(size=1)", "Its settings: count, weight"),
        ("every(count)", "cannot be read"),
        ("every(count=1 weight=2)", "cannot be read"),
        ('every(text="a)', "cannot be read"),
        ('every(text="\\x")', "not a quoted text"),
        ("every(count=1", "is not a method"),
        ("Every", "is not a method"),
        ("other", "Known methods: every"),
    ],
)
def test_a_setting_that_does_not_fit_is_told(text: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_method(text, METHODS)
    assert message in str(caught.value)


def test_a_method_that_refuses_its_settings_is_bad_input_not_a_traceback() -> None:
    @dataclass(frozen=True)
    class Picky(Every):
        name: ClassVar[str] = "picky"

        def __post_init__(self) -> None:
            if self.count > 1:
                raise ValueError("count is too high")

    with pytest.raises(BadInput, match="count is too high"):
        make_method(Picky, "count=2")


def test_a_setting_of_a_type_that_cannot_be_printed_is_refused() -> None:
    @dataclass(frozen=True)
    class Listed(Every):
        parts: tuple[int, ...] = ()

    check_setting_types(Every)
    with pytest.raises(BadInput, match="setting 'parts'"):
        check_setting_types(Listed)


@pytest.mark.parametrize("text", ["", " , ", "a,a", "a(x=1),a(x=1)"])
def test_an_empty_or_repeating_list_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        split_methods(text)
