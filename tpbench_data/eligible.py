"""Pools of which every question is used: one update per RiSAWOZ dialogue, and the questions of LongMemEval.

Source: construction spec 8 and 9. There is no sample: seeds vary random selection instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tpbench_data.changes import Alternatives, Update, ValueRule
from tpbench_data.dialogue import Dialogue, flat_state
from tpbench_data.errors import BadInput
from tpbench_data.pool import Pool, Question, check_new

MIN_TURNS = 6
MIN_UPDATE_TURN = 3


@dataclass(frozen=True, slots=True)
class _Change:
    turn: int
    slot: str
    old: Alternatives
    new: Alternatives


def latest_update_pool(dialogues: Iterable[Dialogue], corpus: str, rule: ValueRule) -> Pool:
    """The latest update of every dialogue that has one in its middle, ordered by dialogue id.

    A slot is compared with its last seen value, so a slot may be absent in between. A dialogue is eligible with at
    least `MIN_TURNS` turns and an update at turn 3 to n - 2; of several updates at the latest such turn, the first
    slot in code-point order is asked for. Aliases and values that occur nowhere stay in.

    Raises:
        BadInput: Two dialogues have the same id, or there is none.
    """
    counts: Counter[str] = Counter()
    questions: list[Question] = []
    seen: set[str] = set()
    for dialogue in dialogues:
        check_new(dialogue.dialogue_id, seen)
        if len(dialogue) < MIN_TURNS:
            counts["short"] += 1
            continue
        changes = _changes(dialogue, rule)
        fitting = [change for change in changes if MIN_UPDATE_TURN <= change.turn <= len(dialogue) - 2]
        if fitting:
            chosen = min(fitting, key=lambda change: (-change.turn, change.slot))
            questions.append(_question(dialogue, chosen, changes))
        else:
            counts["static"] += 1
    _check_any(seen, corpus)
    questions.sort(key=lambda question: question.dialogue_id)
    return Pool(
        questions,
        {
            "dialogues": len(seen),
            f"dropped: fewer than {MIN_TURNS} turns": counts["short"],
            "dropped: no update in the middle": counts["static"],
            "questions": len(questions),
        },
        is_complete=True,
    )


def authored_pool(dialogues: Iterable[Dialogue], corpus: str) -> Pool:
    """The questions that came with the dialogues, ordered by dialogue id; each asks for a current value.

    Raises:
        BadInput: Two dialogues have the same id, or there is none.
    """
    questions: list[Question] = []
    seen: set[str] = set()
    for dialogue in dialogues:
        check_new(dialogue.dialogue_id, seen)
        for number, asked in enumerate(dialogue.questions):
            several = len(dialogue.questions) > 1
            update = Update(
                slot=asked.slot,
                old_alternatives=(asked.old_answer,),
                new_alternatives=(asked.answer,),
                turn=asked.update_turn,
                candidate_turns=asked.boundary_turns,
                later_turns=(),
                final_turn=asked.update_turn,
                final_value=asked.answer,
            )
            questions.append(
                Question(
                    example_id=f"{corpus}_{dialogue.dialogue_id}" + (f"__qa_{number:02d}" if several else ""),
                    corpus=corpus,
                    dialogue_id=dialogue.dialogue_id,
                    slot=asked.slot,
                    old_value=asked.old_answer,
                    new_value=asked.answer,
                    turn=asked.update_turn,
                    is_final=True,
                    update=update,
                    dialogue=dialogue,
                    asked=asked,
                )
            )
    _check_any(seen, corpus)
    questions.sort(key=lambda question: (question.dialogue_id, question.example_id))
    without = len(seen) - len({question.dialogue_id for question in questions})
    counts = {"dialogues": len(seen), "dropped: no annotated answer turn": without, "questions": len(questions)}
    return Pool(questions, counts, is_complete=True)


def _check_any(seen: set[str], corpus: str) -> None:
    if not seen:
        raise BadInput(f"the corpus {corpus!r} holds no dialogue", remedy="Check the path given with --corpus")


def _changes(dialogue: Dialogue, rule: ValueRule) -> list[_Change]:
    found: list[_Change] = []
    last_seen: dict[str, Alternatives] = {}
    for turn, state in enumerate(dialogue.states):
        for slot, now in sorted(flat_state(state or {}).items()):
            before = last_seen.get(slot)
            if before is not None and rule.is_change(before, now, dialogue.corpus):
                found.append(_Change(turn, slot, before, now))
            last_seen[slot] = now
    return found


def _question(dialogue: Dialogue, chosen: _Change, changes: list[_Change]) -> Question:
    of_slot = [change for change in changes if change.slot == chosen.slot]
    same = tuple(c.turn for c in of_slot if (c.old[0], c.new[0]) == (chosen.old[0], chosen.new[0]))
    later = [change for change in of_slot if change.turn > chosen.turn]
    last = later[-1] if later else chosen
    update = Update(
        slot=chosen.slot,
        old_alternatives=chosen.old,
        new_alternatives=chosen.new,
        turn=chosen.turn,
        candidate_turns=same,
        later_turns=tuple(change.turn for change in later),
        final_turn=last.turn,
        final_value=last.new[0],
    )
    return Question(
        example_id=dialogue.dialogue_id,  # the published id of this corpus
        corpus=dialogue.corpus,
        dialogue_id=dialogue.dialogue_id,
        slot=chosen.slot,
        old_value=update.old_value,
        new_value=update.new_value,
        turn=chosen.turn,
        is_final=update.is_final,
        update=update,
        dialogue=dialogue,
    )
