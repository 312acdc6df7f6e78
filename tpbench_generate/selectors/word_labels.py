"""Words with binary labels as LLMLingua-2 writes them, and which turn every word stands in.

The library's text holds the dialogue's own words, digits among them; a label is only what follows the last space of an
item, and only 0 or 1. Source: construction spec 5 and trap 19.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tpbench_data.errors import BadInput

WORD_SEPARATOR = "\t\t|\t\t"
LABEL_SEPARATOR = " "


@dataclass(frozen=True, slots=True)
class LabelledWord:
    """A word (it may be empty) and whether LLMLingua-2 would keep it: 1 or 0."""

    word: str
    label: int


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a dialogue's joined text.

    Attributes:
        text: What it adds to the library's words: without the begin-of-word mark, empty if special or unknown.
        turn: The turn it stands in.
        first: Where it begins in the joined text.
        begins: Whether it begins a word.
    """

    text: str
    turn: int
    first: int
    begins: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """A dialogue's joined text and its tokens, in order."""

    text: str
    tokens: Sequence[Token]

    @property
    def has_words(self) -> bool:
        """Whether there is anything that can be labelled."""
        return any(token.text for token in self.tokens)

    def parts(self, limit: int) -> tuple[str, ...]:
        """The text in parts of at most ``limit`` tokens, cut between turns, else between words, else between tokens."""
        cuts = [0]
        while len(self.tokens) - cuts[-1] > limit:
            window = range(cuts[-1] + 1, cuts[-1] + limit + 1)
            cuts.append(max(window, key=lambda place: (self._cut_quality(place), place)))
        edges = [0, *(self.tokens[cut].first for cut in cuts[1:]), len(self.text)]
        return tuple(self.text[first:end] for first, end in pairwise(edges))

    def _cut_quality(self, place: int) -> int:
        before, after = self.tokens[place - 1], self.tokens[place]
        return 2 if before.turn != after.turn else int(after.begins)


def parse_labels(text: str, place: str) -> list[LabelledWord]:
    """Reads the library's labelled original.

    Args:
        text: Items ``word label``, separated by `WORD_SEPARATOR`.
        place: Where it comes from, such as ``turn 3 of ID``, for the message.

    Raises:
        BadInput: An item without a label, or with another label than 0 or 1.
    """
    words = []
    for item in text.split(WORD_SEPARATOR):
        word, separator, label = item.rpartition(LABEL_SEPARATOR)
        if not separator or label not in ("0", "1"):
            raise BadInput(
                f"LLMLingua-2 gave {item!r} where a word and its label 0 or 1 must stand ({place})",
                remedy="Check the version of llmlingua",
            )
        words.append(LabelledWord(word, int(label)))
    return words


def labels_by_turn(words: Iterable[LabelledWord], tokens: Sequence[Token], n_turns: int, place: str) -> list[list[int]]:
    """The labels of every turn's words, in order; words without text are left out.

    Alignment is proved, not guessed: the words, put together, must be the tokens, put together.

    Args:
        words: The labelled words of the whole dialogue.
        tokens: The tokens of the whole dialogue.
        n_turns: Number of turns.
        place: The dialogue, for the message.

    Raises:
        BadInput: Words and tokens differ; names the turn where they part.
    """
    owners = [token.turn for token in tokens for _ in token.text]
    text = "".join(token.text for token in tokens)
    labels: list[list[int]] = [[] for _ in range(n_turns)]
    at = 0
    for word in words:
        if not word.word:
            continue
        if not text.startswith(word.word, at):
            raise _astray(owners, at, word.word, place)
        labels[owners[at]].append(word.label)
        at += len(word.word)
    if at != len(text):
        raise _astray(owners, at, "", place)
    return labels


def mean_labels(labels: Sequence[int]) -> float:
    """The share of words that would be kept; 0 where there are none."""
    return sum(labels) / len(labels) if labels else 0.0


def _astray(owners: Sequence[int], at: int, word: str, place: str) -> BadInput:
    turn = owners[at] if at < len(owners) else "the last"
    what = f"the word {word!r}" if word else "no word"
    return BadInput(f"LLMLingua-2 gave {what} where turn {turn} of {place} goes on: its words are not the text")
