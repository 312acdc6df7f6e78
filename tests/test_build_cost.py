"""Memory of a build from the real SGD files."""

from __future__ import annotations

import json
import subprocess
import sys

from conftest import ROOT, shared_file


def test_building_from_sgd_stays_under_700_mb() -> None:
    """The time is left to the benchmark: other programs on the machine would decide this test."""
    script = ROOT / "benchmarks" / "build_memory.py"
    command = [sys.executable, str(script), "--step", "build", str(shared_file("corpora/sgd"))]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(result.stdout)["megabytes"] < 700
