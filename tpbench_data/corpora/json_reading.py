"""Checked access to parsed JSON, so that a malformed corpus ends in one error naming file, row and field."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

import orjson

from tpbench_data.errors import BadInput

T = TypeVar("T")

_CHUNK = 1 << 20
_SPACE = " \t\n\r"
_NUMBER = re.compile(r"[-+.eE0-9]+")


def parse_json(data: bytes, file: str) -> Any:
    """Parses a whole JSON file.

    Raises:
        BadInput: Naming the file and the position of the first problem.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        raise BadInput(f"not valid JSON ({problem})", file=file, remedy="Restore the file from its source") from problem


def stream_records(data: bytes, file: str) -> Iterator[tuple[str | None, Any]]:
    """Parses the elements of one top-level JSON list, or the entries of one object, one after another.

    A corpus in one large file is never held parsed as a whole, which would take several times its size.

    Yields:
        (``None``, element) of a list or (key, value) of an object, in file order.

    Raises:
        BadInput: Not a list or object, or not valid JSON; names the file and the 1-based record.
    """
    scanner = _Scanner(data, file)
    opening = scanner.token()
    if opening not in ("[", "{"):
        raise BadInput("neither a JSON list nor an object", file=file, remedy="Restore the file from its source")
    closing = {"[": "]", "{": "}"}[opening]
    scanner.pos += 1
    if scanner.token() == closing:
        scanner.pos += 1
    else:
        while True:
            scanner.record += 1
            key = None
            if opening == "{":
                if scanner.token() != '"':
                    raise scanner.error("a key is missing")
                key = scanner.value()
                scanner.expect(":")
            yield key, scanner.value()
            if scanner.expect("," + closing) == closing:
                break
    if scanner.token():
        raise scanner.error("text after the end")


class _Scanner:
    """A position in UTF-8 text that is decoded piece by piece."""

    def __init__(self, data: bytes, file: str) -> None:
        self.data = memoryview(data)
        self.read = 0
        self.decode = codecs.getincrementaldecoder("utf-8")()
        self.text = ""
        self.pos = 0
        self.file = file
        self.record = 0
        self.parse = json.JSONDecoder(parse_constant=_refuse).raw_decode

    def error(self, problem: str) -> BadInput:
        return BadInput(
            f"not valid JSON ({problem})",
            file=self.file,
            row=self.record or None,
            remedy="Restore the file from its source",
        )

    def fill(self, size: int) -> bool:
        """Decodes more text; False where there is none left."""
        if self.read >= len(self.data):
            return False
        piece = self.data[self.read : self.read + size]
        self.read += len(piece)
        try:
            more = self.decode.decode(piece, final=self.read >= len(self.data))
        except UnicodeDecodeError as problem:
            raise self.error("it is not UTF-8") from problem
        self.text, self.pos = self.text[self.pos :] + more, 0
        return True

    def token(self) -> str:
        """The next character that is not white space, or the empty string at the end; does not move past it."""
        while True:
            while self.pos < len(self.text):
                if self.text[self.pos] not in _SPACE:
                    return self.text[self.pos]
                self.pos += 1
            if not self.fill(_CHUNK):
                return ""

    def expect(self, allowed: str) -> str:
        """Moves past one of the allowed characters and returns it."""
        found = self.token()
        if not found or found not in allowed:
            raise self.error(f"{' or '.join(map(repr, allowed))} expected")
        self.pos += 1
        return found

    def value(self) -> Any:
        """Parses one value; where the text at hand ends inside it, doubles the text and tries again."""
        self.token()
        while True:
            try:
                value, end = self.parse(self.text, self.pos)
            except json.JSONDecodeError as problem:
                if not self.fill(max(_CHUNK, len(self.text) - self.pos)):
                    raise self.error(problem.msg) from problem
                continue
            except (ValueError, RecursionError) as problem:
                raise self.error(str(problem)) from problem
            number = _NUMBER.match(self.text, self.pos)
            if number and number.end() == len(self.text) and self.fill(_CHUNK):  # it may go on
                continue
            self.pos = end
            return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value was found: the file and the 1-based number of the record in it."""

    file: str
    row: int | None = None

    def get(self, record: Any, key: str, kind: type[T]) -> T:
        """``record[key]``, which must be there and of the type ``kind``; a text must be storable as UTF-8."""
        value = record.get(key) if isinstance(record, dict) else None
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.error(f"{key!r} is missing or not a {kind.__name__}", key)
        if isinstance(value, str) and not is_storable(value):
            raise self.error(f"{key!r} holds half of a character pair (a lone surrogate)", key)
        return value

    def error(self, problem: str, field: str | None = None, remedy: str | None = None) -> BadInput:
        """A BadInput at this place."""
        return BadInput(problem, file=self.file, row=self.row, field=field, remedy=remedy)


def is_storable(text: str) -> bool:
    """Whether a text can be written as UTF-8: JSON may name a lone surrogate, Parquet cannot hold one."""
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
