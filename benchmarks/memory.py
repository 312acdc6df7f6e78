"""What a process held at most."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak_megabytes() -> float:
    """Peak resident megabytes of this process; on Linux without what the process that started it held."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, KiB elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
