"""A share of a run: every n-th batch of the whole plan, so that several machines make one run.

A shard's folder holds the row and the plan of the whole run, ``shard.json``, and the journal with its batches.
Batches are fixed before they are dealt out, so the merged run has the bytes of an undivided one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from tpbench_data.canonical import pretty_json
from tpbench_data.errors import BadInput
from tpbench_data.files import write_text
from tpbench_data.run_folder import SHARD_FILE


@dataclass(frozen=True)
class Shard:
    """Share ``index`` (from 0) of ``of``."""

    index: int
    of: int

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    def takes(self, batch: int) -> bool:
        """Whether a batch of the plan belongs to this shard."""
        return batch % self.of == self.index


def parse_shard(text: str) -> Shard:
    """Reads ``i/n`` with 0 <= i < n; raises BadInput."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if not found or not int(found[1]) < int(found[2]):
        raise BadInput(f"'{text}' is no share", field="--shard", remedy="Write 0/3, 1/3, 2/3 for three shares")
    return Shard(int(found[1]), int(found[2]))


def read_shard(folder: Path) -> Shard | None:
    """Which share a run folder holds; None where it holds a whole run. Raises BadInput."""
    path = folder / SHARD_FILE
    if not path.is_file():
        return None
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if set(values) != {"shard", "of"}:
            raise ValueError
        return parse_shard(f"{values['shard']}/{values['of']}")
    except (ValueError, TypeError):
        raise BadInput("is damaged", file=path, remedy="Run this shard again in a new folder") from None


def write_shard(folder: Path, shard: Shard) -> None:
    """Writes shard.json."""
    write_text(folder / SHARD_FILE, pretty_json({"shard": shard.index, "of": shard.of}))


def batches_of(plan: pa.Table) -> tuple[tuple[str, ...], ...]:
    """The batches of a stored plan (table `PLAN`): prompt hashes, each once, in plan order."""
    found: dict[int, dict[str, None]] = {}
    for number, key in zip(plan["batch"].to_pylist(), plan["prompt_hash"].to_pylist(), strict=True):
        found.setdefault(number, {})[key] = None
    return tuple(tuple(found.get(number, ())) for number in range(max(found, default=-1) + 1))


def missing_shares(shards: Sequence[Shard]) -> list[str]:
    """The shares of a set that are not in it."""
    of = shards[0].of
    return [str(Shard(index, of)) for index in sorted(set(range(of)) - {shard.index for shard in shards})]
