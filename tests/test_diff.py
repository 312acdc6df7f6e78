"""``tpbench-data diff`` names what was added, removed and changed, down to labels and table cells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bad_release_recipes import apply_recipe
from conftest import run_command
from full_release import full_once, full_release  # noqa: F401  (fixtures)

from tpbench_data.release.diff import diff
from tpbench_data.release.reader import Release


def changed(folder: Path, *steps: dict[str, Any]) -> Path:
    apply_recipe(folder, {"steps": list(steps)})
    return folder


def test_the_same_release_does_not_differ(full_once: Path) -> None:
    result = run_command("tpbench-data", "diff", full_once, full_once)
    assert (result.returncode, result.stdout) == (0, "the same\n")


def test_rows_labels_and_cells_that_changed_are_named(full_once: Path, full_release: Path) -> None:
    table = sorted(full_release.glob("tables/table_03*.json"))[0].name
    new = changed(
        full_release,
        {"do": "set", "config": "current_value", "row": 2, "values": {"reference_value": "9 pm", "context_words": 1}},
        {"do": "drop_row", "config": "outputs", "row": 1},
        {"do": "set", "config": "outputs", "row": 3, "values": {"text": "other"}},
        {"do": "repeat_row", "config": "judgments", "row": 1},
        {"do": "json", "path": f"tables/{table}", "at": ["tables", 0, "rows", 0, "cells", 0, "numbers", 0, "value"],
         "value": 0.125},
        {"do": "manifest", "at": ["value_rule"], "value": "disjoint"},
    )  # fmt: skip
    result = run_command("tpbench-data", "diff", full_once, new)
    assert result.returncode == 1, result.stderr
    old = Release.open(full_once)
    row = old.table("current_value").to_pylist()[1]
    output = old.table("outputs").to_pylist()
    for line in (
        f"  ~ {row['input_id']} (reference_value, context_words)",
        f"  ~ {row['input_id']} reference_value: {row['reference_value']!r} -> '9 pm'",
        f"  - {output[0]['run_id']} {output[0]['input_id']}",
        f"  ~ {output[3]['run_id']} {output[3]['input_id']} (text)",
        "  + j0 #2",
        "  ~ value_rule: 'first' -> 'disjoint'",
        "  ~ data/current_value/test-00000-of-00001.parquet",
    ):
        assert line in result.stdout.splitlines(), line
    cells = [line for line in result.stdout.splitlines() if line.endswith("-> 0.125")]
    assert len(cells) == 1
    assert "Table 3" in cells[0]
    assert "full_context, sgd.initial_goal" in cells[0]


def test_added_runs_and_tables_are_added(full_once: Path) -> None:
    before = full_once.parent / "built"
    found = json.loads(run_command("tpbench-data", "diff", before, full_once, "--json").stdout)
    assert found["same"] is False
    kinds = {(d["part"], d["kind"]) for d in found["differences"]}
    assert kinds == {
        ("facts", "added"), ("facts", "changed"), ("files", "added"), ("files", "changed"),
        ("runs", "added"), ("outputs", "added"), ("judgments", "added"), ("cells", "added"),
    }  # fmt: skip
    outputs = [d for d in found["differences"] if d["part"] == "outputs"]
    assert len(outputs) == Release.open(full_once).table("outputs").num_rows


def test_the_other_way_round_is_the_mirror_image(full_once: Path) -> None:
    old, new = Release.open(full_once.parent / "built"), Release.open(full_once)
    forth, back = diff(old, new), diff(new, old)
    mirror = {"added": "removed", "removed": "added", "changed": "changed"}
    assert {(d.part, mirror[d.kind], d.key) for d in forth} == {(d.part, d.kind, d.key) for d in back}
