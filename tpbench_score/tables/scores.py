"""The score table as arrays: one entry per scored input and sample seed.

A row that belongs to several sample seeds becomes one entry per seed, so that "per seed" is one group-by. Text
columns are whole-number codes with a list of names, so that no loop runs over rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tpbench_data.errors import BadInput
from tpbench_score.sample_seeds import NO_SEED, explode
from tpbench_score.statistics.bootstrap import Coded

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

UNKNOWN = -1
"""Null in a column of truth values that may be null."""

CODED = (
    "run_id",
    "reader",
    "role",
    "input_id",
    "example_id",
    "probe",
    "corpus",
    "dialogue_id",
    "slot",
    "method",
    "protocol",
    "answer",
    "scorer",
    "reason",
    "status",
)
TRUTH = ("strict", "loose", "abstained")
MAYBE_TRUTH = (
    "parsed",
    "goal_ok",
    "value_strict",
    "value_loose",
    "whole_strict",
    "whole_loose",
    "superseded",
    "retained",
    "alias_equivalent",
)


def _coded(column: pa.ChunkedArray) -> tuple[Array, tuple[str, ...]]:
    array = column.cast(pa.string()).combine_chunks().fill_null("")
    if isinstance(array, pa.ChunkedArray):  # combine_chunks of several very large chunks
        array = pa.concat_arrays(array.chunks)
    encoded = array.dictionary_encode()
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32), tuple(encoded.dictionary.to_pylist())


def _numbers(column: pa.ChunkedArray, null: Any, kind: Any) -> Array:
    filled = pc.fill_null(column.cast(pa.float64() if kind is np.float64 else pa.int64()), null)
    return np.asarray(filled.to_numpy()).astype(kind)


class _Taken(Mapping[str, Array]):
    """Columns at some rows. Each is taken when it is first read: a table reads few of them."""

    def __init__(self, columns: Mapping[str, Array], chosen: Array) -> None:
        rows = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
        self._all: Mapping[str, Array] = columns
        self._rows = rows
        if isinstance(columns, _Taken):
            self._all, self._rows = columns._all, columns._rows[rows]
        self._read: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        if name not in self._read:
            self._read[name] = self._all[name][self._rows]
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


@dataclass(frozen=True)
class Scores:
    """Columns of equal length; ``names`` holds the texts of the coded ones.

    Besides the columns of the score table there are ``seed`` (one sample seed per entry, or NO_SEED) and ``input``
    (the number of the row the entry came from).
    """

    columns: Mapping[str, Array]
    names: Mapping[str, tuple[str, ...]]

    @classmethod
    def from_arrow(cls, table: pa.Table) -> Scores:
        """Reads a score table.

        Raises:
            BadInput: a column is missing.
        """
        wanted = (*CODED, *TRUTH, *MAYBE_TRUTH, "ratio", "selector_seed", "sample_seeds", "token_f1")
        for name in wanted:
            if name not in table.column_names:
                raise BadInput("the score table lacks a column", field=name)
        columns: dict[str, Array] = {}
        names: dict[str, tuple[str, ...]] = {}
        for name in CODED:
            columns[name], names[name] = _coded(table[name])
        for name in TRUTH:
            columns[name] = _numbers(table[name], 0, np.int8)
        for name in MAYBE_TRUTH:
            columns[name] = _numbers(table[name], UNKNOWN, np.int8)
        columns["ratio"] = _numbers(table["ratio"], np.nan, np.float64)
        columns["token_f1"] = _numbers(table["token_f1"], 0.0, np.float64)
        columns["selector_seed"] = _numbers(table["selector_seed"], NO_SEED, np.int64)
        columns["input"] = np.arange(table.num_rows, dtype=np.int64)
        entries, seeds = explode(table["sample_seeds"])
        exploded = {name: column[entries] for name, column in columns.items()}
        exploded["seed"] = seeds
        return cls(exploded, names)

    def __len__(self) -> int:
        return len(self.columns["seed"])

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def take(self, chosen: Array) -> Scores:
        """The entries that a mask or an index array chooses."""
        return Scores(_Taken(self.columns, chosen), self.names)

    def is_in(self, column: str, values: Sequence[str]) -> Mask:
        """Which entries hold one of some texts."""
        wanted = set(values)
        chosen = np.array([name in wanted for name in self.names[column]], dtype=np.bool_)
        return chosen[self[column]] if len(chosen) else np.zeros(len(self), dtype=np.bool_)

    def joined(self, other: Scores) -> Scores:
        """These entries and those of another selection from the same score table."""
        return Scores(
            {name: np.concatenate([column, other.columns[name]]) for name, column in self.columns.items()},
            self.names,
        )

    def pick(self, **wanted: str | Sequence[str]) -> Scores:
        """The entries whose text columns hold the given text (or one of the given texts)."""
        mask = np.ones(len(self), dtype=np.bool_)
        for column, value in wanted.items():
            mask &= self.is_in(column, [value] if isinstance(value, str) else value)
        return self.take(mask)

    def at_ratio(self, ratio: float | None) -> Scores:
        """The entries of one nominal ratio, together with those of adaptive methods, which have none."""
        nominal = self["ratio"]
        if ratio is None:
            return self.take(np.isnan(nominal))
        return self.take(np.isnan(nominal) | (np.abs(nominal - ratio) < 1e-9))

    def at_seed(self, seed: int) -> Scores:
        """The entries of one sample seed."""
        return self.take(self["seed"] == seed)

    def present(self, column: str) -> list[str]:
        """The texts that occur, sorted."""
        return sorted(self.names[column][code] for code in np.unique(self[column]))

    def texts(self, column: str) -> list[str]:
        """A coded column as texts, one per entry."""
        names = self.names[column]
        return [names[code] for code in self[column]]

    def coded(self, column: str) -> Coded:
        """A coded column as it is."""
        return Coded(self[column], self.names[column])

    def ratios(self) -> list[float]:
        """The nominal ratios that occur, ascending."""
        known = self["ratio"][~np.isnan(self["ratio"])]
        return sorted({round(float(ratio), 9) for ratio in np.unique(known)})

    def seeds(self) -> list[int]:
        """The sample seeds that occur, ascending; NO_SEED where inputs belong to no sample."""
        return [int(seed) for seed in np.unique(self["seed"])]

    def input_order(self) -> Scores:
        """Entries seed by seed, inside a seed in the release's input order: the row order of the published files."""
        return self.take(np.lexsort((self["input"], self["seed"])))
