"""Publishing a release: upload what differs, verify every hash on the other side, and only then set the tag.

A tag names a version for good: it is set once and never moved. Everything before it can be repeated: a second run
looks at what is there and uploads only what is missing.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tpbench_data.errors import BadInput, BadRelease
from tpbench_data.hub.remote import HubError, Moved, Remote, RemoteFile, pause
from tpbench_data.release.manifest import MANIFEST
from tpbench_data.release.reader import Release
from tpbench_data.release.validate import validate

BRANCH = "main"
MAX_COMMIT_FILES = 500
MAX_COMMIT_BYTES = 20 * 2**30
_COMMIT_TRIES = 3
_THEIRS = {".gitattributes"}
"""Files of the Hub's own, which are neither uploaded nor removed."""
_LAST = {MANIFEST, "README.md", "croissant.json"}
"""Written with the last commit, so that a half-uploaded release does not look like a whole one."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file of the release: path, bytes, SHA-256 and git's name for it."""

    path: str
    size: int
    sha256: str
    blob_id: str


@dataclass(frozen=True)
class Plan:
    """What publishing will do.

    Attributes:
        repository: Where to, as a person sees it.
        tag: The tag that will be set.
        create: Whether the repository has to be made.
        upload: Paths that are missing or differ there.
        remove: Paths that are there and not in the release.
        keep: Paths that are there with the same bytes.
        bytes: Bytes to upload.
        done: Whether the tag is there already, with exactly this release.
    """

    repository: str
    tag: str
    create: bool
    upload: tuple[str, ...]
    remove: tuple[str, ...]
    keep: tuple[str, ...]
    bytes: int
    done: bool = False


@dataclass(frozen=True)
class Published:
    """What was published: the plan, the commit that carries the tag, and the digest of the release."""

    plan: Plan
    commit: str
    digest: str


@dataclass
class Publisher:
    """Publishes one release folder to one repository.

    Attributes:
        folder: The release.
        remote: The repository.
        private: Whether a new repository is private.
        tag: The tag; empty = ``v`` and the version of the release.
        say: Called with a line of text for every step.
    """

    folder: Path
    remote: Remote
    private: bool = False
    tag: str = ""
    say: Callable[[str], None] = lambda text: None
    files: dict[str, LocalFile] = field(init=False)

    def __post_init__(self) -> None:
        self.release = sound_release(self.folder)
        self.tag = self.tag or f"v{self.release.manifest['release']}"
        self.files = local_files(self.release)

    def plan(self) -> Plan:
        """Looks at both sides and says what is to be done; changes nothing.

        Raises:
            BadInput: The tag is there with another content.
            HubError: The Hub could not be asked.
        """
        if not self.remote.exists():
            upload = tuple(sorted(self.files))
            size = sum(file.size for file in self.files.values())
            return Plan(self.remote.url, self.tag, True, upload, (), (), size)
        tagged = self._tagged()
        if tagged is not None:
            self._check_tagged(tagged)
            return Plan(self.remote.url, self.tag, False, (), (), tuple(sorted(self.files)), 0, done=True)
        return self._compare(self.remote.head(BRANCH))

    def publish(self) -> Published:
        """Uploads, verifies and tags.

        Raises:
            BadInput: The tag is there with another content.
            HubError: The Hub refused or could not be reached, or holds other bytes than were sent.
        """
        plan = self.plan()
        if plan.done:
            return Published(plan, self._tagged() or "", self.release.digest)
        if plan.create:
            self.say("creating the repository")
            self.remote.create(self.private)
        commit = self._upload()
        self.say("verifying the remote hashes")
        problems = self._differences(self.remote.files(commit))
        if problems:
            raise HubError(
                f"{self.remote.url}: {problems[0]} (and {len(problems) - 1} more) after the upload. No tag was set; "
                "run the same command again."
            )
        self.say(f"tagging {commit[:12]} as {self.tag}")
        try:
            self.remote.tag(self.tag, commit, f"TPBench {self.release.manifest['release']}, {self.release.digest}")
        except Moved:
            # Another run was faster: fine where it tagged the same bytes, an error where not.
            commit = self._tagged() or ""
            self._check_tagged(commit)
        return Published(plan, commit, self.release.digest)

    def _tagged(self) -> str | None:
        """The commit that carries the tag, ``None`` where the tag is not there."""
        return self.remote.head(self.tag) if self.tag in self.remote.tags() else None

    def _upload(self) -> str:
        """Brings the branch to the content of the release, whatever part of it is there already."""
        for attempt in range(1, _COMMIT_TRIES + 1):
            head = self.remote.head(BRANCH)
            plan = self._compare(head)
            if head is not None and not plan.upload and not plan.remove:
                return head
            try:
                for message, paths, removed in self._commits(plan):
                    self.say(message)
                    add = [(path, self.folder / path) for path in paths]
                    head = self.remote.commit(message, add, removed, head)
            except Moved:
                if attempt == _COMMIT_TRIES or not self._is_ours(plan):
                    raise
            except HubError as problem:
                # The commit may have been written and only its answer lost: the next look tells.
                wait = pause(problem, attempt)
                if wait is None or attempt == _COMMIT_TRIES:
                    raise
                self.say(f"{problem} Looking again in {wait:g} s.")
                time.sleep(wait)
        head = self.remote.head(BRANCH)
        if head is None:
            raise HubError(f"{self.remote.url}: the branch {BRANCH} is missing after the upload.")
        return head

    def _is_ours(self, plan: Plan) -> bool:
        """Whether the branch moved because of our own commit: then less is left to do than was planned."""
        now = self._compare(self.remote.head(BRANCH))
        return set(now.upload) < set(plan.upload) or set(now.remove) < set(plan.remove)

    def _commits(self, plan: Plan) -> list[tuple[str, list[str], list[str]]]:
        """Message, paths to add and paths to remove of each commit; one unless there is very much."""
        groups: list[list[str]] = [[]]
        size = 0
        for path in sorted(plan.upload, key=lambda path: (path in _LAST, path)):
            full = len(groups[-1]) >= MAX_COMMIT_FILES or size + self.files[path].size > MAX_COMMIT_BYTES
            if full and groups[-1]:
                groups.append([])
                size = 0
            groups[-1].append(path)
            size += self.files[path].size
        version = self.release.manifest["release"]
        parts = [
            f" (part {number} of {len(groups)})" if len(groups) > 1 else "" for number in range(1, len(groups) + 1)
        ]
        return [
            (f"TPBench {version}{part}", paths, list(plan.remove) if paths is groups[-1] else [])
            for part, paths in zip(parts, groups, strict=True)
        ]

    def _compare(self, head: str | None) -> Plan:
        there = self.remote.files(head) if head is not None else {}
        keep = tuple(sorted(path for path, file in self.files.items() if is_same(file, there.get(path))))
        upload = tuple(sorted(set(self.files) - set(keep)))
        remove = tuple(sorted(set(there) - set(self.files) - _THEIRS))
        size = sum(self.files[path].size for path in upload)
        return Plan(self.remote.url, self.tag, False, upload, remove, keep, size)

    def _differences(self, there: dict[str, RemoteFile]) -> list[str]:
        other = [f"{path} has other bytes" for path, file in self.files.items() if not is_same(file, there.get(path))]
        more = [f"{path} is there too" for path in set(there) - set(self.files) - _THEIRS]
        return sorted([*other, *more])

    def _check_tagged(self, commit: str) -> None:
        problems = self._differences(self.remote.files(commit)) if commit else ["the tag cannot be read"]
        if problems:
            raise BadInput(
                f"the tag {self.tag} of {self.remote.url} holds another release ({problems[0]}); a tag is never moved",
                remedy="Freeze the release under a new --release-version and publish that",
            )


def sound_release(folder: Path) -> Release:
    """The release of a folder, after checking it in depth.

    Raises:
        BadRelease: It has problems; nothing broken is ever published.
        BadInput: It is no release.
    """
    release = Release.open(folder)
    issues = validate(folder)
    if issues:
        raise BadRelease(folder, [str(issue) for issue in issues])
    return release


def local_files(release: Release) -> dict[str, LocalFile]:
    """Path -> every file of a release, the manifest included, read once."""
    found = {}
    for path in [*(entry["path"] for entry in release.manifest["files"]), MANIFEST]:
        data = (release.path / path).read_bytes()
        blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
        found[path] = LocalFile(path, len(data), hashlib.sha256(data).hexdigest(), blob)
    return found


def is_same(file: LocalFile, there: RemoteFile | None) -> bool:
    """Whether the Hub holds exactly the bytes of a file: by SHA-256 for large files, by git's name for small ones."""
    if there is None or there.size != file.size:
        return False
    return there.sha256 == file.sha256 if there.sha256 is not None else there.blob_id == file.blob_id
