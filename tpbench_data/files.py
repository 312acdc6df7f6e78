"""Writing files so that nothing a user had is overwritten or half-written.

Source: design page "Guarantees". Write to a temporary name beside the target, fsync, rename.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tpbench_data.errors import BadInput


def _fsync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # not every file system lets a folder be synced
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a file atomically: readers see the old content or the new, never a part."""
    fd, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(fd, "wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _fsync_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    """Writes UTF-8 text atomically, with the newlines it has."""
    write_bytes(path, text.encode("utf-8"))


def parquet_bytes(table: pa.Table) -> bytes:
    """The table as Parquet with fixed settings, so that equal tables give equal bytes (per pyarrow version)."""
    sink = pa.BufferOutputStream()
    pq.write_table(
        table.combine_chunks(),
        sink,
        compression="zstd",
        compression_level=9,
        row_group_size=10_000,
        write_statistics=True,
        store_schema=True,
    )
    return bytes(sink.getvalue())


def write_parquet(path: Path, table: pa.Table) -> None:
    """Writes a Parquet file atomically."""
    write_bytes(path, parquet_bytes(table))


@contextlib.contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Yields a temporary folder beside ``target`` that becomes ``target`` when the block ends without error.

    Raises:
        BadInput: ``target`` exists already (a release is never changed in place).
    """
    target = Path(os.path.abspath(target))  # noqa: PTH100  (resolve() would follow a link the user meant)
    if target.exists():
        raise BadInput("already exists", file=target, remedy="Choose another --out, or move the old folder away")
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent))
    try:
        yield temporary
        temporary.chmod(0o755)
        for folder, _, names in os.walk(temporary):
            for name in names:
                path = Path(folder) / name
                fd = os.open(path, os.O_RDONLY)
                try:
                    os.fsync(fd)
                finally:
                    os.close(fd)
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    _fsync_folder(target.parent)
