"""Opening a release: data only, nothing runs, no path leaves the folder, every file is checked when read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tpbench_data.canonical import sha256_hex
from tpbench_data.errors import BadInput
from tpbench_data.release.manifest import read_manifest
from tpbench_data.release.schema import CONFIGS, PROBE_CONFIGS

MAX_TABLE_BYTES = 2 * 2**30


@dataclass(frozen=True)
class Release:
    """A release folder whose manifest has been checked.

    Attributes:
        path: The folder.
        manifest: The content of ``manifest.json``.
    """

    path: Path
    manifest: dict[str, Any]

    @classmethod
    def open(cls, path: str | Path) -> Release:
        """Opens a release folder.

        Raises:
            BadInput: No release there, or one whose manifest is damaged, edited or from a newer schema.
        """
        folder = Path(path)
        return cls(folder, read_manifest(folder))

    @property
    def digest(self) -> str:
        """The digest over the whole release, 64 hex digits."""
        return str(self.manifest["digest"])

    @property
    def configs(self) -> list[str]:
        """The configs the release holds, in schema order."""
        return [config for config in CONFIGS if self.files(config)]

    @property
    def probes(self) -> list[str]:
        """The probe configs the release holds, in order."""
        return [config for config in PROBE_CONFIGS if self.files(config)]

    def files(self, config: str) -> list[dict[str, Any]]:
        """The manifest entries of one config's Parquet files, in path order."""
        prefix = f"data/{config}/"
        return [f for f in self.manifest["files"] if f["path"].startswith(prefix)]

    def table(self, config: str) -> pa.Table:
        """One config as an Arrow table; empty where the release lacks it.

        Raises:
            KeyError: No such config name.
            BadInput: A file is missing, was changed, or does not hold the columns it must.
        """
        schema = CONFIGS[config]
        parts = [self._read(entry, schema) for entry in self.files(config)]
        return pa.concat_tables(parts) if parts else schema.empty_table()

    def _read(self, entry: dict[str, Any], schema: pa.Schema) -> pa.Table:
        path = self.path / entry["path"]
        if path.is_symlink() or not path.is_file():
            raise BadInput("file is missing", file=path, remedy="Get the release again")
        data = path.read_bytes()
        if len(data) != entry["bytes"] or sha256_hex(data) != entry["sha256"]:
            raise BadInput("was changed: it does not match manifest.json", file=path, remedy="Get the release again")
        return read_parquet(data, schema, path)


def read_parquet(data: bytes, schema: pa.Schema, path: Path) -> pa.Table:
    """Parquet bytes as a table with exactly this schema.

    Raises:
        BadInput: Damaged, too large when unpacked, or with other columns.
    """
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        unpacked = sum(file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups))
        if unpacked > MAX_TABLE_BYTES:
            raise BadInput(f"unpacks to {unpacked} bytes, more than {MAX_TABLE_BYTES}", file=path)
        found = file.schema_arrow
        for field in schema:
            position = found.get_field_index(field.name)
            if position < 0:
                raise BadInput("column is missing", file=path, field=field.name)
            if found.field(position).type != field.type:
                raise BadInput(
                    f"column holds {found.field(position).type}, not {field.type}",
                    file=path,
                    field=field.name,
                )
        extra = sorted(set(found.names) - set(schema.names))
        if extra or found.names != schema.names:
            raise BadInput(
                "unknown column" if extra else "columns in another order",
                file=path,
                field=(extra or found.names)[0],
            )
        return file.read().cast(schema)
    except (pa.ArrowException, OSError) as problem:
        raise BadInput(f"not a readable Parquet file ({problem})", file=path, remedy="Get it again") from problem
