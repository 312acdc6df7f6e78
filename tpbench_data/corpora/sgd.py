"""Schema-Guided Dialogue: ``dialogues_NNN.json`` files of the public repository, as a folder or an archive.

Each file is a list of dialogues; every user turn has frames, one per service, each with the state of that
service. System turns carry no state. Source: construction spec 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from tpbench_data.corpora import shapes
from tpbench_data.corpora.json_reading import Place, is_storable, parse_json
from tpbench_data.corpora.source_files import SourceFiles
from tpbench_data.dialogue import SYSTEM, USER, Dialogue, State
from tpbench_data.errors import BadInput

PATTERN = r"dialogues_(\d+)\.json"
_SPEAKERS = {"USER": USER, "SYSTEM": SYSTEM}

KnownForms: TypeAlias = dict[tuple[str, ...], tuple[str, ...]]
"""The value lists seen so far: most turns repeat those of the turn before, which are then checked and held once."""


def load(files: SourceFiles) -> Iterator[Dialogue]:
    """Streams the dialogues in file-number order, then place in the file.

    Raises:
        BadInput: A file is not valid JSON or not in the SGD layout; names file, dialogue number and field.
    """
    files.version = files.version or "train"
    known: KnownForms = {}
    for name, data in files:
        records = dialogue_list(data, name)
        if records:
            shapes.expect(records[0], shapes.SGD, name)
        for number, record in enumerate(records, start=1):
            place = Place(name, number)
            services = place.get(record, "services", list)
            yield read_dialogue(record, place, "sgd", services, known)


def dialogue_list(data: bytes, name: str) -> list[Any]:
    """The content of one file, which is a JSON list; raises BadInput, also where it is another corpus's layout."""
    records = parse_json(data, name)
    if isinstance(records, list):
        return records
    entry = next(iter(records.values()), None) if isinstance(records, dict) else None
    shapes.expect(entry, shapes.SGD, name)
    raise Place(name).error("not a list of dialogues", remedy="SGD files hold one JSON list each")


def read_dialogue(record: Any, place: Place, corpus: str, services: list[Any] | None, known: KnownForms) -> Dialogue:
    """One dialogue in the layout that SGD and MultiWOZ 2.2 share.

    Args:
        record: The parsed dialogue.
        place: Where it stands.
        corpus: Corpus name.
        services: The only services that may have a state; ``None`` = any, and services without a value are
            left out (MultiWOZ 2.2 lists every domain in every turn).
        known: Values seen in earlier dialogues.
    """
    dialogue_id = place.get(record, "dialogue_id", str)
    turns = place.get(record, "turns", list)
    if not turns:
        raise place.error(f"dialogue {dialogue_id!r} has no turns", "turns", "Remove it or restore its turns")
    speakers, texts, states = [], [], []
    for turn in turns:
        # The checks are written out only where one fails: this loop sees every turn of every dialogue.
        try:
            speaker = _SPEAKERS[turn["speaker"]]
            text = turn["utterance"]
            state = _state(turn["frames"], services, known) if speaker == USER else None
            sound = type(text) is str and is_storable(text)
        except (KeyError, TypeError, AttributeError, ValueError):
            sound = False
        if not sound:
            raise _diagnosis(turn, services, dialogue_id, place)
        speakers.append(speaker)
        texts.append(text)
        states.append(state)
    return Dialogue(dialogue_id, corpus, "en", tuple(speakers), tuple(texts), tuple(states))


def _state(frames: Any, services: list[Any] | None, known: KnownForms) -> State:
    """The state of a user turn; raises any error of a lookup where it is not in the layout."""
    state: dict[str, dict[str, tuple[str, ...]]] = {}
    for frame in frames:
        service = frame["service"]
        if services is not None and service not in services:
            raise ValueError("unknown service")
        slots: dict[str, tuple[str, ...]] = {}
        for slot, values in frame["state"]["slot_values"].items():
            if type(values) is not list:
                raise ValueError("not a list")
            forms = tuple(values)
            found = known.get(forms)
            if found is None:
                if not forms or not all(type(value) is str and is_storable(value) for value in forms):
                    raise ValueError("not a list of strings")
                found = known[forms] = forms
            slots[slot] = found
        if slots or services is not None:
            state[service] = slots
    return state


def _diagnosis(turn: Any, services: list[Any] | None, dialogue_id: str, place: Place) -> BadInput:
    """What is wrong with a turn that could not be read."""
    try:
        if place.get(turn, "speaker", str) not in _SPEAKERS:
            return place.error(f"unknown speaker {turn['speaker']!r} in {dialogue_id!r}", "speaker")
        place.get(turn, "utterance", str)
        for frame in place.get(turn, "frames", list):
            service = place.get(frame, "service", str)
            if services is not None and service not in services:
                return place.error(
                    f"dialogue {dialogue_id!r} has a state for the unknown service {service!r}",
                    "service",
                    f"Its services are {', '.join(map(str, services))}",
                )
            for slot, values in place.get(place.get(frame, "state", dict), "slot_values", dict).items():
                if not (isinstance(values, list) and values and all(isinstance(v, str) for v in values)):
                    return place.error(f"slot {slot!r} of {dialogue_id!r} is not a list of strings", "slot_values")
                if not all(map(is_storable, values)):
                    return place.error(f"slot {slot!r} of {dialogue_id!r} holds a lone surrogate", "slot_values")
    except BadInput as problem:
        return problem
    return place.error(f"a turn of dialogue {dialogue_id!r} is not in the layout", "turns")
