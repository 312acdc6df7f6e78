"""Which tables there are, what each needs, and how all of them are made.

Source: scoring spec 5. A table whose inputs a release lacks is not an error: it is reported with what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tpbench_data.errors import BadInput
from tpbench_data.names import PROBE_LABELS
from tpbench_score.tables import main
from tpbench_score.tables.model import TableResult, Unavailable
from tpbench_score.tables.study import Study


@dataclass(frozen=True)
class Need:
    """Scored outputs that a table reads.

    Attributes:
        roles: the roles of runs that can feed it, the first that has rows is read.
        probes: any of these must have rows.
        methods: at least one of these methods must occur; empty for any.
        corpora: at least one of these corpora must occur; empty for any.
        ratios: the ratios that the paper's table shows; others in the release are shown too.
        other_reader: whether it needs a second reader, or one named by the user.
        also: a further input in words ("judgments"), checked by the table itself.
    """

    roles: tuple[str, ...] = ("main",)
    probes: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    corpora: tuple[str, ...] = ()
    ratios: tuple[float, ...] = (0.30,)
    other_reader: bool = False
    also: str = ""

    def lacking(self, study: Study) -> str:
        """What is missing, as one phrase; "" if nothing is."""
        rows = study.rows(self.roles, *self.probes)
        if self.other_reader and not study.reader_given:
            if not study.others:
                return f"outputs of a second reader (or --reader) in role {self.roles[0]}"
            rows = next(
                (found for name in study.others if len(found := study.rows(self.roles, *self.probes, reader=name))),
                rows,
            )
        for column, wanted in (("corpus", self.corpora), ("method", self.methods)):
            if wanted:
                rows = rows.pick(**{column: wanted})
        return "" if len(rows) else str(self)

    def __str__(self) -> str:
        parts = [f"outputs in role {' or '.join(self.roles)}"]
        if self.probes:
            parts.append("of " + " or ".join(f"{PROBE_LABELS.get(p, p)} {p}" for p in self.probes))
        if self.corpora:
            parts.append("on " + " or ".join(self.corpora))
        if self.methods:
            parts.append("with " + " or ".join(self.methods))
        if self.also:
            parts.append(f"and {self.also}")
        return " ".join(parts)


@dataclass(frozen=True)
class Table:
    """A table or figure of the paper.

    Attributes:
        number: the paper's number.
        title: one line.
        inputs: what it reads; all of them are needed.
        columns: the columns for each corpus, in words.
        function: computes it; an empty list means that its further input is missing.
        kind: "table" or "figure".
    """

    number: int
    title: str
    inputs: tuple[Need, ...]
    columns: tuple[str, ...]
    function: Callable[[Study], list[TableResult]]
    kind: Literal["table", "figure"] = "table"


_P1, _P2, _P3 = "initial_goal", "current_value", "joint_recovery"

_ALL = (
    Table(
        3,
        "Main scores on the three probes",
        (Need(probes=(_P1, _P2, _P3)),),
        ("P1 strict / loose", "P2 strict", "P3 loose", "P3 strict"),
        main.table_3,
    ),
    Table(
        10,
        "P3-strict under the two scorers",
        (Need(probes=(_P3,)),),
        ("Segment", "Whole", "Parsed", "Seg. given parsed"),
        main.table_10,
    ),
    Table(
        14,
        "P2 strict / loose at wider turn budgets",
        (Need(roles=("budgets", "main"), probes=(_P2,), ratios=(0.50, 0.70), also="a ratio above 0.40"),),
        ("strict / loose per ratio",),
        main.table_14,
    ),
    Table(
        17,
        "P2-strict of another reader",
        (Need(probes=(_P2,), ratios=(0.10, 0.30), other_reader=True),),
        ("strict per ratio",),
        main.table_17,
    ),
    Table(
        18,
        "P3 of another reader, segment-local",
        (Need(probes=(_P3,), other_reader=True),),
        ("Loose", "Strict"),
        main.table_18,
    ),
    Table(
        23,
        "P1 under three scoring rules",
        (Need(probes=(_P1,)),),
        ("Strict", "Loose", "Token F1"),
        main.table_23,
    ),
    Table(
        24,
        "P2-strict by turn budget",
        (Need(probes=(_P2,), ratios=(0.10, 0.30)),),
        ("strict per ratio",),
        main.table_24,
    ),
    Table(25, "P3 over seeds, segment-local", (Need(probes=(_P3,)),), ("Loose", "Strict"), main.table_25),
)

TABLES: dict[int, Table] = {table.number: table for table in _ALL if table.kind == "table"}
FIGURES: dict[int, Table] = {table.number: table for table in _ALL if table.kind == "figure"}


def chosen_tables(tables: Sequence[int], figures: Sequence[int]) -> list[Table]:
    """The tables and figures with the given numbers, or all of them if none is given.

    Raises:
        BadInput: a number that the registry lacks.
    """
    if not tables and not figures:
        return [*TABLES.values(), *FIGURES.values()]
    out = []
    for wanted, known, option in ((tables, TABLES, "--table"), (figures, FIGURES, "--figure")):
        for number in dict.fromkeys(wanted):
            if number not in known:
                numbers = ", ".join(str(n) for n in sorted(known))
                raise BadInput(f"there is no number {number}", field=option, remedy=f"Numbers: {numbers}")
            out.append(known[number])
    return out


def make_tables(study: Study, tables: Iterable[Table] | None = None) -> list[TableResult | Unavailable]:
    """Computes tables; each that cannot be computed is reported with what is missing, in its place."""
    out: list[TableResult | Unavailable] = []
    for table in [*TABLES.values(), *FIGURES.values()] if tables is None else tables:
        missing = [phrase for need in table.inputs if (phrase := need.lacking(study))]
        results = [] if missing else table.function(study)
        if results:
            out += [replace(result, signature=study.signature) for result in results]
        else:
            missing = missing or [str(need) for need in table.inputs]
            out.append(Unavailable(table.number, table.title, "; ".join(missing), table.kind))
    return out
