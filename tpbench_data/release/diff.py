"""What differs between two releases: facts, files, rows of every config, labels, and cells of the stored tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from tpbench_data.release.reader import Release
from tpbench_data.release.schema import CONFIGS, INPUT_CONFIGS
from tpbench_data.release.stored_tables import StoredTable, read_stored_table
from tpbench_data.release.vocabulary import config_key

Kind = Literal["added", "removed", "changed"]

LABELS = frozenset(
    {
        "alias_equivalent",
        "answer_turns",
        "old_answer",
        "old_value",
        "reference_answer",
        "reference_goal",
        "reference_value",
        "slot",
        "support_turns",
        "transition_type",
        "update_turn",
        "value_alternatives",
    }
)
"""Columns of an input that say what is right: a change in one changes scores of answers given before."""

_NOT_FACTS = {"digest", "files", "schema_version"}


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs.

    Attributes:
        part: ``facts``, ``files``, a config, ``labels`` or ``cells``.
        kind: Whether it was added, removed or changed.
        key: What it is: a fact, a path, the key of a row, or the place of a cell.
        columns: The columns that changed, where it is a row.
        old: The old value of a fact, label or cell, else ``None``.
        new: The new value.
    """

    part: str
    kind: Kind
    key: str
    columns: tuple[str, ...] = ()
    old: Any = None
    new: Any = None

    def __str__(self) -> str:
        sign = {"added": "+", "removed": "-", "changed": "~"}[self.kind]
        text = f"{sign} {self.key}"
        if self.columns:
            text += f" ({', '.join(self.columns)})"
        if self.kind == "changed" and self.part in ("facts", "labels", "cells"):
            text += f": {_short(self.old)} -> {_short(self.new)}"
        return text

    def as_dict(self) -> dict[str, Any]:
        """The difference as plain data, for ``--json``."""
        return {
            "part": self.part,
            "kind": self.kind,
            "key": self.key,
            "columns": list(self.columns),
            "old": self.old,
            "new": self.new,
        }


def diff(old: Release, new: Release) -> list[Difference]:
    """Every difference, part by part, in a fixed order; empty where both hold the same.

    Raises:
        BadInput: A file of either release is missing, was changed or cannot be read.
    """
    found = [*_facts(old.manifest, new.manifest), *_files(old, new)]
    for config in CONFIGS:
        if [entry["sha256"] for entry in old.files(config)] != [entry["sha256"] for entry in new.files(config)]:
            found += _rows(config, old, new)
    return [*found, *_cells(old, new)]


def _facts(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Difference]:
    before = {key: value for key, value in old.items() if key not in _NOT_FACTS}
    now = {key: value for key, value in new.items() if key not in _NOT_FACTS}
    yield from _compare("facts", before, now)


def _files(old: Release, new: Release) -> Iterator[Difference]:
    before = {entry["path"]: entry["sha256"] for entry in old.manifest["files"]}
    now = {entry["path"]: entry["sha256"] for entry in new.manifest["files"]}
    yield from _compare("files", before, now)


def _rows(config: str, old: Release, new: Release) -> Iterator[Difference]:
    before, now = _by_key(config, old), _by_key(config, new)
    for key in sorted(before.keys() | now.keys()):
        if key not in now:
            yield Difference(config, "removed", key)
        elif key not in before:
            yield Difference(config, "added", key)
        elif before[key] != now[key]:
            a, b = before[key], now[key]
            changed = tuple(name for name in CONFIGS[config].names if a[name] != b[name])
            yield Difference(config, "changed", key, changed)
            for name in changed if config in INPUT_CONFIGS else ():
                if name in LABELS:
                    yield Difference("labels", "changed", f"{key} {name}", (), a[name], b[name])


def _by_key(config: str, release: Release) -> dict[str, dict[str, Any]]:
    """The rows of a config by their key; a key that comes again gets a number."""
    names = config_key(config)
    seen: Counter[str] = Counter()
    found = {}
    for row in release.table(config).to_pylist():
        key = " ".join(str(row[name]) for name in names)
        seen[key] += 1
        found[key if seen[key] == 1 else f"{key} #{seen[key]}"] = row
    return found


def _cells(old: Release, new: Release) -> Iterator[Difference]:
    yield from _compare("cells", _numbers(old), _numbers(new))


def _numbers(release: Release) -> dict[str, Any]:
    """Every number of every stored table by its place."""
    found: dict[str, Any] = {}
    for name, data in release.stored_tables().items():
        for table in read_stored_table(name, data):
            found |= _numbers_of(table)
    return found


def _numbers_of(table: StoredTable) -> Iterator[tuple[str, Any]]:
    for row, column, cell in table.cells():
        for position, number in enumerate(cell.get("numbers", [])):
            part = number.get("name") or (str(position) if position else "")
            place = f"{table.key}: {row['key']}, {column['key']}{' ' + str(part) if part else ''}"
            yield place, number["value"]


def _compare(part: str, before: dict[str, Any], now: dict[str, Any]) -> Iterator[Difference]:
    for key in sorted(before.keys() | now.keys()):
        if key not in now:
            yield Difference(part, "removed", key, (), before[key], None)
        elif key not in before:
            yield Difference(part, "added", key, (), None, now[key])
        elif before[key] != now[key]:
            yield Difference(part, "changed", key, (), before[key], now[key])


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
