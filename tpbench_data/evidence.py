"""Where a dialogue states a value, and which irrelevant turns match the evidence turns (deletion controls).

Source: construction spec 7; paper section 4, "Matched deletion controls".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from tpbench_data.han import value_stated
from tpbench_data.rendering import count_words

Turns = tuple[int, ...]


def answer_turns(texts: Iterable[str], value: str, corpus: str) -> Turns:
    """Turn ids that state the value, whoever speaks (paper section 4)."""
    return tuple(turn for turn, text in enumerate(texts) if value_stated(value, text, corpus))


@dataclass(frozen=True, slots=True)
class Control:
    """Turns that match some target turns, or the reason why there are none.

    Attributes:
        turns: The control turns, ascending; empty where no match exists.
        status: ``matched``, or which target could not be matched.
    """

    turns: Turns
    status: str

    @property
    def is_matched(self) -> bool:
        """Whether every target has its control."""
        return self.status == MATCHED


MATCHED = "matched"


def matched_control(
    targets: Iterable[int],
    forbidden: Collection[int],
    values: Iterable[str],
    speakers: Sequence[str],
    texts: Sequence[str],
    corpus: str,
) -> Control:
    """One irrelevant turn for every target turn.

    A candidate is not forbidden and states none of the values. Targets are taken in ascending order; each gets, of
    the unused candidates with its speaker, the one with the smallest difference in white-space words, then in
    turn id, then the lowest turn id.

    Args:
        targets: Turn ids to match.
        forbidden: Turn ids that may not serve: the whole support set.
        values: The old and the new value; empty ones are stated nowhere.
        speakers: Speaker per turn.
        texts: Utterance per turn.
        corpus: Decides how values are normalised.
    """
    values = [value for value in values if value]
    unused = [
        turn
        for turn, text in enumerate(texts)
        if turn not in forbidden and not any(value_stated(value, text, corpus) for value in values)
    ]
    words = [count_words(text) for text in texts]
    picked: list[int] = []
    for target in sorted(targets):
        fitting = [turn for turn in unused if speakers[turn] == speakers[target]]
        if not fitting:
            return Control((), f"no unused {speakers[target]} turn without either value")
        best = min((abs(words[turn] - words[target]), abs(turn - target), turn) for turn in fitting)[2]
        unused.remove(best)
        picked.append(best)
    return Control(tuple(sorted(picked)), MATCHED)
