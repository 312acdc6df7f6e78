"""The exceptions of TPBench: one base class, each child also a matching built-in.

A message has one or two lines and says what is wrong, where (file, row, field) and what to do. Command lines
print it and exit with 2; library callers may catch either the TPBench class or the built-in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

MAX_SHOWN = 1_000
"""Characters of a text from a file that a message repeats."""


def shown(text: str) -> str:
    """A text that may come from anyone, fit for a terminal: not too long, and no character that steers one.

    Control characters and lone surrogates are written as escapes; a line break stays.
    """
    if len(text) > MAX_SHOWN:
        text = f"{text[:MAX_SHOWN]}..."
    return "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode("ascii") for char in text
    )


class TPBenchError(Exception):
    """Base of every error that TPBench raises on purpose."""


class BadInput(TPBenchError, ValueError):
    """Something the user gave cannot be used.

    Args:
        problem: What is wrong, without a full stop.
        file: The file or folder it was found in.
        row: 1-based line of a text file or row of a table.
        field: Column, key or option.
        remedy: What to do about it, without a full stop.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | Path | None = None,
        row: int | None = None,
        field: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.problem, self.row, self.field, self.remedy = problem, row, field, remedy
        place = [str(file)] if file is not None else []
        if row is not None:
            place.append(f"row {row}")
        if field is not None:
            place.append(f"field '{field}'")
        text = shown(f"{', '.join(place)}: {problem}" if place else problem)
        super().__init__(f"{text}. {remedy}." if remedy else f"{text}.")

    def __reduce__(self) -> tuple[Any, ...]:
        # The message is made once: pickled as it stands, a worker process can hand the error on.
        return _remade, (type(self), str(self), self.__dict__)


def _remade(kind: type[BadInput], text: str, fields: dict[str, Any]) -> BadInput:
    error = kind.__new__(kind, text)
    error.__dict__.update(fields)
    return error


class BadRelease(TPBenchError, ValueError):
    """A release folder failed validation; ``issues`` lists every problem, sorted."""

    def __init__(self, folder: str | Path, issues: list[str]) -> None:
        self.issues = issues
        more = f" (and {len(issues) - 1} more; run `tpbench-data validate {folder}`)" if len(issues) > 1 else ""
        super().__init__(f"{folder} is not a valid release: {issues[0]}{more}")


class MissingExtra(TPBenchError, ImportError):
    """A package of an optional extra is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs the package '{package}'. Install it with: pip install 'tpbench[{extra}]'")
