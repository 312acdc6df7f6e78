"""The tables of the release: probe rows, runs and outputs of the merged inputs and answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from tpbench_data.artifact_import import names
from tpbench_data.artifact_import.merging import MergedAnswer, MergedInput
from tpbench_data.artifact_import.records import RunKey, SourceAnswer
from tpbench_data.canonical import canonical_json, sha256_hex
from tpbench_data.inputs import input_id
from tpbench_data.matching import alias_equivalent
from tpbench_data.release.schema import OUTPUTS, PROBE, PROBE_CONFIGS, RUNS
from tpbench_data.rendering import count_words

PROTOCOL = "paper"
BACKEND = "import"
FULL_CONTEXT = "full_context"
TRANSITION_TYPE = "replace_value"
"""The published index labels every change so."""

Row = dict[str, Any]


def probe_tables(inputs: Sequence[MergedInput]) -> tuple[dict[str, pa.Table], list[str]]:
    """Config -> its table, and the input id of every merged input."""
    words = {
        (one.source.asked, one.example_id): count_words(one.source.context)
        for one in inputs
        if one.source.method == FULL_CONTEXT and one.source.context is not None
    }
    rows: dict[str, list[Row]] = {probe: [] for probe in PROBE_CONFIGS}
    ids = []
    for one in inputs:
        row = _probe_row(one, words.get((one.source.asked, one.example_id)))
        rows[one.source.asked.probe].append(row)
        ids.append(row["input_id"])
    return {probe: pa.Table.from_pylist(found, schema=PROBE) for probe, found in rows.items()}, ids


def _probe_row(one: MergedInput, full_context_words: int | None) -> Row:
    source, asked = one.source, one.source.asked
    facts = source.facts
    key: Row = {
        "corpus": asked.corpus,
        "example_id": one.example_id,
        "method_config": source.method_config,
        "ratio": asked.ratio,
        "selector_seed": source.selector_seed,
        "protocol": PROTOCOL,
    }
    value, old = facts.get("reference_value"), facts.get("old_value")
    kept = facts.get("kept_turns")
    row = dict.fromkeys(PROBE.names) | key | {name: fact for name, fact in facts.items() if name in PROBE.names}
    return row | {
        "input_id": input_id(probe=asked.probe, **key),
        "language": names.LANGUAGES.get(asked.corpus, "en"),
        "dialogue_id": names.source_dialogue(asked.example_id),
        "sample_seeds": list(one.seeds),
        "method": source.method,
        "value_alternatives": None if value is None else [value],
        "transition_type": None if value is None else TRANSITION_TYPE,
        "alias_equivalent": None if value is None else alias_equivalent(old, value, asked.corpus),
        "k_turns": None if kept is None else len(kept),
        "context": source.context,
        "context_words": None if source.context is None else count_words(source.context),
        "full_context_words": full_context_words,
        "prompt": None
        if source.prompt is None
        else [{"role": role, "content": text} for role, text in zip(("system", "user"), source.prompt, strict=True)],
    }


def run_tables(
    inputs: Sequence[MergedInput], ids: Sequence[str], answers: Iterable[MergedAnswer]
) -> tuple[pa.Table, pa.Table]:
    """The tables `runs` and `outputs`: one run per reader, role and cache method."""
    by_run: dict[RunKey, list[MergedAnswer]] = {}
    for answer in answers:
        by_run.setdefault(answer.source.run, []).append(answer)
    runs, outputs = [], []
    for key, found in by_run.items():
        row = run_row(key, [answer.source for answer in found], len(found))
        runs.append(row)
        for answer in sorted(found, key=lambda one: one.input):
            source = inputs[answer.input].source
            outputs.append(
                _output_row(row["run_id"], ids[answer.input], answer.source, source.method, source.asked.ratio)
            )
    order = sorted(range(len(outputs)), key=lambda place: outputs[place]["run_id"])
    return (
        pa.Table.from_pylist(sorted(runs, key=lambda row: row["run_id"]), schema=RUNS),
        pa.Table.from_pylist([outputs[place] for place in order], schema=OUTPUTS),
    )


def run_row(key: RunKey, answers: Sequence[SourceAnswer], planned: int) -> Row:
    """The `runs` row of an imported run; where its answers state different provenance, every value is kept."""
    known: Row = {}
    for name in ("model_id", "model_revision", "max_new_tokens", "max_input_tokens", "dtype", "attention"):
        stated = sorted({one.provenance[name] for one in answers if one.provenance.get(name) is not None}, key=str)
        if not stated:
            continue
        known[name] = stated[0] if len(stated) == 1 else None if isinstance(stated[0], int) else "; ".join(stated)
    settings = None
    if key.kv_method is not None:
        chunk = {} if key.chunk_length is None else {"chunk_length": key.chunk_length}
        settings = canonical_json({"press": key.kv_method} | chunk)
    columns = {"reader": key.reader, "role": key.role, "backend": BACKEND, "kv_settings": settings} | known
    return (
        dict.fromkeys(RUNS.names)
        | columns
        | {
            "run_id": f"{key.reader}-{sha256_hex(canonical_json(columns))[:8]}",
            "n_planned": planned,
        }
    )


def _output_row(run_id: str, name: str, answer: SourceAnswer, method: str, ratio: float | None) -> Row:
    return dict.fromkeys(OUTPUTS.names) | {
        "run_id": run_id,
        "input_id": name,
        "method": answer.run.kv_method or method,
        "ratio": ratio,
        "text": answer.text,
        "text_source": answer.text_source,
        "error": answer.error,
        "finish_reason": None if answer.error is None else "error",
        "prompt_tokens": answer.tokens,
    }
