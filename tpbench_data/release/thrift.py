"""Reading Thrift's compact protocol, as far as Parquet's footer and page headers use it.

A reader of our own, because pyarrow's view of a footer ends the whole process where a footer contradicts itself.
Every step is bounded by the bytes that are there: a count that the remaining bytes cannot hold is an error.
"""

from __future__ import annotations

from collections.abc import Iterator

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
INTEGERS = (I16, I32, I64)
_MAX_NESTING = 16


class Compact:
    """A reader; ``position`` is the first byte after what was read.

    Args:
        data: The bytes.
        position: Where to begin.
        end: Where to stop: nothing is read at or behind it.

    Raises:
        ValueError: From every method, where the bytes are no Thrift.
    """

    def __init__(self, data: bytes, position: int, end: int) -> None:
        self.data, self.position, self.end = data, position, end

    def fields(self) -> Iterator[tuple[int, int]]:
        """(field id, type) of every field of a struct; the caller reads or skips each before the next."""
        field = 0
        while head := self.byte():
            field = field + (head >> 4) if head >> 4 else self.signed()
            yield field, head & 15

    def items(self) -> tuple[int, int]:
        """(type, number) of the items of a list, which follow."""
        head = self.byte()
        size = head >> 4 if head >> 4 != 15 else self.unsigned()
        if size > self.end - self.position:
            raise ValueError("a list longer than its file")
        return head & 15, size

    def structs(self) -> Iterator[None]:
        """Yields before every struct of a list; the caller reads each."""
        kind, size = self.items()
        if kind != STRUCT and size:
            raise ValueError("a list of something else than structs")
        for _ in range(size):
            yield

    def binary(self) -> bytes:
        """A text or a byte string."""
        size = self.unsigned()
        self._advance(size)
        return self.data[self.position - size : self.position]

    def signed(self) -> int:
        """A whole number."""
        value = self.unsigned()
        return (value >> 1) ^ -(value & 1)

    def unsigned(self) -> int:
        """A count."""
        value = shift = 0
        while shift < 64:
            byte = self.byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise ValueError("a number that is too long")

    def byte(self) -> int:
        """One byte."""
        self._advance(1)
        return self.data[self.position - 1]

    def skip(self, kind: int, depth: int = 0) -> None:
        """Passes over a value of a field."""
        if depth > _MAX_NESTING:
            raise ValueError("a structure that is nested too deeply")
        if kind == BYTE:
            self.byte()
        elif kind in INTEGERS:
            self.unsigned()
        elif kind == DOUBLE:
            self._advance(8)
        elif kind == BINARY:
            self._advance(self.unsigned())
        elif kind in (LIST, SET):
            inner, size = self.items()
            for _ in range(size):
                self._skip_item(inner, depth)
        elif kind == MAP:
            size = self.unsigned()
            kinds = self.byte() if size else 0
            for _ in range(min(size, self.end - self.position)):
                self._skip_item(kinds >> 4, depth)
                self._skip_item(kinds & 15, depth)
        elif kind == STRUCT:
            for _, inner in self.fields():
                self.skip(inner, depth + 1)
        elif kind not in (TRUE, FALSE):  # a boolean field is its own type
            raise ValueError("a value of an unknown type")

    def _skip_item(self, kind: int, depth: int) -> None:
        if kind in (TRUE, FALSE):
            self.byte()
        else:
            self.skip(kind, depth + 1)

    def _advance(self, size: int) -> None:
        if size > self.end - self.position:
            raise ValueError("a structure that is cut off")
        self.position += size
