"""Making a bad release from a good one by a recipe of steps, so that a new case needs no Python.

A recipe (``tests/bad_releases/<case>/recipe.json``) is ``{"why": ..., "steps": [...]}``; a step is an object whose key
``do`` names a function below and whose other keys are its arguments. Rows count from 1. Steps that change a table, a
stored table or a text file give it a fitting hash, and the manifest a fitting digest, as a careful forger would;
`flip`, `cut`, `crlf`, `delete`, `write`, `link` and `raw_manifest` do not.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tpbench_data.canonical import pretty_json, sha256_hex
from tpbench_data.files import parquet_bytes
from tpbench_data.release.manifest import digest_of
from tpbench_data.release.schema import CONFIGS


def apply_recipe(folder: Path, recipe: dict[str, Any]) -> None:
    """Runs every step of a recipe on a release folder."""
    for step in recipe["steps"]:
        arguments = {key: value for key, value in step.items() if key != "do"}
        STEPS[step["do"]](folder, **arguments)


def _manifest(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "manifest.json").read_text(encoding="utf-8")))


def _forge(folder: Path, manifest: dict[str, Any]) -> None:
    manifest["digest"] = digest_of(manifest)
    (folder / "manifest.json").write_text(pretty_json(manifest), encoding="utf-8")


def _put(folder: Path, path: str, data: bytes, rows: int | None = None) -> None:
    """Writes a file with a fitting manifest entry."""
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(data)
    manifest = _manifest(folder)
    entry = {"path": path, "sha256": sha256_hex(data), "bytes": len(data), "rows": rows}
    others = [found for found in manifest["files"] if found["path"] != path]
    _forge(folder, manifest | {"files": sorted([*others, entry], key=lambda found: str(found["path"]))})
    if path != "croissant.json":
        _describe(folder, path, entry)


def _describe(folder: Path, path: str, entry: dict[str, Any]) -> None:
    """Gives ``croissant.json`` the new hash and size of a file that it lists."""
    document = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    for node in document["distribution"]:
        if node.get("contentUrl") == path:
            node |= {"sha256": entry["sha256"], "contentSize": f"{entry['bytes']} B"}
            _put(folder, "croissant.json", pretty_json(document).encode("utf-8"))


def _path(config: str) -> str:
    return f"data/{config}/test-00000-of-00001.parquet"


def _rows(folder: Path, config: str) -> list[dict[str, Any]]:
    return list(pq.read_table(folder / _path(config)).to_pylist())


def _put_rows(folder: Path, config: str, rows: list[dict[str, Any]], schema: pa.Schema | None = None) -> None:
    table = pa.Table.from_pylist(rows, schema=schema or CONFIGS[config])
    _put(folder, _path(config), parquet_bytes(table), table.num_rows)


def _set(folder: Path, config: str, row: int, values: dict[str, Any]) -> None:
    rows = _rows(folder, config)
    rows[row - 1] |= values
    _put_rows(folder, config, rows)


def _drop_row(folder: Path, config: str, row: int) -> None:
    rows = _rows(folder, config)
    del rows[row - 1]
    _put_rows(folder, config, rows)


def _repeat_row(folder: Path, config: str, row: int) -> None:
    rows = _rows(folder, config)
    _put_rows(folder, config, [*rows, rows[row - 1]])


def _swap_rows(folder: Path, config: str, row: int, other: int) -> None:
    rows = _rows(folder, config)
    rows[row - 1], rows[other - 1] = rows[other - 1], rows[row - 1]
    _put_rows(folder, config, rows)


def _columns(folder: Path, config: str, names: list[str], integers: list[str] | None = None) -> None:
    """Writes a table with these columns only; those in ``integers`` become whole numbers."""
    schema = CONFIGS[config]
    kinds = {name: pa.int64() if name in (integers or []) else schema.field(name).type for name in names}
    rows = [
        {name: index if name in (integers or []) else row[name] for name in names}
        for index, row in enumerate(_rows(folder, config))
    ]
    _put_rows(folder, config, rows, pa.schema(list(kinds.items())))


def _drop_column(folder: Path, config: str, column: str) -> None:
    _columns(folder, config, [name for name in CONFIGS[config].names if name != column])


def _number_column(folder: Path, config: str, column: str) -> None:
    _columns(folder, config, CONFIGS[config].names, [column])


def _extra_column(folder: Path, config: str, column: str) -> None:
    table = pq.read_table(folder / _path(config)).cast(CONFIGS[config])
    table = table.append_column(column, pa.array(["x"] * table.num_rows))
    _put(folder, _path(config), parquet_bytes(table), table.num_rows)


def _bytes_in_text(folder: Path, config: str, column: str, hex_bytes: str) -> None:
    """Puts bytes that are not UTF-8 into a text column."""
    table = pq.read_table(folder / _path(config)).cast(CONFIGS[config])
    broken = pa.array([bytes.fromhex(hex_bytes)] * table.num_rows, pa.binary())
    place = table.schema.get_field_index(column)
    raw = pa.schema([pa.field(column, pa.binary()) if f.name == column else f for f in table.schema])
    table = table.set_column(place, column, broken).cast(raw)
    # The file must say "text" although it is not: Arrow's view does not look at the bytes.
    table = table.set_column(place, column, broken.view(pa.string()))
    _put(folder, _path(config), parquet_bytes(table), table.num_rows)


def _bomb(folder: Path, config: str, column: str, rows: int, characters: int) -> None:
    """A table of a few kilobytes whose text column, spelled out, has rows x characters bytes."""
    arrays = []
    for field in CONFIGS[config]:
        if field.name == column:
            big = pa.array(["x" * characters])
            arrays.append(pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), big))
        else:
            arrays.append(pa.nulls(rows, field.type))
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(arrays, names=CONFIGS[config].names), sink, compression="zstd", store_schema=False)
    _put(folder, _path(config), bytes(sink.getvalue()), rows)


def _text(folder: Path, path: str, text: str, rows: int | None = None) -> None:
    """Writes a listed text file."""
    _put(folder, path, text.encode("utf-8"), rows)


def _replace(folder: Path, path: str, old: str, new: str) -> None:
    """Replaces a text in a listed file."""
    text = (folder / path).read_text(encoding="utf-8")
    if old not in text:
        raise ValueError(f"{path} does not hold {old!r}")
    _put(folder, path, text.replace(old, new, 1).encode("utf-8"))


def _json(folder: Path, path: str, at: list[str | int], value: Any) -> None:
    """Sets one value of a listed JSON file."""
    document = json.loads((folder / path).read_text(encoding="utf-8"))
    _put_at(document, at, value)
    _put(folder, path, json.dumps(document, indent=2, sort_keys=True).encode("utf-8"))


def _manifest_value(folder: Path, at: list[str | int], value: Any) -> None:
    """Sets one value of the manifest."""
    manifest = _manifest(folder)
    _put_at(manifest, at, value)
    _forge(folder, manifest)


def _drop_fact(folder: Path, name: str) -> None:
    manifest = _manifest(folder)
    del manifest[name]
    _forge(folder, manifest)


def _put_at(document: Any, at: list[str | int], value: Any) -> None:
    for key in at[:-1]:
        document = document[key]
    document[at[-1]] = value


def _raw_manifest(folder: Path, old: str, new: str) -> None:
    """Edits the manifest's text and leaves the digest as it was."""
    text = (folder / "manifest.json").read_text(encoding="utf-8")
    if old not in text:
        raise ValueError(f"the manifest does not hold {old!r}")
    (folder / "manifest.json").write_text(text.replace(old, new, 1), encoding="utf-8")


def _deep_manifest(folder: Path, levels: int) -> None:
    (folder / "manifest.json").write_text("[" * levels + "]" * levels, encoding="utf-8")


def _unlist(folder: Path, path: str) -> None:
    """Removes a file and its manifest entry."""
    (folder / path).unlink()
    manifest = _manifest(folder)
    _forge(folder, manifest | {"files": [entry for entry in manifest["files"] if entry["path"] != path]})


def _flip(folder: Path, path: str, at: int) -> None:
    data = bytearray((folder / path).read_bytes())
    data[at] ^= 1
    (folder / path).write_bytes(bytes(data))


def _cut(folder: Path, path: str, keep: int) -> None:
    """Keeps the first bytes of a table and lists them as they are."""
    rows = next(entry["rows"] for entry in _manifest(folder)["files"] if entry["path"] == path)
    _put(folder, path, (folder / path).read_bytes()[:keep], rows)


def _crlf(folder: Path, path: str) -> None:
    (folder / path).write_bytes((folder / path).read_bytes().replace(b"\n", b"\r\n"))


def _delete(folder: Path, path: str) -> None:
    (folder / path).unlink()


def _write(folder: Path, path: str, text: str) -> None:
    """Writes a file that the manifest does not list."""
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text, encoding="utf-8", newline="\n")


def _link(folder: Path, path: str, target: str) -> None:
    (folder / path).symlink_to(target)


STEPS: dict[str, Callable[..., None]] = {
    "set": _set,
    "drop_row": _drop_row,
    "repeat_row": _repeat_row,
    "swap_rows": _swap_rows,
    "drop_column": _drop_column,
    "number_column": _number_column,
    "extra_column": _extra_column,
    "bytes_in_text": _bytes_in_text,
    "bomb": _bomb,
    "text": _text,
    "replace": _replace,
    "json": _json,
    "manifest": _manifest_value,
    "drop_fact": _drop_fact,
    "raw_manifest": _raw_manifest,
    "deep_manifest": _deep_manifest,
    "unlist": _unlist,
    "flip": _flip,
    "cut": _cut,
    "crlf": _crlf,
    "delete": _delete,
    "write": _write,
    "link": _link,
}
