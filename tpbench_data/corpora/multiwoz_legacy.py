"""One dialogue of MultiWOZ 2.1 or 2.4: ``{goal, log: [{text, metadata}, ...]}``, user and system in turn.

The state after a user turn stands in the ``metadata`` of the system turn that follows it. Each domain has ``semi``
(search) and ``book`` (booking) slots; an empty text, "not mentioned" and "none" mean that a slot is not set.
"""

from __future__ import annotations

import re
from typing import Any

from tpbench_data.corpora.json_reading import Place
from tpbench_data.dialogue import SYSTEM, USER, Dialogue, State

_UNSET = frozenset({"", "not mentioned", "none"})
_DONTCARE = frozenset({"dontcare", "dont care", "don't care", "do n't care", "do not care"})
_BOOKED = "booked"
_ALTERNATIVES = re.compile(r"(?<! )\|(?! )")
"""A bar without spaces parts alternatives; with spaces it belongs to a name ("Ginza | Japanese Restaurant")."""


def read_legacy(dialogue_id: str, record: Any, place: Place) -> Dialogue:
    """Reads one dialogue.

    Raises:
        BadInput: No turns, or a turn or state that is not in the layout.
    """
    log = place.get(record, "log", list)
    if not log:
        raise place.error(f"dialogue {dialogue_id!r} has no turns", "log", "Remove it or restore its turns")
    texts = tuple(place.get(turn, "text", str) for turn in log)
    speakers = tuple(SYSTEM if turn % 2 else USER for turn in range(len(log)))
    after = [_state(turn, dialogue_id, place) for turn in log]
    states = tuple(
        after[turn + 1] if speaker == USER and turn + 1 < len(log) else None for turn, speaker in enumerate(speakers)
    )
    return Dialogue(dialogue_id, "multiwoz", "en", speakers, texts, states)


def _state(turn: Any, dialogue_id: str, place: Place) -> State:
    state: dict[str, dict[str, tuple[str, ...]]] = {}
    for domain, parts in place.get(turn, "metadata", dict).items():
        slots: dict[str, tuple[str, ...]] = {}
        for part, prefix in (("semi", ""), ("book", "book")):
            for slot, value in place.get(parts, part, dict).items():
                if slot == _BOOKED:
                    continue
                forms = _forms(value)
                if forms is None:
                    raise place.error(f"slot {slot!r} of {dialogue_id!r} is neither text nor a list of texts", domain)
                if forms:
                    slots[f"{domain}-{prefix}{slot.lower()}"] = forms
        if slots:
            state[domain] = slots
    return state


def _forms(value: Any) -> tuple[str, ...] | None:
    """The alternatives of a stored value, empty where the slot is not set; ``None`` where it is no value."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(form, str) for form in listed):
        return None
    forms: dict[str, None] = {}
    for text in listed:
        for form in map(str.strip, _ALTERNATIVES.split(text)):
            if form.lower() not in _UNSET:
                forms["dontcare" if form.lower() in _DONTCARE else form] = None
    return tuple(forms)
