"""Values in Chinese text: no word boundaries, segmented annotations, full-width digits (field report 31)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpbench_data.han import has_han, value_form, value_stated
from tpbench_data.matching import value_in_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("厦门", "我要去厦门玩"),
        ("中国 大陆", "最好是中国大陆的片子。"),
        ("中国大陆", "中国 大陆"),
        ("2010 年代", "帮我找找2010年代热播的"),
        ("联想   -   天逸", "看看联想-天逸系列"),
        ("15   ~   20", "十五人以上，15~20万"),
        ("１２：３０", "定在12:30吧"),
        ("12:30", "定在１２：３０吧"),
        ("750", "一共750元"),
        ("HP", "我要HP电脑"),
        ("大", "大"),
        ("是", "答案：是。"),
        ("Friday", "Let us say Friday."),
    ],
)
def test_stated(value: str, text: str) -> None:
    assert value_stated(value, text, "risawoz")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("厦门", "我要去夏门玩"),
        ("15", "一共150元"),
        ("5", "15元"),
        ("HP", "我要HPX电脑"),
        ("大", "我在大学门口"),
        ("", "厦门"),
        ("。", "厦门。"),
        ("day", "Friday"),
        ("day", "周五Friday见"),
        ("12:30", "十二点半"),
    ],
)
def test_not_stated(value: str, text: str) -> None:
    assert not value_stated(value, text, "risawoz")


def test_segmentation_makes_no_other_value() -> None:
    assert value_form("朋友 出游", "risawoz") == value_form("朋友出游", "risawoz") == "朋友出游"
    assert value_form("New York", "sgd") == "new york"
    assert value_form("iPhone 手机", "risawoz") == value_form("iPhone手机", "risawoz")


@given(st.text(st.characters(codec="ascii"), max_size=20), st.text(st.characters(codec="latin-1"), max_size=60))
def test_without_chinese_characters_it_is_the_phrase_matcher(value: str, text: str) -> None:
    assert not has_han(text)
    assert value_stated(value, text, "multiwoz") == value_in_text(value, text, "multiwoz")


@given(
    st.text("厦门北京的在a1 ", min_size=2, max_size=6),
    st.sampled_from(["我去", "（", ""]),
    st.sampled_from(["。", "玩"]),
)
def test_a_value_of_two_characters_is_stated_in_its_own_sentence(value: str, before: str, after: str) -> None:
    form = value_form(value, "risawoz")
    if has_han(form) and len(form) > 1 and not form[0].isascii() and not form[-1].isascii():
        assert value_stated(value, f"{before}{value}{after}", "risawoz")
        assert value_stated(value, f"{before}{form}{after}", "risawoz")
