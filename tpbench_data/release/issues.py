"""A problem found by a check, with its place; reports are sorted, so the same folder gives the same report."""

from __future__ import annotations

from dataclasses import dataclass

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
        return f"{place}: {self.problem}. {self.remedy}."

    def as_dict(self) -> dict[str, str | int]:
        """The issue as plain data, for ``--json``."""
        return {
            "file": self.file,
            "row": self.row,
            "field": self.field,
            "problem": self.problem,
            "remedy": self.remedy,
        }
