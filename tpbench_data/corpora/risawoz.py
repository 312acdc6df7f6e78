"""RiSAWOZ: Chinese dialogues in the original layout, one JSON list of ``{dialogue_id, goal, domains, dialogue}``.

Each exchange is a user and a system utterance with the state after it. Values are kept as annotated: they are
word-segmented ("朋友 出游") although the utterances are not. Source: construction spec 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tpbench_data.corpora import shapes
from tpbench_data.corpora.json_reading import Place, is_storable, stream_records
from tpbench_data.corpora.source_files import SourceFiles
from tpbench_data.dialogue import SYSTEM, USER, Dialogue, State

PATTERN = r".*\.json"
_STATE_KEY = "inform slot-values"


def load(files: SourceFiles) -> Iterator[Dialogue]:
    """Streams the dialogues in file order, then place in the file.

    Raises:
        BadInput: A file is not valid JSON or not in the RiSAWOZ layout; names file, dialogue number and field.
    """
    files.version = files.version or "original"
    for name, data in files:
        for number, (key, record) in enumerate(stream_records(data, name), start=1):
            if number == 1:
                shapes.expect(record, shapes.RISAWOZ, name)
                if key is not None:
                    raise Place(name).error("not a list of dialogues", remedy="RiSAWOZ files hold one JSON list each")
            yield _dialogue(record, Place(name, number))


def _dialogue(record: Any, place: Place) -> Dialogue:
    dialogue_id = place.get(record, "dialogue_id", str)
    speakers: list[str] = []
    texts: list[str] = []
    states: list[State | None] = []
    for exchange in place.get(record, "dialogue", list):
        state = _state(exchange, dialogue_id, place)
        for speaker, column in ((USER, "user_utterance"), (SYSTEM, "system_utterance")):
            text = place.get(exchange, column, str)
            if text.strip():  # an empty utterance gives no turn
                speakers.append(speaker)
                texts.append(text)
                states.append(state)
    if not texts:
        raise place.error(f"dialogue {dialogue_id!r} has no turns", "dialogue", "Remove it or restore its turns")
    return Dialogue(dialogue_id, "risawoz", "zh", tuple(speakers), tuple(texts), tuple(states))


def _state(exchange: Any, dialogue_id: str, place: Place) -> State:
    state: dict[str, dict[str, tuple[str, ...]]] = {}
    for slot, value in place.get(place.get(exchange, "belief_state", dict), _STATE_KEY, dict).items():
        if value is None or isinstance(value, (dict, list)):
            continue  # only plain values are slots
        text = str(value)
        if not is_storable(text):
            raise place.error(f"slot {slot!r} of {dialogue_id!r} holds a lone surrogate", _STATE_KEY)
        if text.strip():
            state.setdefault(slot.partition("-")[0], {})[slot] = (text,)
    return state
