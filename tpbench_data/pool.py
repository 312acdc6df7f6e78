"""The ordered pool of update questions that probes are drawn from: native, or a given published one.

Source: design page "Native pool of a corpus"; FINDINGS parts B and C (the given pool and its columns).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tpbench_data.changes import Update, ValueRule, updates
from tpbench_data.dialogue import Dialogue
from tpbench_data.errors import BadInput
from tpbench_data.matching import value_in_turns

DONTCARE = "dontcare"


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


@dataclass
class Pool:
    """An ordered pool with the counts of what was seen and dropped on the way, in the order of the steps."""

    questions: list[Question]
    counts: dict[str, int]
    p3_ids: list[str] | None = None
    unmatched: list[str] = field(default_factory=list)


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
        _check_new(dialogue.dialogue_id, seen)
        counts["dialogues"] += 1
        number = 0
        for update in updates(dialogue, rule):
            counts["updates"] += 1
            if DONTCARE in (update.old_value, update.new_value):
                counts["dropped: dontcare"] += 1
            elif not value_in_turns(update.new_value, dialogue.texts, corpus):
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

    A row whose dialogue is missing, or whose fields raw data does not reproduce under the value rule, stays in
    the pool (so that seeded draws come out as published) but without an update; draws drop it afterwards.
    """
    wanted = {row["source_dialogue_id"] for row in rows}
    found: dict[str, Dialogue] = {}
    seen: set[str] = set()
    for dialogue in dialogues:
        _check_new(dialogue.dialogue_id, seen)
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
        update = next((u for u in replayed.get(row["source_dialogue_id"], ()) if _fields(u) == _stated(row)), None)
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
                is_final=row["is_final"] == "true",
                update=update,
                dialogue=source if update is not None else None,
            )
        )
    counts = {
        "dialogues": len(seen),
        "candidates": len(rows),
        "candidates whose dialogue is missing": missing,
        "candidates that raw data does not reproduce": len(unmatched),
        "candidates reproduced in every field": len(rows) - missing - len(unmatched),
    }
    return Pool(questions, counts, p3_ids, unmatched)


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


def _check_new(dialogue_id: str, seen: set[str]) -> None:
    if dialogue_id in seen:
        raise BadInput(f"two dialogues have the id {dialogue_id!r}", remedy="Ids must be unique within a corpus")
    seen.add(dialogue_id)


CANDIDATE_COLUMNS = (
    "dialogue_id",
    "source_dialogue_id",
    "slot",
    "old_value",
    "new_value",
    "origin_turn_id",
    "origin_turn_candidates",
    "final_slot_update_turn_id",
    "final_slot_value",
    "later_slot_update_turn_ids",
    "is_final",
)


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


def read_candidates(path: Path) -> list[Mapping[str, str]]:
    """Reads a candidates file: tab separated, a header line, no quoting (values may hold bare quotes).

    Raises:
        BadInput: A column is missing, a row has another number of cells, a number is not one, or an id repeats.
    """
    header, lines = _lines(path)
    names = header.split("\t")
    absent = [column for column in CANDIDATE_COLUMNS if column not in names]
    if absent:
        raise BadInput("column missing", file=path, row=1, field=absent[0], remedy="See docs/building.md")
    rows: list[Mapping[str, str]] = []
    ids: set[str] = set()
    for number, line in lines:
        cells = line.split("\t")
        if len(cells) != len(names):
            raise BadInput(f"{len(cells)} cells instead of {len(names)}", file=path, row=number)
        row = dict(zip(names, cells, strict=True))
        if not row["origin_turn_id"].isdecimal():
            raise BadInput("not a turn number", file=path, row=number, field="origin_turn_id")
        if row["is_final"] not in ("true", "false"):
            raise BadInput("must be true or false", file=path, row=number, field="is_final")
        if row["dialogue_id"] in ids:
            raise BadInput(f"{row['dialogue_id']!r} appears twice", file=path, row=number, field="dialogue_id")
        ids.add(row["dialogue_id"])
        rows.append(row)
    if not rows:
        raise BadInput("no candidate in it", file=path)
    return rows


def read_p3_pool(path: Path, known: set[str]) -> list[str]:
    """Reads the ids of a P3 pool, one a line.

    Raises:
        BadInput: An id repeats or is not among the candidates.
    """
    first, rest = _lines(path)
    ids: list[str] = []
    seen: set[str] = set()
    for number, line in [(1, first), *rest]:
        if line in seen:
            raise BadInput(f"{line!r} appears twice", file=path, row=number)
        if line not in known:
            raise BadInput(f"{line!r} is not among the candidates", file=path, row=number)
        seen.add(line)
        ids.append(line)
    return ids


def _lines(path: Path) -> tuple[str, list[tuple[int, str]]]:
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError as problem:
        raise BadInput("no such file", file=path) from problem
    except UnicodeDecodeError as problem:
        raise BadInput(f"not UTF-8 ({problem.reason})", file=path) from problem
    lines = [(n, line.removesuffix("\r")) for n, line in enumerate(text.split("\n"), start=1)]
    filled = [(n, line) for n, line in lines if line]
    if not filled:
        raise BadInput("the file is empty", file=path)
    return filled[0][1], filled[1:]
