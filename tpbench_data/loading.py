"""``load_dataset``: one config of a release as a `datasets.Dataset`, from a folder, the embedded release or the Hub."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tpbench_data.embedded import embedded_release
from tpbench_data.errors import BadInput
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import CONFIGS

if TYPE_CHECKING:
    from datasets import Dataset


def load_dataset(name: str | Path, config: str, split: str = "test", **options: Any) -> Dataset:
    """Loads one config of a release.

    Args:
        name: Folder of a release; the bare name ``tpbench`` means the embedded release where no folder of
            that name lies in the current directory; anything else is a Hub id.
        config: ``dialogues``, ``initial_goal``, ``current_value``, ``joint_recovery``, ``runs``, ``outputs``...
        split: ``test``, the only split.
        **options: Passed on to `datasets.load_dataset` (``streaming=True``, ``revision="..."``).

    Raises:
        BadInput: Unknown config or split, or a folder that is not a release.
    """
    if config not in CONFIGS:
        raise BadInput(f"unknown config {config!r}", remedy=f"Known configs: {', '.join(CONFIGS)}")
    if split != "test":
        raise BadInput(f"unknown split {split!r}", remedy="A release has one split, 'test'")
    folder = Path(name)
    if not folder.is_dir() and str(name) == "tpbench":
        folder = embedded_release()
    import datasets

    if folder.is_dir():
        release = Release.open(folder)
        if not release.files(config):
            raise BadInput(
                f"the release has no config {config!r}",
                file=folder,
                remedy=f"It has: {', '.join(release.configs)}",
            )
        name = str(folder.resolve())
    return datasets.load_dataset(str(name), config, split=split, **options)
