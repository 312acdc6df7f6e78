"""Reading JSON that may come from anyone: bounded in size and depth, and only what JSON has.

NaN, infinity, a key that stands twice in an object, a lone surrogate and a number too long to be one are errors,
because other readers take them differently or not at all.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from tpbench_data.errors import BadInput
from tpbench_data.release.limits import MAX_JSON_BYTES, MAX_JSON_DEPTH


def parse_strict(data: bytes, file: str | Path, max_bytes: int = MAX_JSON_BYTES) -> Any:
    """Parses JSON from UTF-8 bytes.

    Raises:
        BadInput: Too large, too deep, or not JSON.
    """
    if len(data) > max_bytes:
        raise BadInput(f"larger than {max_bytes} bytes", file=file)
    try:
        text = data.decode("utf-8")
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
        # "\ud800" in ASCII is a text that no file and no terminal can show.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise BadInput(f"JSON nested deeper than {MAX_JSON_DEPTH} levels", file=file) from None
    except ValueError as problem:
        raise BadInput(f"not valid JSON ({_short(problem)})", file=file, remedy="Get the file again") from None
    if deeper_than(value, MAX_JSON_DEPTH):
        raise BadInput(f"JSON nested deeper than {MAX_JSON_DEPTH} levels", file=file)
    return value


def deeper_than(value: Any, levels: int) -> bool:
    """Whether lists and objects are nested more than ``levels`` times; without recursion."""
    layer = [value]
    for _ in range(levels):
        layer = [
            child
            for node in layer
            if isinstance(node, (list, dict))
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, (list, dict))
        ]
        if not layer:
            return False
    return True


def _short(problem: ValueError) -> str:
    if isinstance(problem, UnicodeEncodeError):
        return "a lone surrogate in a text"
    return str(problem).splitlines()[0][:200]


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice[:80]!r} stands twice in one object")
    return found
