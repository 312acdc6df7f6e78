"""The published sources of every corpus: files, addresses, and the hashes that are known.

A hash is listed only where a copy of the file was at hand or its publisher states it; ``None`` means that a download is
not checked against anything, and the command says so. Where no commit is known, the address names the main branch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tpbench_data.corpora import CORPORA, Corpus
from tpbench_data.errors import BadInput

_GITHUB = "https://raw.githubusercontent.com"


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file to download.

    Attributes:
        path: Where it goes, relative to the output folder.
        url: Where it comes from.
        sha256: Hash of its content, ``None`` = unknown.
    """

    path: str
    url: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """One version of one corpus as published.

    Attributes:
        name: Name in ``tpbench-data sources get NAME``.
        corpus: Name of the corpus it is built as.
        version: Version of the corpus.
        revision: Commit that the addresses are pinned to, ``None`` = they follow a branch.
        files: What to download.
        members: Base name -> SHA-256 of files inside archives, where known.
    """

    name: str
    corpus: Corpus
    version: str
    revision: str | None
    files: tuple[RemoteFile, ...]
    members: dict[str, str] = field(default_factory=dict)

    @property
    def known_hashes(self) -> dict[str, str]:
        """Base name -> known hash, of downloads and of files inside them."""
        own = {Path(file.path).name: file.sha256 for file in self.files if file.sha256 is not None}
        return own | self.members


@cache
def sources() -> dict[str, Source]:
    """All sources by name, in the order in which they are listed."""
    listed = (_sgd(), _multiwoz_22(), _multiwoz_21(), _multiwoz_21_split(), _multiwoz_24(), _risawoz(), _longmemeval())
    return {source.name: source for source in listed}


def source_named(name: str) -> Source:
    """The source of that name.

    Raises:
        BadInput: There is none.
    """
    if name not in sources():
        raise BadInput(f"unknown source {name!r}", remedy=f"Known: {', '.join(sources())}")
    return sources()[name]


def _sgd() -> Source:
    lines = (Path(__file__).parent / "sgd_train.sha256").read_text(encoding="ascii").split("\n")
    hashes = {path: digest for digest, path in (line.split() for line in lines if line)}
    base = f"{_GITHUB}/google-research-datasets/dstc8-schema-guided-dialogue/master"
    paths = [f"train/dialogues_{number:03d}.json" for number in range(1, 128)]
    files = tuple(RemoteFile(path, f"{base}/{path}", hashes.get(path)) for path in paths)
    return Source("sgd", CORPORA["sgd"], "train", None, files)


def _multiwoz_22() -> Source:
    base = f"{_GITHUB}/budzianowski/multiwoz/master/data/MultiWOZ_2.2"
    paths = [f"train/dialogues_{number:03d}.json" for number in range(1, 18)]
    files = tuple(RemoteFile(path, f"{base}/{path}") for path in paths)
    return Source("multiwoz-2.2", CORPORA["multiwoz"], "2.2", None, files)


def _multiwoz_21() -> Source:
    url = "https://github.com/budzianowski/multiwoz/raw/master/data/MultiWOZ_2.1.zip"
    return Source("multiwoz-2.1", CORPORA["multiwoz"], "2.1", None, (RemoteFile("MultiWOZ_2.1.zip", url),))


def _multiwoz_21_split() -> Source:
    base = f"{_GITHUB}/thu-coai/ConvLab-2/master/data/multiwoz"
    val = "25ddfd4d0b01304012b54e2d98caa038c91d95295c4b519cc721b9b616f506dc"
    test = "438deb6ff5402cef5ff29cc0d5a10db818c1e9142727c1d631e71b563c66a5b4"
    files = (
        RemoteFile("val.json.zip", f"{base}/val.json.zip", val),
        RemoteFile("test.json.zip", f"{base}/test.json.zip", test),
    )
    members = {
        "val.json": "a2348fb15d649f369a240e75870d09d124409459c5d3e63bd4db9fab0d15809a",
        "test.json": "fbfd3a3a93ba0bcec282ddd17ec2976a3d83c2fc4d993775a1d8d49821f9dee9",
    }
    return Source("multiwoz-2.1-dev-test", CORPORA["multiwoz"], "2.1", None, files, members)


def _multiwoz_24() -> Source:
    url = "https://github.com/smartyfh/MultiWOZ2.4/raw/main/data/MULTIWOZ2.4.zip"
    return Source("multiwoz-2.4", CORPORA["multiwoz"], "2.4", None, (RemoteFile("MULTIWOZ2.4.zip", url),))


def _risawoz() -> Source:
    revision = "1e2d3be2b25a0540519db1664a172d85ddd62b29"
    url = f"https://github.com/terryqj0107/RiSAWOZ/raw/{revision}/RiSAWOZ-data/source-data.zip"
    digest = "8f2396b96a5254df06ff7d856f78ff1f5438e1ce7d037e7a7f40152bb6e0c1cd"
    return Source("risawoz", CORPORA["risawoz"], "original", revision, (RemoteFile("source-data.zip", url, digest),))


def _longmemeval() -> Source:
    name = "longmemeval_s_cleaned.json"
    url = f"https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned/resolve/main/{name}"
    digest = "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442"
    return Source("lme_ku", CORPORA["lme_ku"], "cleaned", None, (RemoteFile(name, url, digest),))
