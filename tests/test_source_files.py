"""Corpus files out of folders and archives: packaging never changes what is read."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tpbench_data.corpora import source_files
from tpbench_data.corpora.source_files import SourceFiles
from tpbench_data.errors import BadInput

CONTENT = {"part_1.json": b"[1]", "part_2.json": b"[2]", "part_10.json": b"[10]"}
PATTERN = r"part_(\d+)\.json"


def read(path: Path, preferred: str | None = None) -> tuple[list[bytes], str]:
    files = SourceFiles(path, PATTERN, preferred)
    return [data for _, data in files], files.digest


def as_folder(place: Path) -> Path:
    place.mkdir()
    for name, data in CONTENT.items():
        (place / name).write_bytes(data)
    (place / "readme.txt").write_bytes(b"not ours")
    return place


def as_zip(place: Path) -> Path:
    path = place.with_suffix(".zip")
    with zipfile.ZipFile(path, "w") as archive:
        for name in reversed(CONTENT):
            archive.writestr(f"corpus/{name}", CONTENT[name])
        archive.writestr("__MACOSX/corpus/._part_1.json", b"junk")
    return path


def as_tar(kind: str) -> Callable[[Path], Path]:
    def make(place: Path) -> Path:
        folder = as_folder(place)
        path = place.with_name(f"packed.tar.{kind}")
        with tarfile.open(path, f"w:{kind}") as archive:  # type: ignore[call-overload]
            archive.add(folder, "corpus")
        return path

    return make


def as_folder_of_zips(place: Path) -> Path:
    place.mkdir()
    for name, data in CONTENT.items():
        with zipfile.ZipFile(place / f"{name}.zip", "w") as archive:
            archive.writestr(name, data)
    return place


def as_folder_of_compressed_files(place: Path) -> Path:
    place.mkdir()
    for pack, (name, data) in zip((gzip, bz2, lzma), CONTENT.items(), strict=True):
        suffix = {"gzip": "gz", "bz2": "bz2", "lzma": "xz"}[pack.__name__]
        (place / f"{name}.{suffix}").write_bytes(pack.compress(data))
    return place


PACKAGINGS = [as_zip, as_tar("xz"), as_tar("gz"), as_tar("bz2"), as_folder_of_zips, as_folder_of_compressed_files]


@pytest.mark.parametrize("make", PACKAGINGS)
def test_every_packaging_gives_the_same_files_and_digest(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    expected = read(as_folder(tmp_path / "plain"))
    assert expected[0] == [b"[1]", b"[2]", b"[10]"]
    assert read(make(tmp_path / "packed")) == expected


def test_archives_beside_plain_files_are_left_alone(tmp_path: Path) -> None:
    folder = as_folder(tmp_path / "plain")
    expected = read(folder)
    as_zip(folder / "again")
    assert read(folder) == expected


def test_preferred_files_are_taken_and_others_where_there_are_none(tmp_path: Path) -> None:
    for name in ("dev", "train"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "part_1.json").write_bytes(name.encode())
    assert read(tmp_path, r"(^|/)train/")[0] == [b"train"]
    with pytest.raises(BadInput, match=r"several folders \(dev, train\)"):
        read(tmp_path, r"(^|/)nowhere/")


@pytest.mark.parametrize("make", PACKAGINGS)
def test_a_damaged_packaging_is_one_error(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path / "packed")
    for file in [path] if path.is_file() else sorted(path.iterdir())[:1]:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(BadInput, match=r"damaged|no file named like"):
        read(path)


def test_a_file_that_unpacks_to_more_than_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_files, "MAX_FILE_BYTES", 1000)
    (tmp_path / "part_1.json.xz").write_bytes(lzma.compress(b" " * 100_000))
    with pytest.raises(BadInput, match="more than the limit of 1000"):
        read(tmp_path)


def test_hashes_are_those_of_the_unpacked_files(tmp_path: Path) -> None:
    import hashlib

    files = SourceFiles(as_zip(tmp_path / "packed"), PATTERN)
    list(files)
    assert files.hashes == {name: hashlib.sha256(data).hexdigest() for name, data in CONTENT.items()}
    assert files.count == 3
