"""The ordered pool of update questions that probes are drawn from: native, or a given published one.

Source: design page "Native pool of a corpus"; FINDINGS parts B and C (the given pool and its columns).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tpbench_data.candidates import CANDIDATE_COLUMNS, read_candidates, read_p3_pool
from tpbench_data.changes import FirstListed, Update, ValueRule, updates
from tpbench_data.dialogue import AuthoredQuestion, Dialogue
from tpbench_data.errors import BadInput
from tpbench_data.han import has_han, value_stated
from tpbench_data.matching import value_in_turns

__all__ = ["Pool", "Question", "given_pool", "native_pool", "new_value_occurs", "read_candidates", "read_p3_pool"]

DONTCARE = "dontcare"

_CHANGE_COLUMNS = ("slot", "old_value", "new_value", "origin_turn_id")
_NOT_SHOWN = {
    True: "candidates that raw data does not reproduce",
    False: "candidates that are no update under the rule",
}
_SHOWN = {True: "candidates reproduced in every field", False: "candidates that are updates under the rule"}


@dataclass(frozen=True, slots=True)
class Question:
    """One update question: a revision and the dialogue it happened in.

    Attributes:
        example_id: The published id, or ``<corpus>_<dialogue_id>__qa_NN``.
        corpus: Corpus name.
        dialogue_id: Id of the source dialogue.
        slot: Slot name.
        old_value: Reference value before the update.
        new_value: Reference value after it.
        turn: Turn id of the update turn.
        is_final: Whether the slot is not updated again.
        update: The replayed update; ``None`` where the dialogue is not available or does not show it.
        dialogue: The source dialogue; ``None`` likewise.
        asked: The corpus's own wording of the question with its evidence, where it has one.
    """

    example_id: str
    corpus: str
    dialogue_id: str
    slot: str
    old_value: str
    new_value: str
    turn: int
    is_final: bool
    update: Update | None
    dialogue: Dialogue | None
    asked: AuthoredQuestion | None = None


@dataclass
class Pool:
    """An ordered pool with the counts of what was seen and dropped on the way, in the order of the steps.

    Attributes:
        questions: In pool order.
        counts: Step -> number.
        p3_ids: The ids of a given P3 pool.
        unmatched: Ids of given candidates that raw data does not reproduce.
        is_complete: Whether every question is used, without a draw or further rules.
    """

    questions: list[Question]
    counts: dict[str, int]
    p3_ids: list[str] | None = None
    unmatched: list[str] = field(default_factory=list)
    is_complete: bool = False


def native_pool(dialogues: Iterable[Dialogue], corpus: str, rule: ValueRule) -> Pool:
    """Every change under the value rule, neither side ``dontcare``, whose new value occurs in a turn.

    Order: dialogue order, turn, slot. Dialogues without a question are not kept in memory.

    Raises:
        BadInput: Two dialogues have the same id.
    """
    questions: list[Question] = []
    counts: Counter[str] = Counter()
    seen: set[str] = set()
    for dialogue in dialogues:
        check_new(dialogue.dialogue_id, seen)
        counts["dialogues"] += 1
        number = 0
        for update in updates(dialogue, rule):
            counts["updates"] += 1
            if DONTCARE in (update.old_value, update.new_value):
                counts["dropped: dontcare"] += 1
            elif not new_value_occurs(update.new_value, dialogue):
                counts["dropped: new value in no turn"] += 1
            else:
                example_id = f"{corpus}_{dialogue.dialogue_id}__qa_{number:02d}"
                number += 1
                questions.append(_question(example_id, dialogue, update))
    if not seen:
        raise BadInput(f"the corpus {corpus!r} holds no dialogue", remedy="Check the path given with --corpus")
    keys = ("dialogues", "updates", "dropped: dontcare", "dropped: new value in no turn")
    return Pool(questions, {key: counts[key] for key in keys} | {"questions": len(questions)})


def given_pool(
    dialogues: Iterable[Dialogue],
    corpus: str,
    rule: ValueRule,
    rows: list[Mapping[str, str]],
    p3_ids: list[str] | None,
) -> Pool:
    """A pool whose membership and order are given; every row is replayed where its dialogue is available.

    Rows state what the published rule (``first``) says, so under it every field must be reproduced. Under another
    rule a row is kept where its change is an update, and whether that is final follows the rule. A row whose dialogue
    is missing, or that raw data does not show, stays in the pool (so that seeded draws come out as published) but
    without an update; draws drop it afterwards.
    """
    is_published = isinstance(rule, FirstListed)
    compared = len(CANDIDATE_COLUMNS[2:]) if is_published else len(_CHANGE_COLUMNS)
    wanted = {row["source_dialogue_id"] for row in rows}
    found: dict[str, Dialogue] = {}
    seen: set[str] = set()
    for dialogue in dialogues:
        check_new(dialogue.dialogue_id, seen)
        if dialogue.dialogue_id in wanted:
            found[dialogue.dialogue_id] = dialogue
    if not seen:
        raise BadInput(f"the corpus {corpus!r} holds no dialogue", remedy="Check the path given with --corpus")
    replayed = {key: updates(dialogue, rule) for key, dialogue in found.items()}
    questions: list[Question] = []
    unmatched: list[str] = []
    missing = 0
    for row in rows:
        source = found.get(row["source_dialogue_id"])
        shown = replayed.get(row["source_dialogue_id"], ())
        update = next((u for u in shown if _fields(u)[:compared] == _stated(row)[:compared]), None)
        if source is None:
            missing += 1
        elif update is None:
            unmatched.append(row["dialogue_id"])
        questions.append(
            Question(
                example_id=row["dialogue_id"],
                corpus=corpus,
                dialogue_id=row["source_dialogue_id"],
                slot=row["slot"],
                old_value=row["old_value"],
                new_value=row["new_value"],
                turn=int(row["origin_turn_id"]),
                is_final=row["is_final"] == "true" if is_published or update is None else update.is_final,
                update=update,
                dialogue=source if update is not None else None,
            )
        )
    counts = {
        "dialogues": len(seen),
        "candidates": len(rows),
        "candidates whose dialogue is missing": missing,
        _NOT_SHOWN[is_published]: len(unmatched),
        _SHOWN[is_published]: len(rows) - missing - len(unmatched),
    }
    return Pool(questions, counts, p3_ids, unmatched)


def new_value_occurs(value: str, dialogue: Dialogue) -> bool:
    """Whether a value is in a turn: the laxer substring test of `value_in_turns`, for Chinese `value_stated`."""
    if has_han(value):
        return any(value_stated(value, text, dialogue.corpus) for text in dialogue.texts)
    return value_in_turns(value, dialogue.texts, dialogue.corpus)


def _question(example_id: str, dialogue: Dialogue, update: Update) -> Question:
    return Question(
        example_id=example_id,
        corpus=dialogue.corpus,
        dialogue_id=dialogue.dialogue_id,
        slot=update.slot,
        old_value=update.old_value,
        new_value=update.new_value,
        turn=update.turn,
        is_final=update.is_final,
        update=update,
        dialogue=dialogue,
    )


def check_new(dialogue_id: str, seen: set[str]) -> None:
    """Adds an id to those seen; raises BadInput where it was seen before."""
    if dialogue_id in seen:
        raise BadInput(f"two dialogues have the id {dialogue_id!r}", remedy="Ids must be unique within a corpus")
    seen.add(dialogue_id)


def _fields(update: Update) -> tuple[str, ...]:
    """The update in the text form of a candidates row, from ``slot`` on."""
    return (
        update.slot,
        update.old_value,
        update.new_value,
        str(update.turn),
        ",".join(map(str, update.candidate_turns)),
        str(update.final_turn),
        update.final_value,
        ",".join(map(str, update.later_turns)),
        "true" if update.is_final else "false",
    )


def _stated(row: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(row[column] for column in CANDIDATE_COLUMNS[2:])
