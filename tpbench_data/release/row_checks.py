"""What every dialogue and input row of a release must satisfy; each check yields issues and never stops.

The checks recompute what can be recomputed (context from kept turns, prompt from template, id from columns, deletions
from the dialogue), so a row that was edited together with its hash is still found.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from tpbench_data.deletions import DELETIONS, plan_deletions
from tpbench_data.evidence import answer_turns
from tpbench_data.inputs import input_id
from tpbench_data.matching import alias_equivalent
from tpbench_data.names import TRANSITION_TYPES
from tpbench_data.release.issues import Issue
from tpbench_data.rendering import Rendering, count_words, render
from tpbench_data.slots import shown_slot
from tpbench_data.templates import OWN_QUESTION, TEMPLATES, prompt_of
from tpbench_data.turn_cap import cut_turns

Row = dict[str, Any]
Dialogues = dict[tuple[str, str], Row]
Found = Iterator[tuple[str, str]]

BROKEN = "broken"
"""Key of a dialogue row whose turns cannot be read together."""

_NULLABLE = {"selector_seed", "ratio", "kept_turns", "k_turns"}
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
    "free_form": {"reference_goal", "old_value", "reference_value", "value_alternatives", "alias_equivalent"},
}
_OPTIONAL = {"free_form": {"slot", "slot_label"}}
_TURN_COLUMNS = ("answer_turns", "kept_turns", "boundary_turns", "support_turns", "distractor_turns")


def check_dialogues(path: str, table: pa.Table, known: Dialogues) -> Iterator[Issue]:
    """Checks the dialogues and adds each to ``known`` under (corpus, dialogue id)."""
    for number, row in enumerate(table.to_pylist(), start=1):
        key = (row["corpus"], row["dialogue_id"])
        if key in known:
            yield Issue(path, number, "dialogue_id", f"{row['dialogue_id']!r} appears twice")
        known[key] = row
        for column in ("speakers", "texts", "states"):
            if row[column] is None or len(row[column]) != row["n_turns"] or None in row[column]:
                yield Issue(path, number, column, f"does not hold one entry per turn ({row['n_turns']} turns)")
                row[BROKEN] = True
        if set(row["speakers"] or ()) - {"user", "system"}:
            yield Issue(path, number, "speakers", "holds a speaker other than user and system")
            row[BROKEN] = True
        for text in row["states"] or ():
            if not _is_json_object_or_null(text):
                yield Issue(path, number, "states", "holds a state that is not a JSON object or null")
                break


class InputChecks:
    """Checks of input rows against the dialogues and the manifest of one release.

    Attributes:
        dialogues: (corpus, dialogue id) -> row of ``dialogues``.
        manifest: The manifest.
        inputs: The ids of all rows checked so far.
    """

    def __init__(self, dialogues: Dialogues, manifest: dict[str, Any]) -> None:
        self.dialogues, self.manifest = dialogues, manifest
        self.inputs: set[str] = set()
        self._full_words: dict[tuple[str, str, int | None], int] = {}
        self._stating: dict[tuple[str, str, str], list[int]] = {}

    def check(self, path: str, table: pa.Table, probe: str) -> Iterator[Issue]:
        """Every problem of the rows of one file."""
        absent = _ABSENT[probe]
        may_be_null = absent | _NULLABLE | _OPTIONAL.get(probe, set())
        for number, row in enumerate(table.to_pylist(), start=1):
            if row["input_id"] in self.inputs:
                yield Issue(path, number, "input_id", f"{row['input_id']!r} appears twice")
            self.inputs.add(row["input_id"])
            nulls = sorted(column for column, value in row.items() if value is None and column not in may_be_null)
            if nulls:
                yield Issue(path, number, nulls[0], "is null")
                continue
            holed = sorted(column for column, value in row.items() if isinstance(value, list) and _holds_null(value))
            if holed:
                yield Issue(path, number, holed[0], "holds a null")
                continue
            filled = [column for column in sorted(absent) if row[column] is not None]
            for column in filled:
                yield Issue(path, number, column, f"must be null in {probe}")
            if filled:  # the other checks would take it for a question of another kind
                continue
            yield from (Issue(path, number, *found) for found in self._facts(row, probe))
            dialogue = self.dialogues.get((row["corpus"], row["dialogue_id"]))
            if dialogue is None:
                yield Issue(path, number, "dialogue_id", f"{row['dialogue_id']!r} is not among the dialogues")
                continue
            if BROKEN in dialogue:  # reported where it stands; nothing can be compared with it
                continue
            yield from (Issue(path, number, *found) for found in self._turns(row, dialogue))

    def _facts(self, row: Row, probe: str) -> Found:
        manifest = self.manifest
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
        if row["reference_value"] is not None:
            if row["alias_equivalent"] != alias_equivalent(row["old_value"], row["reference_value"], row["corpus"]):
                yield "alias_equivalent", "does not follow from the values"
            if row["reference_value"] not in row["value_alternatives"]:
                yield "value_alternatives", "does not hold the reference value"
        if row["slot"] is not None and row["template"] != OWN_QUESTION.name:
            label = shown_slot(row["slot"], row["language"])
            if row["slot_label"] != label:
                yield "slot_label", f"is not {label!r}"
        for column in ("question", "reference_answer"):
            if column in row and not row[column].strip():
                yield column, "is empty"
        if row["context_words"] != count_words(row["context"]):
            yield "context_words", f"is not {count_words(row['context'])}"
        if row["template"] not in TEMPLATES:
            yield "template", f"{row['template']!r} is unknown to this version"
        elif row["prompt"] != prompt_of(row, row["context"]):
            yield "prompt", f"is not what {row['template']} makes of the context"

    def _turns(self, row: Row, dialogue: Row) -> Found:
        n_turns = dialogue["n_turns"]
        if row["n_turns"] != n_turns:
            yield "n_turns", f"is {row['n_turns']}, the dialogue has {n_turns}"
            return
        for column in _TURN_COLUMNS:
            turns = row.get(column) or []
            if turns != sorted(set(turns)) or (turns and not 0 <= turns[0] <= turns[-1] < n_turns):
                yield column, "is not ascending turn ids of the dialogue"
                return
        if row["update_turn"] is not None and not 0 <= row["update_turn"] < n_turns:
            yield "update_turn", "is not a turn of the dialogue"
            return
        facts = self.manifest["corpora"].get(row["corpus"], {})
        cap = facts.get("turn_characters") if row["protocol"] == "paper" else None
        texts = cut_turns(dialogue["texts"], cap)
        words = self._words_of(dialogue, cap)
        if row["full_context_words"] != words:
            yield "full_context_words", f"is not {words}"
        reference = row.get("reference_answer") or row["reference_value"]
        if reference is not None and (facts.get("evidence") != "annotated" or "reference_answer" in row):
            bearing = self._turns_stating(reference, dialogue)
            if row["answer_turns"] != bearing:
                yield "answer_turns", f"is not {bearing}"
        if row["method"] in DELETIONS:
            yield from _deletion(row, dialogue)
        if row["kept_turns"] is None:
            return
        if row["k_turns"] != len(row["kept_turns"]):
            yield "k_turns", f"is {row['k_turns']}, but {len(row['kept_turns'])} turns are kept"
        renderings: tuple[Rendering, ...] = ("marked",) if row["protocol"] == "matched" else ("marked", "plain")
        if row["context"] not in (render(row["kept_turns"], dialogue["speakers"], texts, form) for form in renderings):
            yield "context", "is not a rendering of the kept turns"

    def _words_of(self, dialogue: Row, cap: int | None) -> int:
        key = (dialogue["corpus"], dialogue["dialogue_id"], cap)
        if key not in self._full_words:
            texts = cut_turns(dialogue["texts"], cap)
            whole = render(range(dialogue["n_turns"]), dialogue["speakers"], texts, "marked")
            self._full_words[key] = count_words(whole)
        return self._full_words[key]

    def _turns_stating(self, value: str, dialogue: Row) -> list[int]:
        key = (dialogue["corpus"], dialogue["dialogue_id"], value)
        if key not in self._stating:
            self._stating[key] = list(answer_turns(dialogue["texts"], value, dialogue["corpus"]))
        return self._stating[key]


def _deletion(row: Row, dialogue: Row) -> Found:
    free_form = "reference_answer" in row
    planned = plan_deletions(
        update_turn=row["update_turn"],
        evidence_turns=(*row["answer_turns"], *(row["support_turns"] if free_form else ())),
        old_value=row["old_answer"] if free_form else row["old_value"],
        new_value=row["reference_answer"] if free_form else row["reference_value"],
        speakers=dialogue["speakers"],
        texts=dialogue["texts"],
        corpus=row["corpus"],
    )
    removed = planned.removed.get(row["method"])
    if removed is None:
        yield "method", f"{row['method']!r} has no matched control in this dialogue"
    elif row["kept_turns"] != [turn for turn in range(dialogue["n_turns"]) if turn not in removed]:
        yield "kept_turns", f"is not the dialogue without turns {list(removed)}"


def _holds_null(values: list[Any]) -> bool:
    return any(value is None or (isinstance(value, dict) and None in value.values()) for value in values)


def _is_json_object_or_null(text: str | None) -> bool:
    if text is None:
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return value is None or isinstance(value, dict)
