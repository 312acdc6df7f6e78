"""Reading one large JSON file record by record gives what reading it whole gives."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tpbench_data.corpora import json_reading
from tpbench_data.corpora.json_reading import stream_records
from tpbench_data.errors import BadInput

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.lists(values), st.sampled_from([1, 2, 7, 1 << 20]), st.sampled_from([None, 1]), st.booleans())
@settings(max_examples=150, deadline=None)
def test_a_list_is_streamed_whatever_the_pieces(records: list[Any], chunk: int, indent: Any, ascii_only: bool) -> None:
    data = json.dumps(records, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_reading, "_CHUNK", chunk)
        try:
            assert [value for _, value in stream_records(data, "f")] == records
        except BadInput:
            assert data.decode("utf-8", "replace").encode() != data, "only a lone surrogate is refused"


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), values))
@settings(max_examples=80, deadline=None)
def test_an_object_is_streamed_as_its_entries(record: dict[str, Any]) -> None:
    data = json.dumps(record).encode()
    assert list(stream_records(data, "f")) == list(record.items())


def test_a_number_cut_between_two_pieces_is_one_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_reading, "_CHUNK", 3)
    assert [value for _, value in stream_records(b"[12345678, 90]", "f")] == [12345678, 90]


@pytest.mark.parametrize("data", [b"[1 2]", b"[1,]", b'{"a" 1}', b"{1: 2}", b'{"a": 1,}', b"[1]]", b"[1"])
def test_malformed_json_names_file_and_record(data: bytes) -> None:
    with pytest.raises(BadInput, match=r"^f.*not valid JSON"):
        list(stream_records(data, "f"))
