"""Reading Parquet that may come from anyone: exact columns, bounded memory, valid text, one kind of error.

A few kilobytes can state a terabyte (a long text in the dictionary of a column, referred to a million times), so
texts are read as dictionaries, their full size is added up, and only then are they spelled out.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tpbench_data.errors import BadInput
from tpbench_data.release import limits
from tpbench_data.release.parquet_pages import MAGIC, Footer, pages, read_footer

_REMEDY = "Get the file again"
_FIXED_WIDTH = 8


def read_parquet(data: bytes, schema: pa.Schema, path: Path) -> pa.Table:
    """Parquet bytes as a table with exactly this schema.

    Raises:
        BadInput: Damaged, too large when unpacked, with other columns, or with text that is not UTF-8.
    """
    if len(data) < 12 or data[-4:] != MAGIC:
        raise BadInput("not a readable Parquet file (it does not end as one)", file=path, remedy=_REMEDY)
    _check_size(int.from_bytes(data[-8:-4], "little"), limits.MAX_FOOTER_BYTES, "bytes of footer", path)
    try:
        footer = read_footer(data)
        _check_cost(data, footer, path)
        file = pq.ParquetFile(
            pa.BufferReader(data),
            read_dictionary=list(footer.columns),
            thrift_string_size_limit=limits.MAX_FOOTER_BYTES,
            thrift_container_size_limit=1_000_000,
        )
        # The file's own schema, read without the wish for dictionaries.
        _check_columns(pq.read_schema(pa.BufferReader(data)), schema, path)
        # Row group by row group: Arrow cannot assemble nested dictionaries from several of them.
        packed = [file.read_row_group(number, use_threads=False) for number in range(len(footer.groups))]
        size = sum(_spelled_out(chunk) for part in packed for column in part.columns for chunk in column.chunks)
        _check_size(size, limits.MAX_TABLE_BYTES, "bytes unpacked", path)
        table = pa.concat_tables([schema.empty_table(), *(part.cast(schema) for part in packed)])
        _check_content(table, path)
    except BadInput:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, MemoryError, OverflowError) as problem:
        reason = " ".join(str(problem).split())[:200]
        raise BadInput(f"not a readable Parquet file ({reason})", file=path, remedy=_REMEDY) from problem
    return table


def _check_content(table: pa.Table, path: Path) -> None:
    for name, column in zip(table.schema.names, table.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            raise BadInput(
                "holds text that is not UTF-8, or is damaged", file=path, field=name, remedy=_REMEDY
            ) from None


def _check_cost(data: bytes, footer: Footer, path: Path) -> None:
    """Checks rows, values and unpacked pages against the limits, before anything is unpacked."""
    _check_size(footer.rows, limits.MAX_TABLE_ROWS, "rows", path)
    unpacked = 0
    values = [0] * len(footer.columns)
    for page in pages(data, footer):
        unpacked += page.unpacked
        values[page.column] += page.values
    _check_size(unpacked, limits.MAX_TABLE_BYTES, "bytes unpacked", path)
    _check_size(max(values, default=0), limits.MAX_TABLE_VALUES, "values in a column", path)
    if unpacked > limits.RATIO_FREE_BYTES and unpacked > limits.MAX_RATIO * len(data):
        raise BadInput(
            f"unpacks to {unpacked // len(data)} times its size, more than {limits.MAX_RATIO} times", file=path
        )


def _check_columns(found: pa.Schema, wanted: pa.Schema, path: Path) -> None:
    for field in wanted:
        position = found.get_field_index(field.name)
        if position < 0:
            twice = field.name in found.names
            raise BadInput("column stands twice" if twice else "column is missing", file=path, field=field.name)
        if found.field(position).type != field.type:
            raise BadInput(
                f"column holds {str(found.field(position).type)[:100]}, not {field.type}", file=path, field=field.name
            )
    extra = sorted(set(found.names) - set(wanted.names))
    if extra or found.names != wanted.names:
        raise BadInput(
            "unknown column" if extra else "columns in another order", file=path, field=(extra or found.names)[0]
        )


def _check_size(size: int, most: int, what: str, path: Path) -> None:
    if size > most:
        raise BadInput(f"has {size} {what}, more than {most}", file=path, remedy="This is not a TPBench table")


def _spelled_out(array: pa.Array) -> int:
    """Bytes of an array once every text stands where it occurs."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        lengths = pc.binary_length(array.dictionary)
        return int(pc.sum(pc.take(lengths, array.indices)).as_py() or 0) + 4 * len(array)
    if pa.types.is_list(kind):
        return _spelled_out(array.flatten()) + 4 * len(array)
    if pa.types.is_struct(kind):
        return sum(_spelled_out(array.field(number)) for number in range(kind.num_fields))
    if pa.types.is_string(kind):
        return int(pc.sum(pc.binary_length(array)).as_py() or 0) + 4 * len(array)
    return _FIXED_WIDTH * len(array)
