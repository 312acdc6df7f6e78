"""What a table is made of: unrounded numbers with their denominators, cells, rows and columns.

Nothing here rounds or formats: that is the renderer's work (scoring spec 5, "Round only for display").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tpbench_score.statistics.bootstrap import OWN, Interval

Kind = Literal["rate", "points", "count", "p", "correlation", "rank", "ratio"]
"""How a number is shown: rates with three decimals, points with one, p-values as a x 10^b, counts plain."""


@dataclass(frozen=True)
class SeedValue:
    """The value of one sample seed.

    Attributes:
        seed: the sample seed; ``None`` for inputs that belong to no sample.
        value: the unrounded value; ``None`` where the denominator is empty.
        n: rows in the denominator.
    """

    seed: int | None
    value: float | None
    n: int


@dataclass(frozen=True)
class Counts:
    """The inputs behind a number, each counted once however many seeds it belongs to.

    Attributes:
        planned: inputs in the plan of the run: the denominator.
        total: inputs of this cell in the release; more than ``planned`` where a run was limited.
        parsed: answers that the scorer could read.
        abstained: explicit refusals to answer.
        errors: inputs that ended in a reader error, counted as wrong.
        missing: planned inputs without an answer, counted as wrong.
        turns_kept: mean share of the turns that the release's contexts of this cell keep, ``None`` where not known.
        words_kept: the same for white-space words, against the marked full context.
    """

    planned: int
    total: int
    parsed: int
    abstained: int
    errors: int
    missing: int
    turns_kept: float | None = None
    words_kept: float | None = None

    @property
    def answered(self) -> int:
        """Planned inputs that have an answer or an error."""
        return self.planned - self.missing

    @property
    def complete(self) -> bool:
        """Whether every input of the release's cell was answered."""
        return self.answered == self.total


@dataclass(frozen=True)
class Number:
    """One number of a cell.

    Attributes:
        value: unrounded; ``None`` prints as a dash.
        kind: how it is shown.
        sd: sample deviation over seeds, where there are two or more.
        per_seed: the values that were averaged, by seed.
        counts: the inputs behind it.
        interval: the two ends of a 95 % interval, where one was asked for.
        best: best compressed entry of its column.
        why: the reason of a dash.
    """

    value: float | None
    kind: Kind = "rate"
    sd: float | None = None
    per_seed: tuple[SeedValue, ...] = ()
    counts: Counts | None = None
    interval: Interval | None = None
    best: bool = False
    why: str = ""


@dataclass(frozen=True)
class Cell:
    """One or more numbers ("strict / loose") and a text ("Uniform stride") that belong together."""

    numbers: tuple[Number, ...] = ()
    text: str = ""

    @property
    def counts(self) -> Counts | None:
        """The inputs behind the cell: its numbers share them."""
        return next((number.counts for number in self.numbers if number.counts is not None), None)


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        key: unique in the table, for programs: "sgd.current_value.strict.r030".
        label: what a person reads, without the group.
        group: heading over neighbouring columns, usually the corpus.
        parts: names of the numbers of a cell, for formats that give each its own column.
        show_sd: whether the deviation is part of the table (it is always kept).
        accuracy: whether counts can stand beside it.
        short: label where the neighbour on the left says the rest, in formats for people.
    """

    key: str
    label: str
    group: str = ""
    parts: tuple[str, ...] = ("",)
    show_sd: bool = False
    accuracy: bool = True
    short: str = ""

    @property
    def heading(self) -> str:
        """Group and label, or the short label."""
        return self.short or f"{self.group} {self.label}".strip()


@dataclass(frozen=True)
class Row:
    """A row; ``reference`` rows (full context and the like) are italic and never best."""

    key: str
    label: str
    cells: tuple[Cell, ...]
    reference: bool = False


@dataclass(frozen=True)
class TableResult:
    """A computed table or figure.

    Attributes:
        number: the paper's number.
        kind: "table" or "figure".
        part: "" or the name of a companion ("paired", "gaps").
        title: one line, without the number.
        head: heading of the row labels.
        facts: what all cells share, for example reader, ratio, protocol; printed under the title.
        notes: sentences under the table: what is absent, what was counted as wrong.
        mean: what its means are over, for the signature.
        intervals: how its intervals were drawn, for the signature of a table that has any.
        signature: what the numbers were made from.
    """

    number: int
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    kind: Literal["table", "figure"] = "table"
    part: str = ""
    head: str = "Method"
    facts: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    mean: str = "seeds"
    intervals: str = OWN.signature
    signature: str = ""

    @property
    def name(self) -> str:
        """ "Table 12" or "Figure 2"."""
        return f"{self.kind.capitalize()} {self.number}"

    @property
    def file_stem(self) -> str:
        """A file name without ending, unique among the tables of one call once facts that differ are added."""
        return f"{self.kind}_{self.number:02d}" + (f"_{self.part}" if self.part else "")


@dataclass(frozen=True)
class Unavailable:
    """A table that this release cannot give, and the inputs it lacks."""

    number: int
    title: str
    missing: str
    kind: Literal["table", "figure"] = "table"

    @property
    def name(self) -> str:
        """ "Table 12" or "Figure 2"."""
        return f"{self.kind.capitalize()} {self.number}"
