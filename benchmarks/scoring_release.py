"""A release of the published size with outputs for every table, written from our own synthetic dialogues.

Readers, roles, ratios and corpus names are the paper's, so that every table of the registry can be made. The dialogues
are not: synthetic sets stand in under the corpora's names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tpbench_data.build import build
from tpbench_data.build_plan import BuildPlan
from tpbench_data.canonical import prompt_hash
from tpbench_data.files import write_parquet, write_text
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import JUDGMENTS, OUTPUTS, PLAN, RUNS
from tpbench_data.release.writer import write_release
from tpbench_data.run_folder import RunFolder, write_run_row
from tpbench_data.synthetic.generate import plain_lines, synthesize

Row = dict[str, Any]

SETS = {"en_a": ("sgd", 1), "en_b": ("multiwoz", 2), "en_c": ("lme_ku", 3), "zh_a": ("risawoz", 1)}
"""Sets as they are built: name -> the corpus it stands in for, and the seed of its dialogues."""

PROBES = ("initial_goal", "current_value", "joint_recovery", "free_form")
DELETIONS = ("drop_update", "drop_update_control", "drop_evidence", "drop_evidence_control")
POSITIONS = ("full_context", "recency", "random", "first_turns", "uniform_stride")
SHOWN = (*POSITIONS, "first_user_recent", "bm25", "oracle_evidence")
CACHE_METHODS = ("chunkkv", "snapkv", "pyramidkv", "streamingllm")
CHUNK_LENGTHS = (10, 20, 40)
MAIN = ("sgd", "multiwoz")


def make_release(
    folder: Path, sets: Mapping[str, int], probes: Sequence[str], per_type: int, **options: Any
) -> Release:
    """A release of synthetic dialogues; ``sets``: a name that begins with the language -> seed."""
    corpora = {name: folder / f"{name}.jsonl" for name in sets}
    for name, path in corpora.items():
        write_text(path, plain_lines(synthesize(name[:2], sets[name], per_type)))
    build(BuildPlan(corpora, probes=tuple(probes), **options), folder / "release")
    return Release.open(folder / "release")


def rows_of(table: pa.Table, probe: str, keep: Callable[[Row], bool] = lambda row: True) -> list[Row]:
    """The inputs of a probe, with what a run needs of them."""
    rows = (row for row in table.to_pylist() if keep(row))
    return [row | {"probe": probe, "hash": prompt_hash(row["prompt"])} for row in rows]


def answer(row: Row, reader: str) -> str:
    """What a reader might say: right, outdated, wrong, wordy, malformed, or nothing; drawn by hash."""
    draw = int.from_bytes(sha256(f"{reader}|{row['input_id']}".encode()).digest()[:4], "big") % 100
    value = row.get("reference_answer") or row.get("reference_value") or ""
    goal, slot = row.get("reference_goal") or "something", row.get("slot_label") or "it"
    said = value if draw % 3 else row.get("old_value") or "nothing"
    if row["probe"] == "initial_goal":
        said = goal if draw % 3 else goal.partition(" ")[2]
    elif row["probe"] == "joint_recovery":
        said = f"{goal}; {slot}: {said}" if draw % 7 else f"{goal}, {said}"
    if draw < 70:
        return json.dumps({"value": said, "support": "the user said so", "abstain": False}, ensure_ascii=False)
    if draw < 80:
        return f"The user wants {said} now."
    if draw < 90:
        return json.dumps({"value": "", "support": "", "abstain": True})
    return '{"value": "' + said


def run_folder(
    release: Release, reader: str, role: str, rows: Sequence[Row], method: str | None = None, **settings: int
) -> RunFolder:
    """A run that answers some inputs; ``method``: that of the cache where the run compresses it."""
    run_id = "-".join([reader, role, *([method] if method else []), *map(str, settings.values())])
    run: Row = dict.fromkeys(RUNS.names)
    run |= {"run_id": run_id, "reader": reader, "role": role, "backend": "benchmark", "n_planned": len(rows)}
    run["kv_settings"] = json.dumps({"method": method, **settings}) if method else None
    named = [{"input_id": r["input_id"], "method": method or r["method"], "ratio": r["ratio"]} for r in rows]
    plan = [one | {"probe": r["probe"], "prompt_hash": r["hash"]} for one, r in zip(named, rows, strict=True)]
    same = {"run_id": run_id, "text_source": "raw", "finish_reason": "stop", "attempts": 1}
    given = [one | same | {"text": answer(row, run_id)} for one, row in zip(named, rows, strict=True)]
    tables = (pa.Table.from_pylist(plan, schema=PLAN), pa.Table.from_pylist(given, schema=OUTPUTS))
    return RunFolder(release.path, run, *tables)


@dataclass(frozen=True)
class Published:
    """What `published_size` wrote: a release, its run folders, and how many outputs they hold."""

    release: Path
    runs: tuple[Path, ...]
    outputs: int


def published_size(folder: Path, per_type: int, n: int) -> Published:
    """Writes a release and its runs; ``per_type``: dialogues of each transition type and set, ``n``: questions."""
    built = make_release(
        folder, {name: seed for name, (_, seed) in SETS.items()}, PROBES, per_type,
        n=n, ratios=(0.1, 0.3, 0.5, 0.7), deletions=DELETIONS,
    )  # fmt: skip
    tables = {config: _renamed(built.table(config)) for config in built.configs}
    inputs = {probe: rows_of(tables[probe], probe) for probe in PROBES}
    runs = list(_runs(built, inputs))
    planned = pa.chunked_array([chunk for run in runs for chunk in run.plan["input_id"].chunks])
    for probe in PROBES:  # only what some reader was asked
        tables[probe] = tables[probe].filter(pc.is_in(tables[probe]["input_id"], value_set=planned))
    tables["judgments"] = _judgments(runs[0], inputs["initial_goal"])
    facts = {key: value for key, value in built.manifest.items() if key not in ("files", "digest", "schema_version")}
    for fact in ("corpora", "counts", "unpaired_deletions"):
        if fact in facts:
            facts[fact] = {SETS[name][0]: about for name, about in facts[fact].items()}
    write_release(folder / "published", tables, facts)
    paths = []
    for run in runs:
        path = folder / str(run.run["run_id"])
        path.mkdir()
        write_run_row(path, run.run)
        write_parquet(path / "plan.parquet", run.plan)
        write_parquet(path / "outputs.parquet", run.outputs)
        paths.append(path)
    return Published(folder / "published", tuple(paths), sum(run.outputs.num_rows for run in runs))


def _renamed(table: pa.Table) -> pa.Table:
    names = pa.array([SETS[name][0] for name in table["corpus"].to_pylist()], pa.string())
    return table.set_column(table.schema.get_field_index("corpus"), "corpus", names)


def _runs(release: Release, inputs: Mapping[str, Sequence[Row]]) -> Iterator[RunFolder]:
    """Two readers, wider budgets, deletions, the matched comparison, other corpora, free-form questions, caches."""

    def of(
        probe: str, corpora: Sequence[str], methods: Sequence[str], ratios: Sequence[float] = (0.3,),
        seeds: Sequence[int] = (42, 43, 44),
    ) -> list[Row]:  # fmt: skip
        return [
            row
            for row in inputs[probe]
            if row["corpus"] in corpora
            and row["method"] in methods
            and row["ratio"] in ratios
            and not set(seeds).isdisjoint(row["sample_seeds"])
        ]

    p1, p2, p3, free = PROBES
    budgets, full = of(p2, MAIN, SHOWN, (0.1, 0.3)), ("full_context",)
    yield run_folder(release, "first", "main", [*of(p1, MAIN, SHOWN), *budgets, *of(p3, MAIN, SHOWN)])
    yield run_folder(release, "second", "main", [*budgets, *of(p3, MAIN, SHOWN)])
    yield run_folder(release, "first", "budgets", of(p2, MAIN, SHOWN, (0.5, 0.7)))
    yield run_folder(release, "first", "deletion", of(p2, MAIN, (*full, *DELETIONS), seeds=[42]))
    yield run_folder(release, "first", "first_user_recent", of(p3, MAIN, (*POSITIONS, "first_user_recent")))
    yield run_folder(release, "first", "corpus", of(p2, ("lme_ku", "risawoz"), POSITIONS))
    yield run_folder(release, "first", "free_form", of(free, MAIN, SHOWN, (0.1, 0.3)))
    for method in CACHE_METHODS:
        rows = of(p2, MAIN, full, seeds=[42]) + (of(p3, MAIN, full, seeds=[42]) if method == "chunkkv" else [])
        yield run_folder(release, "first", "kv", rows, method)
    for length in CHUNK_LENGTHS:
        rows = of(p2, ("multiwoz",), full, seeds=[42])
        yield run_folder(release, "first", "chunk_sweep", rows, "chunkkv", chunk_length=length)


def _judgments(run: RunFolder, goals: Sequence[Row]) -> pa.Table:
    """A label, drawn by hash, for every goal in the answers of a run."""
    reference = {row["input_id"]: row["reference_goal"] for row in goals}
    pairs = set()
    for input_id, text in zip(run.outputs["input_id"].to_pylist(), run.outputs["text"].to_pylist(), strict=True):
        if input_id in reference:
            record = json.loads(text) if text.endswith("}") else {}
            pairs.add((reference[input_id], record.get("value") or ""))
    labels = ("equivalent", "not_equivalent", "equivalent", "uncertain")
    rows = [
        {"judgment_id": f"j{number}", "run_id": "judge", "reference": expected, "answer": given,
         "label": labels[sha256(f"{expected}|{given}".encode()).digest()[0] % 4], "prompt_hash": "0" * 16}
        for number, (expected, given) in enumerate(sorted(pairs))
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=JUDGMENTS)
