"""Opening a release: data only, nothing runs, no path leaves the folder, every file is checked when read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from tpbench_data.canonical import sha256_hex
from tpbench_data.errors import BadInput
from tpbench_data.release.manifest import read_manifest
from tpbench_data.release.parquet_reading import read_parquet
from tpbench_data.release.schema import CONFIGS, PROBE_CONFIGS

__all__ = ["Release", "read_parquet"]


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

    def stored_tables(self) -> dict[str, bytes]:
        """File name -> content of the tables frozen with the release (``tables/``), by name.

        Raises:
            BadInput: A file is missing or was changed.
        """
        prefix = "tables/"
        entries = [entry for entry in self.manifest["files"] if entry["path"].startswith(prefix)]
        return {entry["path"].removeprefix(prefix): self.read_bytes(entry) for entry in entries}

    def read_bytes(self, entry: dict[str, Any]) -> bytes:
        """The content of a file of the manifest, which must be as the manifest says.

        Raises:
            BadInput: The file is missing, a link, or was changed.
        """
        path = self.path / entry["path"]
        if not path.is_file() or holds_link(self.path, entry["path"]):
            raise BadInput("file is missing", file=path, remedy="Get the release again")
        data: bytes = path.read_bytes() if path.stat().st_size == entry["bytes"] else b""
        self.check_bytes(entry, data)
        return data

    def check_bytes(self, entry: dict[str, Any], data: bytes) -> None:
        """Raises BadInput unless these are the bytes of a file of the manifest."""
        if len(data) != entry["bytes"] or sha256_hex(data) != entry["sha256"]:
            raise BadInput(
                "was changed: it does not match manifest.json",
                file=self.path / entry["path"],
                remedy="Get the release again",
            )

    def _read(self, entry: dict[str, Any], schema: pa.Schema) -> pa.Table:
        return read_parquet(self.read_bytes(entry), schema, self.path / entry["path"])


def holds_link(folder: Path, path: str) -> bool:
    """Whether a file of a release, or a folder on the way to it, is a symbolic link."""
    parts = path.split("/")
    return any(folder.joinpath(*parts[: number + 1]).is_symlink() for number in range(len(parts)))
