"""Checks of the tables stored with a release: counts add up, rates are rates, and what they name is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import Any

from tpbench_data.release.issues import Issue
from tpbench_data.release.stored_tables import StoredTable

REMAKE = "Make the table again with `tpbench-score tables` and freeze it"


def check_stored_tables(
    tables: list[StoredTable], inputs: Mapping[tuple[str, str, str], int], runs: Collection[str] | None
) -> Iterator[Issue]:
    """Checks every stored table.

    Args:
        tables: All of them.
        inputs: (corpus, probe config, method) -> number of inputs in the release.
        runs: The run ids of the release, ``None`` where they could not be read.
    """
    keys = Counter(table.key for table in tables)
    for table in tables:
        file = f"tables/{table.file}"
        if keys[table.key] > 1:
            yield Issue(file, 0, table.name, "is stored twice with the same facts", REMAKE)
        yield from _check_signature(table, file, runs)
        for kind, group in (("column", table.columns), ("row", table.rows)):
            twice = [key for key, count in Counter(entry["key"] for entry in group).items() if count > 1]
            if twice:
                yield Issue(file, 0, table.name, f"has the {kind} {twice[0]!r} twice", REMAKE)
        for row, column, cell in table.cells():
            place = f"{table.name}: {row['key']}, {column['key']}"
            for problem in (*_number_problems(cell), *_count_problems(cell.get("counts"))):
                yield Issue(file, 0, place, problem, REMAKE)
            total = cell.get("counts", {}).get("total")
            known = _inputs_of(row["key"], column["key"], inputs)
            if type(total) is int and known is not None and total > known:
                yield Issue(file, 0, place, f"counts {total} inputs, the release has {known}", REMAKE)


def _check_signature(table: StoredTable, file: str, runs: Collection[str] | None) -> Iterator[Issue]:
    signature = table.data.get("signature")
    if runs is None or not table.available or not isinstance(signature, str):
        return
    parts = dict(part.split(":", 1) for part in signature.split("|") if ":" in part)
    named = parts.get("runs", "none")
    for run_id in named.split("+") if named != "none" and not named.split("-")[0].isdigit() else ():
        if run_id not in runs:
            yield Issue(file, 0, table.name, f"was made from run {run_id!r}, which is not in the release", REMAKE)


def _number_problems(cell: Mapping[str, Any]) -> Iterator[str]:
    for number in cell.get("numbers", []):
        value = number["value"]
        if value is not None and number.get("kind") in ("rate", "p") and not 0 <= value <= 1:
            yield f"holds the {number['kind']} {value}, which is not between 0 and 1"
        seeds = number.get("per_seed")
        for seed in seeds if isinstance(seeds, list) else ():
            if isinstance(seed, dict) and (seed.get("n") == 0) != (seed.get("value") is None):
                yield "has a seed whose value and n do not agree"


def _count_problems(counts: Any) -> Iterator[str]:
    if not counts:
        return
    if not all(type(value) is int and value >= 0 for value in counts.values()):
        yield "has a count that is not a whole number"
        return
    found = {name: counts.get(name, 0) for name in ("planned", "total", "answered", "parsed", "missing", "errors")}
    if found["answered"] != found["planned"] - found["missing"]:
        yield f"has {found['planned']} planned, {found['missing']} missing, but {found['answered']} answered"
    if found["planned"] > found["total"]:
        yield f"has {found['planned']} planned of {found['total']} inputs"
    if found["parsed"] + found["errors"] > found["answered"]:
        yield f"has {found['parsed']} parsed and {found['errors']} errors of {found['answered']} answered"


def _inputs_of(row: str, column: str, inputs: Mapping[tuple[str, str, str], int]) -> int | None:
    """The inputs that a cell can count, where its row names a method and its column a corpus and a probe."""
    parts = column.split(".")
    found = [
        inputs[corpus, probe, method]
        for method in row.split(".")
        for corpus, probe in pairwise(parts)
        if (corpus, probe, method) in inputs
    ]
    return found[0] if len(found) == 1 else None
