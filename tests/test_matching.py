"""Phrase matching, eligibility and aliases."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpbench_data.matching import (
    alias_equivalent,
    is_word_character,
    phrase_occurs,
    value_in_text,
    value_in_turns,
    values_match,
)
from tpbench_data.slots import slot_group, slot_label

FEW_LETTERS = st.text(alphabet="ab _:-é中", max_size=12)
WORDS = st.lists(st.text(alphabet="abcdefg", min_size=1, max_size=6), min_size=1, max_size=3).map(" ".join)


@pytest.mark.parametrize(
    ("value", "text", "occurs"),
    [
        ("Atlanta, GA", "Leaving from Atlanta GA.", True),
        ("sf", "that was successfully done", False),
        ("2", "20", False),
        ("12", "12:00", True),  # a colon delimits
        ("30", "at 12:30", True),
        ("east", "north-east", True),
        ("east", "northeast", False),
        ("college", "I like colleges", False),
        ("厦门", "我要去厦门玩", False),  # CJK characters are word characters
        ("厦门", "厦门", True),
        ("", "anything", False),
        ("?", "anything?", False),
        (None, "anything", False),
        ("12 pm", "at noon, 12:00 sharp", True),
        ("a a", "a a a", True),
        ("aa", "aaa aa", True),
    ],
)
def test_value_in_text(value: str | None, text: str, occurs: bool) -> None:
    assert value_in_text(value, text, "sgd") is occurs


@given(FEW_LETTERS, FEW_LETTERS)
def test_phrase_matching_equals_a_regular_expression_with_boundaries(needle: str, haystack: str) -> None:
    expected = bool(needle) and re.search(rf"(?<!\w){re.escape(needle)}(?!\w)", haystack) is not None
    assert phrase_occurs(needle, haystack) is expected


@given(st.characters())
def test_word_characters_are_those_of_regular_expressions(character: str) -> None:
    assert is_word_character(character) is (re.fullmatch(r"\w", character) is not None)


@given(WORDS, st.sampled_from([".", ",", '"', ")", "!", "?", ";", "", " now"]))
def test_a_value_of_words_occurs_in_a_sentence_about_it(value: str, end: str) -> None:
    assert values_match(value, value, "sgd")
    assert value_in_text(value, f'They said: "{value}{end}', "sgd")


def test_equal_values_never_match_when_nothing_is_left_of_them() -> None:
    assert not values_match("?", "?", "sgd")
    assert not values_match("", None, "sgd")


def test_eligibility_takes_substrings_of_one_turn() -> None:
    assert value_in_turns("college", ["We saw two colleges."], "sgd")
    assert not value_in_turns("new york", ["It is new.", "York is old."], "sgd")
    assert not value_in_turns("", ["anything"], "sgd")


@pytest.mark.parametrize(
    ("old", "new", "alias"),
    [
        ("Atlanta, GA", "Atlanta", True),
        ("east", "south east", True),  # a real change that the published rule removes
        ("Economy", "Economy extra", True),
        ("sunday 12:00", "12 pm", True),
        ("afternoon 12:45", "12:45 PM", True),
        ("LA", "Los Angeles", False),
        ("ga", "Atlanta, GA", False),  # two characters are too short
        ("Paris, France", "Paris, Texas", False),  # the part before the comma is not compared
        ("the 11th", "March 11th", False),
        ("10", "10", True),
        ("?", "anything", False),
        ("", "anything", False),
        (None, None, False),
    ],
)
def test_alias_rule(old: str | None, new: str | None, alias: bool) -> None:
    assert alias_equivalent(old, new, "sgd") is alias
    assert alias_equivalent(new, old, "sgd") is alias


def test_alias_rule_is_not_transitive() -> None:
    assert alias_equivalent("north east", "east", "sgd")
    assert alias_equivalent("east", "south east", "sgd")
    assert not alias_equivalent("north east", "south east", "sgd")


def test_alias_rule_knows_the_aliases_of_multiwoz_only_there() -> None:
    assert alias_equivalent("guesthouse", "guest house", "multiwoz")
    assert not alias_equivalent("guesthouse", "guest house", "sgd")


@pytest.mark.parametrize(
    ("slot", "group"),
    [
        ("restaurant_time", "Time"),  # time comes before place
        ("Appointment_Date", "Date"),
        ("hotel-book day", "Date"),
        ("theater_name", "Place and name"),
        ("taxi-departure", "Place and name"),
        ("pets_allowed", "Other"),
        ("", "Other"),
    ],
)
def test_slot_groups(slot: str, group: str) -> None:
    assert slot_group(slot) == group


@pytest.mark.parametrize(
    ("slot", "label"),
    [
        ("restaurant-booktime", "restaurant booktime"),
        ("origin_city", "origin city"),
        ("Hotel-_book--Day_", "hotel book day"),
        ("旅游景点-区域", "旅游景点 区域"),
    ],
)
def test_slot_labels(slot: str, label: str) -> None:
    assert slot_label(slot) == label
