"""Run folders: what is written is read back, and what is not a finished run is refused with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpbench_data.errors import BadInput
from tpbench_data.release.schema import OUTPUTS, PLAN, RUNS
from tpbench_data.run_folder import read_run, read_run_row, write_outputs, write_plan, write_run_row

TEXTS = ["a\u2028b\u0085c\x0bd", "", '{"value": "007"}', "厦门 🙂"]


def run_values(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = dict.fromkeys(RUNS.names)
    return {**values, "run_id": "tiny-00000000", "n_planned": len(TEXTS), "stop_token_ids": [2, 5], **changes}


def plan_table(n: int = len(TEXTS)) -> pa.Table:
    rows = [
        {"input_id": f"i{k}", "probe": "current_value", "method": "recency", "prompt_hash": f"{k:016x}", "batch": 0}
        for k in range(n)
    ]
    return pa.Table.from_pylist([{**dict.fromkeys(PLAN.names), **row} for row in rows], schema=PLAN)


def outputs_table(texts: list[str], run_id: str = "tiny-00000000") -> pa.Table:
    rows = [{"run_id": run_id, "input_id": f"i{k}", "text": text, "attempts": 1} for k, text in enumerate(texts)]
    return pa.Table.from_pylist([{**dict.fromkeys(OUTPUTS.names), **row} for row in rows], schema=OUTPUTS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "ratio=0.3"  # a folder name that a careless Parquet reader takes for a column
    path.mkdir()
    write_plan(path, plan_table())
    write_run_row(path, run_values())
    write_outputs(path, outputs_table(TEXTS))
    return path


def test_a_run_is_read_back_as_written_with_line_separators_inside_texts(folder: Path) -> None:
    run = read_run(folder)
    assert run.run == run_values()
    assert run.plan.equals(plan_table())
    assert run.outputs["text"].to_pylist() == TEXTS


def test_equal_content_gives_equal_bytes_and_run_json_is_sorted(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    write_run_row(other, dict(reversed(run_values().items())))
    write_plan(other, plan_table())
    write_outputs(other, outputs_table(TEXTS))
    for name in ("run.json", "plan.parquet", "outputs.parquet"):
        assert (other / name).read_bytes() == (folder / name).read_bytes()
    assert list(json.loads((folder / "run.json").read_text())) == sorted(RUNS.names)


def test_an_unfinished_run_says_how_to_finish_it(folder: Path) -> None:
    (folder / "outputs.parquet").unlink()
    with pytest.raises(BadInput, match=r"not finished.*Run the same .* command again"):
        read_run(folder)


@pytest.mark.parametrize("name", ["run.json", "plan.parquet"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(BadInput, match=name):
        read_run(folder)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="nowhere: no such run folder"):
        read_run(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["plan.parquet", "outputs.parquet"])
def test_a_damaged_table_is_named(folder: Path, name: str) -> None:
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(BadInput, match=name):
        read_run(folder)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not valid JSON"),
        ("[]", "not a JSON object"),
        ("[" * 100_000, "not valid JSON"),
        ("\udcff", "not valid JSON"),
        ('{"a": NaN}', "NaN is not JSON"),
    ],
)
def test_a_run_json_that_is_none_is_refused(folder: Path, text: str, reason: str) -> None:
    (folder / "run.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInput, match=reason):
        read_run_row(folder)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"n_planned": "4"}, "n_planned.*int64"),
        ({"n_planned": None}, "n_planned.*must not be null"),
        ({"max_new_tokens": 2**40}, "max_new_tokens"),
        ({"model_id": 5}, "model_id"),
        ({"colour": "red"}, "colour.*unknown field.*newer tpbench"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(folder: Path, change: dict[str, Any], reason: str) -> None:
    (folder / "run.json").write_text(json.dumps({**run_values(), **change}))
    with pytest.raises(BadInput, match=reason):
        read_run(folder)


def test_a_missing_field_is_named(folder: Path) -> None:
    values = run_values()
    del values["dtype"]
    (folder / "run.json").write_text(json.dumps(values))
    with pytest.raises(BadInput, match=r"dtype.*missing field"):
        read_run(folder)


def test_a_column_of_another_type_is_named(folder: Path) -> None:
    table = outputs_table(TEXTS)
    place = table.column_names.index("input_id")
    pq.write_table(table.set_column(place, "input_id", pa.array(range(len(TEXTS)))), folder / "outputs.parquet")
    with pytest.raises(BadInput, match=r"outputs.parquet.*input_id.*int64"):
        read_run(folder)


def test_a_shortened_plan_does_not_pass_for_the_denominator(folder: Path) -> None:
    write_plan(folder, plan_table(3))
    with pytest.raises(BadInput, match=r"holds 3 inputs, but run.json says that 4"):
        read_run(folder)


def test_answers_of_another_run_are_refused(folder: Path) -> None:
    write_outputs(folder, outputs_table(TEXTS, run_id="tiny-11111111"))
    with pytest.raises(BadInput, match=r"tiny-11111111.*tiny-00000000"):
        read_run(folder)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5))
def test_every_text_survives(texts: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_plan(folder, plan_table(len(texts)))
        write_run_row(folder, run_values(n_planned=len(texts), reader=texts[0]))
        write_outputs(folder, outputs_table(texts))
        run = read_run(folder)
        assert run.outputs["text"].to_pylist() == texts
        assert run.run["reader"] == texts[0]
