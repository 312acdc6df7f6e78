"""A release with everything in it: inputs, two runs, their outputs, judgments and stored tables."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import run_command, write_sgd_folder

from tpbench_data.canonical import prompt_hash
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import INPUT_CONFIGS, OUTPUTS, PLAN, RUNS
from tpbench_data.run_folder import write_outputs, write_plan, write_run_row

TRICKY = ("007", "2019-03-01", "None", "true", "1e5", "a\u2028b\u0085c\x0bd", "01223351241", "1.50", "null", "NaN")
"""Answers that a reader which guesses types or lines would change."""

_MADE: list[Path] = []
"""The release of `full_once`, once it is made."""


def answer_of(row: dict[str, Any], number: int) -> str:
    """A right answer for even rows, else a tricky one."""
    if number % 2:
        return TRICKY[number // 2 % len(TRICKY)]
    names = ("reference_goal", "reference_value", "reference_answer")
    parts = [row[name] for name in names if row.get(name) is not None]
    value = "; time: ".join(parts)
    return json.dumps({"value": value, "support": "", "abstain": False})


def write_run(release: Release, folder: Path, run_id: str, role: str = "main") -> Path:
    """A finished run folder that answers every input of the release."""
    rows = [(probe, row) for probe in INPUT_CONFIGS for row in release.table(probe).to_pylist()]
    folder.mkdir(parents=True)
    plan = [
        {
            "input_id": row["input_id"],
            "probe": probe,
            "method": row["method"],
            "ratio": row["ratio"],
            "prompt_hash": prompt_hash(row["prompt"]),
            "prompt_tokens": 10,
            "batch": 0,
        }
        for probe, row in rows
    ]
    outputs = [
        dict.fromkeys(OUTPUTS.names)
        | {
            "run_id": run_id,
            "input_id": row["input_id"],
            "method": row["method"],
            "ratio": row["ratio"],
            "text": answer_of(row, number),
            "text_source": "raw",
            "finish_reason": "stop",
            "input_truncated": False,
            "attempts": 1,
        }
        for number, (_, row) in enumerate(rows)
    ]
    run = dict.fromkeys(RUNS.names) | {
        "run_id": run_id,
        "role": role,
        "reader": run_id.rpartition("-")[0],
        "model_revision": "0123abcd",
        "stop_token_ids": [2, 7],
        "seed": 42,
        "release_digest": release.digest,
        "n_planned": len(rows),
    }
    write_run_row(folder, run)
    write_plan(folder, pa.Table.from_pylist(plan, schema=PLAN))
    write_outputs(folder, pa.Table.from_pylist(outputs, schema=OUTPUTS))
    return folder


def write_judgments(folder: Path) -> Path:
    """A judge's folder is tested elsewhere; this is the plain file."""
    rows = [
        {
            "judgment_id": f"j{number}",
            "run_id": "tiny-00000001",
            "reference": f"reference {number}",
            "answer": text,
            "label": "equivalent" if number % 2 else "uncertain",
            "reason": None,
            "prompt_hash": "0" * 16,
        }
        for number, text in enumerate(TRICKY)
    ]
    file = folder / "judged.jsonl"
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8", newline="\n")
    return file


def freeze_everything(built: Path, place: Path) -> Path:
    """Freezes two runs, judgments and tables into a copy of a built release, through the real commands."""
    release = Release.open(built)
    runs = [write_run(release, place / name, f"{name}-00000001") for name in ("tiny", "other")]
    steps: list[list[object]] = [
        ["tpbench-data", "freeze", built, "--outputs", runs[0], "--outputs", runs[1],
         "--judgments", write_judgments(place), "--release-version", "0.2.0", "--out", place / "with_outputs"],
        ["tpbench-score", "tables", place / "with_outputs", "--reader", "tiny", "--format", "json",
         "--out", place / "tables"],
        ["tpbench-data", "freeze", place / "with_outputs", "--tables", place / "tables",
         "--release-version", "0.3.0", "--date-published", "2026-12-01", "--out", place / "tpbench"],
    ]  # fmt: skip
    for step in steps:
        result = run_command(*step)  # type: ignore[arg-type]
        assert result.returncode == 0, result.stdout + result.stderr
    return place / "tpbench"


@pytest.fixture(scope="session")
def full_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with every config; shared, so not to be changed."""
    if _MADE:  # a fixture that several modules import is set up once for each of them
        return _MADE[0]
    place = tmp_path_factory.mktemp("full")
    corpus = write_sgd_folder(place / "corpus" / "train")
    result = run_command(
        "tpbench-data", "build", "--corpus", f"sgd={corpus}", "--n", 6, "--methods", "full_context,recency,random",
        "--probes", ",".join(INPUT_CONFIGS), "--out", place / "built",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    _MADE.append(freeze_everything(place / "built", place))
    return _MADE[0]


@pytest.fixture
def full_release(full_once: Path, tmp_path: Path) -> Path:
    """A copy of `full_once`, free to be broken."""
    return Path(shutil.copytree(full_once, tmp_path / "tpbench"))
