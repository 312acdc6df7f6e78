"""Golden bad releases: each is reported with place and remedy, and none is accepted.

``tests/bad_releases/<case>/`` holds ``recipe.json`` (how to spoil a good release, see `bad_release_recipes`) and
``expected.txt`` (what ``tpbench-data validate`` prints, the folder written as RELEASE, and its exit code). To add a
case, write a recipe and run ``TPBENCH_WRITE_EXPECTED=1 pytest tests/test_bad_releases.py``; then read what it wrote.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from bad_release_recipes import STEPS, apply_recipe
from conftest import run_command, write_sgd_folder
from full_release import freeze_everything

from tpbench_data.cli import main
from tpbench_data.errors import BadInput
from tpbench_data.release.reader import Release

CASES = sorted(path.parent for path in Path(__file__).with_name("bad_releases").glob("*/recipe.json"))


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release that every case spoils: two protocols, two runs, judgments, tables."""
    place = tmp_path_factory.mktemp("good")
    corpus = write_sgd_folder(place / "corpus" / "train")
    result = run_command(
        "tpbench-data", "build", "--corpus", f"sgd={corpus}", "--n", 4, "--seeds", "42,43", "--protocol",
        "paper,matched", "--methods", "full_context,recency,random,first_turns", "--out", place / "built",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return freeze_everything(place / "built", place)


def test_the_good_release_is_valid(good: Path) -> None:
    result = run_command("tpbench-data", "validate", good)
    assert (result.returncode, result.stdout) == (0, f"{good}: valid\n")


def test_there_are_enough_cases_and_every_step_is_used() -> None:
    assert len(CASES) >= 25
    used = {step["do"] for case in CASES for step in json.loads((case / "recipe.json").read_text("utf-8"))["steps"]}
    assert used == set(STEPS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_bad_release_is_reported_with_place_and_remedy(
    case: Path, good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(good, tmp_path / "release"))
    apply_recipe(folder, json.loads((case / "recipe.json").read_text(encoding="utf-8")))

    def validate(*options: str) -> tuple[str, int]:
        # The program's own entry point, but in this process: a new one for each case takes a second.
        monkeypatch.setattr("sys.argv", ["tpbench-data", "validate", str(folder), *options])
        with pytest.raises(SystemExit) as stop:
            main()
        printed = capsys.readouterr()
        return printed.out + printed.err, int(stop.value.code or 0)

    report, code = validate()
    report = report.replace(str(folder), "RELEASE") + f"exit {code}\n"
    if os.environ.get("TPBENCH_WRITE_EXPECTED"):
        (case / "expected.txt").write_text(report, encoding="utf-8", newline="\n")
    assert code in (1, 2)
    assert report == (case / "expected.txt").read_text(encoding="utf-8")
    lines = report.splitlines()[: -2 if code == 1 else -1]
    assert lines
    for line in lines:
        # A place, what is wrong there, and what to do about it.
        place, _, rest = line.removeprefix("tpbench-data: ").partition(": ")
        assert place
        assert rest.rstrip(".").count(". ") >= 1, line
    if code == 1:
        listed = json.loads(validate("--json")[0])
        assert (listed["valid"], len(listed["issues"])) == (False, len(lines))
        assert all(issue["file"] and issue["problem"] and issue["remedy"] for issue in listed["issues"])


def test_reading_a_bad_table_raises_our_error_and_nothing_else(good: Path, tmp_path: Path) -> None:
    """What `validate` reports, the reader refuses: the bytes of a table are never used unchecked."""
    for name in ("byte_changed", "table_cut_off", "table_is_text", "table_is_a_bomb", "text_not_utf8", "path_upwards"):
        folder = Path(shutil.copytree(good, tmp_path / name))
        apply_recipe(folder, json.loads((CASES[0].parent / name / "recipe.json").read_text(encoding="utf-8")))
        with pytest.raises(BadInput):
            _read_all(folder)


def _read_all(folder: Path) -> None:
    release = Release.open(folder)
    for config in release.configs:
        release.table(config)
