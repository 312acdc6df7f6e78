"""Checks of the input rows of an imported release, which holds what was published and null for the rest.

Nothing can be recomputed from dialogues or templates here; what a row says of itself must still agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from tpbench_data.inputs import input_id
from tpbench_data.matching import alias_equivalent
from tpbench_data.release.issues import Issue
from tpbench_data.rendering import count_words

Row = dict[str, Any]

IMPORT_KEY = "import"
"""Key of the manifest that an import leaves, with what it took and what it left out."""

_NEEDED = (
    "input_id",
    "example_id",
    "corpus",
    "language",
    "dialogue_id",
    "sample_seeds",
    "method",
    "method_config",
    "protocol",
)
_REFERENCES = {
    "initial_goal": ("reference_goal",),
    "current_value": ("reference_value",),
    "joint_recovery": ("reference_goal", "reference_value"),
    "free_form": ("question", "reference_answer"),
}


def is_import(manifest: Mapping[str, Any]) -> bool:
    """Whether a release was imported, so that contexts, prompts and turns may be null."""
    return IMPORT_KEY in manifest


class ImportedInputChecks:
    """Checks of imported input rows; the counterpart of `row_checks.InputChecks`.

    Attributes:
        manifest: The manifest.
        inputs: The ids of all rows checked so far.
    """

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self.manifest = manifest
        self.inputs: set[str] = set()

    def check(self, path: str, table: pa.Table, probe: str) -> Iterator[Issue]:
        """Every problem of the rows of one file."""
        for number, row in enumerate(table.to_pylist(), start=1):
            nulls = [name for name in (*_NEEDED, *_REFERENCES[probe]) if row[name] is None]
            if nulls:
                yield Issue(path, number, nulls[0], "is null")
                continue
            if row["input_id"] in self.inputs:
                yield Issue(path, number, "input_id", f"{row['input_id']!r} appears twice")
            self.inputs.add(row["input_id"])
            yield from (Issue(path, number, *found) for found in self._row(row, probe))

    def _row(self, row: Row, probe: str) -> Iterator[tuple[str, str]]:
        keys = ("corpus", "example_id", "method_config", "ratio", "selector_seed", "protocol")
        expected = input_id(probe=probe, **{key: row[key] for key in keys})
        if row["input_id"] != expected:
            yield "input_id", f"does not follow from the columns: {expected!r} expected"
        if row["method_config"].split("(")[0] != row["method"]:
            yield "method_config", f"is not a setting of {row['method']!r}"
        listed = (("protocol", "protocols"), ("corpus", "corpora"), ("method_config", "methods"), ("ratio", "ratios"))
        for column, key in listed:
            if row[column] is not None and row[column] not in self.manifest[key]:
                yield column, f"{row[column]!r} is not in the manifest"
        if not row["sample_seeds"] or set(row["sample_seeds"]) - set(self.manifest["seeds"]):
            yield "sample_seeds", "is empty or holds a seed that is not in the manifest"
        value = row["reference_value"]
        if value is not None:
            if row["alias_equivalent"] != alias_equivalent(row["old_value"], value, row["corpus"]):
                yield "alias_equivalent", "does not follow from the values"
            if value not in (row["value_alternatives"] or ()):
                yield "value_alternatives", "does not hold the reference value"
        if row["context"] is not None and row["context_words"] != count_words(row["context"]):
            yield "context_words", f"is not {count_words(row['context'])}"
        if row["kept_turns"] is not None and row["k_turns"] != len(row["kept_turns"]):
            yield "k_turns", f"is {row['k_turns']}, but {len(row['kept_turns'])} turns are kept"
        prompt = row["prompt"]
        if prompt is not None and [message["role"] for message in prompt] not in (["system", "user"], ["user"]):
            yield "prompt", "is not a system message and a user message"
