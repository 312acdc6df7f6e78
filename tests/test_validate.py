"""A changed release is always found out: bytes, files, schema and the meaning of rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import run_command

from tpbench_data.canonical import pretty_json, sha256_hex
from tpbench_data.errors import BadInput
from tpbench_data.files import parquet_bytes
from tpbench_data.release.manifest import digest_of
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import PROBE, SCHEMA_VERSION
from tpbench_data.release.validate import validate

CURRENT = "data/current_value/test-00000-of-00001.parquet"


def rewrite_manifest(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Edits the manifest and gives it a fitting digest, as a careful forger would."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    change(manifest)
    manifest["digest"] = digest_of(manifest)
    path.write_text(pretty_json(manifest), encoding="utf-8")


def replace_table(folder: Path, path: str, table: pa.Table) -> None:
    """Replaces a table together with its hash, size and row count."""
    data = parquet_bytes(table)
    (folder / path).write_bytes(data)

    def change(manifest: dict[str, Any]) -> None:
        for entry in manifest["files"]:
            if entry["path"] == path:
                entry |= {"sha256": sha256_hex(data), "bytes": len(data), "rows": table.num_rows}

    rewrite_manifest(folder, change)


def edit_row(folder: Path, number: int, **values: Any) -> None:
    """Edits one row of current_value consistently with its hash."""
    rows = Release.open(folder).table("current_value").to_pylist()
    rows[number] |= values
    replace_table(folder, CURRENT, pa.Table.from_pylist(rows, schema=PROBE))


def problems(folder: Path) -> str:
    """The report of the real command, which must fail with exit 1."""
    result = run_command("tpbench-data", "validate", folder)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    return result.stdout


def test_a_fresh_release_is_valid(small_build: Path) -> None:
    result = run_command("tpbench-data", "validate", small_build)
    assert (result.returncode, result.stdout) == (0, f"{small_build}: valid\n")
    listed = run_command("tpbench-data", "validate", small_build, "--json")
    assert json.loads(listed.stdout) == {"release": str(small_build), "valid": True, "issues": []}


def test_one_changed_byte_of_any_file_is_named(small_build: Path) -> None:
    files = sorted(p for p in small_build.rglob("*") if p.is_file())
    assert len(files) >= 6
    for file in files:
        original = file.read_bytes()
        for place in (0, len(original) // 2, len(original) - 1):
            changed = bytearray(original)
            changed[place] ^= 1
            file.write_bytes(bytes(changed))
            found = [str(issue) for issue in validate(small_build)]
            name = file.relative_to(small_build).as_posix()
            assert any(name in line for line in found), (name, place, found)
        file.write_bytes(original)
    assert validate(small_build) == []


def test_a_deleted_file_is_named(small_build: Path) -> None:
    (small_build / CURRENT).unlink()
    assert f"{CURRENT}: is listed in manifest.json but missing" in problems(small_build)


def test_an_added_file_is_named(small_build: Path) -> None:
    (small_build / "data" / "notes.txt").write_text("hello", encoding="utf-8")
    assert "data/notes.txt: is not listed in manifest.json" in problems(small_build)


def test_a_symbolic_link_is_refused(small_build: Path) -> None:
    (small_build / "data" / "link").symlink_to("/etc")
    assert "data/link: is a symbolic link" in problems(small_build)


def test_crlf_conversion_is_told_apart_from_damage(small_build: Path) -> None:
    card = small_build / "README.md"
    card.write_bytes(card.read_bytes().replace(b"\n", b"\r\n"))
    assert "README.md: same content with CRLF line ends" in problems(small_build)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"n_turns": 99}, "n_turns"),
        ({"k_turns": 1}, "k_turns"),
        ({"kept_turns": [0, 1]}, "context"),
        ({"kept_turns": [1, 0, 2, 3]}, "kept_turns"),
        ({"kept_turns": [0, 1, 2, 400]}, "kept_turns"),
        ({"context": "[T0] USER: something else"}, "context"),
        ({"context_words": 3}, "context_words"),
        ({"full_context_words": 3}, "full_context_words"),
        ({"prompt": [{"role": "user", "content": "hi"}]}, "prompt"),
        ({"ratio": 0.5}, "input_id"),
        ({"method": "random"}, "method_config"),
        ({"reference_value": "Harrow"}, "answer_turns"),
        ({"answer_turns": [0]}, "answer_turns"),
        ({"sample_seeds": [7]}, "sample_seeds"),
        ({"sample_seeds": []}, "sample_seeds"),
        ({"dialogue_id": "nobody"}, "dialogue_id"),
        ({"protocol": "matched"}, "protocol"),
        ({"alias_equivalent": True}, "alias_equivalent"),
        ({"transition_type": "whim"}, "transition_type"),
        ({"slot": None}, "slot"),
        ({"reference_goal": "a table"}, "reference_goal"),
        ({"update_turn": -1}, "update_turn"),
        ({"template": "mine@9"}, "template"),
    ],
)
def test_a_row_edited_together_with_its_hash_is_found(small_build: Path, values: dict[str, Any], field: str) -> None:
    edit_row(small_build, 3, **values)
    report = problems(small_build)
    assert f"{CURRENT}, row 4, field '{field}'" in report, report


def test_a_repeated_row_is_found(small_build: Path) -> None:
    table = Release.open(small_build).table("current_value")
    replace_table(small_build, CURRENT, pa.concat_tables([table, table.slice(0, 1)]))
    assert "appears twice" in problems(small_build)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda table: table.drop_columns(["slot"]), "slot"),
        (lambda table: table.append_column("extra", table["slot"]), "extra"),
        (lambda table: table.set_column(3, "language", pa.array([1] * table.num_rows)), "language"),
    ],
)
def test_another_schema_is_found(small_build: Path, change: Callable[[pa.Table], pa.Table], field: str) -> None:
    replace_table(small_build, CURRENT, change(Release.open(small_build).table("current_value")))
    assert f"{CURRENT}, field '{field}'" in problems(small_build)
    with pytest.raises(BadInput, match=field):
        Release.open(small_build).table("current_value")


def test_reading_a_changed_table_is_refused(small_build: Path) -> None:
    file = small_build / CURRENT
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    with pytest.raises(BadInput, match="was changed"):
        Release.open(small_build).table("current_value")


@pytest.mark.parametrize("path", ["../outside.parquet", "/etc/passwd", "data\\x", "a//b", "con:x", ""])
def test_a_path_that_leaves_the_folder_is_refused(small_build: Path, path: str) -> None:
    rewrite_manifest(small_build, lambda manifest: manifest["files"][0].update(path=path))
    with pytest.raises(BadInput, match="path"):
        Release.open(small_build)


def test_a_newer_schema_is_one_error_that_says_to_upgrade(small_build: Path) -> None:
    rewrite_manifest(small_build, lambda manifest: manifest.update(schema_version=SCHEMA_VERSION + 1))
    for arguments in (["validate", small_build], ["info", small_build]):
        result = run_command("tpbench-data", *arguments)
        assert result.returncode == 2
        assert "Upgrade with: pip install -U tpbench" in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "not valid JSON"), ("[]", "schema version"), ('{"schema_version": 1}', "not a list"), ("[" * 9999, "JSON")],
)
def test_a_broken_manifest_is_one_error(small_build: Path, text: str, message: str) -> None:
    (small_build / "manifest.json").write_text(text, encoding="utf-8")
    result = run_command("tpbench-data", "info", small_build)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
