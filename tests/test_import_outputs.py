"""Answers that people already have, as run folders."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from conftest import run_command
from small_release import probe_row, write_small_release

from tpbench_data.errors import BadInput
from tpbench_data.output_import.run import About, format_of, import_outputs
from tpbench_data.release.reader import Release
from tpbench_data.run_folder import read_run
from tpbench_score import score

ROWS = [
    probe_row("current_value", n, method=method, method_config=method)
    for method in ("recency", "uniform_stride")
    for n in range(3)
]
IDS = [row["input_id"] for row in ROWS]
TEXT = '{"value": "12 pm\u2028\x0b"}'
ABOUT = About("My Reader")


@pytest.fixture
def release(tmp_path: Path) -> Release:
    return write_small_release(tmp_path / "r", {"current_value": ROWS})


def lines(file: Path, records: Iterable[Any]) -> Path:
    file.write_bytes(b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records))
    return file


def plain(file: Path, ids: Iterable[str] = IDS) -> Path:
    return lines(file, [{"input_id": name, "text": TEXT, "note": 1} for name in ids])


def sample(name: str, **changes: Any) -> dict[str, Any]:
    message = {
        "role": "assistant",
        "content": [{"type": "reasoning", "reasoning": "x"}, {"type": "text", "text": TEXT}],
    }
    return {"id": name, "epoch": 1, "output": {"choices": [{"message": message}]}, "error": None} | changes


def archive(file: Path, samples: Iterable[dict[str, Any]]) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("header.json", "{}")
        for number, one in enumerate(samples):
            target.writestr(f"samples/{number}_epoch_1.json", json.dumps(one))
    return file


def test_every_format_gives_the_same_run(release: Release, tmp_path: Path) -> None:
    files = [
        plain(tmp_path / "answers.jsonl"),
        archive(tmp_path / "log.eval", map(sample, IDS)),
        tmp_path / "log.json",
        lines(
            tmp_path / "samples_tpbench.jsonl",
            [{"doc": {"input_id": name}, "resps": [[TEXT]], "filtered_resps": ["12"]} for name in IDS],
        ),
    ]
    samples = [sample("?", metadata={"input_id": name}, output={"completion": TEXT}) for name in IDS]
    files[2].write_text(json.dumps({"samples": samples}))
    assert [format_of(file) for file in files] == ["jsonl", "inspect", "inspect", "lm-eval"]
    for number, file in enumerate(files):
        import_outputs(release, [file], ABOUT, tmp_path / f"run{number}")
        run = read_run(tmp_path / f"run{number}")
        assert (run.run["reader"], run.run["backend"], run.run["n_planned"]) == ("My Reader", "import", 6)
        assert set(run.outputs["text"].to_pylist()) == {TEXT}
        assert score(release, [run])["status"].to_pylist() == ["ok"] * 6


def test_a_failed_reader_keeps_its_place(release: Release, tmp_path: Path) -> None:
    records: list[Any] = [{"input_id": name, "text": TEXT} for name in IDS[:2]]
    file = lines(tmp_path / "a.jsonl", [*records, {"input_id": IDS[2], "text": None, "error": "timeout"}])
    import_outputs(release, [file], ABOUT, tmp_path / "run")
    assert score(release, [tmp_path / "run"])["status"].to_pylist() == ["ok", "ok", "error"]
    log = archive(tmp_path / "log.eval", [*map(sample, IDS[:2]), sample(IDS[2], error={"message": "timeout"})])
    import_outputs(release, [log], ABOUT, tmp_path / "run2")
    assert score(release, [tmp_path / "run2"])["error"].to_pylist() == [None, None, "timeout"]


def test_an_absent_answer_of_a_cell_is_missed(release: Release, tmp_path: Path) -> None:
    file = plain(tmp_path / "a.jsonl", IDS[:2])
    with pytest.raises(BadInput, match="1 of 3 inputs of the answered cells have no answer: sgd"):
        import_outputs(release, [file], ABOUT, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert import_outputs(release, [file], ABOUT, tmp_path / "run", partial=True)["n_planned"] == 2


def test_several_files_are_one_run_and_their_order_does_not_matter(release: Release, tmp_path: Path) -> None:
    a, b = plain(tmp_path / "a.jsonl", reversed(IDS[:4])), plain(tmp_path / "b.jsonl", IDS[4:])
    for name, files in (("x", [a, b]), ("y", [b, a])):
        import_outputs(release, files, ABOUT, tmp_path / name)
    for file in ("run.json", "plan.parquet", "outputs.parquet"):
        assert (tmp_path / "x" / file).read_bytes() == (tmp_path / "y" / file).read_bytes()


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([{"input_id": "x", "text": ""}], "row 1, field 'input_id': 'x' is not an input of this release"),
        ([{"input_id": IDS[0], "text": ""}] * 2, "row 2, field 'input_id': '.*' is answered in .*a.jsonl, 1 as well"),
        ([{"text": ""}], "row 1, field 'input_id': is missing"),
        ([{"input_id": IDS[0]}], "row 1, field 'text': is missing"),
        ([{"input_id": IDS[0], "text": 5}], "row 1, field 'text': is int, not text"),
        ([[]], "row 1: is not a JSON object"),
        ([], "no answers in these files"),
    ],
)
def test_bad_answers_are_named(release: Release, tmp_path: Path, records: list[Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        import_outputs(release, [lines(tmp_path / "a.jsonl", records)], ABOUT, tmp_path / "run")


def test_bad_logs_are_named(release: Release, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"samples/0_epoch_1\.json holds no answer"):
        import_outputs(release, [archive(tmp_path / "a.eval", [sample(IDS[0], output={})])], ABOUT, tmp_path / "run")
    (tmp_path / "b.eval").write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(BadInput, match="is not JSON"):
        import_outputs(release, [tmp_path / "b.eval"], ABOUT, tmp_path / "run")
    two = [sample(IDS[0]), sample(IDS[0], epoch=2)]
    with pytest.raises(BadInput, match="is answered in"):
        import_outputs(release, [archive(tmp_path / "c.eval", two)], ABOUT, tmp_path / "run")


def test_the_command(release: Release, tmp_path: Path) -> None:
    file = plain(tmp_path / "a.jsonl")
    options = ("--reader", "My Reader", "--out", tmp_path / "run")
    result = run_command("tpbench-data", "import-outputs", release.path, file, *options)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("run my-reader-")
    again = run_command("tpbench-data", "import-outputs", release.path, file, *options)
    assert (again.returncode, "already exists" in again.stderr) == (2, True)
    role = run_command(
        "tpbench-data", "import-outputs", release.path, file, *options[:3], tmp_path / "z", "--role", "x"
    )
    assert (role.returncode, "unknown role" in role.stderr) == (2, True)
