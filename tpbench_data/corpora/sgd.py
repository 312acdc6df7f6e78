"""Schema-Guided Dialogue: ``dialogues_NNN.json`` files of the public repository, as a folder or an archive.

Each file is a list of dialogues; every user turn has frames, one per service, each with the state of that
service. System turns carry no state. Source: construction spec 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tpbench_data.corpora import shapes
from tpbench_data.corpora.json_reading import Place, parse_json
from tpbench_data.corpora.source_files import SourceFiles
from tpbench_data.dialogue import SYSTEM, USER, Dialogue, State

PATTERN = r"dialogues_(\d+)\.json"
_SPEAKERS = {"USER": USER, "SYSTEM": SYSTEM}


def load(files: SourceFiles) -> Iterator[Dialogue]:
    """Streams the dialogues in file-number order, then place in the file.

    Raises:
        BadInput: A file is not valid JSON or not in the SGD layout; names file, dialogue number and field.
    """
    files.version = files.version or "train"
    for name, data in files:
        records = dialogue_list(data, name)
        if records:
            shapes.expect(records[0], shapes.SGD, name)
        for number, record in enumerate(records, start=1):
            place = Place(name, number)
            services = place.get(record, "services", list)
            yield read_dialogue(record, place, "sgd", services)


def dialogue_list(data: bytes, name: str) -> list[Any]:
    """The content of one file, which is a JSON list; raises BadInput, also where it is another corpus's layout."""
    records = parse_json(data, name)
    if isinstance(records, list):
        return records
    entry = next(iter(records.values()), None) if isinstance(records, dict) else None
    shapes.expect(entry, shapes.SGD, name)
    raise Place(name).error("not a list of dialogues", remedy="SGD files hold one JSON list each")


def read_dialogue(record: Any, place: Place, corpus: str, services: list[Any] | None) -> Dialogue:
    """One dialogue in the layout that SGD and MultiWOZ 2.2 share.

    Args:
        record: The parsed dialogue.
        place: Where it stands.
        corpus: Corpus name.
        services: The only services that may have a state; ``None`` = any, and services without a value are
            left out (MultiWOZ 2.2 lists every domain in every turn).
    """
    dialogue_id = place.get(record, "dialogue_id", str)
    turns = place.get(record, "turns", list)
    if not turns:
        raise place.error(f"dialogue {dialogue_id!r} has no turns", "turns", "Remove it or restore its turns")
    speakers, texts, states = [], [], []
    for turn in turns:
        speaker = _SPEAKERS.get(place.get(turn, "speaker", str))
        if speaker is None:
            raise place.error(f"unknown speaker {turn['speaker']!r} in {dialogue_id!r}", "speaker")
        speakers.append(speaker)
        texts.append(place.get(turn, "utterance", str))
        states.append(_state(turn, services, dialogue_id, place) if speaker == USER else None)
    return Dialogue(dialogue_id, corpus, "en", tuple(speakers), tuple(texts), tuple(states))


def _state(turn: Any, services: list[Any] | None, dialogue_id: str, place: Place) -> State:
    state: dict[str, dict[str, tuple[str, ...]]] = {}
    for frame in place.get(turn, "frames", list):
        service = place.get(frame, "service", str)
        if services is not None and service not in services:
            raise place.error(
                f"dialogue {dialogue_id!r} has a state for the unknown service {service!r}",
                "service",
                f"Its services are {', '.join(map(str, services))}",
            )
        slots: dict[str, tuple[str, ...]] = {}
        for slot, values in place.get(place.get(frame, "state", dict), "slot_values", dict).items():
            if not (isinstance(values, list) and values and all(isinstance(v, str) for v in values)):
                raise place.error(f"slot {slot!r} of {dialogue_id!r} is not a list of strings", "slot_values")
            slots[slot] = tuple(values)
        if slots or services is not None:
            state[service] = slots
    return state
