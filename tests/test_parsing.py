"""Answers of every shape: what the published parsers take from them."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpbench_score.parsing import (
    MAX_DEPTH,
    extract_json,
    last_flat_object,
    parse_reader_text,
    read_scalar_value,
    read_string_value,
    read_text_value,
    text_of_value,
)

FENCE = "```"
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
ANSWER_LIKE = st.lists(
    st.sampled_from(
        ['{"value": ', '"x"', "}", "{", "[", "]", '"', "\\", ", ", '"abstain": true', "null", "1e999", "\n"]
    ),
    max_size=14,
).map("".join)


@pytest.mark.parametrize(
    ("text", "p1", "p2"),
    [
        ('{"value": "17:30"}', "17:30", "17:30"),
        (' \u00a0{"value": "x"}\n', "x", "x"),
        (f'{FENCE}json\n{{"value": "x"}}\n{FENCE}', "x", "x"),
        (f"{FENCE}`\n" + '{"value": "`17:30`"}' + f"\n{FENCE}`", "`17:30`", "`17:30`"),
        ('Sure! {"value": "x"} Hope that helps.', "x", "x"),
        ('<think>maybe {"value": "no"}</think>{"value": "x"}</s>', "x", "x"),  # the last object wins
        ('{"value": "a", "value": "b"}', "b", "b"),  # so does the last duplicate key
        ('{"a": {"value": "y"}, "value": "x"}', "x", None),  # nested: only where the whole text is JSON
        ('see {"a": {"value": "y"}, "value": "x"}', None, None),
        ('{"value": "a {b"}', "a {b", None),  # a brace in a string hides the answer from P2
        ('{"value": "x"} }', None, None),
        ('"{\\"value\\": 1}"', None, None),  # JSON, but a string
        ('[{"value": "x"}]', None, "x"),  # JSON, but a list; P2 never looks at the whole
        ("null", None, None),
        ("true", None, None),
        ("25", None, None),
        ("", None, None),
        ("17:30", None, None),
        ("{'value': 'x'}", None, None),
        ('{"value": "x",}', None, None),
        ('{"value": "8 o"clock"}', None, None),
        ('{"value": "x" // why\n}', None, None),
        ('{"value": "x"', None, None),
        ('{"value": "a\nb"}', None, None),  # a raw line break is not allowed in a JSON string
        ('\ufeff{"value": "x"}', "x", "x"),
        ('{"value": "a\u2028b\u0085c"}', "a\u2028b\u0085c", "a\u2028b\u0085c"),
        ("}{", None, None),
        ('{"value": 1' + "0" * 5000 + "}", None, None),  # longer than an integer may be
    ],
)
def test_values_that_the_parsers_find(text: str, p1: str | None, p2: str | None) -> None:
    reader, current = parse_reader_text(text), extract_json(text)
    assert (reader or {}).get("value") == p1
    assert (current or {}).get("value") == p2


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": {"value": "y"}, "value": "x"}', "y"),  # only the innermost object is seen
        ('{"value": "x"} }', "x"),
        ('{"value": "x"} {broken} ', "x"),
        ('{"value": "x"}{"value": "y"}', "y"),
        ('{"value": "a {b}"}', None),
        ("{\n}", None),
        ("no object", None),
    ],
)
def test_flat_search_of_the_matched_comparison(text: str, value: str | None) -> None:
    assert (last_flat_object(text) or {}).get("value") == value


@pytest.mark.parametrize(
    "text",
    [
        "{" * 10_000,
        "{" * 10_000 + "}" * 10_000,
        "[" * 10_000 + "]" * 10_000,
        '{"value":' * 10_000 + "1" + "}" * 10_000,
        '{"value": [' + "[" * 150 + "]" * 150 + "]}",
    ],
)
def test_deep_nesting_is_no_answer(text: str) -> None:
    assert parse_reader_text(text) is None
    assert not extract_json(text)


def test_nesting_up_to_the_limit_is_an_answer_however_many_brackets_there_are() -> None:
    deep = '{"value": ' + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1) + "}"
    wide = json.dumps({"value": [[] for _ in range(500)], "note": "[" * 500 + '\\"'})
    assert parse_reader_text(deep) is not None
    assert parse_reader_text(wide) == json.loads(wide)
    assert parse_reader_text(deep.replace("[]", "[[]]")) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"value": "' + "x" * 1_000_000,
        '"' + '\\"' * 500_000 + "{" * 200,
        "}" * 500_000 + "{" * 500_000,
        '{"a":"b",' * 100_000,
        '{"value": ' + "1" * 1_000_000 + "}",
        "{ " * 300_000 + "}",
    ],
)
def test_a_broken_megabyte_takes_linear_time(text: str) -> None:
    # A quadratic search would run for minutes; finishing at all is the assertion.
    assert parse_reader_text(text) is None or extract_json(text) is not None
    last_flat_object(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x", "x"),
        (25, "25"),
        (1.5, "1.5"),
        (True, "True"),
        (["a", 1], "['a', 1]"),
        ({"a": None}, "{'a': None}"),
        (" ", " "),
        ("none", "none"),
        (None, ""),
        (False, ""),
        (0, ""),
        (0.0, ""),
        ("", ""),
        ([], ""),
        ({}, ""),
    ],
)
def test_goal_values_are_printed_unless_falsy(value: Any, text: str) -> None:
    assert text_of_value(value) == text


def test_nan_and_infinity_are_read_as_the_published_parser_does() -> None:
    record = extract_json('{"value": NaN, "abstain": -Infinity}')
    assert record is not None
    assert math.isnan(record["value"])
    assert text_of_value(record["value"]) == "nan"


@pytest.mark.parametrize(
    ("record", "goal", "current", "scalar"),
    [
        # what abstains: (P1 and P3, P2, LongMemEval-KU)
        (None, True, False, True),
        ({}, True, False, True),
        ({"value": "x"}, False, False, False),
        ({"value": "x", "abstain": True}, True, True, True),
        ({"value": "x", "abstain": "false"}, False, True, True),
        ({"value": "x", "abstain": 1}, False, True, True),
        ({"value": "x", "abstain": 0}, False, False, False),
        ({"value": "x", "abstain": None}, False, False, False),
        ({"value": None}, True, False, True),
        ({"value": ""}, True, True, True),
        ({"value": " "}, False, True, True),
        ({"value": " None"}, False, True, True),
        ({"value": "N/A"}, False, True, True),
        ({"value": "unknown"}, False, True, True),
        ({"value": "not specified"}, False, False, False),
        ({"value": 0}, True, False, False),
        ({"value": 25}, False, False, False),
        ({"value": False}, True, False, False),
        ({"value": []}, True, False, False),
    ],
)
def test_what_counts_as_an_abstention(record: dict[str, Any] | None, goal: bool, current: bool, scalar: bool) -> None:
    assert read_text_value(record).abstained is goal
    assert read_string_value(record).abstained is current
    assert read_scalar_value(record).abstained is scalar


def test_an_abstaining_goal_answer_has_no_value_but_an_abstaining_current_value_keeps_it() -> None:
    record = {"value": "x", "abstain": True}
    assert read_text_value(record).value == ""
    assert read_string_value(record).value == "x"


@given(st.text() | ANSWER_LIKE)
def test_no_text_raises(text: str) -> None:
    for parse in (parse_reader_text, extract_json, last_flat_object):
        record = parse(text)
        assert record is None or isinstance(record, dict)
        for read in (read_text_value, read_string_value, read_scalar_value):
            read(record)


@given(st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=4), st.booleans())
def test_a_whole_object_is_read_as_json_reads_it(record: dict[str, Any], ascii_only: bool) -> None:
    text = json.dumps(record, ensure_ascii=ascii_only)
    assert repr(parse_reader_text(text)) == repr(json.loads(text))


@given(st.text(alphabet="ab:; é", max_size=10), st.text(alphabet="xyz\n ", max_size=10))
def test_a_flat_object_in_prose_is_found_by_every_parser(value: str, prose: str) -> None:
    text = f"{prose}{json.dumps({'value': value})}{prose}"
    for parse in (parse_reader_text, extract_json, last_flat_object):
        assert parse(text) == {"value": value}
