"""Free-form questions (layout section 14): items with their dialogues, contexts where published, and plain answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tpbench_data.artifact_import import names
from tpbench_data.artifact_import.findings import Findings
from tpbench_data.artifact_import.lines import Row, object_of, rows_of, text_of
from tpbench_data.artifact_import.records import RunKey
from tpbench_data.artifact_import.tables import PROTOCOL, run_row
from tpbench_data.inputs import input_id
from tpbench_data.names import TRANSITION_TYPES
from tpbench_data.release.schema import FREE_FORM, OUTPUTS
from tpbench_data.rendering import count_words

ITEMS = re.compile(r"data/fmts/fmts_(?P<set>indirect_seed42|multiwoz_scope|sgd_scope)\.jsonl")
RESPONSES = re.compile(
    r"batches/fmts_refpool/responses_tqa_(?P<set>indirect_seed42|multiwoz_scope|sgd_scope)_refpool_r0(?P<ratio>\d\d)"
    r"(?:\.\w+)?"
)
TASKS = re.compile(r"results/fmts_execution/tasks(?:\.\w+)?")
CORPORA = {"indirect_seed42": "fmts", "multiwoz_scope": "multiwoz", "sgd_scope": "sgd"}
"""Set of items -> corpus."""

SEED = 42
TEMPLATE = "published@fmts"
_SPEAKERS = {"user": "user", "system": "system", "assistant": "system"}


@dataclass
class FreeForm:
    """Rows of the configs that free-form questions fill."""

    dialogues: list[Row] = field(default_factory=list)
    inputs: list[Row] = field(default_factory=list)
    run: Row | None = None
    outputs: list[Row] = field(default_factory=list)


def read(folder: Path, files: list[str], findings: Findings) -> FreeForm:
    """Reads items, responses and contexts; nothing where the artifact has no responses."""
    found = FreeForm()
    responses = [(file, match) for file in files if (match := RESPONSES.fullmatch(file))]
    if not responses:
        return found
    items: dict[tuple[str, str], Row] = {}
    for file in files:
        match = ITEMS.fullmatch(file)
        if match:
            items |= {(match["set"], row["dialogue_id"]): row for row in _items(folder, file, findings)}
    contexts = _contexts(folder, files, findings)
    used: dict[tuple[str, str], None] = {}
    answers: list[tuple[Row, str]] = []
    for file, match in responses:
        answers += _answered(folder, file, match, items, contexts, used, findings)
    found.dialogues = [_dialogue(CORPORA[name], items[name, dialogue]) for name, dialogue in used]
    found.inputs = [row for row, _ in answers]
    found.run = run_row(RunKey(names.READERS["llama"], "free_form"), [], len(answers))
    found.outputs = [_output(found.run["run_id"], row, text) for row, text in answers]
    return found


def _items(folder: Path, file: str, findings: Findings) -> Iterator[Row]:
    for number, row in rows_of(folder, file, findings):
        probe, turns = object_of(row, "probe"), row.get("turns")
        complete = text_of(row, "dialogue_id") and text_of(probe, "question") and text_of(probe, "gold_answer")
        if not complete or not isinstance(turns, list) or not all(_is_turn(turn) for turn in turns):
            findings.problem(file, number, "has no dialogue_id, turns, question or gold_answer")
            continue
        findings.imported[file] += 1
        yield row


def _is_turn(turn: Any) -> bool:
    return isinstance(turn, dict) and isinstance(turn.get("text"), str) and _speaker(turn) is not None


def _speaker(turn: Row) -> str | None:
    return _SPEAKERS.get(str(turn.get("speaker")).lower())


def _contexts(folder: Path, files: list[str], findings: Findings) -> dict[tuple[str, str], str]:
    """(batch tag, item id) -> context."""
    contexts = {}
    for file in files:
        if not TASKS.fullmatch(file):
            continue
        for number, row in rows_of(folder, file, findings):
            tag, item, context = text_of(row, "batch_tag"), text_of(row, "item_id"), text_of(row, "context")
            if tag is None or item is None or context is None:
                findings.problem(file, number, "has no text in batch_tag, item_id or context")
            else:
                contexts[tag, item] = context
                findings.imported[file] += 1
    return contexts


def _answered(
    folder: Path,
    file: str,
    match: re.Match[str],
    items: Mapping[tuple[str, str], Row],
    contexts: Mapping[tuple[str, str], str],
    used: dict[tuple[str, str], None],
    findings: Findings,
) -> Iterator[tuple[Row, str]]:
    seen: dict[str, int] = {}
    methods: dict[str, set[str]] = {}
    tag = f"{match['set']}_refpool_r0{match['ratio']}"
    for number, row in rows_of(folder, file, findings):
        name, text = text_of(row, "id"), text_of(row, "answer")
        dialogue, parted, method = (name or "").rpartition("::")
        mapped = names.selector(method)
        if not (name and parted) or text is None or mapped is None:
            findings.problem(file, number, f"has no answer, or {name!r} is not an item and a known method")
        elif name in seen:
            findings.problem(file, number, f"answers {name} again, as row {seen[name]} does")
        elif (match["set"], dialogue) not in items:
            findings.problem(file, number, f"answers {dialogue}, which is not among the items")
        else:
            seen[name] = number
            methods.setdefault(method, set()).add(dialogue)
            used[match["set"], dialogue] = None
            findings.imported[file] += 1
            item = items[match["set"], dialogue]
            yield _input(match["set"], item, mapped, int(match["ratio"]) / 100, contexts.get((tag, name))), text
    asked = set().union(*methods.values()) if methods else set()
    for method, answered in methods.items():
        for dialogue in sorted(asked - answered):
            findings.problem(file, 0, f"has no answer to {dialogue}::{method}")


def _input(name: str, item: Row, mapped: tuple[str, str, int | None], ratio: float, context: str | None) -> Row:
    method, config, selector_seed = mapped
    probe, transition = object_of(item, "probe"), object_of(item, "transition")
    key: Row = {
        "corpus": CORPORA[name],
        "example_id": item["dialogue_id"],
        "method_config": config,
        "ratio": ratio,
        "selector_seed": selector_seed,
        "protocol": PROTOCOL,
    }
    kind = str(transition.get("operation", "")).lower()
    boundary = _turns(transition.get("boundary_turn_ids"))
    return (
        dict.fromkeys(FREE_FORM.names)
        | key
        | {
            "input_id": input_id(probe="free_form", **key),
            "language": "en",
            "dialogue_id": item["dialogue_id"],
            "sample_seeds": [SEED],
            "slot": text_of(transition, "slot"),
            "slot_label": text_of(transition, "slot"),
            "transition_type": kind if kind in TRANSITION_TYPES else None,
            "update_turn": boundary[0] if boundary else None,
            "method": method,
            "n_turns": len(item["turns"]),
            "context": context,
            "context_words": None if context is None else count_words(context),
            "template": TEMPLATE,
            "question": probe["question"],
            "reference_answer": probe["gold_answer"],
            "old_answer": text_of(probe, "old_state_answer") or "",
            "boundary_turns": boundary,
            "support_turns": _turns(transition.get("support_turn_ids")),
        }
    )


def _turns(value: Any) -> list[int] | None:
    if not isinstance(value, list):
        return None
    return sorted({turn for turn in value if type(turn) is int and turn >= 0})


def _dialogue(corpus: str, item: Row) -> Row:
    turns = item["turns"]
    return {
        "dialogue_id": item["dialogue_id"],
        "corpus": corpus,
        "language": "en",
        "n_turns": len(turns),
        "speakers": [_speaker(turn) for turn in turns],
        "texts": [turn["text"] for turn in turns],
        "states": ["null"] * len(turns),
    }


def _output(run_id: str, row: Row, text: str) -> Row:
    return dict.fromkeys(OUTPUTS.names) | {
        "run_id": run_id,
        "input_id": row["input_id"],
        "method": row["method"],
        "ratio": row["ratio"],
        "text": text,
        "text_source": "raw",
    }
