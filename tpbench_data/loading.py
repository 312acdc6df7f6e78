"""``load_dataset``: one config of a release as a `datasets.Dataset`, from a folder, the embedded release or the Hub.

Rows are those of `datasets.load_dataset`, but bytes are first compared with the manifest: a file that was changed is
an error and not a table. From the Hub one commit is read, whichever revision was asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tpbench_data.embedded import embedded_release
from tpbench_data.errors import BadInput
from tpbench_data.release.manifest import MANIFEST
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import CONFIGS

if TYPE_CHECKING:
    from datasets import Dataset


def load_dataset(name: str | Path, config: str, split: str = "test", **options: Any) -> Dataset:
    """Loads one config of a release.

    Args:
        name: Folder of a release; the bare name ``tpbench`` means the embedded release where no folder of
            that name lies in the current directory; anything else is a Hub id such as ``ORG/tpbench``.
        config: ``dialogues``, ``initial_goal``, ``current_value``, ``joint_recovery``, ``runs``, ``outputs``...
        split: ``test``, the only split.
        **options: Passed on to `datasets.load_dataset`; ``revision="v1.0.0"`` chooses the version on the Hub, and
            with ``streaming=True`` rows come from the Hub as they are read, so only their commit is fixed.

    Raises:
        BadInput: Unknown config or split, a folder or repository that is not a release, or a changed file.
        HubError: The Hub could not be reached.
    """
    if config not in CONFIGS:
        raise BadInput(f"unknown config {config!r}", remedy=f"Known configs: {', '.join(CONFIGS)}")
    if split != "test":
        raise BadInput(f"unknown split {split!r}", remedy="A release has one split, 'test'")
    folder = Path(name)
    if not folder.is_dir() and str(name) == "tpbench":
        folder = embedded_release()
    if not folder.is_dir():
        return _from_hub(str(name), config, split, options)
    import datasets

    release = Release.open(folder)
    _check_config(release, config, folder)
    for entry in release.files(config):
        release.read_bytes(entry)
    return datasets.load_dataset(str(folder.resolve()), config, split=split, **options)


def _from_hub(repo_id: str, config: str, split: str, options: dict[str, Any]) -> Dataset:
    """Loads from the Hub at one commit; without streaming the files are downloaded once, checked and then read."""
    import datasets

    from tpbench_data.hub.remote import Remote

    if repo_id.count("/") != 1:
        raise BadInput(
            "no such folder, and not a Hub id", file=repo_id, remedy="Give the folder of a release, or ORG/NAME"
        )
    remote = Remote(repo_id)
    revision = options.pop("revision", None) or "main"
    commit = remote.head(revision)
    if commit is None:
        raise BadInput(f"{remote.url} has no revision {revision!r}, or may not be seen with your token")
    manifest = remote.cached(MANIFEST, commit)
    release = Release.open(manifest.parent)
    _check_config(release, config, remote.url)
    if options.get("streaming"):
        return datasets.load_dataset(repo_id, config, split=split, revision=commit, **options)
    paths = []
    for entry in release.files(config):
        path = remote.cached(entry["path"], commit)
        release.check_bytes(entry, path.read_bytes())
        paths.append(str(path))
    return datasets.load_dataset("parquet", data_files={split: paths}, split=split, **options)


def _check_config(release: Release, config: str, place: str | Path) -> None:
    if not release.files(config):
        raise BadInput(
            f"the release has no config {config!r}", file=place, remedy=f"It has: {', '.join(release.configs)}"
        )
