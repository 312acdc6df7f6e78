"""How many inputs each cell of a release holds: the N of "n of N"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tpbench_score.method_settings import shown_methods
from tpbench_score.sample_seeds import explode

Key = tuple[str, str, str, str, float | None]
"""(probe, corpus, protocol, method, ratio)"""

INPUT_COLUMNS = (
    "corpus",
    "protocol",
    "example_id",
    "method",
    "method_config",
    "ratio",
    "sample_seeds",
    "n_turns",
    "k_turns",
    "context_words",
    "full_context_words",
)
_CELL = ("corpus", "protocol", "method", "ratio")


def _ratio(value: float | None) -> float | None:
    return None if value is None else round(value, 9)


@dataclass(frozen=True)
class Universe:
    """Input counts of a release by probe, corpus, protocol, method and ratio; empty where no release is known.

    Attributes:
        sizes: Inputs of a cell.
        sample_sizes: Inputs of a cell that belong to one sample seed.
        kept: Mean share of the turns and of the words that the contexts of a cell keep, ``None`` where not known.
    """

    sizes: Mapping[Key, int] = field(default_factory=dict)
    sample_sizes: Mapping[tuple[Key, int], int] = field(default_factory=dict)
    kept: Mapping[Key, tuple[float | None, float | None]] = field(default_factory=dict)

    @classmethod
    def from_inputs(cls, inputs: Mapping[str, pa.Table]) -> Universe:
        """Counts the inputs of a release; ``inputs``: probe -> table with at least INPUT_COLUMNS."""
        sizes: dict[Key, int] = {}
        sample_sizes: dict[tuple[Key, int], int] = {}
        kept: dict[Key, tuple[float | None, float | None]] = {}
        for probe, table in inputs.items():
            named = table.append_column("probe", pa.array([probe] * table.num_rows, pa.string()))
            table = table.set_column(table.schema.get_field_index("method"), "method", shown_methods(named))
            for row in _counted(table.select(_CELL)):
                key = _key(probe, row)
                sizes[key] = sizes.get(key, 0) + row["count_all"]
            kept |= {_key(probe, row): (row["turns_mean"], row["words_mean"]) for row in _shares(table)}
            entries, seeds = explode(table["sample_seeds"])
            sampled = table.select(_CELL).take(pa.array(entries)).append_column("seed", pa.array(seeds))
            for row in _counted(sampled):
                place = (_key(probe, row), row["seed"])
                sample_sizes[place] = sample_sizes.get(place, 0) + row["count_all"]
        return cls(sizes, sample_sizes, kept)

    def size(
        self,
        probe: str,
        corpus: str,
        protocol: str,
        method: str,
        ratio: float | None,
        planned: int,
        seed: int | None = None,
    ) -> int:
        """Inputs of a cell; a method of the reader's cache answers the full-context inputs of its cell.

        Never less than ``planned``: where nothing is known of the release, the plan is all there is. ``seed``: only
        those of one sample.
        """
        if ratio is not None and np.isnan(ratio):
            ratio = None
        for name in (method, "full_context"):
            key = (probe, corpus, protocol, name, _ratio(ratio))
            found = self.sizes.get(key) if seed is None else self.sample_sizes.get((key, seed))
            if found is not None:
                return max(found, planned)
        return planned

    def kept_in(self, cells: Sequence[Key]) -> tuple[float | None, float | None]:
        """The shares of turns and words kept; unknown for cache methods, and where several cells stand together."""
        if len(cells) != 1:
            return None, None
        probe, corpus, protocol, method, ratio = cells[0]
        return self.kept.get((probe, corpus, protocol, method, _ratio(ratio)), (None, None))


def _shares(table: pa.Table) -> list[dict[str, Any]]:
    shares = table.select(_CELL)
    for name, part, whole in (("turns", "k_turns", "n_turns"), ("words", "context_words", "full_context_words")):
        of = pc.max_element_wise(table[whole].cast(pa.float64()), 1.0, skip_nulls=False)
        shares = shares.append_column(name, pc.divide(table[part].cast(pa.float64()), of))
    rows: list[dict[str, Any]] = (
        shares.group_by(list(_CELL), use_threads=False).aggregate([("turns", "mean"), ("words", "mean")]).to_pylist()
    )
    return rows


def _counted(table: pa.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.group_by(table.column_names).aggregate([([], "count_all")]).to_pylist()
    return rows


def _key(probe: str, row: Mapping[str, Any]) -> Key:
    return (probe, row["corpus"], row["protocol"], row["method"], _ratio(row["ratio"]))
