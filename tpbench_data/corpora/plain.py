"""The plain format: one JSON object a line, for dialogues that anyone writes by hand.

    {"dialogue_id": "cafe-1", "language": "en", "turns": [
        {"speaker": "user", "text": "A table for two, please.", "state": {"cafe": {"party_size": ["2", "two"]}}},
        {"speaker": "system", "text": "At what time?"}]}

``state`` is the state after the turn: service -> slot -> a value or a list of equivalent values. A turn
without ``state`` is not annotated. ``language`` is a BCP 47 tag and defaults to ``en``. ``questions`` may hold
free-form questions with their answers and evidence; see ``docs/corpora.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tpbench_data.corpora import shapes
from tpbench_data.corpora.json_reading import Place, is_storable, parse_json
from tpbench_data.corpora.source_files import SourceFiles
from tpbench_data.dialogue import SYSTEM, USER, AuthoredQuestion, Dialogue, State
from tpbench_data.names import TRANSITION_TYPES

PATTERN = r".*\.jsonl"
_DIALOGUE_KEYS = {"dialogue_id", "language", "turns", "questions"}
_TURN_KEYS = {"speaker", "text", "state"}
_TURN_LISTS = ("boundary_turns", "support_turns", "distractor_turns")
_QUESTION_KEYS = {"question", "answer", "old_answer", "slot", "transition_type", "update_turn", *_TURN_LISTS}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def load(files: SourceFiles, corpus: str) -> Iterator[Dialogue]:
    """Streams the dialogues in line order.

    Raises:
        BadInput: A line is not in the format; names file, line and field.
    """
    files.version = files.version or "plain"
    for name, data in files:
        first = True
        # Only the byte 0x0A ends a line: U+2028 and its kin may stand inside a text.
        for number, line in enumerate(data.removeprefix(_BYTE_ORDER_MARK).split(b"\n"), start=1):
            if line.strip():
                record = parse_json(line, f"{name}, row {number}")
                if first:
                    shapes.expect(record[0] if isinstance(record, list) and record else record, shapes.PLAIN, name)
                first = False
                yield _dialogue(record, corpus, Place(name, number))


def _dialogue(record: Any, corpus: str, place: Place) -> Dialogue:
    dialogue_id = place.get(record, "dialogue_id", str)
    if not dialogue_id:
        raise place.error("is empty", "dialogue_id")
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
    written = place.get(record, "questions", list) if "questions" in record else []
    questions = tuple(_question(question, len(turns), place) for question in written)
    return Dialogue(dialogue_id, corpus, language, tuple(speakers), tuple(texts), tuple(states), questions)


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
            if not (isinstance(forms, list) and forms and all(_is_value(form) for form in forms)):
                raise place.error(
                    f"slot {slot!r} of {dialogue_id!r} is not a value or a list of values",
                    "state",
                    "Write numbers as strings",
                )
            state[service][slot] = tuple(forms)
    return state


def _is_value(form: Any) -> bool:
    return isinstance(form, str) and form != "" and is_storable(form)


def _question(record: Any, n_turns: int, place: Place) -> AuthoredQuestion:
    question, answer = (place.get(record, key, str) for key in ("question", "answer"))
    _only(record, _QUESTION_KEYS, place)
    for key, text in (("question", question), ("answer", answer)):
        if not text.strip():
            raise place.error("is empty", key)
    kind = place.get(record, "transition_type", str)
    if kind not in TRANSITION_TYPES:
        raise place.error(f"unknown type {kind!r}", "transition_type", f"Use one of {', '.join(TRANSITION_TYPES)}")
    update_turn = place.get(record, "update_turn", int)
    if not 0 <= update_turn < n_turns:
        raise place.error(f"{update_turn} is not a turn of the dialogue", "update_turn", "Turns count from 0")
    turns = {key: _turn_list(record, key, n_turns, place) for key in _TURN_LISTS}
    return AuthoredQuestion(
        question=question,
        answer=answer,
        old_answer=place.get(record, "old_answer", str) if "old_answer" in record else "",
        slot=place.get(record, "slot", str) if "slot" in record else "",
        transition_type=kind,
        update_turn=update_turn,
        boundary_turns=turns["boundary_turns"] or (update_turn,),
        support_turns=turns["support_turns"] or (update_turn,),
        distractor_turns=turns["distractor_turns"],
    )


def _turn_list(record: dict[str, Any], key: str, n_turns: int, place: Place) -> tuple[int, ...]:
    turns = place.get(record, key, list) if key in record else []
    whole = all(isinstance(turn, int) and not isinstance(turn, bool) for turn in turns)
    if not whole or turns != sorted(set(turns)) or (turns and not 0 <= turns[0] <= turns[-1] < n_turns):
        raise place.error("is not a list of ascending turn ids of the dialogue", key, "Turns count from 0")
    return tuple(turns)
