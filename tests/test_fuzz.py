"""Anything may stand in a file from a stranger: readers answer with a result or with our error, never otherwise.

Runs are short and the same each time; ``TPBENCH_FUZZ_EXAMPLES=5000 pytest tests/test_fuzz.py`` looks further.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from bad_release_recipes import _forge, _put_rows, _rows
from full_release import full_once  # noqa: F401  (fixture)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tpbench_data.corpora import corpus_named
from tpbench_data.errors import TPBenchError
from tpbench_data.files import parquet_bytes
from tpbench_data.judgment_files import read_judgments
from tpbench_data.release.card_tables import reachability_text, stored_tables_text
from tpbench_data.release.diff import diff
from tpbench_data.release.manifest import read_manifest
from tpbench_data.release.reader import Release, read_parquet
from tpbench_data.release.schema import CONFIGS, OUTPUTS
from tpbench_data.release.stored_tables import read_stored_table
from tpbench_data.release.strict_json import parse_strict
from tpbench_data.release.table_checks import check_stored_tables
from tpbench_data.release.validate import validate
from tpbench_data.run_folder import OUTPUTS_FILE, RUN_FILE, read_run
from tpbench_score.answer import score_answer
from tpbench_score.json_lines import read_json_lines

EXAMPLES = int(os.environ.get("TPBENCH_FUZZ_EXAMPLES", "120"))
FAST = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES == 120,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
SLOW = settings(FAST, max_examples=EXAMPLES // 3)

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30)
    | st.sampled_from(["", "\x1b[31m", "../x", "a" * 300, "<script>", "=1+1", "\u2028", "NaN", "0" * 5000])
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4)
)


@st.composite
def mutations(draw: st.DrawFn, data: bytes, near_end: bool = False) -> bytes:
    """The bytes with a few of them changed, cut out or doubled."""
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 6))):
        low = max(0, len(changed) - 3000) if near_end and draw(st.booleans()) else 0
        place = draw(st.integers(low, max(low, len(changed) - 1)))
        kind = draw(st.sampled_from(["flip", "set", "cut", "double", "end"]))
        if kind == "flip":
            changed[place : place + 1] = bytes([changed[place] ^ (1 << draw(st.integers(0, 7)))]) if changed else b""
        elif kind == "set":
            changed[place : place + 1] = draw(st.binary(min_size=1, max_size=4))
        elif kind == "cut":
            del changed[place : place + draw(st.integers(1, 40))]
        elif kind == "double":
            changed[place:place] = changed[place : place + draw(st.integers(1, 40))]
        else:
            del changed[place:]
    return bytes(changed)


def survives(call: Callable[[], Any]) -> Any:
    """The result of a call, ``None`` where it raised an error of ours; any other exception fails the test."""
    try:
        return call()
    except TPBenchError as problem:
        text = str(problem)
        assert text
        assert len(text) < 3000
        text.encode("utf-8")  # can be printed
        return None


@pytest.fixture(scope="module")
def place(full_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release to be spoilt again and again; every test restores what it changed."""
    return Path(shutil.copytree(full_once, tmp_path_factory.mktemp("fuzz") / "release"))


@FAST
@given(st.data())
def test_a_manifest_of_changed_bytes(place: Path, data: st.DataObject) -> None:
    file = place / "manifest.json"
    original = file.read_bytes()
    try:
        file.write_bytes(data.draw(mutations(original)))
        survives(lambda: read_manifest(place))
        survives(lambda: validate(place))
    finally:
        file.write_bytes(original)


@SLOW
@given(st.data())
def test_a_manifest_with_other_values_and_a_fitting_digest(place: Path, data: st.DataObject) -> None:
    file = place / "manifest.json"
    original = file.read_bytes()
    manifest = json.loads(original)
    for _ in range(data.draw(st.integers(1, 3))):
        node: Any = manifest
        while isinstance(node, (dict, list)) and node:
            key = data.draw(st.sampled_from(sorted(node) if isinstance(node, dict) else list(range(len(node)))))
            if not isinstance(node[key], (dict, list)) or not node[key] or data.draw(st.booleans()):
                node[key] = data.draw(values)
                break
            node = node[key]
    try:
        _forge(place, manifest)
        release = survives(lambda: Release.open(place))
        survives(lambda: validate(place))
        if release is not None:
            survives(lambda: diff(release, release))
    finally:
        file.write_bytes(original)


def _cell(kind: pa.DataType) -> st.SearchStrategy[Any]:
    if pa.types.is_list(kind):
        return st.none() | st.lists(_cell(kind.value_type), max_size=4)
    if pa.types.is_struct(kind):
        return st.none() | st.fixed_dictionaries({field.name: _cell(field.type) for field in kind})
    if pa.types.is_string(kind):
        return st.none() | st.text(max_size=20) | st.sampled_from(["{", "null", "matched", "sgd", "[T0] USER: x", "%|"])
    if pa.types.is_boolean(kind):
        return st.none() | st.booleans()
    if pa.types.is_floating(kind):
        return st.none() | st.floats() | st.sampled_from([0.0, 0.3, -1.0, 2.0])
    return st.none() | st.integers(-3, 40) | st.integers(-(2**31), 2**31 - 1)


@SLOW
@given(st.data())
def test_rows_with_any_values_of_their_types(place: Path, data: st.DataObject) -> None:
    config = data.draw(st.sampled_from(sorted(CONFIGS)))
    names = [f"data/{config}/test-00000-of-00001.parquet", "manifest.json", "croissant.json"]
    originals = {name: (place / name).read_bytes() for name in names}
    rows = _rows(place, config)
    for _ in range(data.draw(st.integers(1, 4))):
        row = data.draw(st.sampled_from(rows))
        for column in data.draw(st.lists(st.sampled_from(CONFIGS[config].names), min_size=1, max_size=4)):
            row[column] = data.draw(_cell(CONFIGS[config].field(column).type))
    try:
        _put_rows(place, config, rows)
        issues = validate(place)
        for issue in issues:
            str(issue).encode("utf-8")
    finally:
        for name, original in originals.items():
            (place / name).write_bytes(original)


@FAST
@given(st.data())
def test_a_parquet_file_of_changed_bytes(full_once: Path, data: st.DataObject) -> None:
    config = data.draw(st.sampled_from(["runs", "judgments", "dialogues", "current_value"]))
    original = (full_once / f"data/{config}/test-00000-of-00001.parquet").read_bytes()
    changed = data.draw(mutations(original, near_end=True))
    table = survives(lambda: read_parquet(changed, CONFIGS[config], Path("x.parquet")))
    if table is not None:
        table.to_pylist()


@FAST
@given(st.data())
def test_a_run_folder_of_changed_bytes(full_once: Path, tmp_path: Path, data: st.DataObject) -> None:
    folder = tmp_path / "run"
    if not folder.exists():
        shutil.copytree(full_once.parent / "tiny", folder)
    file = folder / data.draw(st.sampled_from([RUN_FILE, "plan.parquet", OUTPUTS_FILE]))
    original = file.read_bytes()
    try:
        file.write_bytes(data.draw(mutations(original)))
        survives(lambda: read_run(folder))
        if file.name == RUN_FILE:
            row = json.loads(original)
            row[data.draw(st.sampled_from(sorted(row)))] = data.draw(values)
            file.write_text(json.dumps(row), encoding="utf-8")
            survives(lambda: read_run(folder))
    finally:
        file.write_bytes(original)


PLAIN = (
    b'{"dialogue_id": "d1", "language": "en", "turns": [{"speaker": "user", "text": "A table.", '
    b'"state": {"cafe": {"size": ["2", "two"]}}}, {"speaker": "system", "text": "Done."}]}\n'
)


@FAST
@given(st.data())
def test_dialogues_in_the_plain_format(tmp_path: Path, data: st.DataObject) -> None:
    file = tmp_path / "own.jsonl"
    if data.draw(st.booleans()):
        file.write_bytes(data.draw(mutations(PLAIN * 2)))
    else:
        record = json.loads(PLAIN)
        target = data.draw(st.sampled_from([record, record["turns"][0], record["turns"][0]["state"]]))
        target[data.draw(st.sampled_from(sorted(target)) | st.text(max_size=5))] = data.draw(values)
        file.write_text(json.dumps(record), encoding="utf-8")
    corpus = corpus_named("own")
    survives(lambda: [len(dialogue) for dialogue in corpus.load(corpus.files(file))])


@FAST
@given(st.data())
def test_stored_tables(full_once: Path, data: st.DataObject) -> None:
    original = sorted((full_once / "tables").iterdir())[-1].read_bytes()
    if data.draw(st.booleans()):
        content = data.draw(mutations(original))
    else:
        table = json.loads(original)["tables"][0]
        part = data.draw(st.sampled_from([table, table["columns"][0], table["rows"][0], table["rows"][0]["cells"][0]]))
        part[data.draw(st.sampled_from(sorted(part)))] = data.draw(values)
        content = json.dumps({"format": 1, "tables": [table]}).encode()
    tables = survives(lambda: read_stored_table("table_01.json", content))
    if tables is not None:
        for issue in check_stored_tables(tables, {}, set()):
            str(issue).encode("utf-8")
        stored = {"reachability.json": tables}
        (reachability_text(stored) + stored_tables_text(stored)).encode("utf-8")


@FAST
@given(st.binary(max_size=200) | values.map(lambda value: json.dumps(value).encode()))
def test_json_of_any_kind(tmp_path: Path, content: bytes) -> None:
    survives(lambda: parse_strict(content, "x.json"))
    (tmp_path / "j.jsonl").write_bytes(content)
    survives(lambda: read_judgments(tmp_path / "j.jsonl"))
    survives(lambda: list(read_json_lines(content.splitlines(keepends=True), "x.jsonl")))


@FAST
@given(st.text(max_size=200) | values.map(json.dumps), st.text(max_size=20), st.text(max_size=20))
def test_answers_of_any_kind_are_scored(text: str, goal: str, value: str) -> None:
    for probe in ("initial_goal", "current_value", "joint_recovery"):
        result = score_answer(probe, text, corpus="sgd", reference_goal=goal, reference_value=value)
        assert result.strict in (True, False)


def test_the_mutations_start_from_readable_files(full_once: Path) -> None:
    """Without this the tests above would pass on garbage."""
    assert validate(full_once) == []
    assert read_parquet(parquet_bytes(OUTPUTS.empty_table()), OUTPUTS, Path("x")).num_rows == 0
    assert read_run(full_once.parent / "tiny").plan.num_rows > 0
