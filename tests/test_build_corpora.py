"""One command from real corpora to a release: same bytes twice and with any number of workers, sound in every row."""

from __future__ import annotations

import filecmp
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import run_command, shared_file
from corpus_files import longmemeval_question, plain_dialogue, risawoz_dialogue, write_json, write_plain

from tpbench_data.errors import BadInput
from tpbench_data.release.reader import Release

OPTIONS = ["--n=40", "--seeds=42,43", "--ratios=0.3", "--protocol=paper,matched", "--methods=selectors,deletions"]


@pytest.fixture(scope="module")
def corpora() -> list[str]:
    folders = {"sgd": "sgd", "multiwoz": "multiwoz21", "risawoz": "risawoz"}
    return [f"--corpus={name}={shared_file(f'corpora/{folder}')}" for name, folder in folders.items()]


@pytest.fixture(scope="module")
def built(corpora: list[str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    out = tmp_path_factory.mktemp("three") / "one"
    result = run_command("tpbench-data", "build", *corpora, *OPTIONS, "--out", out, "--json")
    assert result.returncode == 0, result.stderr
    return out, json.loads(result.stdout)


def test_the_pool_counts_of_three_real_corpora(built: tuple[Path, dict[str, Any]]) -> None:
    pools = {name: counts["pool"] for name, counts in built[1]["counts"].items()}
    assert (pools["sgd"]["dialogues"], pools["sgd"]["questions"]) == (12174, 15044)
    assert (pools["multiwoz"]["dialogues"], pools["multiwoz"]["questions"]) == (1999, 862)
    assert (pools["risawoz"]["dialogues"], pools["risawoz"]["questions"]) == (100, 25)
    manifest = Release.open(built[0]).manifest
    assert {name: facts["version"] for name, facts in manifest["corpora"].items()} == {
        "sgd": "train",
        "multiwoz": "2.1",
        "risawoz": "original",
    }
    assert manifest["corpora"]["multiwoz"]["source"] == "multiwoz-2.1-dev-test"
    assert manifest["counts"] == built[1]["counts"]


def test_each_corpus_gets_the_probes_that_the_paper_asks_of_it(built: tuple[Path, dict[str, Any]]) -> None:
    release = Release.open(built[0])
    for probe, expected in (
        ("initial_goal", {"sgd", "multiwoz"}),
        ("current_value", {"sgd", "multiwoz", "risawoz"}),
        ("joint_recovery", {"sgd", "multiwoz"}),
    ):
        assert set(release.table(probe)["corpus"].to_pylist()) == expected
    rows = [row for row in release.table("current_value").to_pylist() if row["corpus"] == "risawoz"]
    assert {row["selector_seed"] for row in rows if row["method"] == "random"} == {42, 43, 44, 45, 46}
    assert all("对话内容：" in row["prompt"][1]["content"] for row in rows)
    assert all(f'"{row["slot"]}"' in row["prompt"][1]["content"] for row in rows), "the slot as annotated, in quotes"


def test_validate_and_audit_pass(built: tuple[Path, dict[str, Any]]) -> None:
    result = run_command("tpbench-data", "validate", built[0])
    assert result.returncode == 0, result.stdout
    result = run_command("tpbench-data", "audit", built[0])
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("workers", [1, 2])
def test_the_same_bytes_again_with_any_number_of_workers(
    built: tuple[Path, dict[str, Any]], corpora: list[str], workers: int, tmp_path: Path
) -> None:
    out = tmp_path / "again"
    environment = {"LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7", "PATH": "/usr/bin"}
    result = run_command(
        "tpbench-data", "build", *corpora, *OPTIONS, "--out", out, f"--workers={workers}", env=environment
    )
    assert result.returncode == 0, result.stderr
    names = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    same, different, unreadable = filecmp.cmpfiles(built[0], out, names, shallow=False)
    assert (different, unreadable) == ([], [])
    assert len(same) == len([path for path in built[0].rglob("*") if path.is_file()])


def test_an_error_in_a_worker_is_the_same_single_line(tmp_path: Path) -> None:
    good = write_plain(tmp_path / "good.jsonl", plain_dialogue())
    bad = write_plain(tmp_path / "bad.jsonl", plain_dialogue(turns=[]))
    messages = []
    for workers in (1, 2):
        result = run_command(
            "tpbench-data", "build", f"--corpus=a={good}", f"--corpus=b={bad}", f"--workers={workers}", "--out",
            tmp_path / "r",
        )  # fmt: skip
        assert result.returncode == 2
        messages.append(result.stderr)
    assert messages[0] == messages[1]
    assert "has no turns. Remove it or write its turns.\n" in messages[0]
    assert not (tmp_path / "r").exists()


def test_an_error_survives_pickling_word_for_word() -> None:
    import pickle

    error = BadInput("is wrong", file="f", row=3, field="x", remedy="Do this")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "f, row 3, field 'x': is wrong. Do this."
    assert (type(again), again.row, again.field) == (BadInput, 3, "x")


def test_a_candidates_file_for_a_whole_eligible_set_is_refused(tmp_path: Path) -> None:
    corpus = write_json(tmp_path / "all.json", [risawoz_dialogue()])
    (tmp_path / "c.tsv").write_text("x\n", encoding="utf-8")
    result = run_command(
        "tpbench-data", "build", f"--corpus=risawoz={corpus}", f"--candidates=risawoz={tmp_path / 'c.tsv'}",
        "--out", tmp_path / "r",
    )  # fmt: skip
    assert result.returncode == 2
    assert "no candidates file replaces" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--turn-cap=risawoz=0"], "not NAME=N"),
        (["--turn-cap=risawoz"], "not NAME=N"),
        (["--turn-cap=sgd=5"], "--corpus does not"),
        (["--turn-cap=risawoz=5", "--turn-cap=risawoz=6"], "names 'risawoz' twice"),
        (["--probes=initial_goal"], "no probe question is left"),
        (["--workers=0"], "--workers"),
        (["--methods=drop_everything"], "unknown method 'drop_everything'"),
    ],
)
def test_a_bad_option_is_one_error(tmp_path: Path, options: list[str], message: str) -> None:
    corpus = write_json(tmp_path / "all.json", [risawoz_dialogue()])
    result = run_command("tpbench-data", "build", f"--corpus=risawoz={corpus}", *options, "--out", tmp_path / "r")
    assert result.returncode == 2, result.stdout
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_probes_are_built_where_the_corpus_has_them_and_left_out_elsewhere(tmp_path: Path) -> None:
    lme = write_json(tmp_path / "longmemeval_s.json", [longmemeval_question()])
    plain = write_plain(tmp_path / "own.jsonl", *(plain_dialogue(f"d{number}") for number in range(2)))
    out = tmp_path / "r"
    result = run_command(
        "tpbench-data", "build", f"--corpus=lme_ku={lme}", f"--corpus=cafe={plain}",
        "--probes=current_value,free_form", "--methods=recency", "--out", out,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    release = Release.open(out)
    assert set(release.table("current_value")["corpus"].to_pylist()) == {"lme_ku", "cafe"}
    assert set(release.table("free_form")["corpus"].to_pylist()) == {"cafe"}
    assert run_command("tpbench-data", "validate", out).returncode == 0


def edited(release: Path, config: str, change: Any) -> list[str]:
    """The problems that validate finds after one row was changed together with every hash."""
    import pyarrow as pa

    from tpbench_data.release.row_checks import InputChecks, check_dialogues

    opened = Release.open(release)
    table = opened.table(config)
    rows = table.to_pylist()
    change(rows)
    dialogues: dict[tuple[str, str], dict[str, Any]] = {}
    list(check_dialogues("d", opened.table("dialogues"), dialogues))
    checks = InputChecks(dialogues, opened.manifest)
    return [str(issue) for issue in checks.check("x", pa.Table.from_pylist(rows, schema=table.schema), config)]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("small")
    lme = write_json(place / "longmemeval_s.json", [longmemeval_question()])
    plain = write_plain(place / "own.jsonl", plain_dialogue())
    result = run_command(
        "tpbench-data", "build", f"--corpus=lme_ku={lme}", f"--corpus=cafe={plain}", "--methods=recency,deletions",
        "--out", place / "r",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return place / "r"


def set_first(method: str, **values: Any) -> Any:
    def change(rows: list[dict[str, Any]]) -> None:
        row = next(row for row in rows if row["method"] == method and row["corpus"] == "cafe")
        row |= values

    return change


@pytest.mark.parametrize(
    ("config", "change", "message"),
    [
        ("free_form", set_first("recency", question="Something else?"), "is not what free_form@1 makes"),
        ("free_form", set_first("recency", reference_answer="six"), "answer_turns"),
        ("free_form", set_first("recency", support_turns=[5, 4]), "ascending turn ids"),
        ("free_form", set_first("recency", boundary_turns=[99]), "ascending turn ids"),
        ("free_form", set_first("recency", reference_value="x"), "must be null in free_form"),
        ("free_form", set_first("recency", transition_type="swap"), "is unknown"),
        ("free_form", set_first("recency", slot_label="hour"), "is not 'time'"),
        ("free_form", set_first("recency", question=None), "is null"),
        ("current_value", set_first("drop_update", kept_turns=[0, 1, 2, 3, 4, 5]), "without turns [4]"),
    ],
)
def test_an_edited_row_is_found(small: Path, config: str, change: Any, message: str) -> None:
    assert edited(small, config, lambda rows: None) == []
    found = edited(small, config, change)
    assert any(message in issue for issue in found), found
