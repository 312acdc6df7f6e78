"""Making a synthetic set: dialogue after dialogue, each redrawn until it leaks nothing and resembles no other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction

from tpbench_data.context_facts import lexical_retention
from tpbench_data.dialogue import AuthoredQuestion, Dialogue
from tpbench_data.errors import BadInput
from tpbench_data.han import value_stated
from tpbench_data.names import TRANSITION_TYPES
from tpbench_data.overlap import TurnIndex
from tpbench_data.synthetic.compose import Composer
from tpbench_data.synthetic.draws import Draws
from tpbench_data.synthetic.grammar import LANGUAGES, grammar_of

MAX_SHARE = Fraction(1, 3)
"""The largest share of its turns that a dialogue may have in common with another one."""

_ATTEMPTS = 400


def synthesize(
    language: str, seed: int, per_type: int, types: Sequence[str] = TRANSITION_TYPES, corpus: str | None = None
) -> list[Dialogue]:
    """Makes a set: ``per_type`` dialogues of every transition type, types in turn.

    The same arguments give the same dialogues. Scenarios take turns, so each type has equally many of each.

    Args:
        language: ``en`` or ``zh``.
        seed: Any whole number.
        per_type: Dialogues per transition type, at least 1.
        types: Transition types.
        corpus: Corpus name; ``tpbench_<language>`` where not given.

    Raises:
        BadInput: An unknown language or type, or more dialogues than the grammar can keep apart.
    """
    if language not in LANGUAGES:
        raise BadInput(f"unknown language {language!r}", remedy=f"Known: {', '.join(LANGUAGES)}")
    for kind in types:
        if kind not in TRANSITION_TYPES:
            raise BadInput(f"unknown transition type {kind!r}", remedy=f"Known: {', '.join(TRANSITION_TYPES)}")
    grammar = grammar_of(language)
    index = TurnIndex()
    made: list[Dialogue] = []
    for number in range(per_type):
        for kind in types:
            dialogue_id = f"{language}-{kind}-{number:03d}"
            scenario = grammar.scenarios[(number + TRANSITION_TYPES.index(kind)) % len(grammar.scenarios)]
            for attempt in range(_ATTEMPTS):
                draws = Draws(seed, dialogue_id, attempt)
                dialogue = Composer(grammar, scenario, draws).dialogue(
                    kind, dialogue_id, corpus or f"tpbench_{language}"
                )
                if is_sound(dialogue) and index.highest_share(dialogue.texts)[0] <= MAX_SHARE:
                    break
            else:
                raise BadInput(
                    f"no {kind} dialogue number {number} in {language!r} that differs enough from the others",
                    remedy="Ask for fewer dialogues per type",
                )
            index.add(dialogue.texts)
            made.append(dialogue)
    return made


def is_sound(dialogue: Dialogue) -> bool:
    """Whether the answer is stated in the support turns and nowhere else, and no question gives it away."""
    (asked,) = dialogue.questions
    stated = any(value_stated(asked.answer, dialogue.texts[turn], dialogue.corpus) for turn in asked.support_turns)
    return (
        stated
        and not leaking_turns(dialogue, asked)
        and not retained_without_support(dialogue, asked)
        and not lexical_retention(asked.answer, asked.question)
    )


def leaking_turns(dialogue: Dialogue, asked: AuthoredQuestion) -> list[int]:
    """Turns outside the support that state the answer, as a phrase or inside another word."""
    return [
        turn
        for turn, text in enumerate(dialogue.texts)
        if turn not in asked.support_turns
        and (value_stated(asked.answer, text, dialogue.corpus) or asked.answer.lower() in text.lower())
    ]


def retained_without_support(dialogue: Dialogue, asked: AuthoredQuestion) -> bool:
    """Whether the context without the support turns still holds the answer by the published retention heuristic."""
    left = [text for turn, text in enumerate(dialogue.texts) if turn not in asked.support_turns]
    return lexical_retention(asked.answer, " ".join(left))


def plain_lines(dialogues: Sequence[Dialogue]) -> str:
    """The dialogues in the plain format, one JSON object a line."""
    return "".join(json.dumps(_record(dialogue), ensure_ascii=False) + "\n" for dialogue in dialogues)


def _record(dialogue: Dialogue) -> dict[str, object]:
    return {
        "dialogue_id": dialogue.dialogue_id,
        "language": dialogue.language,
        "turns": [
            {"speaker": speaker, "text": text, "state": state}
            for speaker, text, state in zip(dialogue.speakers, dialogue.texts, dialogue.states, strict=True)
        ],
        "questions": [
            {
                "question": asked.question,
                "answer": asked.answer,
                "old_answer": asked.old_answer,
                "slot": asked.slot,
                "transition_type": asked.transition_type,
                "update_turn": asked.update_turn,
                "boundary_turns": asked.boundary_turns,
                "support_turns": asked.support_turns,
                "distractor_turns": asked.distractor_turns,
            }
            for asked in dialogue.questions
        ],
    }
