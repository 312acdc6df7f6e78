"""Answers of every shape under tpbench-1: the level at which they are parsed, and what is taken from them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpbench_score.lenient_json import balanced_objects, repaired_object
from tpbench_score.parse_levels import PARSE_LEVELS, parse_answer
from tpbench_score.parsing import MAX_DEPTH

FENCE = "```"


@pytest.mark.parametrize(
    ("text", "level", "value"),
    [
        ('{"value": "17:30"}', "strict", "17:30"),
        (' \u00a0{"value": "x"}\n', "strict", "x"),
        ('{"value": "a", "value": "b"}', "strict", "b"),  # the last of two equal names
        ('{"value": 7.50}', "strict", "7.50"),  # as written, not as a float
        ('{"value": 1' + "0" * 5000 + "}", "strict", "1" + "0" * 5000),
        ('{"value": {"value": "y"}}', "strict", {"value": "y"}),
        ('{"a": {"value": "y"}}', "strict", None),  # nothing nested is searched
        (f'{FENCE}json\n{{"value": "x"}}\n{FENCE}', "fenced", "x"),
        (f'{FENCE}{{"value": "x"}}{FENCE}', "fenced", "x"),
        (f"{FENCE}`\n" + '{"value": "`17:30` ' + FENCE + '"}' + f"\n{FENCE}`", "fenced", "`17:30` " + FENCE),
        ('~~~\n{"value": "x"}\n~~~', "fenced", "x"),
        (f'{FENCE}`\n{{"value": "x"}}\n{FENCE}', "repaired", "x"),  # closed by a shorter fence: no fence
        (f'Here:\n{FENCE}json\n{{"value": "x"}}\n{FENCE}', "repaired", "x"),
        ('Sure! {"value": "a {b"} Hope that helps.', "repaired", "a {b"),
        ('{"value": "x"} {"value": "y"}', "repaired", "x"),  # the first of two objects
        ('{"type": "object"} {"value": "y"}', "repaired", "y"),  # but one that can be an answer
        ('[{"value": "x"}]', "repaired", "x"),
        ('{"value": "x"} }', "repaired", "x"),
        ('{ "a": {"value": "x"}', "repaired", "x"),  # the first object that is balanced
        ("{'value': 'John's place'}", "repaired", "John's place"),
        ('{"value": "x",}', "repaired", "x"),
        ('{"value": "8 o"clock"}', "repaired", '8 o"clock'),
        ('{"value": "He said "yes", fine", "abstain": false}', "repaired", 'He said "yes", fine'),
        ('{"value": "x" // why\n}', "repaired", "x"),
        ('{"value": /* is it? */ "x"}', "repaired", "x"),
        ('{"value": "a\nb"}', "repaired", "a\nb"),
        ("{value: 17:30, abstain: false}", "repaired", "17:30"),
        ("{“value”: “a”}", "repaired", "a"),
        ("{'value': None}", "repaired", None),
        ('{"value": NaN}', "repaired", "NaN"),
        ('<think>maybe {"value": "no"}</think>\n{"value": "x"}<|eot_id|>', "repaired", "x"),
        ('{"value": "</think>"}', "strict", "</think>"),
    ],
)
def test_levels(text: str, level: str, value: Any) -> None:
    parsed = parse_answer(text)
    assert parsed.level == level
    assert parsed.record is not None
    assert parsed.record.get("value") == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "17:30",
        "value: 17:30",
        "The value is 17:30.",
        "null",
        '"{\\"value\\": 1}"',
        '{"value": "17:30", "support": "T8: ma',  # cut off: nobody knows what would have followed
        '<think>maybe {"value": "no"}',
        "}{",
        "{}{"[:1],
        "{" * 10_000,
        '{"value":' * 500 + "1" + "}" * 500,
    ],
)
def test_no_object_is_no_level(text: str) -> None:
    parsed = parse_answer(text)
    assert (parsed.record, parsed.level) == (None, None)


def test_levels_are_named() -> None:
    assert list(PARSE_LEVELS) == ["strict", "fenced", "repaired"]


@pytest.mark.parametrize(
    "text",
    [
        "{" * 100_000,
        "}" * 100_000 + "{" * 100_000,
        '{"a":"b",' * 30_000,
        '{"a": "' + '" ,aaa' * 50_000 + "}",
        '"' + '\\"' * 100_000 + "{" * 200,
        f"{FENCE}\n" + "`" * 300_000 + "x",
        '{"a":[/*,' + "/*," * 60_000 + "]}",
        "{" + '"a" ' * 50_000 + "}",
        "{x " * 30_000 + "}" * 30_000,
        "</think>" * 50_000,
        '{"value": "' + "x" * 1_000_000,
    ],
)
def test_a_broken_answer_takes_linear_time(text: str) -> None:
    # A quadratic search would run for minutes; finishing at all is the assertion.
    assert parse_answer(text).level in (None, "repaired")


def test_nesting_has_one_limit_at_every_level() -> None:
    deep = '{"value": ' + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1) + "}"
    assert parse_answer(deep).level == "strict"
    assert parse_answer(f"so: {deep}").level == "repaired"
    assert parse_answer(deep.replace("[]", "[[]]")).level is None


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=3), st.booleans())
def test_json_is_read_as_json_also_by_the_repairing_reader(record: dict[str, Any], ascii_only: bool) -> None:
    text = json.dumps(record, ensure_ascii=ascii_only)
    assert parse_answer(text).record == record
    if not any(mark in text for mark in ('\\"', "\\\\")) and "“" not in text and "‘" not in text:
        assert repaired_object(text) == record


@given(st.text(alphabet="{}\"'\\:,[]/* \nabc”“", max_size=40))
def test_nothing_raises_and_objects_are_balanced(text: str) -> None:
    parsed = parse_answer(text)
    assert (parsed.record is None) == (parsed.level is None)
    for found in balanced_objects(text, quotes=False):
        assert found in text
        assert found.count("{") == found.count("}")


@given(st.text(max_size=20).filter(lambda text: "{" not in text and "}" not in text and "think" not in text.lower()))
def test_prose_around_an_answer_changes_the_level_only(prose: str) -> None:
    parsed = parse_answer(f'{prose} {{"value": "x"}} {prose}')
    assert parsed.record == {"value": "x"}
    assert parsed.level in ("repaired", "strict", "fenced")
