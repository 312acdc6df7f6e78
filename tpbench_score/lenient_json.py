"""Reading the object that a reader meant, where it is not quite JSON.

Repairs, all of them local: comments, trailing commas, single or typographic quotes, unescaped quotes and line breaks
inside strings, unquoted names and values, ``True``, ``False`` and ``None``. An object that never ends is not
repaired: nobody knows how it would have gone on. Everything takes linear time, whatever the text is.
"""

from __future__ import annotations

import re
from typing import Any

from tpbench_score.parsing import MAX_DEPTH

_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’"}
"""Opening quote -> closing quote. A typographic string may also be closed by the plain quote."""
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

# A string without an end runs to the end of the text once, not once per quote.
_IN_OBJECT = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}]', re.DOTALL)
_BRACE = re.compile(r"[{}]")
_BLANK = re.compile(r"(?:\s++|//[^\n]*+)++")
_BARE_NAME = re.compile(r"[^\W\d][\w-]*+")
_BARE_VALUE = re.compile(r"[^,{}\[\]\n\"]++")
_STRING_PIECE = re.compile(r"[^\\\"'”’]++")
_UNICODE_ESCAPE = re.compile(r"u([0-9a-fA-F]{4})")
_AFTER_NAME = re.compile(r"\s*+:")
_AFTER_VALUE = re.compile(r"\s*+(?:[}\]]|,\s*+(?:[}\]\"'“‘]|[^\W\d][\w-]*+\s*+:)|//|/\*)")
_AFTER_ITEM = re.compile(r"\s*+[,\]]")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORDS = {"true": True, "false": False, "null": None, "none": None}


class _Broken(Exception):
    """The text at hand is no object, not even a damaged one."""


def balanced_objects(text: str, *, quotes: bool) -> list[str]:
    """Every outermost ``{...}`` whose braces match, in order.

    Args:
        text: Any text. What stands between the objects is prose, where quotes mean nothing.
        quotes: Whether a brace inside a string in double quotes is a character of that string.
    """
    token = _IN_OBJECT if quotes else _BRACE
    closed: list[tuple[int, int]] = []
    opened: list[int] = []
    position = text.find("{")
    while position >= 0:
        match = token.search(text, position) if opened else _BRACE.search(text, position)
        if match is None:
            break
        position = match.end()
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}" and opened:
            start = opened.pop()
            while closed and closed[-1][0] > start:
                closed.pop()
            closed.append((start, position))
    return [text[start:end] for start, end in closed]


def repaired_object(text: str) -> dict[str, Any] | None:
    """The object that a text from ``{`` to its ``}`` stands for, numbers as they are written; ``None`` for none."""
    reader = _Reader(text)
    try:
        found = reader.object(1)
        reader.skip_blank()
    except _Broken:
        return None
    return found if reader.place == len(text) else None


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0
        self.last_comment_end = text.rfind("*/")

    def object(self, depth: int) -> dict[str, Any]:
        self.take("{", depth)
        found: dict[str, Any] = {}
        while not self.ends("}"):
            name = self.name()
            self.skip_blank()
            if self.peek() != ":":
                raise _Broken
            self.place += 1
            found[name] = self.value(depth, _AFTER_VALUE)
        return found

    def array(self, depth: int) -> list[Any]:
        self.take("[", depth)
        found = []
        while not self.ends("]"):
            found.append(self.value(depth, _AFTER_ITEM))
        return found

    def take(self, bracket: str, depth: int) -> None:
        if depth > MAX_DEPTH or self.peek() != bracket:
            raise _Broken
        self.place += 1

    def ends(self, bracket: str) -> bool:
        """Passes over blanks and commas; whether the closing bracket came."""
        self.skip_blank()
        while self.peek() == ",":
            self.place += 1
            self.skip_blank()
        if self.peek() != bracket:
            if not self.peek():
                raise _Broken
            return False
        self.place += 1
        return True

    def name(self) -> str:
        if self.peek() in _QUOTES:
            return self.string(_AFTER_NAME)
        match = _BARE_NAME.match(self.text, self.place)
        if match is None:
            raise _Broken
        self.place = match.end()
        return match[0]

    def value(self, depth: int, after: re.Pattern[str]) -> Any:
        self.skip_blank()
        first = self.peek()
        if first == "{":
            return self.object(depth + 1)
        if first == "[":
            return self.array(depth + 1)
        if first in _QUOTES:
            return self.string(after)
        match = _BARE_VALUE.match(self.text, self.place)
        if match is None:
            raise _Broken
        self.place = match.end()
        bare = match[0].partition("//")[0].partition("/*")[0].strip() if "/" in match[0] else match[0].strip()
        if not bare:
            raise _Broken
        return bare if _NUMBER.fullmatch(bare) else _WORDS.get(bare.lower(), bare)

    def string(self, after: re.Pattern[str]) -> str:
        """A string: it ends at a closing quote behind which the object goes on, not at a quote inside a word."""
        closing = {_QUOTES[self.peek()], '"'} if self.peek() == "“" else {_QUOTES[self.peek()]}
        self.place += 1
        parts: list[str] = []
        while (character := self.peek()) != "":
            self.place += 1
            if character == "\\":
                parts.append(self.escape())
            elif character in closing and after.match(self.text, self.place):
                return "".join(parts)
            else:
                match = _STRING_PIECE.match(self.text, self.place)
                parts.append(character + (match[0] if match else ""))
                self.place = match.end() if match else self.place
        raise _Broken

    def escape(self) -> str:
        match = _UNICODE_ESCAPE.match(self.text, self.place)
        if match:
            self.place = match.end()
            return self.surrogate_pair(chr(int(match[1], 16)))
        character = self.peek()
        self.place += 1
        return _ESCAPES.get(character, character)

    def surrogate_pair(self, first: str) -> str:
        match = _UNICODE_ESCAPE.match(self.text, self.place + 1) if self.peek() == "\\" else None
        if match is None or not ("\ud800" <= first < "\udc00" <= chr(int(match[1], 16)) < "\ue000"):
            return first
        self.place = match.end()
        return (first + chr(int(match[1], 16))).encode("utf-16", "surrogatepass").decode("utf-16")

    def skip_blank(self) -> None:
        while True:
            match = _BLANK.match(self.text, self.place)
            if match:
                self.place = match.end()
            if not (self.place < self.last_comment_end and self.text.startswith("/*", self.place)):
                return
            self.place = self.text.index("*/", self.place) + 2

    def peek(self) -> str:
        return self.text[self.place : self.place + 1]
