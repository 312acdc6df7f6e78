"""Writing a release folder: tables, card, licences and the manifest over all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from tpbench_data.canonical import sha256_hex
from tpbench_data.files import new_folder, parquet_bytes
from tpbench_data.release.card import card
from tpbench_data.release.licences import licence_files
from tpbench_data.release.manifest import MANIFEST, manifest_text, read_manifest
from tpbench_data.release.schema import CONFIGS


def write_release(out: Path, tables: dict[str, pa.Table], facts: dict[str, Any]) -> str:
    """Writes a new release folder, all or nothing, and returns its digest.

    Args:
        out: A folder that does not exist yet.
        tables: Config name -> table with the schema of that config; empty ones are left out.
        facts: What the manifest says besides files: release version, builder, corpora, protocols, counts.

    Raises:
        BadInput: ``out`` exists.
    """
    with new_folder(out) as folder:
        files: list[dict[str, Any]] = []

        def add(path: str, data: bytes, rows: int | None) -> None:
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            files.append({"path": path, "sha256": sha256_hex(data), "bytes": len(data), "rows": rows})

        rows = {}
        for config, schema in CONFIGS.items():
            table = tables.get(config)
            if table is not None and table.num_rows:
                add(
                    f"data/{config}/test-00000-of-00001.parquet",
                    parquet_bytes(table.cast(schema)),
                    table.num_rows,
                )
                rows[config] = table.num_rows
        for path, text in licence_files(facts).items():
            add(path, text.encode(), None)
        add("README.md", card(facts, rows).encode(), None)
        text = manifest_text(facts, files)
        (folder / MANIFEST).write_bytes(text.encode())
    return str(read_manifest(out)["digest"])
