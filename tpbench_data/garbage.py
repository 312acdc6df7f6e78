"""Holding the cycle collector while large trees of plain data are made.

Parsed JSON has no cycles, but every collection walks all of it: a build from SGD would spend half its time there.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_held() -> Iterator[None]:
    """Switches the cycle collector off for a block, and on again if it was on."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
