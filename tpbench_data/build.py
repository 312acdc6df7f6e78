"""Building a release: corpora -> pools -> seeded probe sets -> frozen inputs -> a folder."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from tpbench_data import __version__
from tpbench_data.build_plan import BuildPlan
from tpbench_data.corpus_part import CorpusPart, corpus_part
from tpbench_data.errors import BadInput
from tpbench_data.garbage import collector_held
from tpbench_data.names import INPUT_PROBES
from tpbench_data.release.writer import write_release
from tpbench_data.templates import TEMPLATES

__all__ = ["BuildPlan", "BuildResult", "build"]


@dataclass(frozen=True)
class BuildResult:
    """What `build` made: the digest, the counts of every step and the candidates raw data does not show."""

    digest: str
    counts: dict[str, Any]
    unmatched: dict[str, list[str]]


def build(
    plan: BuildPlan, out: Path, progress: Callable[[str], None] = lambda text: None, workers: int = 1
) -> BuildResult:
    """Builds a release folder; the same plan and corpora give the same bytes, with any number of workers.

    Args:
        plan: What to build.
        out: A folder that does not exist yet.
        progress: Called with a line of text now and then.
        workers: Processes to use; corpora are built side by side.

    Raises:
        BadInput: An unusable corpus, pool or option, or ``out`` exists.
    """
    if out.exists():
        raise BadInput("already exists", file=out, remedy="Choose another --out, or move the old folder away")
    plan.check()
    parts: dict[str, CorpusPart] = {}
    for name, part in zip(plan.corpora, _parts(plan, workers), strict=True):
        progress(f"built the inputs of {name}")
        parts[name] = part
    configs = ("dialogues", *(probe for probe in INPUT_PROBES if any(probe in part.tables for part in parts.values())))
    tables = {
        config: pa.concat_tables([part.tables[config] for part in parts.values() if config in part.tables])
        for config in configs
    }
    if not tables["dialogues"].num_rows:
        raise BadInput("no probe question is left after the rules", remedy="See the counts; give more dialogues")
    progress("writing")
    counts = {name: part.counts for name, part in parts.items()}
    digest = write_release(out, tables, _facts(plan, parts, tables) | {"counts": counts})
    return BuildResult(digest, counts, {name: part.unmatched for name, part in parts.items()})


def _parts(plan: BuildPlan, workers: int) -> Iterator[CorpusPart]:
    """The parts in the order of the plan, each made in a process of its own where several may be used."""
    if workers <= 1 or len(plan.corpora) <= 1:
        yield from (_part(plan, name) for name in plan.corpora)
        return
    # A fresh interpreter: a fork would inherit the threads of Arrow in an undefined state.
    with ProcessPoolExecutor(min(workers, len(plan.corpora)), multiprocessing.get_context("spawn")) as pool:
        try:
            yield from pool.map(_part, [plan] * len(plan.corpora), plan.corpora)
        except BrokenProcessPool as problem:
            raise BadInput("a worker process died, perhaps for lack of memory", remedy="Use --workers 1") from problem


def _part(plan: BuildPlan, name: str) -> CorpusPart:
    with collector_held():
        return corpus_part(plan, name)


def _facts(plan: BuildPlan, parts: dict[str, CorpusPart], tables: dict[str, pa.Table]) -> dict[str, Any]:
    probes = [config for config in tables if config != "dialogues"]
    used = sorted({name for probe in probes for name in tables[probe]["template"].unique().to_pylist()})
    methods = list(dict.fromkeys(method for part in parts.values() for method in part.methods))
    return {
        "name": "tpbench",
        "release": plan.release,
        "builder": f"tpbench {__version__}",
        "corpora": {name: part.facts for name, part in parts.items()},
        "value_rule": plan.value_rule,
        "seeds": list(plan.seeds),
        "n": plan.n,
        "ratios": list(plan.ratios),
        "methods": [*methods, *plan.deletions],
        "probes": probes,
        "protocols": list(plan.protocols),
        "templates": {name: TEMPLATES[name].sha256 for name in used},
        "unpaired_deletions": {name: part.unpaired for name, part in parts.items() if part.unpaired},
    }
