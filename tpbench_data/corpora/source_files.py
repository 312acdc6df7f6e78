"""Reading the files of a corpus from a folder, a tar archive or a zip archive, without unpacking to disk."""

from __future__ import annotations

import re
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import IO

from tpbench_data.errors import BadInput

MAX_FILE_BYTES = 512 * 2**20
MAX_TOTAL_BYTES = 4 * 2**30
_TAR_SUFFIXES = (".tar", ".tar.xz", ".tar.gz", ".tgz", ".tar.bz2")


@dataclass
class SourceFiles:
    """The files of one corpus whose base name matches ``pattern``, in number order.

    Attributes:
        path: A folder, a ``.tar[.xz|.gz|.bz2]`` or a ``.zip``.
        pattern: Regular expression for the whole base name; its first group, if any, is the file number.
        subfolder: The folder to take where several hold matching files, such as ``train``.
        digest: After iteration: SHA-256 over names and contents, the same for a folder and an archive of it.
        count: After iteration: number of files read.
    """

    path: Path
    pattern: str
    subfolder: str | None = None
    digest: str = field(default="", init=False)
    count: int = field(default=0, init=False)

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        """Yields (display name, content) in file-number order, whatever order the archive lists its files in.

        Raises:
            BadInput: No such path, an unreadable archive, no matching file, or one that is unreasonably large.
        """
        overall = sha256()
        found = False
        for name, data in self._read():
            found = True
            overall.update(f"{PurePosixPath(name).name}\0{sha256(data).hexdigest()}\n".encode())
            self.count += 1
            yield f"{self.path}/{name}", data
        if not found:
            raise BadInput(
                f"no file named like {self.pattern!r} in it",
                file=self.path,
                remedy="Check the path of the corpus",
            )
        self.digest = overall.hexdigest()

    def _read(self) -> Iterator[tuple[str, bytes]]:
        if self.path.is_dir():
            names = [p.relative_to(self.path).as_posix() for p in self.path.rglob("*") if p.is_file()]
            for name in self._chosen(names):
                file = self.path / name
                self._check_size(name, file.stat().st_size)
                yield name, file.read_bytes()
        elif not self.path.is_file():
            raise BadInput("no such file or folder", file=self.path, remedy="Check the path of the corpus")
        elif self.path.name.endswith(_TAR_SUFFIXES):
            yield from self._read_tar()
        elif self.path.suffix == ".zip":
            yield from self._read_zip()
        else:
            yield self.path.name, self.path.read_bytes()

    def _read_tar(self) -> Iterator[tuple[str, bytes]]:
        # A compressed tar can only be read forwards, so the members are held until their turn comes.
        held: dict[str, bytes] = {}
        total = 0
        try:
            with tarfile.open(self.path, "r|*") as archive:
                for member in archive:
                    if not member.isfile() or not self._matches(member.name):
                        continue
                    self._check_size(member.name, member.size)
                    total += member.size
                    if total > MAX_TOTAL_BYTES:
                        raise BadInput(f"unpacks to more than {MAX_TOTAL_BYTES} bytes", file=self.path)
                    handle = archive.extractfile(member)
                    if handle is not None:
                        held[member.name] = handle.read()
        except (tarfile.TarError, EOFError, OSError) as problem:
            raise BadInput(f"damaged archive ({problem})", file=self.path, remedy="Download it again") from problem
        for name in self._chosen(list(held)):
            yield name, held.pop(name)

    def _read_zip(self) -> Iterator[tuple[str, bytes]]:
        try:
            with zipfile.ZipFile(self.path) as archive:
                sizes = {item.filename: item.file_size for item in archive.infolist() if not item.is_dir()}
                for name in self._chosen(list(sizes)):
                    self._check_size(name, sizes[name])
                    with archive.open(name) as handle:
                        yield name, _bounded(handle, self.path, name)
        except zipfile.BadZipFile as problem:
            raise BadInput(f"damaged archive ({problem})", file=self.path, remedy="Download it again") from problem

    def _matches(self, name: str) -> bool:
        return re.fullmatch(self.pattern, PurePosixPath(name).name) is not None

    def _chosen(self, names: list[str]) -> list[str]:
        names = [name for name in names if self._matches(name)]
        folders = {PurePosixPath(name).parent for name in names}
        if len(folders) > 1:
            kept = {folder for folder in folders if folder.name == self.subfolder}
            if len(kept) != 1:
                listed = ", ".join(sorted(str(folder) for folder in folders))
                raise BadInput(
                    f"matching files in several folders ({listed})", file=self.path, remedy="Name one of them"
                )
            names = [name for name in names if PurePosixPath(name).parent in kept]
        return sorted(names, key=self._order)

    def _order(self, name: str) -> tuple[int, str]:
        match = re.fullmatch(self.pattern, PurePosixPath(name).name)
        number = match.group(1) if match and match.re.groups else None
        return (int(number) if number else 0, name)

    def _check_size(self, name: str, size: int) -> None:
        if size > MAX_FILE_BYTES:
            raise BadInput(f"{size} bytes, more than the limit of {MAX_FILE_BYTES}", file=f"{self.path}/{name}")


def _bounded(handle: IO[bytes], archive: Path, name: str) -> bytes:
    data = handle.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise BadInput(f"more than the limit of {MAX_FILE_BYTES} bytes", file=f"{archive}/{name}")
    return data
