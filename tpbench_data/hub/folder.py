"""A plain folder as a place to publish to: one subfolder per version, which is written once and never changed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tpbench_data.errors import BadInput, BadRelease
from tpbench_data.files import new_folder
from tpbench_data.hub.publish import sound_release
from tpbench_data.release.manifest import MANIFEST
from tpbench_data.release.reader import Release
from tpbench_data.release.validate import validate


def publish_to_folder(source: Path, shelf: Path, tag: str = "", dry_run: bool = False) -> tuple[Path, bool]:
    """Copies a release to ``shelf/<tag>``, verified, all or nothing.

    Args:
        source: The release.
        shelf: The folder of versions; made where it is not there.
        tag: Name of the version; empty = ``v`` and the version of the release.
        dry_run: Only say where it would go.

    Returns:
        The folder of the version, and whether it was there already with the same digest.

    Raises:
        BadRelease: The release has problems.
        BadInput: The version is there with another content.
    """
    release = sound_release(source)
    target = shelf / (tag or f"v{release.manifest['release']}")
    if target.exists():
        there = Release.open(target)
        if there.digest != release.digest or validate(target):
            raise BadInput(
                f"holds another release (digest {there.digest[:12]}), and a published version is never changed",
                file=target,
                remedy="Freeze the release under a new --release-version and publish that",
            )
        return target, True
    if not dry_run:
        copy_release(release, target)
    return target, False


def pull_from_folder(source: Path, revision: str | None, out: Path, digest: str | None = None) -> Release:
    """Copies a release out of a folder of versions, or from a release folder itself.

    Raises:
        BadInput: No such version, ``out`` exists, or another digest.
        BadRelease: The release has problems.
    """
    folder = source / revision if revision else source
    if not (folder / MANIFEST).is_file():
        known = sorted(p.name for p in source.iterdir() if (p / MANIFEST).is_file()) if source.is_dir() else []
        raise BadInput(
            "no release in it", file=folder,
            remedy=f"Give --revision: {', '.join(known)}" if known else "Give a folder of releases",
        )  # fmt: skip
    release = sound_release(folder)
    if digest is not None and release.digest != digest:
        raise BadInput(f"has digest {release.digest}, not {digest}", file=folder, field="--digest")
    copy_release(release, out)
    return Release.open(out)


def copy_release(release: Release, target: Path) -> None:
    """Copies the files that a manifest lists, and nothing else, to a new folder, and checks the copy.

    Raises:
        BadInput: ``target`` exists.
        BadRelease: The copy is not what the manifest says.
    """
    with new_folder(target) as folder:
        for path in [*(entry["path"] for entry in release.manifest["files"]), MANIFEST]:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(release.path / path, folder / path)
            os.chmod(folder / path, 0o644)  # noqa: PTH101
        issues = validate(folder)
        if issues:
            raise BadRelease(target, [str(issue) for issue in issues])
