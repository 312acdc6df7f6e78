"""Why an answer is right or wrong: what was asked, what the reader saw and said, and what each scorer compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tpbench_data.errors import BadInput
from tpbench_data.release.reader import Release
from tpbench_score.frozen_inputs import FrozenInputs
from tpbench_score.outputs import PlannedInputs, load_outputs
from tpbench_score.records import REASONS, AnswerScore, Forms, Reference, Rule
from tpbench_score.rules import READS_ALTERNATIVES, RULES, TEXT_IN_ROLE, find_rule
from tpbench_score.scoring import score_runs

_LISTED = 6

INPUT_FACTS = (
    "input_id",
    "probe",
    "corpus",
    "language",
    "example_id",
    "dialogue_id",
    "sample_seeds",
    "slot",
    "slot_label",
    "old_value",
    "reference_goal",
    "reference_value",
    "value_alternatives",
    "alias_equivalent",
    "update_turn",
    "answer_turns",
    "method",
    "method_config",
    "ratio",
    "selector_seed",
    "protocol",
    "n_turns",
    "kept_turns",
)
"""What an explanation says about the input, in this order."""


def explain(
    release: Release, name: str, outputs: Sequence[str | Path] | None = None, scorers: Sequence[str] = tuple(RULES)
) -> list[dict[str, Any]]:
    """Explains one input, or every input of one example.

    Args:
        release: The release.
        name: An input id or an example id.
        outputs: Run folders, or ``None`` for the runs stored in the release.
        scorers: The scorers whose verdicts are explained.

    Returns:
        One object per input, in release order: ``input`` (its facts), ``question``, ``turns`` (each with
        ``kept``, ``update``, ``answer``; ``None`` where the release lacks the dialogue), ``context`` and ``answers``,
        one per run that planned it, with one entry per scorer in ``verdicts``.

    Raises:
        BadInput: No such id, or outputs that cannot be used.
    """
    inputs = FrozenInputs(release)
    positions = _positions(inputs, name)
    runs = load_outputs(inputs, outputs, allow_missing=True)
    answers: dict[int, list[dict[str, Any]]] = {position: [] for position in positions}
    for run in runs:
        _add_answers(inputs, run, scorers, answers)
    rows = inputs.table.take(pa.array(positions)).to_pylist()
    dialogues = _dialogues(release, rows)
    return [
        {
            "input": {fact: row[fact] for fact in INPUT_FACTS},
            "question": _question(row),
            "turns": _turns(row, dialogues.get((row["corpus"], row["dialogue_id"]))),
            "context": row["context"],
            "answers": answers[position],
        }
        for position, row in zip(positions, rows, strict=True)
    ]


def _positions(inputs: FrozenInputs, name: str) -> list[int]:
    for column in ("input_id", "example_id"):
        found = np.flatnonzero(np.asarray(pc.equal(inputs.table[column], name)))
        if len(found):
            return [int(place) for place in found]
    near = pc.match_substring(inputs.table["input_id"], name, ignore_case=True)
    alike = inputs.table["input_id"].filter(near).slice(0, _LISTED).to_pylist()
    hint = f"Ids like it: {', '.join(alike)}" if alike else "Ids are in the column input_id of the release's configs"
    raise BadInput(f"no input or example has the id {name!r}", file=inputs.release.path, remedy=hint)


def _dialogues(release: Release, rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], Mapping[str, Any]]:
    table = release.table("dialogues")
    wanted = pa.array(sorted({row["dialogue_id"] for row in rows}), pa.string())
    found = table.filter(pc.is_in(table["dialogue_id"], value_set=wanted))
    return {(row["corpus"], row["dialogue_id"]): row for row in found.to_pylist()}


def _question(row: Mapping[str, Any]) -> str | None:
    """What the prompt says after its context."""
    if row["prompt"] is None:
        return None
    text = str(row["prompt"][-1]["content"])
    context = row["context"] or ""
    place = text.rfind(context) if context else -1
    return text[place + len(context) :].strip() if place >= 0 else text


def _turns(row: Mapping[str, Any], dialogue: Mapping[str, Any] | None) -> list[dict[str, Any]] | None:
    if dialogue is None:
        return None
    kept = None if row["kept_turns"] is None else set(row["kept_turns"])
    answers = set(row["answer_turns"] or ())
    return [
        {
            "turn": turn,
            "speaker": speaker,
            "kept": None if kept is None else turn in kept,
            "update": turn == row["update_turn"],
            "answer": turn in answers,
            "text": text,
        }
        for turn, (speaker, text) in enumerate(zip(dialogue["speakers"], dialogue["texts"], strict=True))
    ]


def _add_answers(
    inputs: FrozenInputs, run: PlannedInputs, scorers: Sequence[str], answers: Mapping[int, list[dict[str, Any]]]
) -> None:
    places = [place for place, position in enumerate(run.positions.tolist()) if position in answers]
    if not places:
        return
    few = _taken(run, places)
    tables = {scorer: score_runs(inputs, [few], scorer).to_pylist() for scorer in scorers}
    rows = inputs.table.take(pa.array(few.positions)).to_pylist()
    for number, (position, row) in enumerate(zip(few.positions.tolist(), rows, strict=True)):
        text = few.text[number].as_py()
        first = tables[scorers[0]][number]
        answers[position].append(
            {
                "run_id": run.run["run_id"],
                "reader": run.run["reader"],
                "role": run.run["role"],
                "method": first["method"],
                "ratio": first["ratio"],
                "status": first["status"],
                "error": first["error"],
                "text": text,
                "verdicts": [
                    _verdict(row, scorer, run.run["role"], text, tables[scorer][number]) for scorer in scorers
                ],
            }
        )


def _taken(run: PlannedInputs, places: Sequence[int]) -> PlannedInputs:
    chosen = pa.array(places)
    return PlannedInputs(
        run.run,
        run.positions[np.array(places)],
        run.method.take(chosen),
        run.ratio.take(chosen),
        run.text.take(chosen),
        run.error.take(chosen),
        run.answered[np.array(places)],
    )


def _verdict(
    row: Mapping[str, Any], scorer: str, role: str, text: str | None, scored: Mapping[str, Any]
) -> dict[str, Any]:
    rule = find_rule(scorer, row["probe"], row["corpus"])
    prepare = TEXT_IN_ROLE.get(scorer, {}).get(role)
    parsed = rule.parse(prepare(text or "") if prepare else text or "")
    extracted = rule.read(parsed.record)
    alternatives = tuple(row["value_alternatives"] or ()) if scorer in READS_ALTERNATIVES else ()
    reference = Reference(
        row["corpus"], row["reference_goal"] or "", row["reference_value"] or "", row["old_value"] or "", alternatives
    )
    forms: Forms = {} if extracted.reason or scored["status"] != "ok" else rule.forms(extracted, reference)
    return {
        "scorer": scorer,
        "strict": scored["strict"],
        "loose": scored["loose"],
        "abstained": scored["abstained"],
        "superseded": scored["superseded"],
        "retained": scored["retained"],
        "object": parsed.record,
        "parse_level": scored["parse_level"],
        "answer": scored["answer"],
        "forms": forms,
        "criterion": rule.criterion,
        "reason": scored["reason"],
        "meaning": REASONS[scored["reason"]],
        **dict(_details(rule, scored)),
    }


def _details(rule: Rule, scored: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The measures that only this probe has."""
    for name in AnswerScore.__slots__:
        if name in scored and name not in ("parse_level", "answer") and scored[name] is not None:
            yield name, scored[name]
