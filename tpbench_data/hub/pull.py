"""Getting a release back: one commit, every file against the manifest, all or nothing.

Files are collected in a folder beside the target, which an interrupted download leaves behind: the same command
goes on with it. Only when the whole release is sound does the folder get its name.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tpbench_data.canonical import sha256_hex
from tpbench_data.errors import BadInput, BadRelease
from tpbench_data.hub.remote import HubError, Remote, RemoteFile
from tpbench_data.release.limits import MAX_MANIFEST_BYTES
from tpbench_data.release.manifest import MANIFEST, read_manifest
from tpbench_data.release.reader import Release
from tpbench_data.release.validate import validate

_TRIES = 2


@dataclass(frozen=True)
class Pulled:
    """What was pulled: where it lies, the commit it came from, its digest, and how many files came over the network."""

    folder: Path
    commit: str
    digest: str
    downloaded: int


def pull(
    remote: Remote,
    revision: str,
    out: Path,
    digest: str | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Pulled:
    """Downloads a release.

    Args:
        remote: The repository.
        revision: Tag, branch or commit; it is settled to a commit first, and only that commit is read.
        out: A folder that does not exist yet.
        digest: The digest that the release must have, if the caller knows it.
        say: Called with a line of text for every file.

    Raises:
        BadInput: ``out`` exists, no such repository or revision, or another digest.
        BadRelease: What was downloaded is not a sound release.
        HubError: The Hub could not be reached; what was downloaded is kept for the next try.
    """
    if out.exists():
        raise BadInput("already exists", file=out, remedy="Choose another --out, or move the old folder away")
    commit = remote.head(revision)
    if commit is None:
        raise BadInput(
            f"{remote.url} has no revision {revision!r}, or may not be seen with your token",
            remedy="Check --revision; log in with `hf auth login` where the repository is private",
        )
    staging = out.absolute().parent / f".{out.name}.pull-{commit[:12]}"
    staging.mkdir(parents=True, exist_ok=True)
    there = remote.files(commit)
    fetch = _Fetch(remote, commit, staging, there, say)
    fetch.manifest()
    manifest = read_manifest(staging)
    if digest is not None and manifest["digest"] != digest:
        raise BadInput(f"{remote.url} at {revision} has digest {manifest['digest']}, not {digest}", field="--digest")
    for entry in manifest["files"]:
        fetch.file(entry["path"], entry["bytes"], entry["sha256"])
    # The client keeps notes on unfinished downloads here; they are no part of the release.
    shutil.rmtree(staging / ".cache", ignore_errors=True)
    issues = validate(staging)
    if issues:
        raise BadRelease(staging, [str(issue) for issue in issues])
    staging.chmod(0o755)
    staging.rename(out)
    return Pulled(out, commit, Release.open(out).digest, fetch.downloaded)


@dataclass
class _Fetch:
    remote: Remote
    commit: str
    staging: Path
    there: dict[str, RemoteFile]
    say: Callable[[str], None]
    downloaded: int = 0

    def manifest(self) -> None:
        """Downloads the manifest, unless it is larger than one may be."""
        known = self.there.get(MANIFEST)
        if known is None:
            raise BadInput(f"{self.remote.url} holds no {MANIFEST} at {self.commit[:12]}, so it is no TPBench release")
        if known.size > MAX_MANIFEST_BYTES:
            raise BadInput(f"{MANIFEST} of {self.remote.url} has {known.size} bytes, more than {MAX_MANIFEST_BYTES}")
        self.downloaded += 1
        self.remote.download(MANIFEST, self.commit, self.staging)

    def file(self, path: str, size: int, sha256: str) -> None:
        """Downloads one file of the manifest, unless it is there from an earlier try."""
        target = self.staging / path
        known = self.there.get(path)
        if known is None or known.size != size:
            found = "is missing" if known is None else f"has {known.size} bytes instead of {size}"
            raise BadInput(f"{path} {found} in {self.remote.url} at {self.commit[:12]}", remedy="Tell its maintainer")
        for _ in range(_TRIES):
            if target.is_file() and target.stat().st_size == size and sha256_hex(target.read_bytes()) == sha256:
                return
            target.unlink(missing_ok=True)
            self.say(f"downloading {path} ({size} bytes)")
            self.downloaded += 1
            self.remote.download(path, self.commit, self.staging)
        if sha256_hex(target.read_bytes()) != sha256:
            target.unlink()
            raise HubError(
                f"{self.remote.url}: {path} arrives with other bytes than {MANIFEST} says. Run the same command again; "
                "if it stays so, tell its maintainer."
            )
