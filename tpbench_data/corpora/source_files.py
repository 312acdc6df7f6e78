"""Reading the files of a corpus from a folder, a tar or zip archive or a compressed file, without unpacking to disk."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import IO, Any

from tpbench_data.errors import BadInput

MAX_FILE_BYTES = 512 * 2**20
MAX_TOTAL_BYTES = 4 * 2**30
_TAR_SUFFIXES = (".tar", ".tar.xz", ".tar.gz", ".tgz", ".tar.bz2")
_REST = 1 << 20
_OPENERS: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}


@dataclass(frozen=True, slots=True)
class _Member:
    """One file: its path as shown, and how to get its content."""

    name: str
    read: Callable[[], bytes]

    @property
    def base(self) -> str:
        return PurePosixPath(self.name).name


@dataclass
class SourceFiles:
    """The files of one corpus whose base name matches ``pattern``, in number order.

    A folder may hold the files themselves or, where it holds none of them, archives and compressed files of them.

    Attributes:
        path: A folder, a ``.tar[.xz|.gz|.bz2]``, a ``.zip``, or one file, which may be ``.xz``, ``.gz`` or ``.bz2``.
        pattern: Regular expression for the whole base name; its first group, if any, is the file number.
        preferred: Regular expression searched in the path within ``path``; where some files match it, only those
            are taken (the train folder beside dev and test).
        version: Version of the corpus where the caller knows it; a loader fills in what it recognises.
        hashes: After iteration: base name -> SHA-256 of the unpacked content.
        digest: After iteration: SHA-256 over names and contents, the same for a folder and an archive of it.
    """

    path: Path
    pattern: str
    preferred: str | None = None
    version: str = ""
    hashes: dict[str, str] = field(default_factory=dict, init=False)
    digest: str = field(default="", init=False)

    @property
    def count(self) -> int:
        """After iteration: number of files read."""
        return len(self.hashes)

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        """Yields (display name, content) in file-number order, whatever order an archive lists its files in.

        Raises:
            BadInput: No such path, an unreadable archive, no matching file, two of one name, or one
                that is unreasonably large.
        """
        overall = sha256()
        self.hashes.clear()
        with ExitStack() as open_archives:
            for member in self._members(open_archives):
                data = member.read()
                self.hashes[member.base] = sha256(data).hexdigest()
                overall.update(f"{member.base}\0{self.hashes[member.base]}\n".encode())
                yield f"{self.path}/{member.name}" if self.path.is_dir() or self._is_archive() else str(self.path), data
        if not self.hashes:
            raise BadInput(
                f"no file named like {self.pattern!r} in it", file=self.path, remedy="Check the path of the corpus"
            )
        self.digest = overall.hexdigest()

    def _is_archive(self) -> bool:
        return self.path.suffix == ".zip" or self.path.name.endswith(_TAR_SUFFIXES)

    def _members(self, stack: ExitStack) -> list[_Member]:
        if self.path.is_dir():
            return self._chosen(self._in_folder(stack))
        if not self.path.is_file():
            raise BadInput("no such file or folder", file=self.path, remedy="Check the path of the corpus")
        if self._is_archive():
            return self._chosen(self._in_archive(self.path, self.path.name, stack))
        name = self.path.name
        base = name.removesuffix(self.path.suffix) if self.path.suffix in _OPENERS else name
        return [_Member(base, partial(_read_file, self.path))]

    def _in_folder(self, stack: ExitStack) -> list[_Member]:
        paths = sorted(path for path in self.path.rglob("*") if path.is_file())
        plain = [
            _Member(path.relative_to(self.path).as_posix(), partial(_read_file, path))
            for path in paths
            if self._matches(path.name)
        ]
        if plain:
            return plain
        packed: list[_Member] = []
        for path in paths:
            name = path.relative_to(self.path).as_posix()
            if path.suffix == ".zip" or path.name.endswith(_TAR_SUFFIXES):
                packed += [
                    _Member(f"{name}/{member.name}", member.read) for member in self._in_archive(path, name, stack)
                ]
            elif path.suffix in _OPENERS and self._matches(path.name.removesuffix(path.suffix)):
                packed.append(_Member(name.removesuffix(path.suffix), partial(_read_file, path)))
        return packed

    def _in_archive(self, path: Path, shown: str, stack: ExitStack) -> list[_Member]:
        try:
            if path.suffix == ".zip":
                archive = stack.enter_context(zipfile.ZipFile(path))
                names = [item.filename for item in archive.infolist() if not item.is_dir()]
                return [_Member(n, partial(_read_zipped, archive, n, path)) for n in names if self._matches(n)]
            return self._in_tar(path)
        except (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, OSError) as problem:
            raise BadInput(
                f"damaged archive ({problem})", file=self.path.parent / shown, remedy="Download it again"
            ) from problem

    def _in_tar(self, path: Path) -> list[_Member]:
        # A compressed tar can only be read forwards, so the members are held until their turn comes.
        held: dict[str, bytes] = {}
        total = 0
        with _OPENERS.get(_compression(path), open)(path, "rb") as stream:
            with tarfile.open(fileobj=stream, mode="r|") as archive:
                for member in archive:
                    if not member.isfile() or not self._matches(member.name):
                        continue
                    _check_size(f"{path}/{member.name}", member.size)
                    total += member.size
                    if total > MAX_TOTAL_BYTES:
                        raise BadInput(f"unpacks to more than {MAX_TOTAL_BYTES} bytes", file=path)
                    handle = archive.extractfile(member)
                    if handle is not None:
                        held[member.name] = handle.read()
            while stream.read(_REST):  # a file cut short behind the last member has lost its own check sum
                pass
        return [_Member(name, partial(held.pop, name)) for name in list(held)]

    def _matches(self, name: str) -> bool:
        return re.fullmatch(self.pattern, PurePosixPath(name).name) is not None

    def _chosen(self, members: list[_Member]) -> list[_Member]:
        """The preferred members, or all, in number order.

        Files with names of their own (``val.json.zip`` beside ``test.json.zip``) may lie in several places.
        """
        if self.preferred:
            members = [member for member in members if re.search(self.preferred, member.name)] or members
        if len({member.base for member in members}) < len(members):
            listed = ", ".join(sorted({str(PurePosixPath(member.name).parent) for member in members}))
            raise BadInput(f"matching files in several folders ({listed})", file=self.path, remedy="Name one of them")
        return sorted(members, key=self._order)

    def _order(self, member: _Member) -> tuple[int, str, str]:
        match = re.fullmatch(self.pattern, member.base)
        number = match.group(1) if match and match.re.groups else None
        return (int(number) if number else 0, member.base, member.name)


def _compression(path: Path) -> str:
    """The suffix of the compression of a tar archive, empty where it is not compressed."""
    return ".gz" if path.suffix == ".tgz" else path.suffix


def _check_size(file: str | Path, size: int) -> None:
    if size > MAX_FILE_BYTES:
        raise BadInput(f"{size} bytes, more than the limit of {MAX_FILE_BYTES}", file=file)


def _read_file(path: Path) -> bytes:
    if path.suffix not in _OPENERS:
        _check_size(path, path.stat().st_size)
        return path.read_bytes()
    try:
        with _OPENERS[path.suffix](path, "rb") as handle:
            return _bounded(handle, path)
    except (lzma.LZMAError, zlib.error, EOFError, OSError) as problem:
        raise BadInput(f"damaged file ({problem})", file=path, remedy="Download it again") from problem


def _read_zipped(archive: zipfile.ZipFile, name: str, path: Path) -> bytes:
    _check_size(f"{path}/{name}", archive.getinfo(name).file_size)
    try:
        with archive.open(name) as handle:
            return _bounded(handle, f"{path}/{name}")
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError) as problem:
        raise BadInput(f"damaged archive ({problem})", file=path, remedy="Download it again") from problem


def _bounded(handle: IO[bytes], file: str | Path) -> bytes:
    data = handle.read(MAX_FILE_BYTES + 1)
    _check_size(file, len(data))
    return data
