"""Computing the tables frozen in a release again and comparing every cell.

Compared are the numbers (unrounded, per seed, with deviations and intervals), texts, counts and marks of every cell,
and what the signature says of scorer, runs, means and intervals. The signature's release digest and program version
are not: freezing a table changes the digest. Labels, titles and notes are words for people and may change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from tpbench_data.errors import BadInput
from tpbench_data.release.reader import Release
from tpbench_data.release.stored_tables import StoredTable, read_stored_table
from tpbench_score.frozen_inputs import FrozenInputs
from tpbench_score.outputs import PlannedInputs, load_outputs
from tpbench_score.reachability import as_stored_table, reachability
from tpbench_score.render.counts import with_counts
from tpbench_score.render.jsontext import table_object
from tpbench_score.rules import RULES
from tpbench_score.scoring import score_runs
from tpbench_score.signature import Signature
from tpbench_score.tables.loading import study_of
from tpbench_score.tables.model import TableResult
from tpbench_score.tables.registry import FIGURES, TABLES, make_tables
from tpbench_score.tables.study import Study
from tpbench_score.verdicts import PART as VERDICTS
from tpbench_score.verdicts import cell_texts, cells_of, first_difference, verdict_table

REACHABILITY = "reachability"

_NOT_COMPARED = ("release", "tpbench")

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Mismatch:
    """The first place where a frozen table and the computed one differ.

    Attributes:
        file: File of the frozen table.
        table: Its name.
        row: Label of the row, which is the method in most tables; "" where the table as a whole differs.
        column: Heading of the column.
        part: What differs: the name of a number, or "counts", "kept", "text", "rows", "columns", "signature", "table".
        frozen: What was frozen.
        now: What is computed now.
        cells: Cells that differ in this table.
        item: Input id of the first answer of the release whose verdict differs; "" where no verdicts are frozen.
    """

    file: str
    table: str
    row: str
    column: str
    part: str
    frozen: Any
    now: Any
    cells: int = 0
    item: str = ""


@dataclass(frozen=True)
class Verification:
    """What was compared.

    Attributes:
        tables: Frozen tables that were computed again.
        cells: Their cells.
        mismatches: One per table that differs, in file order.
    """

    tables: int
    cells: int
    mismatches: Sequence[Mismatch]


def verify(release: Release) -> Verification:
    """Computes every frozen table of a release again.

    Raises:
        BadInput: Nothing is frozen, or the release cannot be read or scored.
    """
    stored = [table for name, data in release.stored_tables().items() for table in read_stored_table(name, data)]
    frozen = [table for table in stored if table.available]
    if not frozen:
        raise BadInput(
            "no tables are frozen in this release",
            file=release.path,
            remedy="Make them with: tpbench-score tables R --format json --out DIR; add them with tpbench-data freeze",
        )
    maker = _Maker(release)
    found = [(table, _compare(table, maker)) for table in frozen]
    item = next((mismatch.item for table, mismatch in found if mismatch and mismatch.item), "")
    return Verification(
        tables=len(frozen),
        cells=sum(len(table.rows) * len(table.columns) for table in frozen),
        mismatches=[replace(mismatch, item=mismatch.item or item) for _, mismatch in found if mismatch],
    )


# --- computing again -----------------------------------------------------------------------------------------


class _Maker:
    """Computes tables of one release; scores once per scorer."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self._studies: dict[tuple[str, str | None, tuple[str, ...]], Study] = {}
        self._scores: dict[str, pa.Table] = {}
        self._made: dict[tuple[Any, ...], list[Json]] = {}

    def scores(self, scorer: str) -> pa.Table:
        """The score table of the runs of the release."""
        if scorer not in self._scores:
            self._scores[scorer] = score_runs(*self._outputs, scorer)
        return self._scores[scorer]

    @cached_property
    def _outputs(self) -> tuple[FrozenInputs, list[PlannedInputs]]:
        inputs = FrozenInputs(self.release)
        return inputs, load_outputs(inputs, None, allow_missing=False)

    def candidates(self, table: StoredTable) -> Iterator[Json]:
        """The computed tables that a frozen one may be, most likely first."""
        scorer = _signature(table).get("scorer", "")
        if table.data.get("part") == REACHABILITY:
            known = [name for name in scorer.split("+") if name in RULES]
            yield from as_stored_table(reachability(self.release, known))["tables"]
        elif table.data.get("part") == VERDICTS and scorer in RULES:
            yield from verdict_table(self.scores(scorer))["tables"]
        elif scorer in RULES:
            yield from self._registered(table, scorer)

    def _registered(self, table: StoredTable, scorer: str) -> Iterator[Json]:
        number = table.data.get("number")
        registry = FIGURES if table.data.get("kind") == "figure" else TABLES
        if not isinstance(number, int) or number not in registry:
            return
        reader, runs = table.data.get("facts", {}).get("reader"), _named_runs(_signature(table).get("runs", ""))
        drawn = any("interval" in one for _, _, cell in table.cells() for one in cell.get("numbers", []))
        counted = any(column["key"].endswith(".parse_rate") for column in table.columns)
        for choice in dict.fromkeys([(None, ()), (None, runs), (reader, ()), (reader, runs)]):
            study = self._study(scorer, *choice)
            if study is None:
                continue
            for with_intervals in (True, False) if drawn else (False,):
                key = (scorer, choice, with_intervals, counted, registry is FIGURES, number)
                if key not in self._made:
                    made = make_tables(replace(study, with_intervals=with_intervals), [registry[number]])
                    there = [one for one in made if isinstance(one, TableResult)]
                    self._made[key] = [table_object(with_counts(one) if counted else one) for one in there]
                yield from self._made[key]

    def _study(self, scorer: str, reader: str | None, runs: tuple[str, ...]) -> Study | None:
        key = (scorer, reader, runs)
        if key not in self._studies:
            try:
                self._studies[key] = study_of(*self._outputs, self.scores(scorer), reader=reader, runs=runs)
            except BadInput:
                return None  # this choice of reader and runs is not possible here
        return self._studies[key]


def _signature(table: StoredTable) -> dict[str, str]:
    try:
        return dict(Signature.parse(str(table.data.get("signature", ""))).parts)
    except ValueError:
        return {}


def _named_runs(text: str) -> tuple[str, ...]:
    return () if text in ("", "none") or text.split("-")[0].isdigit() else tuple(text.split("+"))


# --- comparing -----------------------------------------------------------------------------------------------


def _compare(frozen: StoredTable, maker: _Maker) -> Mismatch | None:
    """``None`` where some computed table equals the frozen one; else how the likeliest one differs."""
    closest: Mismatch | None = None
    for now in maker.candidates(frozen):
        if StoredTable(frozen.file, now).key != frozen.key:
            continue
        mismatch = _difference(frozen, now, maker)
        if mismatch is None:
            return None
        if closest is None or mismatch.cells < closest.cells:
            closest = mismatch
    return closest or Mismatch(frozen.file, frozen.key, "", "", "table", "frozen", "cannot be made from this release")


def _difference(frozen: StoredTable, now: Json, maker: _Maker) -> Mismatch | None:
    for part in ("columns", "rows"):
        before, after = ([entry["key"] for entry in table.get(part, [])] for table in (frozen.data, now))
        if before != after:
            size = len(frozen.rows) * len(frozen.columns)
            return Mismatch(frozen.file, frozen.key, "", "", part, before, after, cells=size)
    differing: list[Mismatch] = []
    for row, row_now in zip(frozen.rows, now["rows"], strict=True):
        for column, cell, cell_now in zip(frozen.columns, row["cells"], row_now["cells"], strict=True):
            found = _cell_difference(cell, cell_now)
            if found is not None:
                heading = f"{column.get('group', '')} {column['label']}".strip()
                differing.append(Mismatch(frozen.file, frozen.key, row["label"], heading, *found))
    if differing:
        item = _first_item(frozen, now, maker) if frozen.data.get("part") == VERDICTS else ""
        return replace(differing[0], cells=len(differing), item=item)
    said, says = (_compared_signature(table.get("signature")) for table in (frozen.data, now))
    return None if said == says else Mismatch(frozen.file, frozen.key, "", "", "signature", said, says)


def _cell_difference(frozen: Json, now: Json) -> tuple[str, Any, Any] | None:
    """(part, frozen, now) of the first difference inside a cell."""
    for one, one_now in zip(frozen.get("numbers", []), now.get("numbers", []), strict=False):
        for key in ("value", *sorted((one.keys() | one_now.keys()) - {"value", "why", "name"})):
            if one.get(key) != one_now.get(key):
                name = str(one.get("name") or "value")
                return name if key == "value" else f"{name}, {key}", one.get(key), one_now.get(key)
    for part in ("text", "counts", "kept"):
        if frozen.get(part) != now.get(part):
            return part, frozen.get(part), now.get(part)
    before, after = (len(cell.get("numbers", [])) for cell in (frozen, now))
    return None if before == after else ("numbers", before, after)


def _compared_signature(text: Any) -> str:
    parts = [part for part in str(text).split("|") if part.split(":")[0] not in _NOT_COMPARED]
    return "|".join(parts)


def _first_item(frozen: StoredTable, now: Json, maker: _Maker) -> str:
    """The input id of the first answer whose verdict differs."""
    before, after = cell_texts(frozen.data), cell_texts(now)
    scores = maker.scores(_signature(frozen)["scorer"])
    places = dict(cells_of(scores))
    for (key, measure), text in before.items():
        place = first_difference(text, after[key, measure])
        if place is not None and place < len(places[key]):
            return str(scores["input_id"][int(places[key][place])].as_py())
    return ""
