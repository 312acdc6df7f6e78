"""A dialogue as every corpus loader hands it on: turns, speakers and the annotated state of each turn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

State: TypeAlias = Mapping[str, Mapping[str, tuple[str, ...]]]
"""service (or domain) -> slot -> the surface forms the corpus accepts as one value, in corpus order."""

FlatState: TypeAlias = dict[str, tuple[str, ...]]
"""slot -> surface forms, services merged."""

USER = "user"
SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class AuthoredQuestion:
    """A question that came with the dialogue: written by hand, or by the corpus itself.

    Attributes:
        question: The question as a reader is asked it.
        answer: The reference answer.
        old_answer: The answer that held before the update; empty where there was none.
        slot: The slot the question is about; empty where the dialogue has no slots.
        transition_type: One of `TRANSITION_TYPES`.
        update_turn: Turn id of the update turn.
        boundary_turns: Turn ids at which the answer changes or a second decision is made.
        support_turns: Turn ids that state or confirm the answer.
        distractor_turns: Turn ids that invite a wrong answer.
    """

    question: str
    answer: str
    old_answer: str
    slot: str
    transition_type: str
    update_turn: int
    boundary_turns: tuple[int, ...]
    support_turns: tuple[int, ...]
    distractor_turns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One source dialogue.

    Attributes:
        dialogue_id: The corpus's own id, unique within the corpus.
        corpus: Name of the corpus, such as ``sgd``.
        language: BCP 47 tag, such as ``en``.
        speakers: ``user`` or ``system``, one per turn.
        texts: The utterances as the corpus has them, one per turn; the position is the turn id.
        states: The annotated state after each turn, ``None`` where the corpus annotates nothing.
        questions: Questions that came with the dialogue.
    """

    dialogue_id: str
    corpus: str
    language: str
    speakers: tuple[str, ...]
    texts: tuple[str, ...]
    states: tuple[State | None, ...]
    questions: tuple[AuthoredQuestion, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def first_user_turn(self) -> int:
        """Turn id of the first user turn (0 if there is none, so that a text is always found)."""
        return self.speakers.index(USER) if USER in self.speakers else 0

    def state_texts(self) -> list[str]:
        """The states as JSON text, one per turn, ``null`` where there is no annotation."""
        return [
            "null"
            if state is None
            else json.dumps({s: {k: list(v) for k, v in m.items()} for s, m in state.items()}, ensure_ascii=False)
            for state in self.states
        ]


def flat_state(state: State) -> FlatState:
    """Merges services into one slot map; where two carry the same slot name the later one wins.

    Source: FINDINGS part B, rule 1 (the reading under which all published updates are reproduced).
    """
    flat: FlatState = {}
    for slots in state.values():
        flat.update(slots)
    return flat
