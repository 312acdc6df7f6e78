"""Frozen tables, computed again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from conftest import run_command
from hypothesis import given
from hypothesis import strategies as st
from small_release import FACTS, output_rows, probe_row, run_row

from tpbench_data.errors import BadInput
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import OUTPUTS, PROBE, RUNS
from tpbench_data.release.writer import write_release
from tpbench_score.scoring import score
from tpbench_score.verdicts import first_difference, to_hex, verdict_table
from tpbench_score.verification import verify

METHODS = ("full_context", "recency", "uniform_stride")
ROWS = [
    probe_row("current_value", n, method=method, method_config=method, protocol="paper", sample_seeds=[42 + n % 2])
    for method in METHODS
    for n in range(6)
]
RIGHT, WRONG = '{"value": "12 pm"}', '{"value": "6 pm"}'


def written(folder: Path, changed: str | None = None, stored: dict[str, bytes] | None = None) -> Release:
    """A release with one run that is right wherever the number of the input is even; ``changed`` is answered wrong."""
    answers: dict[str, Any] = {row["input_id"]: WRONG if n % 2 else RIGHT for n, row in enumerate(ROWS)}
    if changed is not None:
        answers[changed] = WRONG
    tables = {
        "current_value": pa.Table.from_pylist(ROWS, schema=PROBE),
        "runs": pa.Table.from_pylist([run_row(n_planned=len(ROWS))], schema=RUNS),
        "outputs": pa.Table.from_pylist(output_rows("tiny-00000000", ROWS, answers), schema=OUTPUTS),
    }
    write_release(folder, tables, FACTS | {"protocols": ["paper"], "methods": list(METHODS)}, stored)
    return Release.open(folder)


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files that the commands write for such a release."""
    place = tmp_path_factory.mktemp("tables")
    release = written(place / "r").path
    for command in (
        (
            "tables",
            release,
            "--table",
            "24",
            "--table",
            "6",
            "--format",
            "json",
            "--ci",
            "--counts",
            "--out",
            place / "t",
        ),
        ("reachability", release, "--out", place / "t/reachability.json"),
        ("score", release, "--verdicts", place / "t/verdicts.json"),
    ):
        result = run_command("tpbench-score", *command)
        assert result.returncode == 0, result.stderr
    return {file.name: file.read_bytes() for file in sorted((place / "t").iterdir())}


def test_what_the_commands_write_is_verified(tmp_path: Path, frozen: dict[str, bytes]) -> None:
    assert sorted(frozen) == ["reachability.json", "table_06.json", "table_24.json", "verdicts.json"]
    found = verify(written(tmp_path / "r2", stored=frozen))
    assert (found.tables, found.mismatches) == (4, [])
    result = run_command("tpbench-score", "verify", tmp_path / "r2")
    assert (result.returncode, "verified; 4 tables" in result.stdout) == (0, True)


def test_another_answer_is_found_in_its_cell_method_and_item(tmp_path: Path, frozen: dict[str, bytes]) -> None:
    changed = ROWS[8]["input_id"]
    release = written(tmp_path / "r2", changed, frozen)
    files = [mismatch.file for mismatch in verify(release).mismatches]
    assert files == ["table_06.json", "table_24.json", "verdicts.json"]
    result = run_command("tpbench-score", "verify", release.path)
    assert result.returncode == 1
    assert "tables/table_24.json: Table 24, protocol paper" in result.stdout
    assert "Recency, SGD" in result.stdout
    assert f"first answer whose verdict changed: {changed}" in result.stdout
    printed = json.loads(run_command("tpbench-score", "verify", release.path, "--json").stdout)
    assert (printed["verified"], {mismatch["item"] for mismatch in printed["mismatches"]}) == (False, {changed})
    (main,) = [m for m in printed["mismatches"] if m["file"] == "table_24.json"]
    assert (main["row"], main["part"], main["frozen"] > main["now"]) == ("Recency", "strict", True)


def test_without_verdicts_the_cell_is_named_all_the_same(tmp_path: Path, frozen: dict[str, bytes]) -> None:
    tables = {name: data for name, data in frozen.items() if name.startswith("table_24")}
    (found,) = verify(written(tmp_path / "r2", ROWS[8]["input_id"], tables)).mismatches
    assert (found.row, found.item) == ("Recency", "")


def edited(name: str, change: Callable[[Any], None]) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    def apply(files: dict[str, bytes]) -> dict[str, bytes]:
        document = json.loads(files[name])
        change(document["tables"][0])
        return files | {name: json.dumps(document).encode()}

    return apply


def _set(path: list[Any], value: Any) -> Callable[[Any], None]:
    def change(table: Any) -> None:
        place = table
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


CELL: list[Any] = ["rows", 1, "cells", 0]


@pytest.mark.parametrize(
    ("name", "change", "part"),
    [
        ("table_24.json", _set([*CELL, "numbers", 0, "value"], 0.123), "strict"),
        ("table_24.json", _set([*CELL, "numbers", 0, "sd"], 0.5), "strict, sd"),
        ("table_24.json", _set([*CELL, "numbers", 0, "best"], "no"), "strict, best"),
        ("table_24.json", _set([*CELL, "counts", "errors"], 1), "counts"),
        ("table_24.json", _set(["rows", 1, "key"], "random"), "rows"),
        ("table_24.json", _set(["facts", "ratio"], "0.9"), "table"),
        ("table_24.json", _set(["signature"], "scorer:paper-1|mean:items"), "signature"),
        ("reachability.json", _set([*["rows", 0, "cells", 0], "numbers", 1, "value"], 0.5), "loose"),
    ],
)
def test_every_part_of_a_frozen_table_counts(
    tmp_path: Path, frozen: dict[str, bytes], name: str, change: Callable[[Any], None], part: str
) -> None:
    (found,) = verify(written(tmp_path / "r2", stored=edited(name, change)(frozen))).mismatches
    assert (found.file, found.part) == (name, part)


def test_words_for_people_do_not_count(tmp_path: Path, frozen: dict[str, bytes]) -> None:
    files = edited("table_24.json", _set(["title"], "Another title"))(frozen)
    assert not verify(written(tmp_path / "r2", stored=files)).mismatches


def test_nothing_frozen_is_bad_input(tmp_path: Path) -> None:
    release = written(tmp_path / "r")
    with pytest.raises(BadInput, match="no tables are frozen"):
        verify(release)
    result = run_command("tpbench-score", "verify", release.path)
    assert (result.returncode, "tpbench-data freeze" in result.stderr) == (2, True)


def test_verdicts_are_one_bit_per_answer_in_release_order(tmp_path: Path) -> None:
    (table,) = verdict_table(score(written(tmp_path / "r")))["tables"]
    assert [row["key"].split("|")[5] for row in table["rows"]] == list(METHODS)
    assert [cell["text"] for row in table["rows"] for cell in row["cells"]] == ["a8"] * 6
    assert {cell["numbers"][0]["value"] for row in table["rows"] for cell in row["cells"]} == {3}


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.data())
def test_the_first_changed_bit_is_found(bits: list[bool], data: Any) -> None:
    other = list(bits)
    places = data.draw(st.sets(st.integers(0, len(bits) - 1)))
    for place in places:
        other[place] = not other[place]
    assert first_difference(to_hex(np.array(bits)), to_hex(np.array(other))) == (min(places) if places else None)
