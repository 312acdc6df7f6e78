"""Chinese in the tables: P1 and P3 under `tpbench-1` only, and values found inside Chinese sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import run_command

from tpbench_data.canonical import prompt_hash
from tpbench_data.files import write_parquet
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import OUTPUTS, PLAN, RUNS
from tpbench_data.run_folder import write_run_row

PROBES = ("initial_goal", "current_value", "joint_recovery")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chinese")
    corpora = []
    for language in ("en", "zh"):
        corpora += ["--corpus", f"tpbench_{language}={folder}/{language}.jsonl"]
        done = run_command(
            "tpbench-data", "synthesize", "--language", language, "--seed", 3, "--per-type", 4, "--types",
            "replace_value,return_value", "--out", folder / f"{language}.jsonl",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    done = run_command(
        "tpbench-data", "build", *corpora, "--n", 8, "--probes", ",".join(PROBES), "--methods",
        "full_context,no_context", "--out", folder / "release",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "release"


@pytest.fixture(scope="module")
def run(release: Path) -> Path:
    """A reader that answers every question with its reference."""
    opened = Release.open(release)
    rows = [row | {"probe": probe} for probe in PROBES for row in opened.table(probe).to_pylist()]
    folder = release.parent / "run"
    folder.mkdir()
    settings: dict[str, Any] = dict.fromkeys(RUNS.names)
    settings |= {"run_id": "oracle-00000000", "reader": "oracle", "role": "main", "n_planned": len(rows)}
    write_run_row(folder, settings)
    plan = [{name: row[name] for name in ("input_id", "probe", "method", "ratio")} for row in rows]
    hashes = [{"prompt_hash": prompt_hash(row["prompt"])} for row in rows]
    write_parquet(
        folder / "plan.parquet", pa.Table.from_pylist([a | b for a, b in zip(plan, hashes, strict=True)], schema=PLAN)
    )
    texts = [json.dumps({"value": said(row)}, ensure_ascii=False) for row in rows]
    outputs = [
        {"run_id": "oracle-00000000", "text": text, **{k: v for k, v in one.items() if k != "probe"}}
        for one, text in zip(plan, texts, strict=True)
    ]
    write_parquet(folder / "outputs.parquet", pa.Table.from_pylist(outputs, schema=OUTPUTS))
    return folder


def said(row: dict[str, Any]) -> str:
    if row["probe"] == "initial_goal":
        return str(row["reference_goal"])
    value = str(row["reference_value"])
    return value if row["probe"] == "current_value" else f"{row['reference_goal']}; {row['slot']}: {value}"


def tables(release: Path, run: Path, *options: object) -> str:
    done = run_command("tpbench-score", "tables", release, "--outputs", run, *options)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def cells(text: str) -> dict[str, str]:
    """Column -> what stands in the row of the full context."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    (row,) = [line for line in lines if "Full context" in line]
    heads = [head.strip() for head in lines[0].split("|")[1:-1]]
    return dict(zip(heads, (cell.strip(" *") for cell in row.split("|")[1:-1]), strict=True))


def test_chinese_goals_are_left_out_under_the_published_scorer_and_said_to_be(release: Path, run: Path) -> None:
    text = tables(release, run, "--table", 3)
    assert "Chinese P1, P3 and retention are left out" in text
    for column, cell in cells(text).items():
        left_out = column.startswith(("TPBench-zh P1", "TPBench-zh P3"))
        assert any(digit.isdigit() for digit in cell) != (left_out or column == "Method")


def test_they_are_reported_under_the_other_scorer(release: Path, run: Path) -> None:
    text = tables(release, run, "--table", 3, "--scorer", "tpbench-1")
    assert {cell for column, cell in cells(text).items() if "P3" in column or "P2" in column} == {"1.000"}
    assert "left out" not in text


def test_retention_in_chinese_is_a_dash_under_the_published_scorer_and_right_under_the_other(
    release: Path, run: Path
) -> None:
    def full(*options: object) -> list[str]:
        return list(cells(tables(release, run, "--table", 5, *options)).values())[1:]

    english, chinese = full()
    assert english == "1.000"
    assert not any(digit.isdigit() for digit in chinese)
    assert full("--scorer", "tpbench-1") == ["1.000", "1.000"]
