"""Writing a release folder: tables, stored results, card, licences, metadata and the manifest over all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa

from tpbench_data.canonical import sha256_hex
from tpbench_data.errors import BadInput
from tpbench_data.files import new_folder, parquet_bytes
from tpbench_data.release.card import card
from tpbench_data.release.croissant import CROISSANT, croissant_text
from tpbench_data.release.licences import licence_files
from tpbench_data.release.manifest import MANIFEST, manifest_text, path_problem, read_manifest
from tpbench_data.release.schema import CONFIGS
from tpbench_data.release.stored_tables import read_stored_table

_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?")
_HOMEPAGE = re.compile(r"https?://[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]{1,300}")
_SORTED_BY = {"dialogues": ("corpus", "dialogue_id"), "runs": ("run_id",)}


def write_release(
    out: Path, tables: dict[str, pa.Table], facts: dict[str, Any], stored: Mapping[str, bytes] | None = None
) -> str:
    """Writes a new release folder, all or nothing, and returns its digest.

    Args:
        out: A folder that does not exist yet.
        tables: Config name -> table with the schema of that config; empty ones are left out.
        facts: What the manifest says besides files: release version, builder, corpora, protocols, counts.
            ``date_published`` (ISO date) and ``homepage`` are optional.
        stored: File name -> content of the tables frozen with the release (``tables/``).

    Raises:
        BadInput: ``out`` exists, a version or date that is none, or a stored table that is not one.
    """
    check_version(facts["release"])
    check_date(facts.get("date_published"))
    check_homepage(facts.get("homepage"))
    results = {name: read_stored_table(name, data) for name, data in sorted((stored or {}).items())}
    with new_folder(out) as folder:
        files: list[dict[str, Any]] = []

        def add(path: str, data: bytes, rows: int | None) -> None:
            problem = path_problem(path)
            if problem:
                raise BadInput(f"a release cannot hold the file {path!r}: it {problem}", remedy="Choose another name")
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            files.append({"path": path, "sha256": sha256_hex(data), "bytes": len(data), "rows": rows})

        held = {}
        for config, schema in CONFIGS.items():
            table = tables.get(config)
            if table is not None and table.num_rows:
                held[config] = _in_order(config, table.cast(schema))
                add(f"data/{config}/test-00000-of-00001.parquet", parquet_bytes(held[config]), table.num_rows)
        for name, data in sorted((stored or {}).items()):
            add(f"tables/{name}", data, None)
        for path, text in licence_files(facts).items():
            add(path, text.encode(), None)
        sizes = {entry["path"].split("/")[1]: entry["bytes"] for entry in files if entry["path"].startswith("data/")}
        add("README.md", card(facts, held, results, sizes).encode(), None)
        add(CROISSANT, croissant_text(facts, held, files).encode(), None)
        (folder / MANIFEST).write_bytes(manifest_text(facts, files).encode())
    return str(read_manifest(out)["digest"])


def _in_order(config: str, table: pa.Table) -> pa.Table:
    """Dialogues and runs by id, outputs run by run: the bytes must not depend on how they were collected."""
    if config == "outputs":
        runs = table["run_id"].to_pylist()
        return table.take(sorted(range(table.num_rows), key=lambda row: runs[row] or ""))
    if config not in _SORTED_BY:
        return table
    keys = list(zip(*(table[column].to_pylist() for column in _SORTED_BY[config]), strict=True))
    return table.take(sorted(range(table.num_rows), key=lambda row: [key or "" for key in keys[row]]))


def check_version(version: object) -> None:
    """Raises BadInput unless ``version`` is MAJOR.MINOR.PATCH, with an optional ``-prerelease``."""
    if not isinstance(version, str) or len(version) > 40 or not _VERSION.fullmatch(version):
        raise BadInput(
            f"{version!r} is not a version", field="release", remedy="Write MAJOR.MINOR.PATCH, such as 1.0.0"
        )


def check_date(text: object) -> None:
    """Raises BadInput unless ``text`` is ``None`` or an ISO date."""
    try:
        fine = text is None or (isinstance(text, str) and date.fromisoformat(text).isoformat() == text)
    except ValueError:
        fine = False
    if not fine:
        raise BadInput(f"{text!r} is not a date", field="date_published", remedy="Write YYYY-MM-DD")


def check_homepage(url: object) -> None:
    """Raises BadInput unless ``url`` is ``None`` or a web address."""
    if url is not None and not (isinstance(url, str) and _HOMEPAGE.fullmatch(url)):
        raise BadInput(f"{url!r} is not a web address", field="homepage", remedy="Write https://...")
