"""Walking the page headers of a Parquet file: what its pages really unpack to, whatever the footer claims.

The footer's sizes are only what its writer said. A decompressor, however, fills a buffer of exactly the size that
the page header states, so the sum over page headers is a bound on the memory that reading takes. Nothing is
decompressed here. Format: Parquet's ``PageHeader`` in Thrift's compact protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow.parquet as pq

from tpbench_data.release.limits import MAX_PAGES

_STRUCT = 12
_TYPE_FIELD, _UNPACKED_FIELD, _PACKED_FIELD = 1, 2, 3
_BODY_FIELDS = (5, 7, 8)
"""Data page, dictionary page, data page version 2; each has its number of values as field 1."""
_MAX_NESTING = 8


@dataclass(frozen=True, slots=True)
class Page:
    """One page: column number, bytes when unpacked, bytes in the file, number of values."""

    column: int
    unpacked: int
    packed: int
    values: int


def pages(data: bytes, metadata: pq.FileMetaData) -> Iterator[Page]:
    """All pages of all column chunks.

    Raises:
        ValueError: A header that is none, a chunk that leaves the file, or too many pages.
    """
    count = 0
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(number)
            if not chunk.total_compressed_size:
                continue  # no value and no dictionary
            # An offset of 0 means that there is no such page: a column without values has no data page.
            dictionary = chunk.dictionary_page_offset if chunk.has_dictionary_page else None
            start = min(filter(None, (chunk.data_page_offset, dictionary)), default=0)
            end = start + chunk.total_compressed_size
            if not 4 <= start <= end <= len(data):
                raise ValueError("a column lies outside the file")
            while start < end:
                header = _Header(data, start, end)
                page = header.page(number)
                start = header.position + page.packed
                count += 1
                if start > end or count > MAX_PAGES:
                    raise ValueError("a page lies outside its column" if start > end else "too many pages")
                yield page


class _Header:
    """A reader of one page header; ``position`` is the first byte after what was read."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self.data, self.position, self.end = data, start, end

    def page(self, column: int) -> Page:
        found: dict[int, int] = {}
        for field, kind in self._fields():
            if kind == _STRUCT and field in _BODY_FIELDS:
                found[0] = self._values()
            elif kind in (4, 5, 6):
                found[field] = self._signed()
            else:
                self._skip(kind, 0)
        if min(found.get(_UNPACKED_FIELD, -1), found.get(_PACKED_FIELD, -1), found.get(0, 0)) < 0:
            raise ValueError("a page header without sizes")
        return Page(column, found[_UNPACKED_FIELD], found[_PACKED_FIELD], found.get(0, 0))

    def _values(self) -> int:
        values = 0
        for field, kind in self._fields():
            if field == 1 and kind in (4, 5, 6):
                values = self._signed()
            else:
                self._skip(kind, 1)
        return values

    def _fields(self) -> Iterator[tuple[int, int]]:
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._signed()
            yield field, head & 15

    def _skip(self, kind: int, depth: int) -> None:
        if depth > _MAX_NESTING:
            raise ValueError("a page header that is nested too deeply")
        if kind in (1, 2):  # a boolean is its own type
            return
        if kind == 3:
            self._byte()
        elif kind in (4, 5, 6):
            self._signed()
        elif kind == 7:
            self._advance(8)
        elif kind == 8:
            self._advance(self._unsigned())
        elif kind in (9, 10):
            head = self._byte()
            size = head >> 4 if head >> 4 != 15 else self._unsigned()
            for _ in range(size):
                if head & 15 in (1, 2):
                    self._byte()
                else:
                    self._skip(head & 15, depth + 1)
        elif kind == _STRUCT:
            for _, inner in self._fields():
                self._skip(inner, depth + 1)
        else:
            raise ValueError("a page header of an unknown form")

    def _byte(self) -> int:
        self._advance(1)
        return self.data[self.position - 1]

    def _advance(self, size: int) -> None:
        if size > self.end - self.position:
            raise ValueError("a page header that is cut off")
        self.position += size

    def _unsigned(self) -> int:
        value = shift = 0
        while shift < 64:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise ValueError("a number that is too long")

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
