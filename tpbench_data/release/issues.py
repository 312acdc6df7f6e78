"""A problem found by a check, with its place; reports are sorted, so the same folder gives the same report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby

from tpbench_data.errors import shown

REBUILD = "Get the release again, or build it again"


@dataclass(frozen=True, order=True, slots=True)
class Issue:
    """One problem.

    Attributes:
        file: Path within the release.
        row: 1-based row of a table, 0 for the file as a whole.
        field: Column or key, empty for the row or file as a whole.
        problem: What is wrong, without a full stop.
        remedy: What to do about it, without a full stop.
    """

    file: str
    row: int
    field: str
    problem: str
    remedy: str = REBUILD

    def __str__(self) -> str:
        place = self.file
        if self.row:
            place += f", row {self.row}"
        if self.field:
            place += f", field '{self.field}'"
        return f"{shown(f'{place}: {self.problem}')}. {self.remedy}."

    def as_dict(self) -> dict[str, str | int]:
        """The issue as plain data, for ``--json``."""
        return {
            "file": self.file,
            "row": self.row,
            "field": self.field,
            "problem": self.problem,
            "remedy": self.remedy,
        }


def merged(issues: Iterable[Issue]) -> list[Issue]:
    """The issues sorted, the same problem in many rows of a file as one issue at the first of them."""

    def key(issue: Issue) -> tuple[str, str, str, str]:
        return issue.file, issue.field, issue.problem, issue.remedy

    found = []
    for _, group in groupby(sorted(set(issues), key=lambda issue: (key(issue), issue.row)), key=key):
        first, *others = group
        more = f" (and in {len(others)} more row{'s' if len(others) > 1 else ''})" if others else ""
        found.append(replace(first, problem=first.problem + more))
    return sorted(found)
