"""The packages of the extra `generate`."""

from __future__ import annotations

import importlib.util

from tpbench_data.errors import MissingExtra


def require_packages(*names: str) -> None:
    """Raises MissingExtra for the first package that is not installed."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            raise MissingExtra(name, "generate")
