"""What an import found: what was taken, what was left and why, and every problem with its place."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Something that is wrong with the artifact.

    Attributes:
        file: Path inside the artifact.
        row: 1-based row, 0 for the file as a whole.
        text: What is wrong.
    """

    file: str
    row: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}, row {self.row}: {self.text}" if self.row else f"{self.file}: {self.text}"


@dataclass
class Findings:
    """Collects while files are read.

    Attributes:
        problems: In the order found.
        imported: File -> rows taken from it.
        skipped: File -> why it was not imported.
        notes: What was done with rows that needed a decision, with their number.
    """

    problems: list[Problem] = field(default_factory=list)
    imported: Counter[str] = field(default_factory=Counter)
    skipped: dict[str, str] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)

    def problem(self, file: str, row: int, text: str) -> None:
        """Records a problem."""
        self.problems.append(Problem(file, row, text))

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data, sorted."""
        return {
            "problems": [{"file": p.file, "row": p.row, "problem": p.text} for p in sorted(set(self.problems))],
            "imported": dict(sorted(self.imported.items())),
            "skipped": dict(sorted(self.skipped.items())),
            "notes": dict(sorted(self.notes.items())),
        }
