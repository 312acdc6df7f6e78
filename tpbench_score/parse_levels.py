"""From the text of an answer to its object under `tpbench-1`, with the name of what it took to find it.

``strict``    the whole text is one JSON object
``fenced``    the whole text is a Markdown fence around one JSON object
``repaired``  an object inside other text, or one that is not quite JSON: the first outermost one whose braces match

The text itself is never changed. A closed thinking block comes before the answer, so objects in it are not the
answer; one that never closes has no answer behind it. Of two equal names in one object the last counts, at every level.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Literal, NoReturn

from tpbench_score.lenient_json import balanced_objects, repaired_object
from tpbench_score.parsing import Parsed, nests_too_deeply

ParseLevel = Literal["strict", "fenced", "repaired"]
PARSE_LEVELS: dict[ParseLevel, str] = {
    "strict": "the whole text is one JSON object",
    "fenced": "the whole text is a fence around one JSON object",
    "repaired": "the first balanced object in the text, with small faults mended",
}
"""Every level with its meaning; an answer without an object has none."""

ANSWER_NAMES = frozenset({"value", "abstain"})
"""Names of which an answer has at least one: an object without them is passed over where another has them."""

_FENCE_BEGIN = re.compile(r"(`{3,}+|~{3,}+)[ \t]*+(?:[A-Za-z][\w+.-]*+)?")
_THOUGHTS_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_THOUGHTS_BEGIN = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)


def parse_answer(text: str, names: frozenset[str] = ANSWER_NAMES) -> Parsed:
    """The object of an answer and the level at which it was found.

    Args:
        text: The answer as generated.
        names: Fields by which the object of an answer is told from others.
    """
    whole = text.strip()
    found = strict_object(whole)
    if found is not None:
        return Parsed(found, "strict")
    found = strict_object(_inside_fence(whole))
    if found is not None:
        return Parsed(found, "fenced")
    said = _without_thoughts(whole)
    for quotes in (True, False):
        found = _first(balanced_objects(said, quotes=quotes), names)
        if found is not None:
            return Parsed(found, "repaired")
    return Parsed(None)


def strict_object(text: str) -> dict[str, Any] | None:
    """The object that a text is, numbers as they are written; ``None`` for any other text, JSON or not."""
    if not text.startswith("{") or nests_too_deeply(text):
        return None
    try:
        found = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


# Numbers stay text: 7.50 is not 7.5 to a reader who was asked for a price.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse)


def _inside_fence(text: str) -> str:
    """What a fence around the whole text encloses; "" where there is none. The closing fence is no shorter."""
    begin = _FENCE_BEGIN.match(text)
    if begin is None:
        return ""
    inside = text[begin.end() :].rstrip(begin[1][0])
    closing = len(text) - begin.end() - len(inside)
    return inside.strip() if closing >= len(begin[1]) else ""


def _first(objects: Iterable[str], names: frozenset[str]) -> dict[str, Any] | None:
    fallback = None
    for text in objects:
        found = strict_object(text)
        if found is None:
            found = repaired_object(text)
        if found is None:
            continue
        if names & found.keys():
            return found
        fallback = found if fallback is None else fallback
    return fallback


def _without_thoughts(text: str) -> str:
    """What follows the last thinking block; nothing where a block was begun and never ended."""
    ends = [match.end() for match in _THOUGHTS_END.finditer(text)]
    if ends:
        return text[ends[-1] :]
    return "" if _THOUGHTS_BEGIN.match(text) else text
