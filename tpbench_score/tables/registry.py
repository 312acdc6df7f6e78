"""Which tables there are, what each needs, and how all of them are made.

Source: scoring spec 5. A table whose inputs a release lacks is not an error: it is reported with what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tpbench_data.errors import BadInput
from tpbench_data.names import PROBE_LABELS, PROBES, ROLES
from tpbench_data.slots import SLOT_GROUPS
from tpbench_score.tables import (
    alias,
    corpora,
    deletion,
    free_form,
    joint,
    kv,
    main,
    matched,
    ranks,
    retention,
    scope,
    semantic,
)
from tpbench_score.tables.grid import DELETIONS, KV_METHODS
from tpbench_score.tables.model import TableResult, Unavailable
from tpbench_score.tables.study import GOAL_PROBES, Study


@dataclass(frozen=True)
class Need:
    """Scored outputs that a table reads.

    Attributes:
        roles: the roles of runs that can feed it, the first that has rows is read; empty where no output is read.
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
        if not self.roles:
            return ""
        readers = [study.reader]
        if self.other_reader and not study.reader_given:
            readers = study.others
            if not readers:
                return f"outputs of a second reader (or --reader) in role {self.roles[0]}"
        for reader in readers:
            for role in self.roles:
                rows = study.rows((role,), *self.probes, reader=reader)
                for column, wanted in (("corpus", self.corpora), ("method", self.methods)):
                    if wanted:
                        rows = rows.pick(**{column: wanted})
                if len(rows):
                    return ""
        return str(self)

    def __str__(self) -> str:
        if not self.roles:
            return self.also
        parts = ["any outputs" if self.roles == ROLES else f"outputs in role {' or '.join(self.roles)}"]
        if self.probes:
            parts.append("of " + " or ".join(f"{PROBE_LABELS[p]} {p}" if p in PROBES else p for p in self.probes))
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


_RETENTION = (5, 6, 7)
_P1, _P2, _P3 = "initial_goal", "current_value", "joint_recovery"
_MAIN_P1, _MAIN_P2, _MAIN_P3 = (Need(probes=(probe,)) for probe in (_P1, _P2, _P3))
_DELETED = Need(roles=deletion.ROLES, probes=(_P2,), methods=DELETIONS)

_ALL = (
    Table(2, "Scope of each comparison", (Need(roles=ROLES),), ("reader", "sample", "scorer"), scope.table_2),
    Table(
        3,
        "Main scores on the three probes",
        (Need(probes=(_P1, _P2, _P3)),),
        ("P1 strict / loose", "P2 strict", "P3 loose", "P3 strict"),
        main.table_3,
    ),
    Table(
        4,
        "Judged full equivalence of P1 answers",
        (Need(probes=(_P1,), also="saved judgments of all answers of a method"),),
        ("P1 equivalent",),
        semantic.table_4,
    ),
    Table(
        5,
        "Current value still in the compressed context",
        (Need(probes=(_P2,), also="their contexts"),),
        ("Retained",),
        retention.table_5,
    ),
    Table(
        6,
        "P2-strict, retention, and accuracy where the value is kept",
        (Need(probes=(_P2,), also="their contexts"),),
        ("P2 strict", "Retained", "Read given kept"),
        retention.table_6,
    ),
    Table(
        7,
        "P2-strict / retention by slot group",
        (Need(probes=(_P2,), also="their contexts"),),
        SLOT_GROUPS,
        retention.table_7,
    ),
    Table(
        8,
        "Matched first-user-plus-recent comparison",
        (Need(roles=matched.ROLES, probes=(_P3,), methods=(matched.SUBJECT,)),),
        ("P3 strict",),
        matched.table_8,
    ),
    Table(
        9,
        "P3 after excluding pairs that the alias rule accepts",
        (_MAIN_P3,),
        ("Full context loose, strict", "Best selector loose, strict"),
        alias.table_9,
    ),
    Table(
        10,
        "P3-strict under the two scorers",
        (_MAIN_P3,),
        ("Segment", "Whole", "Parsed", "Seg. given parsed"),
        joint.table_10,
    ),
    Table(11, "P2-strict in the paired deletion experiment", (_DELETED,), ("P2 strict",), deletion.table_11),
    Table(12, "P2 in the deletion experiment, strict / loose", (_DELETED,), ("strict / loose",), deletion.table_12),
    Table(
        13,
        "What the reader answers when evidence is deleted",
        (_DELETED,),
        ("Abstain", "Old value"),
        deletion.table_13,
    ),
    Table(
        14,
        "P2 strict / loose at wider turn budgets",
        (Need(roles=("budgets", "main"), probes=(_P2,), ratios=(0.50, 0.70), also="a ratio above 0.40"),),
        ("strict / loose per ratio",),
        main.table_14,
    ),
    Table(
        15,
        "Strict accuracy of cache methods",
        (Need(roles=("kv", "chunk_sweep"), probes=(_P2, _P3), methods=KV_METHODS),),
        ("one column per cache method", "Best turn selector"),
        kv.table_15,
    ),
    Table(
        16,
        "ChunkKV by chunk length",
        (Need(roles=("chunk_sweep",), probes=(_P2,), also=f"runs whose cache settings name a {kv.CHUNK_KEY}"),),
        ("P2 strict", "Malformed", "Abstain"),
        kv.table_16,
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
        joint.table_18,
    ),
    Table(
        19,
        "LongMemEval-KU P2-strict",
        (Need(roles=corpora.ROLES, probes=(_P2,), corpora=("lme_ku",)),),
        ("P2 strict",),
        corpora.table_19,
    ),
    Table(
        20,
        "RiSAWOZ P2-strict",
        (Need(roles=corpora.ROLES, probes=(_P2,), corpora=("risawoz",)),),
        ("P2 strict",),
        corpora.table_20,
    ),
    Table(
        21,
        "Free-form answer accuracy",
        (Need(roles=("free_form", "main"), probes=("free_form",), ratios=(0.10, 0.30)),),
        ("strict per ratio",),
        free_form.table_21,
    ),
    Table(
        22,
        "Free-form contexts: lexical answer retention / boundary-turn recall",
        (Need(roles=(), also="free-form inputs with their contexts"),),
        ("retention / recall",),
        free_form.table_22,
    ),
    Table(23, "P1 under three scoring rules", (_MAIN_P1,), ("Strict", "Loose", "Token F1"), main.table_23),
    Table(
        24,
        "P2-strict by turn budget",
        (Need(probes=(_P2,), ratios=(0.10, 0.30)),),
        ("strict per ratio",),
        main.table_24,
    ),
    Table(25, "P3 over seeds, segment-local", (_MAIN_P3,), ("Loose", "Strict"), joint.table_25),
    Table(
        2,
        "Ranks and means of the compressed methods",
        (_MAIN_P1, _MAIN_P2),
        ("P1 strict", "P1 loose", "P2 strict"),
        ranks.figure_2,
        "figure",
    ),
    Table(
        3,
        "Deleting the update turn moves the reader to the value it replaced",
        (_DELETED,),
        ("Current value", "Superseded value", "No answer"),
        deletion.figure_3,
        "figure",
    ),
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


def signed(result: TableResult, study: Study) -> TableResult:
    """The table with its signature: what was scored, which mean, how intervals were drawn."""
    if study.signature is None:
        return result
    settings = {"mean": result.mean}
    if any(n.interval for row in result.rows for cell in row.cells for n in cell.numbers):
        settings["intervals"] = result.intervals
    return replace(result, signature=str(study.signature.extended(**settings)))


def make_tables(study: Study, tables: Iterable[Table] | None = None) -> list[TableResult | Unavailable]:
    """Computes tables; each that cannot be computed is reported with what is missing, in its place."""
    out: list[TableResult | Unavailable] = []
    for table in [*TABLES.values(), *FIGURES.values()] if tables is None else tables:
        out += _made(study, table)
    return out


def _noted(result: TableResult, table: Table, study: Study) -> TableResult:
    concerned = table.number in _RETENTION or any(set(need.probes) & set(GOAL_PROBES) for need in table.inputs)
    if not study.chinese_left_out or not concerned:
        return result
    note = "Chinese P1, P3 and retention are left out: paper-1 has no rule for them. Use --scorer tpbench-1."
    return replace(result, notes=(*result.notes, note))


def _made(study: Study, table: Table) -> list[TableResult | Unavailable]:
    """The table for the main reader; for another where only that one has the outputs and none was asked for."""
    readers = [study.reader]
    if not study.reader_given and not any(need.other_reader for need in table.inputs):
        readers += study.others
    for reader in readers:
        chosen = replace(study, reader=reader)
        if any(need.lacking(chosen) for need in table.inputs):
            continue
        results = table.function(chosen)
        if results:
            return [signed(_noted(result, table, study), study) for result in results]
    missing = [phrase for need in table.inputs if (phrase := need.lacking(study))]
    missing = missing or [str(need) for need in table.inputs]
    return [Unavailable(table.number, table.title, "; ".join(missing), table.kind)]
