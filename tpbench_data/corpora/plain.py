"""The plain format: one JSON object a line, for dialogues that anyone writes by hand.

    {"dialogue_id": "cafe-1", "language": "en", "turns": [
        {"speaker": "user", "text": "A table for two, please.", "state": {"cafe": {"party_size": ["2", "two"]}}},
        {"speaker": "system", "text": "At what time?"}]}

``state`` is the state after the turn: service -> slot -> a value or a list of equivalent values. A turn
without ``state`` is not annotated. ``language`` is a BCP 47 tag and defaults to ``en``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tpbench_data.corpora.json_reading import Place, parse_json
from tpbench_data.corpora.source_files import SourceFiles
from tpbench_data.dialogue import SYSTEM, USER, Dialogue, State

PATTERN = r".*\.jsonl"
_DIALOGUE_KEYS = {"dialogue_id", "language", "turns"}
_TURN_KEYS = {"speaker", "text", "state"}


def load(files: SourceFiles, corpus: str) -> Iterator[Dialogue]:
    """Streams the dialogues in line order.

    Raises:
        BadInput: A line is not in the format; names file, line and field.
    """
    for name, data in files:
        # Only the byte 0x0A ends a line: U+2028 and its kin may stand inside a text.
        for number, line in enumerate(data.split(b"\n"), start=1):
            if line.strip():
                yield _dialogue(parse_json(line, f"{name}, row {number}"), corpus, Place(name, number))


def _dialogue(record: Any, corpus: str, place: Place) -> Dialogue:
    dialogue_id = place.get(record, "dialogue_id", str)
    _only(record, _DIALOGUE_KEYS, place)
    language = place.get(record, "language", str) if "language" in record else "en"
    turns = place.get(record, "turns", list)
    if not turns:
        raise place.error(f"dialogue {dialogue_id!r} has no turns", "turns", "Remove it or write its turns")
    speakers, texts, states = [], [], []
    for turn in turns:
        speaker = place.get(turn, "speaker", str)
        _only(turn, _TURN_KEYS, place)
        if speaker not in (USER, SYSTEM):
            raise place.error(f"unknown speaker {speaker!r} in {dialogue_id!r}", "speaker", "Use 'user' or 'system'")
        speakers.append(speaker)
        texts.append(place.get(turn, "text", str))
        states.append(_state(turn["state"], dialogue_id, place) if turn.get("state") is not None else None)
    return Dialogue(dialogue_id, corpus, language, tuple(speakers), tuple(texts), tuple(states))


def _only(record: dict[str, Any], known: set[str], place: Place) -> None:
    unknown = sorted(set(record) - known)
    if unknown:
        raise place.error("unknown key", unknown[0], f"Known keys are {', '.join(sorted(known))}")


def _state(value: Any, dialogue_id: str, place: Place) -> State:
    if not isinstance(value, dict):
        raise place.error(f"a state of {dialogue_id!r} is not an object", "state")
    state: dict[str, dict[str, tuple[str, ...]]] = {}
    for service, slots in value.items():
        if not isinstance(slots, dict):
            raise place.error(f"service {service!r} of {dialogue_id!r} is not an object", "state")
        state[service] = {}
        for slot, values in slots.items():
            forms = [values] if isinstance(values, str) else values
            if not (isinstance(forms, list) and forms and all(isinstance(form, str) and form for form in forms)):
                raise place.error(
                    f"slot {slot!r} of {dialogue_id!r} is not a value or a list of values",
                    "state",
                    "Write numbers as strings",
                )
            state[service][slot] = tuple(forms)
    return state
