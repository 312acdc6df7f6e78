"""Time and memory of a build from the SGD files, beside the least that reading them can cost.

    python benchmarks/build_memory.py [PATH]

PATH is the folder or archive of SGD (default: ../shared/corpora/sgd). In one run, each step in a process of its own:

1. read: decompress every file and `orjson.loads` it, nothing else;
2. build: `tpbench-data build --corpus sgd=PATH`, all probes and all methods that need no model.

The limits are 700 MB resident and three times the time of step 1; exit 1 where one is passed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from memory import peak_megabytes

ROOT = Path(__file__).resolve().parent.parent
MAX_MEGABYTES = 700
MAX_TIMES = 3.0
REPEATS = 3


def read_only(path: Path) -> None:
    """Step 1."""
    import orjson

    from tpbench_data.corpora import SGD

    for _, data in SGD.files(path):
        orjson.loads(data)


def build(path: Path) -> None:
    """Step 2."""
    from tpbench_data.build import BuildPlan
    from tpbench_data.build import build as build_release

    with tempfile.TemporaryDirectory() as folder:
        build_release(BuildPlan(corpora={"sgd": path}), Path(folder) / "release")


STEPS = {"read": read_only, "build": build}


def measured(step: str, path: Path) -> dict[str, float]:
    """Runs one step in a process of its own: processor seconds, wall seconds and peak resident megabytes."""
    command = [sys.executable, __file__, "--step", step, str(path)]
    output = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    found: dict[str, float] = json.loads(output)
    return found


def run_step(step: str, path: Path) -> None:
    """Runs a step in this process and prints what it cost."""
    sys.path.insert(0, str(ROOT))
    wall, cpu = time.perf_counter(), time.process_time()
    STEPS[step](path)
    peak = peak_megabytes()
    print(json.dumps({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "megabytes": peak}))


def main() -> int:
    """Prints the table; 1 where a limit is passed."""
    if sys.argv[1:2] == ["--step"]:
        run_step(sys.argv[2], Path(sys.argv[3]))
        return 0
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared" / "corpora" / "sgd"
    if not path.exists():
        print(f"{path} is not there: give the path of SGD", file=sys.stderr)
        return 2
    best: dict[str, dict[str, float]] = {}
    for _ in range(REPEATS):  # in turn, so that another program's load meets both steps
        for step in STEPS:
            found = measured(step, path)
            best[step] = min(best.get(step, found), found, key=lambda costs: costs["cpu"])
    print("| step | processor s | wall s | peak MB |\n|---|---:|---:|---:|")
    for step, costs in best.items():
        print(f"| {step} | {costs['cpu']:.2f} | {costs['wall']:.2f} | {costs['megabytes']:.0f} |")
    times, peak = best["build"]["cpu"] / best["read"]["cpu"], best["build"]["megabytes"]
    print(f"\nbuild / read: {times:.2f} (limit {MAX_TIMES}); peak {peak:.0f} MB (limit {MAX_MEGABYTES})")
    return int(times > MAX_TIMES or peak > MAX_MEGABYTES)


if __name__ == "__main__":
    sys.exit(main())
