"""Walking a Parquet file without unpacking it: its footer, its columns, and what its pages really unpack to.

The footer's sizes are only what its writer said. A decompressor, however, fills a buffer of exactly the size that
the page header states, so the sum over page headers is a bound on the memory that reading takes. Format: Parquet's
``FileMetaData`` and ``PageHeader``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tpbench_data.release.limits import MAX_PAGES
from tpbench_data.release.thrift import BINARY, I32, I64, INTEGERS, LIST, STRUCT, Compact

MAGIC = b"PAR1"


@dataclass(frozen=True, slots=True)
class Chunk:
    """One column of one row group: its path, values, bytes in the file, and where its pages begin (0 = none)."""

    path: str
    values: int
    packed: int
    data_page: int
    dictionary_page: int


@dataclass(frozen=True, slots=True)
class Footer:
    """What a footer says: rows, paths of the columns, and the chunks of every row group."""

    rows: int
    columns: tuple[str, ...]
    groups: tuple[tuple[Chunk, ...], ...]


@dataclass(frozen=True, slots=True)
class Page:
    """One page: column number, bytes when unpacked, bytes in the file, number of values."""

    column: int
    unpacked: int
    packed: int
    values: int


def read_footer(data: bytes) -> Footer:
    """The footer of a file, checked against itself: every row group has every column, and rows add up.

    Raises:
        ValueError: No Parquet file, or one that contradicts itself.
    """
    size = int.from_bytes(data[-8:-4], "little")
    if len(data) < 12 or data[:4] != MAGIC or data[-4:] != MAGIC or size > len(data) - 12:
        raise ValueError("it does not begin and end as one")
    reader = Compact(data, len(data) - 8 - size, len(data) - 8)
    leaves = rows = -1
    groups: list[tuple[int, tuple[Chunk, ...]]] = []
    for field, kind in reader.fields():
        if (field, kind) == (2, LIST):
            leaves = sum(_is_leaf(reader) for _ in reader.structs())
        elif (field, kind) == (3, I64):
            rows = reader.signed()
        elif (field, kind) == (4, LIST):
            groups = [_group(reader) for _ in reader.structs()]
        else:
            reader.skip(kind)
    if rows < 0 or leaves < 0 or rows != sum(count for count, _ in groups):
        raise ValueError("its footer does not say how many rows it has")
    columns = tuple(chunk.path for chunk in groups[0][1]) if groups else ()
    for _, chunks in groups:
        if len(chunks) != leaves or tuple(chunk.path for chunk in chunks) != columns:
            raise ValueError("a row group has other columns than the schema")
    return Footer(rows, columns, tuple(chunks for _, chunks in groups))


def _is_leaf(reader: Compact) -> bool:
    """Reads an element of the schema; whether it is a column and not a group of columns."""
    children = 0
    for field, kind in reader.fields():
        if field == 5 and kind == I32:
            children = reader.signed()
        else:
            reader.skip(kind)
    return children == 0


def _group(reader: Compact) -> tuple[int, tuple[Chunk, ...]]:
    rows, chunks = -1, []
    for field, kind in reader.fields():
        if (field, kind) == (1, LIST):
            chunks = [_chunk(reader) for _ in reader.structs()]
        elif (field, kind) == (3, I64):
            rows = reader.signed()
        else:
            reader.skip(kind)
    if rows < 0:
        raise ValueError("a row group without a number of rows")
    return rows, tuple(chunks)


def _chunk(reader: Compact) -> Chunk:
    found = None
    for field, kind in reader.fields():
        if (field, kind) == (3, STRUCT):
            found = _column(reader)
        elif field == 1 or field >= 8:
            raise ValueError("a column in another file, or encrypted")
        else:
            reader.skip(kind)
    if found is None or found.values < 0 or found.packed < 0:
        raise ValueError("a column without its sizes")
    return found


def _column(reader: Compact) -> Chunk:
    path = ""
    numbers: dict[int, int] = {}
    for field, kind in reader.fields():
        if (field, kind) == (3, LIST):
            inner, size = reader.items()
            if inner != BINARY:
                raise ValueError("a column without a path")
            path = ".".join(reader.binary().decode("utf-8") for _ in range(size))
        elif kind in INTEGERS:
            numbers[field] = reader.signed()
        else:
            reader.skip(kind)
    return Chunk(path, numbers.get(5, -1), numbers.get(7, -1), numbers.get(9, 0), numbers.get(11, 0))


def pages(data: bytes, footer: Footer) -> Iterator[Page]:
    """All pages of all columns.

    Raises:
        ValueError: A header that is none, a column that leaves the file, or too many pages.
    """
    count = 0
    for chunks in footer.groups:
        for number, chunk in enumerate(chunks):
            if not chunk.packed:
                continue  # no value and no dictionary
            # An offset of 0 means that there is no such page: a column without values has no data page.
            start = min(filter(None, (chunk.data_page, chunk.dictionary_page)), default=0)
            end = start + chunk.packed
            if not len(MAGIC) <= start <= end <= len(data):
                raise ValueError("a column lies outside the file")
            while start < end:
                reader = Compact(data, start, end)
                page = _page(reader, number)
                start = reader.position + page.packed
                count += 1
                if start > end or count > MAX_PAGES:
                    raise ValueError("a page lies outside its column" if start > end else "too many pages")
                yield page


def _page(reader: Compact, column: int) -> Page:
    unpacked = packed = -1
    values = 0
    for field, kind in reader.fields():
        if (field, kind) == (2, I32):
            unpacked = reader.signed()
        elif (field, kind) == (3, I32):
            packed = reader.signed()
        elif kind == STRUCT and field in (5, 7, 8):  # data page, dictionary page, data page of version 2
            values = _values(reader)
        else:
            reader.skip(kind)
    if min(unpacked, packed, values) < 0:
        raise ValueError("a page header without sizes")
    return Page(column, unpacked, packed, values)


def _values(reader: Compact) -> int:
    values = 0
    for field, kind in reader.fields():
        if (field, kind) == (1, I32):
            values = reader.signed()
        else:
            reader.skip(kind)
    return values
