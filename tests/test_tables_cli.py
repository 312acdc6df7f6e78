"""``tpbench-score tables`` as a user types it: real folders, real processes."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import run_command
from small_release import output_rows, probe_row, run_row, write_small_release, write_small_run

METHODS = ("full_context", "recency", "random")
PROBES = ("initial_goal", "current_value", "joint_recovery")


def inputs(probe: str, **changes: Any) -> list[dict[str, Any]]:
    rows = []
    for method in METHODS:
        for number in range(4):
            seeds = [42, 43] if number == 0 else [42 + number % 2]
            also = {"selector_seed": 42} if method == "random" else {}
            rows.append(
                probe_row(probe, number, method=method, method_config=method, sample_seeds=seeds, **also, **changes)
            )
    return rows


ROWS = {probe: inputs(probe) for probe in PROBES}
RIGHT = {
    "initial_goal": '{"value": "book a quiet table"}',
    "current_value": '{"value": "12 pm"}',
    "joint_recovery": '{"value": "book a quiet table; time: 12 pm"}',
}
WRONG = '{"value": "nothing of it"}'


def answers(rows: list[dict[str, Any]], probe: str) -> dict[str, Any]:
    """Full context is right throughout, recency on two items of four, random on one."""
    right = {"full_context": 4, "recency": 2, "random": 1}
    return {r["input_id"]: RIGHT[probe] if int(r["dialogue_id"][1:]) < right[r["method"]] else WRONG for r in rows}


ALL_ROWS = [row for rows in ROWS.values() for row in rows]
ALL_ANSWERS = {key: text for probe, rows in ROWS.items() for key, text in answers(rows, probe).items()}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release ``r``, the same with a stored run ``stored``, and run folders; none is to be changed."""
    place = tmp_path_factory.mktemp("tables")
    write_small_release(place / "r", ROWS)
    outputs = output_rows("tiny-00000000", ALL_ROWS, ALL_ANSWERS)
    write_small_release(place / "stored", ROWS, [run_row("tiny-00000000", len(ALL_ROWS))], outputs)
    write_small_run(place / "whole", ALL_ROWS, ALL_ANSWERS)
    write_small_run(place / "again", ALL_ROWS, ALL_ANSWERS, run_id="tiny-00000001")
    limited = ROWS["current_value"][:6]
    write_small_run(place / "limited", limited, {r["input_id"]: RIGHT["current_value"] for r in limited}, "tiny-2")
    broken = dict(ALL_ANSWERS)
    del broken[ROWS["current_value"][0]["input_id"]]
    broken[ROWS["current_value"][1]["input_id"]] = RuntimeError("out of memory")
    write_small_run(place / "broken", ALL_ROWS, broken, "tiny-3")
    shuffled = output_rows("tiny-00000000", reversed(ALL_ROWS), ALL_ANSWERS)
    write_small_run(place / "shuffled", ALL_ROWS, {}, outputs=shuffled)
    return place


def tables(*arguments: object, **options: Any) -> str:
    result = run_command("tpbench-score", "tables", *arguments, **options)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return str(result.stdout)


def failure(*arguments: object) -> str:
    result = run_command("tpbench-score", "tables", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.count("\n") <= 4  # click says how the command is used before what is wrong
    assert "Traceback" not in result.stderr
    return str(result.stderr)


def test_the_five_main_tables_from_a_run_folder(place: Path) -> None:
    text = tables(place / "r", "--outputs", place / "whole")
    for number in (3, 10, 23, 24, 25):
        assert f"**Table {number}. " in text
    assert "| *Full context* | *1.000 / 1.000* | *1.000* | *1.000* | *1.000* |" in text
    # Recency: items 0 and 1 of 0-3 are right; seed 42 holds 0 and 2, seed 43 holds 0, 1 and 3.
    assert "| Recency | **0.583** / **0.583** | **0.583** | **0.583** | **0.583** |" in text
    assert "| Recency | **0.583 ± 0.118** |" in text
    assert "Signature: `scorer:paper-1|release:" in text
    assert "|runs:tiny-00000000|missing:0|mean:seeds|tpbench:" in text
    assert "Table 8 (Matched first-user-plus-recent comparison): not available, needs outputs in role" in text


def test_stored_outputs_give_the_same_tables_as_the_run_folder(place: Path) -> None:
    def without_signature(text: str) -> list[str]:
        return [line for line in text.splitlines() if "Signature" not in line]

    stored = tables(place / "stored")
    assert without_signature(stored) == without_signature(tables(place / "r", "--outputs", place / "whole"))


def test_a_limited_run_prints_n_of_n(place: Path) -> None:
    text = tables(place / "r", "--outputs", place / "limited", "--table", "24")
    assert "*1.000 ± 0.000*" in text
    assert "**1.000 ± 0.000** (2 of 4)" in text
    assert "(n of N)" in text


def test_a_missing_answer_is_exit_2_with_its_id_unless_allowed(place: Path) -> None:
    lost = ROWS["current_value"][0]["input_id"]
    assert lost in failure(place / "r", "--outputs", place / "broken")
    text = tables(place / "r", "--outputs", place / "broken", "--allow-missing", "--table", "24", "--counts")
    assert "| *Full context* | *0.417 ± 0.118 (3 of 4)* |" in text
    assert "Missing answers, counted as wrong: Full context 1." in text
    assert "Reader errors, counted as wrong: Full context 1." in text
    assert "| *4* | *0.500* | *0* | *1* | *1* |" in text
    assert "|missing:1|" in text


def test_intervals_are_named_in_the_signature(place: Path) -> None:
    text = tables(place / "r", "--outputs", place / "whole", "--table", "24", "--ci")
    assert "|mean:seeds|intervals:shake256-1(10000,20260928)|tpbench:" in text
    assert "*1.000 ± 0.000 [1.000, 1.000]*" in text


def test_every_format_goes_to_one_file_per_table(place: Path, tmp_path: Path) -> None:
    for form, ending in (("md", ".md"), ("csv", ".csv"), ("latex", ".tex"), ("json", ".json")):
        out = tmp_path / form
        printed = tables(
            place / "r", "--outputs", place / "whole", "--table", "3,10", "--table", "4", "--format", form, "--out", out
        )
        assert sorted(p.name for p in out.iterdir()) == [f"table_03{ending}", f"table_10{ending}"]
        assert "Table 4 (Judged full equivalence of P1 answers): not available" in printed
    made = json.loads((tmp_path / "json" / "table_03.json").read_text("utf-8"))
    assert made["tables"][0]["number"] == 3
    assert (tmp_path / "latex" / "table_03.tex").read_text("utf-8").count("\\toprule") == 1


def test_a_folder_that_is_there_is_left_alone(place: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    assert "already exists" in failure(place / "r", "--outputs", place / "whole", "--out", tmp_path / "mine")
    assert (tmp_path / "mine").read_text() == "precious"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--outputs", "again"], "2 runs of reader 'tiny' in role 'main' answer the same inputs"),
        (["--reader", "nobody"], "no outputs of reader 'nobody'. Readers here: tiny"),
        (["--run", "nothing"], "no run 'nothing'. Runs here: tiny-00000000"),
        (["--table", "99"], "there is no number 99"),
        (["--table", "x"], "'x' is no table number"),
        (["--figure", "1"], "there is no number 1"),
        (["--format", "xml"], "'xml'"),
    ],
)
def test_a_bad_option_is_one_clear_message(place: Path, arguments: list[str], message: str) -> None:
    given = [place / a if a == "again" else a for a in arguments]
    assert message in failure(place / "r", "--outputs", place / "whole", *given)


def test_a_run_can_be_chosen(place: Path) -> None:
    both = (place / "r", "--outputs", place / "whole", "--outputs", place / "again", "--table", "24")
    assert "runs:tiny-00000001|" in tables(*both, "--run", "tiny-00000001")


def test_a_missing_folder_is_one_clear_message(place: Path) -> None:
    assert "no such run folder" in failure(place / "r", "--outputs", place / "nothing")
    failure(place / "nothing")


def test_a_release_without_outputs_says_what_every_table_needs(place: Path) -> None:
    lines = tables(place / "r").splitlines()
    assert all("not available, needs" in line for line in lines if line)


def test_same_bytes_for_any_order_locale_time_zone_and_threads(place: Path) -> None:
    options = ("--ci", "--counts", "--format", "json")
    plain = tables(place / "r", "--outputs", place / "whole", *options)
    for variables in (
        {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
        {"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7"},
        {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    ):
        assert tables(place / "r", "--outputs", place / "whole", *options, env=os.environ | variables) == plain
    assert tables(place / "r", "--outputs", place / "shuffled", *options) == plain


def test_a_terminal_gets_drawn_tables(place: Path) -> None:
    ours, theirs = pty.openpty()
    code = "from tpbench_score.cli import main; main()"
    command = [sys.executable, "-c", code, "tables", place / "r", "--outputs", place / "whole", "--table", "24"]
    done = subprocess.run(
        command, stdout=theirs, stderr=subprocess.PIPE, check=False, env=os.environ | {"COLUMNS": "90"}
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # what Linux says at the end of a terminal
        while part := os.read(ours, 65536):
            shown += part
    os.close(ours)
    assert done.returncode == 0, done.stderr
    assert "┏" in shown.decode("utf-8")
    assert "**" not in shown.decode("utf-8")


def test_tables_need_no_model_library(place: Path) -> None:
    code = (
        "import sys\nfrom tpbench_score.cli import cli\n"
        f"cli(['tables', {str(place / 'r')!r}, '--outputs', {str(place / 'whole')!r}, '--ci'], standalone_mode=False)\n"
        "heavy = {'torch', 'transformers', 'datasets', 'scipy', 'statsmodels'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_help_shows_an_example_and_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom tpbench_score.cli import cli\n"
        "try:\n    cli(['tables', '--help'], standalone_mode=False)\nexcept SystemExit:\n    pass\n"
        "assert not {'numpy', 'pyarrow', 'rich'} & set(sys.modules), sorted(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Example:" in done.stdout
