"""Cutting long turns, as the published LongMemEval and RiSAWOZ inputs do (construction spec 8).

The cap can cut the answer out of a turn; it is recorded per corpus in the manifest, and protocol ``matched`` has none.
"""

from __future__ import annotations

from collections.abc import Sequence

CUT_MARK = " [...]"


def cut_turn(text: str, characters: int | None) -> str:
    """The text, cut to so many characters (code points) with a mark behind; whole where it is not longer."""
    if characters is None or len(text) <= characters:
        return text
    return text[:characters].rstrip() + CUT_MARK


def cut_turns(texts: Sequence[str], characters: int | None) -> Sequence[str]:
    """`cut_turn` of every turn; the same sequence where there is no cap."""
    return texts if characters is None else tuple(cut_turn(text, characters) for text in texts)
