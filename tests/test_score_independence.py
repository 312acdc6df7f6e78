"""Nothing around `score` and `verify` moves a byte, and they need no model library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from conftest import run_command
from small_release import FACTS, output_rows, probe_row, run_row, write_small_run

from tpbench_data.embedded import embedded_release
from tpbench_data.release.schema import OUTPUTS, PROBE, RUNS
from tpbench_data.release.writer import write_release

METHODS = ("full_context", "recency")
ROWS = [
    probe_row("current_value", n, method=method, method_config=method, protocol="paper", sample_seeds=[42 + n % 3])
    for method in METHODS
    for n in range(9)
]
RUN = "tiny-00000000"
ANSWERS: dict[str, Any] = {
    row["input_id"]: ('{"value": "12 pm"}', '{"value": "İstanbul"}', "十二点")[n % 3] for n, row in enumerate(ROWS)
}
AROUND = (
    {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0"},
    {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu"},
    {"TZ": "America/St_Johns", "PYTHONHASHSEED": "7"},
    {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
)


def succeed(*arguments: object, **variables: str) -> str:
    done = run_command("tpbench-score", *arguments, env=os.environ | variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release ``r`` with a stored run, ``frozen`` with tables besides, and the run as a folder in two orders."""
    place = tmp_path_factory.mktemp("independence")
    tables = {
        "current_value": pa.Table.from_pylist(ROWS, schema=PROBE),
        "runs": pa.Table.from_pylist([run_row(RUN, n_planned=len(ROWS))], schema=RUNS),
        "outputs": pa.Table.from_pylist(output_rows(RUN, ROWS, ANSWERS), schema=OUTPUTS),
    }
    facts = FACTS | {"protocols": ["paper"], "methods": list(METHODS)}
    write_release(place / "r", tables, facts)
    succeed("tables", place / "r", "--ci", "--counts", "--format", "json", "--out", place / "tables")
    succeed("score", place / "r", "--verdicts", place / "tables" / "verdicts.json")
    write_release(place / "frozen", tables, facts, {f.name: f.read_bytes() for f in (place / "tables").iterdir()})
    write_small_run(place / "whole", ROWS, ANSWERS)
    backwards = output_rows(RUN, ROWS, ANSWERS)[::-1]
    write_small_run(place / "backwards", ROWS, {}, outputs=backwards)
    return place


@pytest.mark.parametrize("command", ["score", "verify"])
def test_no_model_library_is_imported(place: Path, command: str) -> None:
    code = (
        "import sys; from tpbench_score.cli import main\n"
        f"sys.argv = ['x', {command!r}, {str(place / 'frozen')!r}]\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "bad = {'torch', 'transformers', 'datasets', 'huggingface_hub', 'requests'} & set(sys.modules)\n"
        "sys.exit(f'imported {bad}' if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_score_files_are_the_same_bytes_for_any_locale_time_zone_threads_and_order(place: Path, tmp_path: Path) -> None:
    def scored(number: int, run: str, **variables: str) -> list[bytes]:
        files = [tmp_path / f"{number}{ending}" for ending in (".parquet", ".csv", ".json")]
        for option, file in zip(("--out", "--out", "--verdicts"), files, strict=True):
            succeed("score", place / "r", "--outputs", place / run, option, file, **variables)
        return [file.read_bytes() for file in files]

    plain = scored(0, "whole")
    for number, variables in enumerate(AROUND, start=1):
        assert scored(number, "whole", **variables) == plain
    assert scored(len(AROUND) + 1, "backwards") == plain


@pytest.fixture(scope="module")
def other_numpy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an older numpy than the one installed; skips where it cannot be fetched."""
    folder = tmp_path_factory.mktemp("numpy")
    version = "2.0.2" if sys.version_info < (3, 13) else "2.1.0"
    fetch = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
    done = subprocess.run([*fetch, "--target", str(folder), f"numpy=={version}"], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"numpy {version} could not be fetched")
    if version == np.__version__:
        pytest.skip("the numpy installed is the oldest one already")
    return folder


@pytest.mark.slow
def test_tables_and_scores_are_the_same_bytes_under_another_numpy(other_numpy: Path, tmp_path: Path) -> None:
    def written(name: str, **variables: str) -> dict[str, bytes]:
        folder = tmp_path / name
        succeed("tables", "--ci", "--counts", "--format", "json", "--out", folder, **variables)
        succeed("score", embedded_release(), "--out", folder / "scores.parquet", **variables)
        return {file.name: file.read_bytes() for file in folder.iterdir()}

    older = {"PYTHONPATH": str(other_numpy)}
    code = "import numpy; print(numpy.__version__)"
    seen = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | older, capture_output=True, text=True, check=True
    )
    assert seen.stdout.strip() != np.__version__
    assert written("older", **older) == written("installed")


def test_frozen_tables_verify_in_any_locale_time_zone_and_with_any_threads(place: Path) -> None:
    plain = succeed("verify", place / "frozen", "--json")
    assert '"verified": true' in plain
    for variables in AROUND:
        assert succeed("verify", place / "frozen", "--json", **variables) == plain
