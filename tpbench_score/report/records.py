"""One answer, one question and one dialogue as the plain data that the page shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tpbench_data.rendering import render
from tpbench_score.json_lines import json_text
from tpbench_score.rules import TEXT_IN_ROLE, find_rule

Record = dict[str, Any]

LONGEST_ANSWER = 4_000
LONGEST_TURN = 1_500
LONGEST_CONTEXT = 12_000
LONGEST_FIELD = 400
"""Characters that are shown of a text; the page says how many more there are."""

MOST_FIELDS = 20
"""Fields that are shown of the object in an answer."""

VERDICT = (
    "strict",
    "loose",
    "abstained",
    "reason",
    "answer",
    "goal_segment",
    "value_segment",
    "goal_ok",
    "value_strict",
    "value_loose",
    "whole_strict",
    "token_f1",
    "superseded",
    "parse_level",
)
"""Columns of a score table that explain a verdict; empty ones are left out of the page."""


def cut(text: str, longest: int) -> str:
    """The beginning of a long text, with the number of characters that are not shown."""
    return text if len(text) <= longest else f"{text[:longest]}… [{len(text) - longest:,} more characters]"


def dialogue_record(row: Mapping[str, Any]) -> Record:
    """A dialogue: its turns as [speaker, text]."""
    turns = [[speaker, cut(text, LONGEST_TURN)] for speaker, text in zip(row["speakers"], row["texts"], strict=True)]
    return {"id": row["dialogue_id"], "language": row["language"], "turns": turns}


def question_record(row: Mapping[str, Any]) -> Record:
    """What is asked about a dialogue and what counts as right."""
    return _known(
        {
            "id": row["example_id"],
            "slot": row["slot_label"] or row["slot"],
            "goal": row["reference_goal"],
            "value": row["reference_value"],
            "also": [value for value in row["value_alternatives"] or [] if value != row["reference_value"]],
            "old": row["old_value"],
            "update": row["update_turn"],
            "evidence": row["answer_turns"],
            "change": row["transition_type"],
            "alias": row["alias_equivalent"] or None,
        }
    )


def asked_of(row: Mapping[str, Any]) -> str | None:
    """What the prompt asks after the context; ``None`` where there is no context or it is not in the prompt."""
    if not row["prompt"] or not row["context"]:
        return None
    _, context, after = (row["prompt"][-1]["content"] or "").rpartition(row["context"])
    return (cut(after.strip(), LONGEST_CONTEXT) or None) if context else None


def context_record(row: Mapping[str, Any], dialogue: Mapping[str, Any] | None) -> Record:
    """Which turns were kept, and the context itself where the kept turns do not spell it."""
    kept, context = row["kept_turns"], row["context"]
    if context is None:
        return {"unknown": True}
    if kept is not None and dialogue is not None and all(0 <= turn < len(dialogue["texts"]) for turn in kept):
        spelt = (render(kept, dialogue["speakers"], dialogue["texts"], form) for form in ("marked", "plain"))
        if context in spelt:
            return {"kept": kept}
    return _known({"kept": kept, "context": cut(context, LONGEST_CONTEXT)})


def fields_of(scorer: str, role: str, probe: str, corpus: str, text: str | None) -> list[list[str]]:
    """The fields [name, value] of the JSON object that a scorer finds in an answer; none where it finds no object."""
    prepare = TEXT_IN_ROLE.get(scorer, {}).get(role)
    found = find_rule(scorer, probe, corpus).parse(prepare(text or "") if prepare else text or "")
    fields = list((found.record or {}).items())[:MOST_FIELDS]
    return [[cut(str(name), LONGEST_FIELD), cut(_shown(value), LONGEST_FIELD)] for name, value in fields]


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)


def verdict_record(row: Mapping[str, Any]) -> Record:
    """The verdict of one scorer with its reasons."""
    found = {name: row[name] for name in VERDICT if row[name] is not None}
    for name in ("answer", "goal_segment", "value_segment"):
        if name in found:
            found[name] = cut(found[name], LONGEST_FIELD)
    if "token_f1" in found:
        found["token_f1"] = f"{found['token_f1']:.3f}"
    return found


def answer_record(row: Mapping[str, Any], text: str | None, verdicts: Sequence[Record]) -> Record:
    """One answer: the raw text, what each scorer finds in it and says to it.

    Args:
        row: its row of the score table.
        text: the answer as generated.
        verdicts: one per scorer, in the order of the page; see `verdict_record` and `fields_of`.
    """
    return _known(
        {
            "text": None if text is None else cut(text, LONGEST_ANSWER),
            "status": row["status"],
            "error": None if row["error"] is None else cut(row["error"], LONGEST_FIELD),
            "retained": row["retained"],
            "seed": row["selector_seed"],
            "verdicts": list(verdicts),
        }
    )


def _known(record: Record) -> Record:
    """Without what is not known, so that the page stays small."""
    return {name: value for name, value in record.items() if value is not None and value != []}
