"""The matched comparison (layout section 3): inputs and answers by id, tied to examples by the scored rows only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tpbench_data.artifact_import import names
from tpbench_data.artifact_import.answer_rows import provenance_of
from tpbench_data.artifact_import.findings import Findings
from tpbench_data.artifact_import.lines import Row, rows_of
from tpbench_data.artifact_import.merging import Collection
from tpbench_data.artifact_import.records import Asked, RunKey, SourceAnswer, SourceInput

TAG = "matched"
INPUTS = "data/reader_evaluation/inputs.jsonl"
ANSWERS = "results/reader_evaluation/answers.jsonl"
SCORED = "results/reader_evaluation/scored/scored.jsonl"
FILES = (INPUTS, ANSWERS, SCORED)
RATIO = 0.3
CONDITIONS = ("initial_goal", "current_value", "original_question")
"""Conditions of the paper's table 8; rows of another wording are other inputs and stay out."""

_CORRECTED_ID = re.compile(r"[0-9a-f]{64}")
_CONTEXT = re.compile(r"Context:\n(?P<context>.*?)\n\nQuestion:", re.DOTALL)


@dataclass(frozen=True)
class Matched:
    """The rows of the comparison as inputs and answers."""

    inputs: list[SourceInput]
    answers: list[SourceAnswer]


def read(folder: Path, collection: Collection, findings: Findings) -> Matched:
    """Reads the three files; `collection` knows the references of the examples."""
    prompts = _by_id(folder, INPUTS, findings, "prompt_user", "prompt_system")
    answers = _by_id(folder, ANSWERS, findings, "reader_output_text")
    found = Matched([], [])
    seen: dict[tuple[Any, ...], int] = {}
    for number, row in rows_of(folder, SCORED, findings):
        for made in _rows(number, row, prompts, answers, collection, findings, seen):
            found.inputs.append(made[0])
            found.answers.append(made[1])
    return found


def _by_id(folder: Path, file: str, findings: Findings, *fields: str) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for number, row in rows_of(folder, file, findings):
        name = row.get("id")
        if not isinstance(name, str) or not all(isinstance(row.get(field), str) for field in fields):
            findings.problem(file, number, f"has no text in id or {', '.join(fields)}")
        elif name in rows:
            findings.problem(file, number, f"repeats the id {name}")
        else:
            rows[name] = row
            findings.imported[file] += 1
    return rows


def _rows(
    number: int,
    row: Row,
    prompts: dict[str, Row],
    answers: dict[str, Row],
    collection: Collection,
    findings: Findings,
    seen: dict[tuple[Any, ...], int],
) -> Iterator[tuple[SourceInput, SourceAnswer]]:
    corpus, probe = names.CORPORA.get(str(row.get("dataset"))), names.PAPER_PROBES.get(str(row.get("probe")))
    mapped = names.selector(str(row.get("method")))
    example, seed, name = row.get("dialogue_id"), row.get("seed"), row.get("id")
    if not (corpus and probe and mapped and isinstance(example, str) and type(seed) is int and isinstance(name, str)):
        findings.problem(SCORED, number, "has no known dataset, probe or method, or no dialogue_id, seed or id")
        return
    if row.get("condition") not in (None, *CONDITIONS):
        findings.notes[f"matched rows of condition {row['condition']!r} left out: another wording"] += 1
        return
    key = (corpus, probe, example, seed, mapped[1])
    if key in seen:
        findings.problem(SCORED, number, f"repeats {example}, {row['method']} of row {seen[key]}")
        return
    seen[key] = number
    if name not in prompts or name not in answers:
        if _CORRECTED_ID.fullmatch(name):
            findings.notes["matched LLMLingua-2 rows left out: their answers are in the correction folder"] += 1
        else:
            missing = INPUTS if name not in prompts else ANSWERS
            findings.problem(SCORED, number, f"names the id {name}, which is not in {missing}")
        return
    asked = Asked(corpus, probe, example, seed, RATIO)
    facts = dict(collection.label_of(asked)) or _facts(row, probe)
    facts.pop("kept_turns", None)
    prompt, answer = prompts[name], answers[name]
    match = _CONTEXT.search(prompt["prompt_user"])
    method, config, selector_seed = mapped
    findings.imported[SCORED] += 1
    error = answer.get("error")
    yield (
        SourceInput(
            asked,
            method,
            config,
            selector_seed,
            facts,
            match["context"] if match else None,
            (prompt["prompt_system"], prompt["prompt_user"]),
            (SCORED, number),
        ),
        SourceAnswer(
            asked,
            RunKey(names.READERS["llama"], "first_user_recent"),
            config,
            answer["reader_output_text"],
            "raw",
            error if isinstance(error, str) and error else None,
            provenance_of(answer),
            answer["input_tokens"] if type(answer.get("input_tokens")) is int else None,
            (SCORED, number),
        ),
    )


def _facts(row: Row, probe: str) -> dict[str, Any]:
    """References of an example without probe row: the composite of P3 is taken apart where it was put together."""
    gold = str(row.get("gold", ""))
    facts: dict[str, Any] = {"template": f"published@{probe}"}
    if probe == "initial_goal":
        return facts | {"reference_goal": gold}
    if probe == "current_value":
        return facts | {"reference_value": gold}
    goal, _, rest = gold.rpartition("; ")
    label, _, value = rest.partition(": ")
    return facts | {"reference_goal": goal, "slot_label": label, "reference_value": value}
