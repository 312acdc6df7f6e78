"""Tables of any size come back from their bytes: none, one and several row groups."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tpbench_data.files import parquet_bytes
from tpbench_data.release.parquet_reading import read_parquet
from tpbench_data.release.schema import OUTPUTS, PROBE


@pytest.mark.parametrize("rows", [0, 1, 10_001])
def test_tables_survive_whatever_their_number_of_rows(rows: int) -> None:
    row = {
        "input_id": "x",
        "sample_seeds": [42, 43],
        "value_alternatives": ["a", "b\u2028"],
        "kept_turns": [],
        "prompt": [{"role": "user", "content": "hi"}],
    }
    table = pa.Table.from_pylist([row | {"example_id": str(n)} for n in range(rows)], schema=PROBE)
    assert read_parquet(parquet_bytes(table), PROBE, Path("t.parquet")).equals(table)


def test_an_empty_outputs_table_is_read() -> None:
    assert read_parquet(parquet_bytes(OUTPUTS.empty_table()), OUTPUTS, Path("t.parquet")).num_rows == 0
