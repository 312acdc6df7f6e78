"""Reading option values: comma lists and NAME=PATH pairs, with one clear error each."""

from __future__ import annotations

from pathlib import Path

from tpbench_data.errors import BadInput


def split_list(text: str, option: str) -> list[str]:
    """A comma list without empty or repeated parts.

    Raises:
        BadInput: Nothing in it, or a part twice.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise BadInput(f"{option} is empty", remedy=f"Give {option} a comma list")
    if len(set(parts)) != len(parts):
        raise BadInput(f"{option} names something twice: {text}")
    return parts


def integers(text: str, option: str) -> tuple[int, ...]:
    """A comma list of whole numbers.

    Raises:
        BadInput: A part is not a whole number.
    """
    parts = split_list(text, option)
    try:
        return tuple(int(part) for part in parts)
    except ValueError as problem:
        raise BadInput(f"{option} {text!r} is not a list of whole numbers", remedy="Write 42,43,44") from problem


def named_paths(pairs: tuple[str, ...], option: str) -> dict[str, Path]:
    """``NAME=PATH`` pairs as a dict, in the order given.

    Raises:
        BadInput: Not a pair, or a name twice.
    """
    found: dict[str, Path] = {}
    for pair in pairs:
        name, sign, path = pair.partition("=")
        if not (sign and name and path):
            raise BadInput(f"{option} {pair!r} is not NAME=PATH", remedy=f"Write {option} sgd=PATH")
        if name in found:
            raise BadInput(f"{option} names {name!r} twice")
        found[name] = Path(path)
    return found


def limits(pairs: tuple[str, ...], option: str) -> dict[str, int | None]:
    """``NAME=N`` or ``NAME=none`` pairs, where N is a whole number above 0.

    Raises:
        BadInput: Not such a pair, or a name twice.
    """
    found: dict[str, int | None] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not (sign and name) or not (value == "none" or (value.isdecimal() and int(value) > 0)):
            raise BadInput(f"{option} {pair!r} is not NAME=N or NAME=none", remedy=f"Write {option} risawoz=200")
        if name in found:
            raise BadInput(f"{option} names {name!r} twice")
        found[name] = None if value == "none" else int(value)
    return found


def choices(text: str, option: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """A comma list of names out of ``allowed``.

    Raises:
        BadInput: A name that is not allowed.
    """
    parts = split_list(text, option)
    for part in parts:
        if part not in allowed:
            raise BadInput(f"{option}: unknown name {part!r}", remedy=f"Known: {', '.join(allowed)}")
    return tuple(parts)
