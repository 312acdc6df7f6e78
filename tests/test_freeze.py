"""Freezing adds results to a release as a new version, keeps what it held, and refuses what does not belong to it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import run_command
from full_release import full_once, write_run  # noqa: F401  (fixture)

from tpbench_data.errors import BadInput
from tpbench_data.files import write_parquet
from tpbench_data.freeze import Results, freeze
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import JUDGMENTS, RUNS
from tpbench_data.release.stored_tables import REACHABILITY
from tpbench_data.run_folder import write_run_row


def table_file(folder: Path, name: str = "table_99.json", **changes: Any) -> Path:
    """A stored table of one cell."""
    counts = {"planned": 10, "total": 12, "answered": 9, "parsed": 8, "abstained": 1, "errors": 1, "missing": 1}
    table = {
        "kind": "table",
        "number": 99,
        "title": "A title | with <b>marks</b>",
        "available": True,
        "part": "",
        "facts": {"protocol": "paper"},
        "head": "Method",
        "columns": [{"key": "a.b", "label": "P2", "group": "Own"}],
        "rows": [
            {"key": "m", "label": "M", "cells": [{"numbers": [{"value": 0.5, "kind": "rate"}], "counts": counts}]}
        ],
        "signature": "scorer:paper-1|runs:none",
    } | changes
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(json.dumps({"format": 1, "tables": [table]}), encoding="utf-8")
    return file


def test_tables_are_stored_kept_and_replaced_by_name(full_once: Path, tmp_path: Path) -> None:
    old = Release.open(full_once)
    before = old.stored_tables()
    replaced = next(iter(before))
    table_file(tmp_path / "new")
    table_file(tmp_path / "new", replaced)
    digest = freeze(old, Results(tables=(tmp_path / "new",)), "1.0.0", tmp_path / "out")
    new = Release.open(tmp_path / "out")
    after = new.stored_tables()
    assert new.digest == digest != old.digest
    assert set(after) == {*before, "table_99.json"}
    assert {name for name in before if before[name] != after[name]} == {replaced}
    for config in old.configs:
        assert new.table(config) == old.table(config)
    assert Release.open(full_once).digest == old.digest
    # Counts of this table fit no input of the release, but its own sums are right.
    assert run_command("tpbench-data", "validate", tmp_path / "out").returncode in (0, 1)


def test_the_card_shows_stored_tables_and_what_a_perfect_answer_can_reach(full_once: Path, tmp_path: Path) -> None:
    plain = (full_once / "README.md").read_text(encoding="utf-8")
    assert "| Table 3 |" in plain
    assert "Not computed for this release." in plain
    table_file(tmp_path / "t", REACHABILITY, number=None, title="Reachable references")
    freeze(Release.open(full_once), Results(tables=(tmp_path / "t",)), "1.0.0", tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "Not computed for this release." not in card
    assert "| Method | Own P2 |\n|---|---:|\n| M | 0.500 |" in card
    assert "<b>" not in card


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.json", "[]", "not a stored table"),
        ("t.json", '{"format": 1, "tables": [{"title": "x", "rows": 3}]}', "rows without key"),
        ("t.json", '{"format": 1, "tables": [NaN]}', "NaN is not JSON"),
        ("Table 1.json", '{"format": 1, "tables": []}', "not a name for a stored table"),
        ("t.json", "[" * 5000, "nested deeper"),
        ("t.json", "\xff", "not valid JSON"),
    ],
)
def test_a_file_that_is_no_table_is_one_error(
    full_once: Path, tmp_path: Path, name: str, content: str, message: str
) -> None:
    (tmp_path / name).write_bytes(content.encode("latin-1"))
    with pytest.raises(BadInput, match=message):
        freeze(Release.open(full_once), Results(tables=(tmp_path / name,)), "1.0.0", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def judge_folder(folder: Path, changes: dict[str, Any] | None = None) -> Path:
    """A judge's folder: its run and two judgments, with some columns changed."""
    folder.mkdir(parents=True)
    run_id = "judge-00000002"
    write_run_row(
        folder, dict.fromkeys(RUNS.names) | {"run_id": run_id, "role": "judge", "reader": "judge", "n_planned": 2}
    )
    rows = [
        {"judgment_id": f"{run_id}-{n}", "run_id": run_id, "reference": "a", "answer": str(n), "label": "uncertain",
         "reason": "r", "prompt_hash": "h"} | (changes or {})
        for n in range(2)
    ]  # fmt: skip
    write_parquet(folder / "judgments.parquet", pa.Table.from_pylist(rows, schema=JUDGMENTS))
    return folder


def test_judgments_of_a_judge_bring_their_run_along(full_once: Path, tmp_path: Path) -> None:
    folder = judge_folder(tmp_path / "judge")
    result = run_command(
        "tpbench-data",
        "freeze",
        full_once,
        "--judgments",
        folder,
        "--release-version",
        "1.0.0",
        "--out",
        tmp_path / "o",
    )
    assert result.returncode == 0, result.stderr
    new = Release.open(tmp_path / "o")
    assert new.table("judgments").num_rows == Release.open(full_once).table("judgments").num_rows + 2
    assert "judge-00000002" in new.table("runs")["run_id"].to_pylist()
    validated = run_command("tpbench-data", "validate", tmp_path / "o")
    assert validated.returncode == 0, validated.stdout


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "maybe"}, r"row 1, field 'label': unknown label 'maybe'"),
        ({"run_id": "nobody-1"}, r"row 1, field 'run_id': run 'nobody-1' is not in the release"),
        ({"judgment_id": "same"}, r"row 2, field 'judgment_id': judgment 'same' is there already"),
        ({"answer": None}, r"row 1, field 'answer': must not be null"),
    ],
)
def test_a_bad_judgment_is_named(full_once: Path, tmp_path: Path, change: dict[str, Any], message: str) -> None:
    folder = judge_folder(tmp_path / "judge", change)
    with pytest.raises(BadInput, match=message):
        freeze(Release.open(full_once), Results(judgments=(folder,)), "1.0.0", tmp_path / "out")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"judgment_id": 1}', "field 'judgment_id': is not a text"),
        ('{"other": "x"}', "columns of judgments"),
        ('{"judgment_id": "a"', "row 1: not valid JSON"),
        ("[]", "columns of judgments"),
    ],
)
def test_a_bad_line_of_judgments_is_named(full_once: Path, tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "j.jsonl").write_text(line, encoding="utf-8")
    with pytest.raises(BadInput, match=message):
        freeze(Release.open(full_once), Results(judgments=(tmp_path / "j.jsonl",)), "1.0.0", tmp_path / "out")


def test_a_frozen_run_is_not_frozen_twice_and_a_foreign_one_not_at_all(full_once: Path, tmp_path: Path) -> None:
    release = Release.open(full_once)
    with pytest.raises(BadInput, match="frozen in this release already"):
        freeze(release, [write_run(release, tmp_path / "a", "tiny-00000001")], "1.0.0", tmp_path / "out")
    other = Path(shutil.copytree(full_once.parent / "tiny", tmp_path / "tiny"))
    (other / "outputs.parquet").unlink()
    with pytest.raises(BadInput, match="not finished"):
        freeze(release, [other], "1.0.0", tmp_path / "out")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"version": "0.3.0"}, "is the old one"),
        ({"version": "one"}, "not a version"),
        ({"facts": {"date_published": "yesterday"}}, "not a date"),
        ({"facts": {"homepage": "javascript:alert(1)"}}, "not a web address"),
        ({"results": Results()}, "nothing to freeze"),
    ],
)
def test_bad_options_are_one_error_and_leave_no_folder(
    full_once: Path, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    given = {"results": Results(tables=(table_file(tmp_path / "t"),)), "version": "1.0.0", "facts": {}} | options
    with pytest.raises(BadInput, match=message):
        freeze(Release.open(full_once), given["results"], given["version"], tmp_path / "out", given["facts"])
    assert not (tmp_path / "out").exists()
