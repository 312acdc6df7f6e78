"""JSON from a stranger is what JSON says and nothing more."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpbench_data.errors import BadInput
from tpbench_data.release.strict_json import deeper_than, parse_strict


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"NaN", "NaN is not JSON"),
        (b"[Infinity]", "Infinity is not JSON"),
        (b'{"a": -Infinity}', "-Infinity is not JSON"),
        (b'{"a": 1, "a": 1}', "the key 'a' stands twice"),
        (b'{"x": {"b": 1, "c": 2, "b": 3}}', "the key 'b' stands twice"),
        (b'"\\ud800"', "a lone surrogate"),
        (b'{"\\udc00": 1}', "a lone surrogate"),
        (b"\xff", "not valid JSON"),
        (b"\xef\xbb\xbf{}", "not valid JSON"),
        (b"1" * 5000, "not valid JSON"),
        (b"[" * 65 + b"]" * 65, "nested deeper than 64"),
        (b"[" * 100_000, "nested deeper than 64"),
        (b'{"a":' * 100_000, "nested deeper than 64"),
        (b"{} {}", "not valid JSON"),
        (b"", "not valid JSON"),
    ],
)
def test_what_other_readers_take_differently_is_an_error(data: bytes, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        parse_strict(data, "x.json")


def test_size_is_looked_at_before_the_content() -> None:
    with pytest.raises(BadInput, match="larger than 10 bytes"):
        parse_strict(b"[" * 11, "x.json", 10)


def test_sixty_four_levels_are_fine() -> None:
    assert not deeper_than(parse_strict(b"[" * 64 + b"]" * 64, "x.json"), 64)


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(_values)
def test_everything_else_is_read_as_the_standard_library_reads_it(value: object) -> None:
    for ascii_only in (True, False):
        data = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8")
        assert parse_strict(data, "x.json") == json.loads(data)
