"""What a free-form context still holds: lexical answer retention and boundary-turn recall (scoring spec 3.8)."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LATIN = re.compile(r"[a-z0-9]+")
_HANGUL = re.compile(r"[\uac00-\ud7a3]+")


def _tokens(text: str) -> set[str]:
    return {*_LATIN.findall(text.lower()), *_HANGUL.findall(text)}


def lexical_retention(reference: str, context: str) -> bool:
    """Whether a context holds the reference answer.

    True if the lower-cased reference is a substring of the lower-cased context, or more than half of its tokens
    (a-z0-9 runs, Hangul runs) occur among those of the context. No stop list, no shortest token.
    """
    if reference.lower() in context.lower():
        return True
    wanted = _tokens(reference)
    return len(wanted & _tokens(context)) / max(1, len(wanted)) > 0.5


def boundary_recall(boundary_turns: Sequence[int], kept_turns: Sequence[int]) -> float:
    """The share of boundary turns that were kept; 1.0 where an item has none."""
    wanted = set(boundary_turns)
    return len(wanted & set(kept_turns)) / len(wanted) if wanted else 1.0
