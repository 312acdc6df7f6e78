"""Slot names: how they are shown to a reader and into which group of table 7 they fall."""

from __future__ import annotations

import re
from typing import Literal

SlotGroup = Literal["Time", "Date", "Place and name", "Other"]

SLOT_GROUPS: tuple[SlotGroup, ...] = ("Time", "Date", "Place and name", "Other")
"""Groups in table order."""

_PLACE_WORDS = (
    "city",
    "location",
    "origin",
    "destination",
    "area",
    "place",
    "name",
    "theater",
    "hotel",
    "restaurant",
    "departure",
    "dest",
)
_SEPARATORS = re.compile(r"[_-]+")


def slot_label(slot: str) -> str:
    """The name of a slot in prompts, e.g. ``restaurant-booktime`` -> ``restaurant booktime``.

    Prompts, P3 references and audits share it, so that the slot asked for is the slot scored (construction 1).
    """
    return _SEPARATORS.sub(" ", slot).strip().lower()


def shown_slot(slot: str, language: str) -> str:
    """How a prompt names a slot: `slot_label`, in Chinese prompts the slot as annotated (construction 9)."""
    return slot if language.split("-")[0] == "zh" else slot_label(slot)


def slot_group(slot: str) -> SlotGroup:
    """The group of a slot: the first whose words occur anywhere in the name (scoring spec 4.3).

    There is one grouping, because table 7 compares retention and accuracy over the same groups.
    """
    name = slot.lower()
    if "time" in name:
        return "Time"
    if "date" in name or "day" in name:
        return "Date"
    if any(word in name for word in _PLACE_WORDS):
        return "Place and name"
    return "Other"
