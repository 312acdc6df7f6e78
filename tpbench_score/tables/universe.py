"""How many inputs each cell of a release holds: the N of "n of N"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

Key = tuple[str, str, str, str, float | None]
"""(probe, corpus, protocol, method, ratio)"""

INPUT_COLUMNS = ("corpus", "protocol", "method", "ratio")


def _ratio(value: float | None) -> float | None:
    return None if value is None else round(value, 9)


@dataclass(frozen=True)
class Universe:
    """Input counts of a release by probe, corpus, protocol, method and ratio; empty where no release is known."""

    sizes: Mapping[Key, int] = field(default_factory=dict)

    @classmethod
    def from_inputs(cls, inputs: Mapping[str, pa.Table]) -> Universe:
        """Counts the inputs of a release; ``inputs``: probe -> table with at least INPUT_COLUMNS."""
        sizes: dict[Key, int] = {}
        for probe, table in inputs.items():
            counted = table.select(list(INPUT_COLUMNS)).group_by(list(INPUT_COLUMNS)).aggregate([([], "count_all")])
            for row in counted.to_pylist():
                key = (probe, row["corpus"], row["protocol"], row["method"], _ratio(row["ratio"]))
                sizes[key] = sizes.get(key, 0) + row["count_all"]
        return cls(sizes)

    def size(self, probe: str, corpus: str, protocol: str, method: str, ratio: float | None, planned: int) -> int:
        """Inputs of a cell; a method of the reader's cache answers the full-context inputs of its cell.

        Never less than ``planned``: where nothing is known of the release, the plan is all there is.
        """
        if ratio is not None and np.isnan(ratio):
            ratio = None
        for name in (method, "full_context"):
            found = self.sizes.get((probe, corpus, protocol, name, _ratio(ratio)))
            if found is not None:
                return max(found, planned)
        return planned
