"""The printed form of a method, ``name(setting=value, ...)``: written, read back, and split out of lists.

Settings are the fields of a dataclass. Text stands bare where that is unambiguous and as a JSON string elsewhere, so
that any text survives the round trip.
"""

from __future__ import annotations

import json
import math
import re
import types
from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from tpbench_data.errors import BadInput

M = TypeVar("M")

_BARE = re.compile(r"[A-Za-z0-9._:/@+~-]+")
_METHOD = re.compile(r"([a-z0-9_]+)\s*(?:\((.*)\))?", re.DOTALL)
_SETTING = re.compile(r'\s*([A-Za-z_]\w*)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s,()"]+)\s*(,|$)', re.DOTALL)
_NONE = "none"
_SIMPLE: dict[type, str] = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def print_method(method: Any) -> str:
    """``name``, or ``name(setting=value, ...)`` with every setting that differs from its default."""
    shown = [
        f"{field.name}={print_value(getattr(method, field.name))}"
        for field in fields(method)
        if getattr(method, field.name) != field.default
    ]
    return f"{method.name}({', '.join(shown)})" if shown else str(method.name)


def print_value(value: object) -> str:
    """A setting as text that `parse_method` reads back: shortest float, true/false, bare or quoted text."""
    if value is None:
        return _NONE
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if _BARE.fullmatch(value) and value != _NONE else json.dumps(value)
    return repr(value)


def parse_method(text: str, methods: Mapping[str, type[M]]) -> M:
    """Reads a printed form back: ``parse_method(str(method), methods) == method``.

    Raises:
        BadInput: Unknown method or setting, a setting given twice, or a value that does not fit.
    """
    match = _METHOD.fullmatch(text.strip())
    if match is None:
        raise BadInput(f"{text!r} is not a method", remedy="Write name or name(setting=value)")
    name, inside = match.groups()
    if name not in methods:
        raise BadInput(f"unknown method {name!r}", remedy=f"Known methods: {', '.join(methods)}")
    return make_method(methods[name], inside or "")


def make_method(kind: type[M], inside: str) -> M:
    """An instance of a method class from the text between the brackets; errors as for `parse_method`."""
    name = str(getattr(kind, "name", kind.__name__))
    known = setting_fields(kind)
    hints = get_type_hints(kind)
    settings: dict[str, Any] = {}
    place = 0
    while place < len(inside) and inside[place:].strip():
        match = _SETTING.match(inside, place)
        if match is None:
            raise BadInput(
                f"the settings ({inside}) of method {name!r} cannot be read",
                remedy='Write setting=value, setting="text with blanks"',
            )
        key, value, _ = match.groups()
        if key not in known:
            raise BadInput(
                f"method {name!r} has no setting {key!r}", remedy=f"Its settings: {', '.join(known) or 'none'}"
            )
        if key in settings:
            raise BadInput(f"setting {key!r} of method {name!r} is given twice")
        settings[key] = _read(value, hints[key], f"{key}={value} of method {name!r}")
        place = match.end()
    try:
        return kind(**settings)
    except BadInput:
        raise
    except (TypeError, ValueError) as problem:
        raise BadInput(f"method {name!r} refuses its settings ({inside}): {problem}") from problem


def setting_fields(kind: type) -> dict[str, Field[Any]]:
    """Setting name -> field of a method class, in order; empty for a class without settings."""
    return {field.name: field for field in fields(kind)} if is_dataclass(kind) else {}


def check_setting_types(kind: type) -> None:
    """Raises BadInput for a setting whose type cannot be printed and read back."""
    for name, hint in get_type_hints(kind).items():
        if name in setting_fields(kind) and not _is_supported(hint):
            raise BadInput(
                f"setting {name!r} of method {kind.__name__} has the type {hint}",
                remedy="Use int, float, str, bool, Literal of texts, or one of these with | None",
            )


def split_methods(text: str, option: str = "--method") -> list[str]:
    """Splits ``a,b(x=1,y=2)`` at the commas outside brackets and quotes.

    Raises:
        BadInput: Nothing in it, or a part twice.
    """
    parts = [""]
    depth, quoted, escaped = 0, False, False
    for char in text:
        if char == "," and depth == 0 and not quoted:
            parts.append("")
            continue
        parts[-1] += char
        if escaped:
            escaped = False
        elif quoted and char == "\\":
            escaped = True
        elif char == '"':
            quoted = not quoted
        elif not quoted:
            depth += (char == "(") - (char == ")")
    found = [part.strip() for part in parts if part.strip()]
    if not found:
        raise BadInput(f"{option} is empty", remedy=f"Give {option} a comma list")
    if len(set(found)) != len(found):
        raise BadInput(f"{option} names something twice: {text}")
    return found


def _is_supported(hint: Any) -> bool:
    if hint in _SIMPLE:
        return True
    if get_origin(hint) is Literal:
        return all(isinstance(value, str) for value in get_args(hint))
    if get_origin(hint) in (Union, types.UnionType):
        rest = [part for part in get_args(hint) if part is not type(None)]
        return len(rest) == 1 and _is_supported(rest[0])
    return False


def _read(value: str, hint: Any, what: str) -> Any:
    if get_origin(hint) in (Union, types.UnionType):
        if value == _NONE:
            return None
        hint = next(part for part in get_args(hint) if part is not type(None))
    try:
        text = json.loads(value) if value.startswith('"') else value
    except ValueError as problem:
        raise BadInput(f"{what} is not a quoted text", remedy="Escape as in JSON") from problem
    if get_origin(hint) is Literal:
        if text not in get_args(hint):
            raise BadInput(f"{what} is unknown", remedy=f"Known: {', '.join(get_args(hint))}")
        return text
    if hint is str:
        return text
    try:
        if hint is bool:
            return {"true": True, "false": False}[text]
        number = hint(text)
        if not math.isfinite(number):
            raise ValueError
        return number
    except (KeyError, ValueError) as problem:
        raise BadInput(f"{what} is not {_SIMPLE[hint]}") from problem
