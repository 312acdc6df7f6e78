"""What every row of a release must satisfy; each check yields issues and never stops.

The checks recompute what can be recomputed (context from kept turns, prompt from template, id from columns),
so a row that was edited together with its hash is still found.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from tpbench_data.inputs import input_id
from tpbench_data.matching import alias_equivalent, value_in_text
from tpbench_data.names import TRANSITION_TYPES
from tpbench_data.release.issues import Issue
from tpbench_data.rendering import Rendering, count_words, render
from tpbench_data.slots import slot_label
from tpbench_data.templates import TEMPLATES

Row = dict[str, Any]
Dialogues = dict[tuple[str, str], Row]

_NULLABLE = {"selector_seed", "ratio", "kept_turns"}
_GOAL_COLUMNS = {"reference_goal"}
_VALUE_COLUMNS = {
    "slot",
    "slot_label",
    "old_value",
    "reference_value",
    "value_alternatives",
    "update_turn",
    "transition_type",
    "alias_equivalent",
}
_ABSENT = {
    "initial_goal": _VALUE_COLUMNS,
    "current_value": _GOAL_COLUMNS,
    "joint_recovery": set[str](),
}


def check_dialogues(path: str, table: pa.Table, known: Dialogues) -> Iterator[Issue]:
    """Checks the dialogues and adds each to ``known`` under (corpus, dialogue id)."""
    for number, row in enumerate(table.to_pylist(), start=1):
        key = (row["corpus"], row["dialogue_id"])
        if key in known:
            yield Issue(path, number, "dialogue_id", f"{row['dialogue_id']!r} appears twice")
        known[key] = row
        for column in ("speakers", "texts", "states"):
            if row[column] is None or len(row[column]) != row["n_turns"]:
                yield Issue(path, number, column, f"does not hold one entry per turn ({row['n_turns']} turns)")
        if set(row["speakers"] or ()) - {"user", "system"}:
            yield Issue(path, number, "speakers", "holds a speaker other than user and system")
        for text in row["states"] or ():
            if not _is_json_object_or_null(text):
                yield Issue(path, number, "states", "holds a state that is not a JSON object or null")
                break


def check_inputs(
    path: str, table: pa.Table, probe: str, dialogues: Dialogues, inputs: set[str], manifest: dict[str, Any]
) -> Iterator[Issue]:
    """Checks the rows of one probe file and adds their ids to ``inputs``."""
    full_words: dict[tuple[str, str], int] = {}
    for number, row in enumerate(table.to_pylist(), start=1):
        if row["input_id"] in inputs:
            yield Issue(path, number, "input_id", f"{row['input_id']!r} appears twice")
        inputs.add(row["input_id"])
        absent = _ABSENT[probe]
        nulls = sorted(k for k, v in row.items() if v is None and k not in absent and k not in _NULLABLE)
        if nulls:
            yield Issue(path, number, nulls[0], "is null")
            continue
        for column in sorted(absent):
            if row[column] is not None:
                yield Issue(path, number, column, f"must be null in {probe}")
        yield from (Issue(path, number, *found) for found in _check_facts(row, probe, manifest))
        dialogue = dialogues.get((row["corpus"], row["dialogue_id"]))
        if dialogue is None:
            yield Issue(path, number, "dialogue_id", f"{row['dialogue_id']!r} is not among the dialogues")
            continue
        yield from (Issue(path, number, *found) for found in _check_turns(row, dialogue))
        key = (row["corpus"], row["dialogue_id"])
        if key not in full_words:
            full_words[key] = count_words(
                render(range(dialogue["n_turns"]), dialogue["speakers"], dialogue["texts"], "marked")
            )
        if row["full_context_words"] != full_words[key]:
            yield Issue(path, number, "full_context_words", f"is not {full_words[key]}")


def _check_facts(row: Row, probe: str, manifest: dict[str, Any]) -> Iterator[tuple[str, str]]:
    expected = input_id(
        corpus=row["corpus"],
        example_id=row["example_id"],
        probe=probe,
        method_config=row["method_config"],
        ratio=row["ratio"],
        selector_seed=row["selector_seed"],
        protocol=row["protocol"],
    )
    if row["input_id"] != expected:
        yield "input_id", f"does not follow from the columns: {expected!r} expected"
    if row["method_config"].split("(")[0] != row["method"]:
        yield "method_config", f"is not a setting of {row['method']!r}"
    for column, allowed in (("protocol", manifest["protocols"]), ("corpus", list(manifest["corpora"]))):
        if row[column] not in allowed:
            yield column, f"{row[column]!r} is not in the manifest"
    if row["method_config"] not in manifest["methods"]:
        yield "method_config", f"{row['method_config']!r} is not in the manifest"
    if row["ratio"] is not None and row["ratio"] not in manifest["ratios"]:
        yield "ratio", f"{row['ratio']} is not in the manifest"
    if not row["sample_seeds"] or set(row["sample_seeds"]) - set(manifest["seeds"]):
        yield "sample_seeds", "is empty or holds a seed that is not in the manifest"
    if row["transition_type"] is not None and row["transition_type"] not in TRANSITION_TYPES:
        yield "transition_type", f"{row['transition_type']!r} is unknown"
    if row["slot"] is not None:
        if row["slot_label"] != slot_label(row["slot"]):
            yield "slot_label", f"is not {slot_label(row['slot'])!r}"
        if row["alias_equivalent"] != alias_equivalent(row["old_value"], row["reference_value"], row["corpus"]):
            yield "alias_equivalent", "does not follow from the values"
        if row["reference_value"] not in row["value_alternatives"]:
            yield "value_alternatives", "does not hold the reference value"
    if row["context_words"] != count_words(row["context"]):
        yield "context_words", f"is not {count_words(row['context'])}"
    template = TEMPLATES.get(row["template"])
    if template is None:
        yield "template", f"{row['template']!r} is unknown to this version"
    elif row["prompt"] != template.messages(row["context"], row["slot_label"]):
        yield "prompt", f"is not what {row['template']} makes of the context"


def _check_turns(row: Row, dialogue: Row) -> Iterator[tuple[str, str]]:
    n_turns = dialogue["n_turns"]
    if row["n_turns"] != n_turns:
        yield "n_turns", f"is {row['n_turns']}, the dialogue has {n_turns}"
        return
    for column in ("answer_turns", "kept_turns"):
        turns = row[column] or []
        if turns != sorted(set(turns)) or (turns and not 0 <= turns[0] <= turns[-1] < n_turns):
            yield column, "is not ascending turn ids of the dialogue"
            return
    if row["update_turn"] is not None and not 0 <= row["update_turn"] < n_turns:
        yield "update_turn", "is not a turn of the dialogue"
    if row["reference_value"] is not None:
        bearing = [
            turn
            for turn, text in enumerate(dialogue["texts"])
            if value_in_text(row["reference_value"], text, row["corpus"])
        ]
        if row["answer_turns"] != bearing:
            yield "answer_turns", f"is not {bearing}"
    if row["kept_turns"] is None:
        return
    if row["k_turns"] != len(row["kept_turns"]):
        yield "k_turns", f"is {row['k_turns']}, but {len(row['kept_turns'])} turns are kept"
    renderings: tuple[Rendering, ...] = ("marked",) if row["protocol"] == "matched" else ("marked", "plain")
    contexts = (render(row["kept_turns"], dialogue["speakers"], dialogue["texts"], form) for form in renderings)
    if row["context"] not in contexts:
        yield "context", "is not a rendering of the kept turns"


def check_outputs(parts: list[tuple[str, pa.Table]], runs: dict[str, Row], inputs: set[str]) -> Iterator[Issue]:
    """Checks saved outputs: known run and input, one answer each, and as many as the run planned."""
    seen: set[tuple[str, str]] = set()
    answered: Counter[str] = Counter()
    for path, table in parts:
        columns = table.select(["run_id", "input_id", "text", "finish_reason", "error"]).to_pylist()
        for number, row in enumerate(columns, start=1):
            key = (row["run_id"], row["input_id"])
            if key in seen:
                yield Issue(path, number, "input_id", f"{row['input_id']!r} is answered twice by {row['run_id']}")
            seen.add(key)
            answered[row["run_id"]] += 1
            if row["run_id"] not in runs:
                yield Issue(path, number, "run_id", f"{row['run_id']!r} is not among the runs")
            if row["input_id"] not in inputs:
                yield Issue(path, number, "input_id", f"{row['input_id']!r} is not among the inputs")
            if row["text"] is None:
                yield Issue(path, number, "text", "is null")
            if (row["finish_reason"] == "error") != (row["error"] is not None):
                yield Issue(path, number, "finish_reason", "and error do not agree")
    for run_id, run in sorted(runs.items()):
        if answered[run_id] != run["n_planned"]:
            yield Issue(
                "data/runs",
                0,
                "n_planned",
                f"{run_id} planned {run['n_planned']} answers, {answered[run_id]} are there",
            )


def _is_json_object_or_null(text: str | None) -> bool:
    if text is None:
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return value is None or isinstance(value, dict)
