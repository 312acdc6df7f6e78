"""Which answers the page shows one by one: whole dialogues, by a rule that the page states.

A page with 76,000 answers would be of no use and of 100 MB. Dialogues on which the scorers disagree come first, then
the others in the order of the SHA-256 of their id: a fixed sample that nobody chose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tpbench_data.canonical import sha256_hex

Dialogue = tuple[str, str]
"""(corpus, dialogue id)"""

RULE = (
    "A dialogue is shown with all its answers or not at all. Dialogues on which the scorers disagree come first, "
    "then the others in the order of the SHA-256 of their id, as long as the limits of {limit:,} answers and "
    "{megabytes:g} MB allow."
)


@dataclass(frozen=True)
class Shown:
    """What a page shows of what there is.

    Attributes:
        answers: answers on the page.
        of_answers: answers in all.
        dialogues: dialogues on the page.
        of_dialogues: dialogues in all.
    """

    answers: int
    of_answers: int
    dialogues: int
    of_dialogues: int

    @property
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return self.answers == self.of_answers


def candidates(dialogues: Sequence[Dialogue], disagree: Sequence[bool]) -> Iterator[tuple[Dialogue, list[int]]]:
    """Every dialogue with the places of its answers, in the order in which dialogues are taken.

    Args:
        dialogues: the dialogue of each answer.
        disagree: whether the scorers disagree on the answer.
    """
    places: dict[Dialogue, list[int]] = {}
    first: set[Dialogue] = set()
    for place, (dialogue, differs) in enumerate(zip(dialogues, disagree, strict=True)):
        places.setdefault(dialogue, []).append(place)
        if differs:
            first.add(dialogue)
    order = sorted(places, key=lambda dialogue: (dialogue not in first, sha256_hex("|".join(dialogue)), dialogue))
    for dialogue in order:
        yield dialogue, places[dialogue]
