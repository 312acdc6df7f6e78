"""TPBench data: build, hash, describe, validate, open and load frozen releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpbench_data.errors import BadInput, BadRelease, MissingExtra, TPBenchError

if TYPE_CHECKING:
    from tpbench_data.loading import load_dataset
    from tpbench_data.release.reader import Release

__version__ = "0.1.0"

__all__ = ["BadInput", "BadRelease", "MissingExtra", "Release", "TPBenchError", "__version__", "load_dataset"]


def __getattr__(name: str) -> Any:
    # pyarrow and datasets take a second to import; a command that only prints help should not pay for them.
    if name == "Release":
        from tpbench_data.release.reader import Release

        return Release
    if name == "load_dataset":
        from tpbench_data.loading import load_dataset

        return load_dataset
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
