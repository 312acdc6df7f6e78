"""From the text of an answer to the value in it: the published parsers, value types and abstentions.

Source: scoring spec section 2. The probes differ on purpose, because the published scorers did: P1 and P3 try the
whole text first, P2 only the span from the last "{" to the last "}". JSON that is not an object is no answer.
Nothing here raises, whatever the text is, and all of it takes linear time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

MAX_DEPTH = 100
"""Deepest nesting that counts as JSON, so that no result depends on an interpreter's recursion limit."""

MAX_DIGITS = 4300
"""Longest integer that counts as JSON: the limit of Python's own integer conversion, made explicit."""

ABSTENTION_WORDS = frozenset({"", "unknown", "n/a", "none"})
"""Values that abstain in P2 and LongMemEval-KU, after trimming and lower-casing."""

# Possessive repeats: an unclosed string runs to the end of the text once, not once per quote.
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_FLAT_OBJECT = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a parser took from one answer.

    Attributes:
        value: What is scored. Text for P1 and P3 ("" where there is none or the reader abstained); the JSON
            value as given for P2 and LongMemEval-KU (``None`` where there is none).
        abstained: Whether the scorer of the probe counts the answer as an abstention.
        reason: Why the value cannot be right, one of `tpbench_score.records.REASONS`; ``None`` where it can.
        level: At which level the answer was parsed, see `Parsed`.
    """

    value: Any
    abstained: bool
    reason: str | None = None
    level: str | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """The JSON object of an answer.

    Attributes:
        record: The object, ``None`` where the answer has none.
        level: How it was found, one of `tpbench_score.parse_levels.PARSE_LEVELS`; ``None`` without an object and
            under `paper-1`, which does not tell.
    """

    record: dict[str, Any] | None
    level: str | None = None


# --- parsers -------------------------------------------------------------------------------------------------


def parse_reader_text(text: str) -> dict[str, Any] | None:
    """The object of a P1, P3, Chinese or LongMemEval-KU answer; ``None`` where there is none.

    The whole trimmed text is tried first; only if it is not JSON at all, the span from the last "{" to the last
    "}" is. The span is not balanced, so nested objects survive only in a text that is JSON as a whole.
    """
    text = text.strip()
    whole, is_json = _load(text)
    if is_json:
        return whole if isinstance(whole, dict) else None
    return extract_json(text)


def extract_json(text: str) -> dict[str, Any] | None:
    """The object of a P2 answer: what stands from the last "{" to the last "}", or ``None``."""
    start, end = text.rfind("{"), text.rfind("}")
    if start < 0 or end < start:
        return None
    value, _ = _load(text[start : end + 1])
    return value if isinstance(value, dict) else None


def last_flat_object(text: str) -> dict[str, Any] | None:
    """The last object without braces inside it that parses, as the matched comparison searched for it."""
    for piece in reversed(_FLAT_OBJECT.findall(text)):
        value, _ = _load(piece)
        if isinstance(value, dict):
            return value
    return None


@cache
def without_level(parse: Callable[[str], dict[str, Any] | None]) -> Callable[[str], Parsed]:
    """A published parser, which does not tell how it found the object, as the parser of a rule."""
    return lambda text: Parsed(parse(text))


def flat_object_text(text: str) -> str:
    """The last flat object of a text, written as JSON again; "" where there is none.

    The matched comparison handed this, not the text, to the scorers of the probes.
    """
    found = last_flat_object(text)
    return "" if found is None else json.dumps(found)


def _whole_number(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"an integer of {len(digits)} digits")
    return int(digits)


_DECODER = json.JSONDecoder(parse_int=_whole_number)


def _load(text: str) -> tuple[Any, bool]:
    """(value, whether the text is JSON). Like the published parser it accepts NaN and the last duplicate key."""
    if nests_too_deeply(text):
        return None, False
    try:
        return _DECODER.decode(text), True
    except (ValueError, RecursionError):
        return None, False


def nests_too_deeply(text: str) -> bool:
    """Whether the brackets of a text nest deeper than `MAX_DEPTH`."""
    return text.count("[") + text.count("{") > MAX_DEPTH and _depth(text) > MAX_DEPTH


def _depth(text: str) -> int:
    depth = deepest = 0
    for token in _STRING_OR_BRACKET.findall(text):
        if token in ("[", "{"):
            depth += 1
            deepest = max(deepest, depth)
        elif token in ("]", "}"):
            depth -= 1
    return deepest


# --- value types and abstentions -----------------------------------------------------------------------------


def text_of_value(value: Any) -> str:
    """A JSON value as P1 and P3 read it: "" where it is falsy, else its printed form (25 -> "25")."""
    return str(value) if value else ""


def read_text_value(record: dict[str, Any] | None) -> Extracted:
    """P1, P3 and the Chinese P1 scorer: any value counts as text; only ``true`` itself abstains."""
    if record is None:
        return Extracted("", True, "no_json")
    if record.get("abstain") is True:
        return Extracted("", True, "abstained")
    text = text_of_value(record.get("value"))
    return Extracted(text, False) if text else Extracted("", True, "no_answer")


def read_string_value(record: dict[str, Any] | None) -> Extracted:
    """P2: only a JSON string is a prediction; anything truthy in ``abstain`` and four words abstain.

    No JSON, a null or a number is not an abstention, only wrong.
    """
    if record is None:
        return Extracted(None, False, "no_json")
    value = record.get("value")
    if record.get("abstain"):
        return Extracted(value, True, "abstained")
    if value is None:
        return Extracted(None, False, "no_answer")
    if not isinstance(value, str):
        return Extracted(value, False, "not_text")
    if is_abstention_word(value):
        return Extracted(value, True, "no_answer")
    return Extracted(value, False)


def read_scalar_value(record: dict[str, Any] | None) -> Extracted:
    """LongMemEval-KU: any JSON value is a prediction; no JSON and no value abstain, as do P2's flag and words."""
    if record is None:
        return Extracted(None, True, "no_json")
    value = record.get("value")
    if record.get("abstain"):
        return Extracted(value, True, "abstained")
    if value is None or (isinstance(value, str) and is_abstention_word(value)):
        return Extracted(value, True, "no_answer")
    return Extracted(value, False)


def is_abstention_word(value: str) -> bool:
    """Whether a string stands for "no value" in P2 and LongMemEval-KU."""
    return value.strip().lower() in ABSTENTION_WORDS
