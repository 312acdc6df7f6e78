"""Reading a given pool: its ordered candidate rows and, for P3, its list of ids.

Source: FINDINGS parts B and C (the published index and its columns); ``docs/corpora.md`` describes the files.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tpbench_data.errors import BadInput

CANDIDATE_COLUMNS = (
    "dialogue_id",
    "source_dialogue_id",
    "slot",
    "old_value",
    "new_value",
    "origin_turn_id",
    "origin_turn_candidates",
    "final_slot_update_turn_id",
    "final_slot_value",
    "later_slot_update_turn_ids",
    "is_final",
)


def read_candidates(path: Path) -> list[Mapping[str, str]]:
    """Reads a candidates file: tab separated, a header line, no quoting (values may hold bare quotes).

    Raises:
        BadInput: A column is missing, a row has another number of cells, a number is not one, or an id repeats.
    """
    header, lines = _lines(path)
    names = header.split("\t")
    absent = [column for column in CANDIDATE_COLUMNS if column not in names]
    if absent:
        raise BadInput("column missing", file=path, row=1, field=absent[0], remedy="See docs/corpora.md")
    rows: list[Mapping[str, str]] = []
    ids: set[str] = set()
    for number, line in lines:
        cells = line.split("\t")
        if len(cells) != len(names):
            raise BadInput(f"{len(cells)} cells instead of {len(names)}", file=path, row=number)
        row = dict(zip(names, cells, strict=True))
        if not row["origin_turn_id"].isdecimal():
            raise BadInput("not a turn number", file=path, row=number, field="origin_turn_id")
        if row["is_final"] not in ("true", "false"):
            raise BadInput("must be true or false", file=path, row=number, field="is_final")
        if row["dialogue_id"] in ids:
            raise BadInput(f"{row['dialogue_id']!r} appears twice", file=path, row=number, field="dialogue_id")
        ids.add(row["dialogue_id"])
        rows.append(row)
    if not rows:
        raise BadInput("no candidate in it", file=path)
    return rows


def read_p3_pool(path: Path, known: set[str]) -> list[str]:
    """Reads the ids of a P3 pool, one a line.

    Raises:
        BadInput: An id repeats or is not among the candidates.
    """
    first, rest = _lines(path)
    ids: list[str] = []
    seen: set[str] = set()
    for number, line in [(1, first), *rest]:
        if line in seen:
            raise BadInput(f"{line!r} appears twice", file=path, row=number)
        if line not in known:
            raise BadInput(f"{line!r} is not among the candidates", file=path, row=number)
        seen.add(line)
        ids.append(line)
    return ids


def _lines(path: Path) -> tuple[str, list[tuple[int, str]]]:
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError as problem:
        raise BadInput("no such file", file=path) from problem
    except UnicodeDecodeError as problem:
        raise BadInput(f"not UTF-8 ({problem.reason})", file=path) from problem
    lines = [(n, line.removesuffix("\r")) for n, line in enumerate(text.split("\n"), start=1)]
    filled = [(n, line) for n, line in lines if line]
    if not filled:
        raise BadInput("the file is empty", file=path)
    return filled[0][1], filled[1:]
