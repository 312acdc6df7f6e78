"""Checks of order and counts: rows stand where every reader expects them, and as many as the manifest says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from tpbench_data.release.issues import Issue
from tpbench_data.release.manifest import MANIFEST
from tpbench_data.release.schema import INPUT_CONFIGS

Parts = Mapping[str, list[tuple[str, pa.Table]]]
"""Config -> its files with their tables."""

_ORDERED = {"dialogues": ("corpus", "dialogue_id"), "runs": ("run_id",), "outputs": ("run_id",)}
_SHARED = (
    "dialogue_id",
    "language",
    "sample_seeds",
    "slot",
    "old_value",
    "reference_goal",
    "reference_value",
    "update_turn",
    "transition_type",
)
"""Columns that belong to the question, so every method and ratio of it has the same."""


def check_order(parts: Parts) -> Iterator[Issue]:
    """Dialogues by corpus and id, runs by id, outputs run by run; one row out of order is named per file."""
    for config, columns in _ORDERED.items():
        last: list[str] = []
        for path, table in parts.get(config, []):
            keys = zip(*(table[column].to_pylist() for column in columns), strict=True)
            for number, values in enumerate(keys, start=1):
                key = [value or "" for value in values]
                if key < last:
                    yield Issue(path, number, columns[-1], f"is out of order: it stands after {last[-1]!r}")
                    break
                last = key


def check_questions(config: str, parts: list[tuple[str, pa.Table]]) -> Iterator[Issue]:
    """All rows of one question have the same labels."""
    first: dict[tuple[str, str], tuple[int, list[Any]]] = {}
    for path, table in parts:
        rows = table.select(["corpus", "example_id", *_SHARED]).to_pylist()
        for number, row in enumerate(rows, start=1):
            labels = [row[column] for column in _SHARED]
            begun, expected = first.setdefault((row["corpus"], row["example_id"]), (number, labels))
            for column, value, known in zip(_SHARED, labels, expected, strict=True):
                if value != known:
                    yield Issue(path, number, column, f"differs from row {begun} of the same {config} question")
                    break


def check_counts(parts: Parts, manifest: dict[str, Any]) -> Iterator[Issue]:
    """Whether the questions of each corpus, probe and sample seed are as many as the manifest counts as left."""
    for corpus, counts in sorted(manifest["counts"].items()):
        probes = counts.get("probes") if isinstance(counts, dict) else None
        for probe, per_seed in sorted((probes if isinstance(probes, dict) else {}).items()):
            for seed, steps in sorted((per_seed if isinstance(per_seed, dict) else {}).items()):
                left = steps.get("left") if isinstance(steps, dict) else None
                if type(left) is not int:
                    continue
                found = _questions(parts.get(probe, []), corpus, seed)
                if found != left:
                    yield Issue(
                        MANIFEST,
                        0,
                        f"counts.{corpus}.probes.{probe}.{seed}",
                        f"says that {left} questions are left, the rows hold {found}",
                    )
    # A probe that was asked for and found no question is named and has no rows; the other way round is a fault.
    named = manifest.get("probes")
    for config in [config for config in INPUT_CONFIGS if config in parts and named is not None and config not in named]:
        yield Issue(MANIFEST, 0, "probes", f"does not name {config}, which has rows")


def _questions(parts: list[tuple[str, pa.Table]], corpus: str, seed: str) -> int:
    found = set()
    for _, table in parts:
        columns = (table[name].to_pylist() for name in ("corpus", "example_id", "sample_seeds"))
        for name, example, seeds in zip(*columns, strict=True):
            if name == corpus and seed in map(str, seeds or ()):
                found.add(example)
    return len(found)
