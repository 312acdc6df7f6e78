"""Frozen reader inputs: the probe files (layout section 1) and the inputs of the deletion experiment (section 8)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tpbench_data.artifact_import import names
from tpbench_data.artifact_import.findings import Findings
from tpbench_data.artifact_import.lines import Row, object_of, rows_of, text_of, turn_of
from tpbench_data.artifact_import.records import Asked, SourceInput
from tpbench_data.deletions import DELETIONS
from tpbench_data.names import Probe

PROBE_FILE = re.compile(
    r"data/probes/probes_(?P<corpus>sgd|multiwoz)_s(?P<seed>\d+)_r(?P<ratio>\d\d)_"
    r"(?:(?P<tag>p1|p3)_n\d+|n\d+_(?P<late>late_intent))\.jsonl"
)
CORPUS_FILE = re.compile(
    r"data/probes/probes_(?P<corpus>lme_ku|risawoz)_(?:s(?P<seed>\d+)|all\d+)_r(?P<ratio>\d\d)(?:_n\d+|_s42-46)\.jsonl"
)
DELETION_FILE = re.compile(r"results/diagnostics/update_evidence/p2_reader_input_(?P<corpus>sgd|multiwoz)\.jsonl")
DELETION_SEED, DELETION_RATIO = 42, 0.3
FIRST_SEED = 42

_CONTEXT = re.compile(r"Context:\n(?P<context>.*?)\n\nQuestion:", re.DOTALL)


def cell_of(file: str) -> tuple[str, Probe, int, float] | None:
    """(corpus, probe, sample seed, ratio) that the name of an input file states; ``None`` for any other file."""
    match = PROBE_FILE.fullmatch(file)
    if match:
        probe = names.FILE_PROBES[match["tag"] or match["late"]]
        return names.CORPORA[match["corpus"]], probe, int(match["seed"]), int(match["ratio"]) / 100
    match = CORPUS_FILE.fullmatch(file)
    if match:
        return match["corpus"], "current_value", int(match["seed"] or FIRST_SEED), int(match["ratio"]) / 100
    match = DELETION_FILE.fullmatch(file)
    if match:
        return match["corpus"], "current_value", DELETION_SEED, DELETION_RATIO
    return None


def inputs_of(folder: Path, file: str, findings: Findings) -> Iterator[SourceInput]:
    """The inputs of a file whose name `cell_of` knows."""
    cell = cell_of(file)
    if cell is None:
        return
    corpus, probe, seed, ratio = cell
    deletion = DELETION_FILE.fullmatch(file) is not None
    seen: dict[tuple[str, str], int] = {}
    for number, row in rows_of(folder, file, findings):
        problem = _problem(row, cell, deletion)
        if problem is not None:
            findings.problem(file, number, problem)
            continue
        key = (row["dialogue_id"], row["method"])
        if key in seen:
            findings.problem(file, number, f"repeats {key[0]}, {key[1]} of row {seen[key]}")
            continue
        seen[key] = number
        findings.imported[file] += 1
        method, config, selector_seed = names.selector(row["method"]) or ("", "", None)
        prompt = (row["prompt_system"], row["prompt_user"])
        yield SourceInput(
            asked=Asked(corpus, probe, row["dialogue_id"], seed, ratio),
            method=method,
            method_config=config,
            selector_seed=selector_seed,
            facts=_facts(row, probe, corpus),
            context=_context(row, deletion),
            prompt=prompt,
            place=(file, number),
        )


def _problem(row: Row, cell: tuple[str, Probe, int, float], deletion: bool) -> str | None:
    """Why a row cannot be imported, ``None`` where it can."""
    corpus, probe, seed, ratio = cell
    for field in ("dialogue_id", "dataset", "method", "probe_type", "gold", "prompt_system", "prompt_user"):
        if not isinstance(row.get(field), str):
            return f"has no text in {field}"
    if names.CORPORA.get(row["dataset"]) != corpus:
        return f"is of data set {row['dataset']!r}, the file of {corpus!r}"
    if names.PROBES.get(row["probe_type"]) != probe:
        return f"is of probe type {row['probe_type']!r}, the file of {probe!r}"
    if names.selector(row["method"]) is None:
        return f"is of the unknown method {row['method']!r}"
    if probe == "joint_recovery" and not (text_of(row, "gold_story_label") and text_of(row, "gold_value")):
        return "has no text in gold_story_label or gold_value"
    meta = object_of(row, "meta")
    stated = meta.get("ratio")
    if isinstance(stated, int | float) and abs(stated - ratio) > 1e-9 and not deletion:
        return f"states ratio {stated}, the file name {ratio:g}"
    for sample in (row.get("sample_seed"), meta.get("sample_seed")):
        if isinstance(sample, int) and sample != seed:
            return f"states sample seed {sample}, the file name {seed}"
    return None


def _facts(row: Row, probe: Probe, corpus: str) -> dict[str, Any]:
    meta = object_of(row, "meta")
    facts: dict[str, Any] = {
        "n_turns": turn_of(meta.get("n_turns")),
        "template": f"published@{text_of(row, 'template_sha16') or row['probe_type'].lower()}",
    }
    if probe == "initial_goal":
        return facts | {"reference_goal": row["gold"]}
    value = text_of(row, "gold_value") if probe == "joint_recovery" else text_of(row, "gold", "new_value")
    facts |= {
        "slot": text_of(row, "slot"),
        "slot_label": text_of(row, "slot_human", "slot"),
        "old_value": text_of(row, "old_value"),
        "reference_value": value,
        "update_turn": turn_of(meta.get("origin_turn_id")),
    }
    if probe == "joint_recovery":
        facts["reference_goal"] = row["gold_story_label"]
    removed = meta.get("removed_turn_ids")
    mapped = names.selector(row["method"])
    if mapped and mapped[0] in DELETIONS and isinstance(removed, list) and facts["n_turns"] is not None:
        gone = {turn for turn in removed if type(turn) is int}
        facts["kept_turns"] = [turn for turn in range(facts["n_turns"]) if turn not in gone]
    return facts


def _context(row: Row, deletion: bool) -> str | None:
    """The context that the reader saw: in the deletion files only the prompt lost the deleted turns."""
    match = _CONTEXT.search(row["prompt_user"])
    inside = match["context"] if match else None
    return inside if deletion else text_of(row, "compressed_text_used") or inside
