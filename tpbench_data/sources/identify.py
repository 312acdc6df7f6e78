"""Recognising what a folder or file holds, by content and by known hashes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tpbench_data.corpora import CORPORA
from tpbench_data.corpora.recognise import recognise
from tpbench_data.corpora.shapes import Shape
from tpbench_data.corpora.source_files import SourceFiles
from tpbench_data.errors import BadInput
from tpbench_data.sources.catalogue import Source, sources
from tpbench_data.sources.hashing import file_sha256

_VERSIONS = {
    "sgd": "train",
    "multiwoz-2.2": "2.2",
    "multiwoz-legacy": "2.1 or 2.4",
    "risawoz": "original",
    "longmemeval": "cleaned",
    "plain": "plain",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found at a path.

    Attributes:
        shape: The corpus, by content.
        version: Its version; for the legacy layout of MultiWOZ only a known hash tells which.
        source: The published source that the files are compared with, if there is one.
        verified: Names of files that have their known hash.
        unknown: Names of files whose hash is not known.
        changed: Names of files that have another content than the known one.
        missing: Files of the source that are not there.
    """

    shape: Shape
    version: str
    source: Source | None
    verified: tuple[str, ...]
    unknown: tuple[str, ...]
    changed: tuple[str, ...]
    missing: tuple[str, ...]


def pinned_source(corpus: str, files: SourceFiles) -> Source | None:
    """The published source that files come from, after they were read: each has its known hash.

    A file inside an archive counts through the archive's hash.
    """
    for source in _sources_of(corpus):
        packed = _packed_hashes(files.path, source)
        if packed and all(source.known_hashes.get(name) == digest for name, digest in packed.items()):
            return source
        if files.hashes and all(source.known_hashes.get(name) == digest for name, digest in files.hashes.items()):
            return source
    return None


def find(path: Path) -> Finding:
    """Recognises the corpus at a path and compares its files with the known hashes.

    Raises:
        BadInput: Nothing there, or nothing that is recognised.
    """
    if not path.exists():
        raise BadInput("no such file or folder", file=path)
    shape = recognise(path)
    if shape is None:
        known = f"{', '.join(CORPORA)} and the plain format"
        raise BadInput("no corpus is recognised in it", file=path, remedy=f"Known are {known}")
    version = _VERSIONS[shape.format]
    if not shape.corpus:
        return Finding(shape, version, None, (), (), (), ())
    files = CORPORA[shape.corpus].files(path)
    for _ in files:
        pass
    findings = [_compare(shape, version, source, files) for source in _sources_of(shape.corpus)]
    best = max(findings, key=lambda finding: len(finding.verified))
    if best.verified:
        return best
    same = [finding for finding in findings if finding.source and finding.source.version == version]
    if len(same) == 1:
        return same[0]
    return Finding(shape, version, None, (), tuple(files.hashes), (), ())


def _sources_of(corpus: str) -> list[Source]:
    return [source for source in sources().values() if source.corpus.name == corpus]


def _compare(shape: Shape, version: str, source: Source, files: SourceFiles) -> Finding:
    known = source.known_hashes
    seen = _packed_hashes(files.path, source) or files.hashes
    verified = tuple(name for name, digest in seen.items() if known.get(name) == digest)
    return Finding(
        shape=shape,
        version=source.version if verified else version,
        source=source,
        verified=verified,
        unknown=tuple(name for name in seen if name not in known),
        changed=tuple(name for name, digest in seen.items() if known.get(name, digest) != digest),
        missing=_missing(source, seen),
    )


def _missing(source: Source, seen: dict[str, str]) -> tuple[str, ...]:
    """Downloads that are absent; unpacked archives are not missed."""
    if any(_is_archive(file.path) for file in source.files) and not any(map(_is_archive, seen)):
        return ()
    return tuple(file.path for file in source.files if PurePosixPath(file.path).name not in seen)


def _packed_hashes(path: Path, source: Source) -> dict[str, str]:
    """Name -> hash of the archives of a source that lie at the path."""
    names = {file.path for file in source.files if _is_archive(file.path)}
    found = [path] if path.is_file() else [path / name for name in sorted(names)]
    return {file.name: file_sha256(file) for file in found if file.name in names and file.is_file()}


def _is_archive(name: str) -> bool:
    return name.endswith(".zip")
