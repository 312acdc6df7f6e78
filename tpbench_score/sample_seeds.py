"""Inputs and the sample seeds they belong to: one entry per input and seed, so that "per seed" is one group-by."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Integers = npt.NDArray[np.int64]

NO_SEED = -1
"""Stands for "belongs to no sample" among seeds."""


def explode(column: pa.ChunkedArray) -> tuple[Integers, Integers]:
    """The row and the seed of every entry, by row; a row without seeds is one entry with `NO_SEED`."""
    lists = column.combine_chunks()
    if isinstance(lists, pa.ChunkedArray):
        lists = pa.concat_arrays(lists.chunks)
    parents = np.asarray(pc.list_parent_indices(lists)).astype(np.int64)
    seeds = np.asarray(pc.list_flatten(lists).to_numpy(zero_copy_only=False)).astype(np.int64)
    without = np.setdiff1d(np.arange(len(column), dtype=np.int64), parents)
    rows = np.concatenate([parents, without])
    seeds = np.concatenate([seeds, np.full(len(without), NO_SEED, dtype=np.int64)])
    order = np.argsort(rows, kind="stable")
    return rows[order], seeds[order]
