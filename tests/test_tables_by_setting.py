"""Two settings of one method stand in two rows, and "n of N" counts one sample where one sample is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from conftest import run_command

from tpbench_data.canonical import prompt_hash
from tpbench_data.files import write_parquet
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import OUTPUTS, PLAN, RUNS
from tpbench_data.run_folder import write_run_row
from tpbench_score.method_settings import shown_methods

METHOD = '''from dataclasses import dataclass

from tpbench_data.selectors import ScoredSelector


@dataclass(frozen=True)
class Long(ScoredSelector):
    """Turns with many words of at least some length."""

    name = "long_words"
    summary = "turns with long words"
    min_length: int = 1

    def scores(self, item):
        return [float(sum(len(word) >= self.min_length for word in text.split())) for text in item.texts]
'''


def inputs(*rows: tuple[str, str, str, list[int]]) -> pa.Table:
    return pa.table(
        {
            "probe": ["current_value"] * len(rows),
            "corpus": ["sgd"] * len(rows),
            "protocol": ["paper"] * len(rows),
            "example_id": [example for example, *_ in rows],
            "method": [method for _, method, _, _ in rows],
            "method_config": pa.array([config for _, _, config, _ in rows], pa.string()),
            "ratio": [0.3] * len(rows),
            "sample_seeds": pa.array([seeds for *_, seeds in rows], pa.list_(pa.int64())),
        }
    )


def test_settings_that_answer_the_same_question_of_a_sample_are_told_apart() -> None:
    table = inputs(
        ("a", "mine", "mine(n=1)", [42]), ("a", "mine", "mine(n=2)", [42, 43]), ("b", "mine", "mine(n=1)", [43]),
        ("a", "recency", "recency", [42]),
    )  # fmt: skip
    assert shown_methods(table).to_pylist() == ["mine(n=1)", "mine(n=2)", "mine(n=1)", "recency"]


def test_settings_of_different_samples_stay_one_method() -> None:
    table = inputs(("a", "random", "random(seed=42)", [42]), ("a", "random", "random(seed=43)", [43]))
    assert shown_methods(table).to_pylist() == ["random", "random"]


def test_inputs_outside_all_samples_are_told_apart_too() -> None:
    table = inputs(("a", "mine", "mine(n=1)", []), ("a", "mine", "mine(n=2)", []))
    assert shown_methods(table).to_pylist() == ["mine(n=1)", "mine(n=2)"]


def answer_all(release: Path, folder: Path) -> None:
    """A run that gives the old value under the default setting and the current one under the other."""
    rows = Release.open(release).table("current_value").to_pylist()
    rows = [row for row in rows if row["method"] == "long_words"]
    run: dict[str, Any] = dict.fromkeys(RUNS.names)
    folder.mkdir()
    write_run_row(folder, run | {"run_id": "r-00000000", "reader": "r", "role": "main", "n_planned": len(rows)})
    plan = [
        {"input_id": row["input_id"], "probe": "current_value", "method": row["method"], "ratio": row["ratio"],
         "prompt_hash": prompt_hash(row["prompt"])}
        for row in rows
    ]  # fmt: skip
    answers = [
        {"run_id": "r-00000000", "input_id": row["input_id"], "method": row["method"], "ratio": row["ratio"],
         "text": json.dumps({"value": row["reference_value" if "5" in row["method_config"] else "old_value"]})}
        for row in rows
    ]  # fmt: skip
    write_parquet(folder / "plan.parquet", pa.Table.from_pylist(plan, schema=PLAN))
    write_parquet(folder / "outputs.parquet", pa.Table.from_pylist(answers, schema=OUTPUTS))


def test_tables_show_a_row_per_setting_and_count_one_sample(built_once: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(METHOD, encoding="utf-8")
    release = built_once
    for number, setting in enumerate(("", "(min_length=5)")):
        out = tmp_path / f"R{number}"
        done = run_command(
            "tpbench-generate", "select", "--release", release, "--method", f"{tmp_path}/mine.py:Long{setting}",
            "--ratio", 0.3, "--probe", "current_value", "--out", out,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        release = out
    answer_all(release, tmp_path / "run")
    done = run_command("tpbench-score", "tables", release, "--outputs", tmp_path / "run", "--table", "5,24")
    assert done.returncode == 0, done.stderr
    rows = {line.split("|")[1].strip(): line.split("|")[2:-1] for line in done.stdout.splitlines() if "long" in line}
    configs = sorted({row["method_config"] for row in Release.open(release).table("current_value").to_pylist()
                      if row["method"] == "long_words"})  # fmt: skip
    assert len(configs) == 2
    for config in configs:
        (label,) = [label for label in rows if label.replace("\\", "") == config]
        assert ("1.000" in rows[label][0]) == ("5" in config)
    assert " of " not in done.stdout.split("Table 24")[0].split("One sample")[0].replace("n of the N", "")
