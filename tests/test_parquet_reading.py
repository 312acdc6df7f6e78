"""What a Parquet file from anyone may cost is known before anything is unpacked, whatever its footer says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tpbench_data.errors import BadInput
from tpbench_data.files import parquet_bytes
from tpbench_data.release import limits
from tpbench_data.release.parquet_pages import pages, read_footer
from tpbench_data.release.parquet_reading import read_parquet
from tpbench_data.release.schema import OUTPUTS, PROBE
from tpbench_data.release.thrift import I32, LIST, STRUCT, Compact

SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("texts", pa.list_(pa.string())),
        ("turns", pa.list_(pa.int32())),
        ("prompt", pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))),
        ("flag", pa.bool_()),
        ("ratio", pa.float64()),
    ]
)


def table(rows: int = 500) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {
                "id": f"{n:03d}" if n % 7 else None,
                "texts": [f"text {n % 5}", "\u2028"] * (n % 3),
                "turns": list(range(n % 4)) if n % 6 else None,
                "prompt": [{"role": "user", "content": "x" * (n % 50)}],
                "flag": n % 2 == 0 if n % 3 else None,
                "ratio": 0.3,
            }
            for n in range(rows)
        ],
        schema=SCHEMA,
    )


def parquet(content: pa.Table, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(content, sink, **options)
    return bytes(sink.getvalue())


def refused(data: bytes, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_parquet(data, SCHEMA, Path("t.parquet"))


@pytest.mark.parametrize("compression", ["zstd", "snappy", "gzip", "none"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_the_walk_over_pages_finds_every_page_and_the_table_is_read_whole(
    compression: str, version: str, dictionary: bool
) -> None:
    content = table()
    data = parquet(
        content, compression=compression, data_page_version=version, use_dictionary=dictionary,
        row_group_size=130, data_page_size=400, write_page_checksum=True, write_page_index=True,
    )  # fmt: skip
    metadata = pq.ParquetFile(pa.BufferReader(data)).metadata
    footer = read_footer(data)
    assert footer.rows == metadata.num_rows
    assert list(footer.columns) == [metadata.schema.column(number).path for number in range(metadata.num_columns)]
    found = list(pages(data, footer))
    for column in range(metadata.num_columns):
        chunks = [metadata.row_group(group).column(column) for group in range(metadata.num_row_groups)]
        mine = [page for page in found if page.column == column]
        # The footer counts page headers too, about twenty to a hundred bytes each.
        assert 0 <= sum(c.total_uncompressed_size for c in chunks) - sum(p.unpacked for p in mine) < 200 * len(mine)
        assert sum(page.values for page in mine) >= sum(chunk.num_values for chunk in chunks)
    assert read_parquet(data, SCHEMA, Path("t.parquet")).to_pylist() == content.to_pylist()


def test_a_page_header_that_states_more_than_the_footer_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    content = pa.table({"id": ["x" * 100_000]}, schema=pa.schema([("id", pa.string())]))
    data = bytearray(parquet(content, compression="zstd", use_dictionary=False, write_statistics=False))
    start = pq.ParquetFile(pa.BufferReader(bytes(data))).metadata.row_group(0).column(0).data_page_offset
    # Field 1 (type), field 2 (unpacked size, a zigzag number in three bytes): raised to its highest value.
    assert data[start : start + 3] == b"\x15\x00\x15"
    assert data[start + 5] < 0x80 <= data[start + 4]
    data[start + 3 : start + 6] = b"\xfe\xff\x7f"
    assert next(iter(pages(bytes(data), read_footer(bytes(data))))).unpacked == 2**20 - 1
    monkeypatch.setattr(limits, "MAX_TABLE_BYTES", 500_000)
    with pytest.raises(BadInput, match="has 1048575 bytes unpacked, more than 500000"):
        read_parquet(bytes(data), content.schema, Path("t.parquet"))


@pytest.mark.parametrize(
    ("limit", "most", "message"),
    [
        ("MAX_TABLE_ROWS", 499, "has 500 rows, more than 499"),
        ("MAX_TABLE_VALUES", 499, "values in a column, more than 499"),
        ("MAX_TABLE_BYTES", 1_000, "bytes unpacked, more than 1000"),
        ("MAX_FOOTER_BYTES", 100, "bytes of footer, more than 100"),
    ],
)
def test_every_limit_has_its_message(monkeypatch: pytest.MonkeyPatch, limit: str, most: int, message: str) -> None:
    monkeypatch.setattr(limits, limit, most)
    refused(parquet(table()), message)


def test_texts_count_as_often_as_they_occur(monkeypatch: pytest.MonkeyPatch) -> None:
    content = pa.table([pa.array(["x" * 10_000] * 1_000)], schema=pa.schema([("id", pa.string())]))
    data = parquet(content, compression="zstd")
    assert len(data) < 5_000
    monkeypatch.setattr(limits, "MAX_TABLE_BYTES", 5_000_000)
    with pytest.raises(BadInput, match=r"has 10\d{6} bytes unpacked"):
        read_parquet(data, content.schema, Path("t.parquet"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "does not end as one"),
        (b"PAR1PAR1", "does not end as one"),
        (b"PAR1" + b"\x00" * 20 + b"PAR1", "not a readable Parquet file"),
        (b"PAR1" + b"\x15\x02" * 20 + b"\x28\x00\x00\x00PAR1", "not a readable Parquet file"),
        (b"id,texts\n1,2\n", "does not end as one"),
    ],
)
def test_what_is_no_parquet_file_is_one_error(data: bytes, message: str) -> None:
    refused(data, message)


def test_columns_must_be_the_declared_ones_in_their_order() -> None:
    refused(parquet(table().drop_columns(["turns"])), "field 'turns': column is missing")
    refused(parquet(table().select(["texts", "id", "turns", "prompt", "flag", "ratio"])), "another order")
    refused(parquet(table().append_column("more", pa.array([1] * 500))), "field 'more': unknown column")
    numbers = table().set_column(0, "id", pa.array(range(500)))
    refused(parquet(numbers), "field 'id': column holds int64, not string")


@pytest.mark.parametrize("rows", [0, 1, 10_001])
def test_tables_survive_whatever_their_number_of_rows(rows: int) -> None:
    row = {
        "input_id": "x",
        "sample_seeds": [42, 43],
        "value_alternatives": ["a", "b\u2028"],
        "kept_turns": [],
        "prompt": [{"role": "user", "content": "hi"}],
    }
    content = pa.Table.from_pylist([row | {"example_id": str(n)} for n in range(rows)], schema=PROBE)
    assert read_parquet(parquet_bytes(content), PROBE, Path("t.parquet")).equals(content)


def test_an_empty_outputs_table_is_read() -> None:
    assert read_parquet(parquet_bytes(OUTPUTS.empty_table()), OUTPUTS, Path("t.parquet")).num_rows == 0


def _reader_at_first_column(data: bytes) -> Compact:
    """A reader of the footer that stands in front of the list of columns of the first row group."""
    reader = Compact(data, len(data) - 8 - int.from_bytes(data[-8:-4], "little"), len(data) - 8)
    for field, kind in reader.fields():
        if (field, kind) != (4, LIST):
            reader.skip(kind)
            continue
        next(reader.structs())
        for inner, of in reader.fields():
            if (inner, of) == (1, LIST):
                return reader
            reader.skip(of)
    raise AssertionError("the file has no row group")


def test_a_footer_whose_statistics_contradict_the_type_ends_no_process(tmp_path: Path) -> None:
    """pyarrow's own view of such a column aborts the interpreter, so what a chunk says of its type is never asked."""
    content = table(50)
    data = bytearray(parquet(content, compression="none"))
    reader = _reader_at_first_column(bytes(data))
    next(reader.structs())
    for field, kind in reader.fields():  # of the column chunk: 3 is the metadata, whose field 1 is the type
        if field == 3:
            break
        reader.skip(kind)
    assert next(reader.fields()) == (1, I32)
    assert data[reader.position] == 12  # zigzag for 6, a byte array
    data[reader.position] = 0  # a boolean
    (tmp_path / "t.parquet").write_bytes(bytes(data))
    program = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]);"
        "from test_parquet_reading import SCHEMA; from tpbench_data.release.reader import read_parquet;"
        "from tpbench_data.errors import BadInput\n"
        "try:\n    print(read_parquet(Path(sys.argv[1]).read_bytes(), SCHEMA, Path('t')).num_rows, 'rows')\n"
        "except BadInput as problem:\n    print(problem)"
    )
    arguments = [sys.executable, "-c", program, str(tmp_path / "t.parquet"), str(Path(__file__).parent)]
    result = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (0, "50 rows\n"), result.stderr


def test_a_row_group_that_lacks_a_column_is_refused() -> None:
    data = parquet(table(3), compression="none")
    reader = _reader_at_first_column(data)
    head = reader.position
    _, columns = reader.items()
    start = head
    for _ in range(columns):
        start = reader.position
        reader.skip(STRUCT)
    begin = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    shorter = bytes([((columns - 1) << 4) | STRUCT])
    footer = data[begin:head] + shorter + data[head + 1 : start] + data[reader.position : len(data) - 8]
    refused(data[:begin] + footer + len(footer).to_bytes(4, "little") + b"PAR1", "other columns than the schema")
