"""Turning kept turns into the context text that a reader sees.

Source: construction spec 2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

Rendering = Literal["marked", "plain"]

_SPEAKER_TAGS = {"user": "USER", "system": "SYSTEM"}
_MARKER = re.compile(r"^\[T(\d+)\] (?:USER|SYSTEM): ", re.MULTILINE)


def render(kept: Sequence[int], speakers: Sequence[str], texts: Sequence[str], rendering: Rendering) -> str:
    """The context text of the kept turns.

    ``marked``: one line a turn, ``[T<turn id>] USER: text``; turn ids are those of the whole dialogue, so gaps
    stay visible. ``plain``: the texts joined by single spaces, without turn ids or speakers.

    Args:
        kept: Turn ids, ascending.
        speakers: ``user`` or ``system`` per turn of the whole dialogue.
        texts: Utterances per turn of the whole dialogue.
        rendering: Which of the two forms.
    """
    if rendering == "marked":
        return "\n".join(f"[T{turn}] {_SPEAKER_TAGS[speakers[turn]]}: {texts[turn]}" for turn in kept)
    return " ".join(texts[turn] for turn in kept)


def marked_turns(context: str) -> list[int]:
    """The turn ids at the line starts of a marked context, in the order in which they stand."""
    return [int(match.group(1)) for match in _MARKER.finditer(context)]


def count_words(text: str) -> int:
    """Number of white-space words."""
    return len(text.split())
