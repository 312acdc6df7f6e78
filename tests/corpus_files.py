"""Small corpora of our own in the exact layouts of the public ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def write_json(path: Path, content: Any) -> Path:
    """Writes a JSON file and returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path


# MultiWOZ 2.2: SGD-like, every domain in every user turn, slots named domain-slot, values as lists.

DOMAINS = ("restaurant", "taxi", "train", "bus", "police", "hotel", "attraction", "hospital")


def multiwoz22_frames(values: dict[str, list[str]], carried: dict[str, str] | None = None) -> list[Record]:
    """The frames of one user turn: all domains, the state in the domains of the slots."""
    frames = []
    for domain in DOMAINS:
        slots = [
            {"slot": slot, "copy_from": source, "value": values.get(slot, [])}
            for slot, source in (carried or {}).items()
            if slot.startswith(f"{domain}-")
        ]
        own = {slot: forms for slot, forms in values.items() if slot.startswith(f"{domain}-")}
        state = {"active_intent": "NONE", "requested_slots": [], "slot_values": own}
        frames.append({"actions": [], "service": domain, "slots": slots, "state": state})
    return frames


def multiwoz22_dialogue(dialogue_id: str = "MUL9001.json") -> Record:
    """A hotel night is moved; the taxi takes its destination over from the hotel."""
    first = {"hotel-name": ["elm lodge"], "hotel-bookday": ["tuesday"]}
    moved = {"hotel-name": ["elm lodge"], "hotel-bookday": ["friday"], "hotel-bookstay": ["2"]}
    taxi = moved | {"taxi-destination": ["elm lodge"], "taxi-leaveat": ["9:15", "09:15", "quarter past nine"]}
    turns = [
        ("USER", "Elm Lodge for Tuesday, please.", multiwoz22_frames(first)),
        ("SYSTEM", "Tuesday is fine.", [{"actions": [], "service": "hotel", "slots": []}]),
        ("USER", "Friday suits me better after all, two nights.", multiwoz22_frames(moved)),
        ("SYSTEM", "Done.", []),
        ("USER", "And a taxi there at quarter past nine.", multiwoz22_frames(taxi, {"taxi-destination": "hotel-name"})),
        ("SYSTEM", "It is booked.", []),
    ]
    records = [
        {"turn_id": str(number), "speaker": speaker, "utterance": text, "frames": frames}
        for number, (speaker, text, frames) in enumerate(turns)
    ]
    return {"dialogue_id": dialogue_id, "services": ["hotel", "taxi"], "turns": records}


# MultiWOZ legacy (2.1, 2.4): {id: {goal, log}}, the state after a user turn on the system turn that follows.


def legacy_metadata(**domains: dict[str, dict[str, Any]]) -> Record:
    """The metadata of one system turn; unnamed domains are empty."""
    empty: Record = {
        "taxi": {"book": {"booked": []}, "semi": {"leaveAt": "", "destination": "", "departure": "", "arriveBy": ""}},
        "police": {"book": {"booked": []}, "semi": {}},
        "restaurant": {
            "book": {"booked": [], "people": "", "day": "", "time": ""},
            "semi": {"food": "", "pricerange": "", "name": "", "area": ""},
        },
        "hotel": {
            "book": {"booked": [], "people": "", "day": "", "stay": ""},
            "semi": {"name": "", "area": "", "parking": "", "pricerange": "", "stars": "", "internet": "", "type": ""},
        },
    }
    for domain, parts in domains.items():
        for part, slots in parts.items():
            empty[domain][part] |= slots
    return empty


def legacy_dialogue() -> Record:
    """The price of a restaurant is changed; every way of writing an unset or open slot occurs."""
    unset = {"food": "not mentioned", "name": "none", "area": ""}
    before = legacy_metadata(restaurant={"semi": {"pricerange": "cheap", **unset}, "book": {"people": "3"}})
    after = legacy_metadata(
        restaurant={
            "semi": {
                "pricerange": "moderate|expensive",
                "food": "do n't care",
                "name": "Oak | A Tea House",
                "area": "",
            },
            "book": {"booked": [{"name": "oak", "reference": "X1"}], "people": "3", "time": "18:30"},
        }
    )
    texts = ["Something cheap for three .", "Which food ?", "I do n't mind . Make it moderate or expensive .", "Oak ?"]
    metadata: list[Record] = [{}, before, {}, after]
    log = [
        {"text": text, "metadata": state, "dialog_act": {}, "span_info": []}
        for text, state in zip(texts, metadata, strict=True)
    ]
    return {"goal": {"message": []}, "log": [*log, {**log[0], "text": "Thanks , bye ."}]}


# RiSAWOZ: Chinese, one list; each exchange has a user and a system utterance with the state after it.


def risawoz_dialogue(dialogue_id: str = "hotel_goal_9-9", exchanges: int = 5, change_at: int = 2) -> Record:
    """The area of a hotel is changed in one exchange; its price stays."""
    records = []
    for number in range(exchanges):
        area = "城 北" if number >= change_at else "城南"
        values = {"酒店-区域": area, "酒店-价位": "中等"} if number else {"酒店-区域": area}
        user = "还是住城北吧。" if number == change_at else f"第{'一二三四五六七八九十'[number]}个问题是什么？"
        records.append(
            {
                "turn_id": number,
                "turn_domain": ["酒店"],
                "user_utterance": user,
                "system_utterance": "好的，城南有空房。" if number == 0 else "好的。",
                "belief_state": {"inform slot-values": values, "turn_inform": {}, "turn request": []},
                "user_actions": [],
                "system_actions": [],
                "db_results": [],
                "segmented_user_utterance": "",
                "segmented_system_utterance": "",
            }
        )
    return {"dialogue_id": dialogue_id, "goal": "", "domains": ["酒店"], "dialogue": records}


# LongMemEval: one list of questions, each with its sessions.


def longmemeval_question(question_id: str = "q1", answer: Any = 3, **changes: Any) -> Record:
    """A question whose answer was 2 in an older session and is 3 in a newer one."""
    older = [
        {"role": "user", "content": "I own two kites now.", "has_answer": True},
        {"role": "assistant", "content": "Two is a good start."},
    ]
    chat = [
        {"role": "user", "content": "What is a good soup?"},
        {"role": "assistant", "content": "Leek. " + "It keeps well and warms. " * 20},
    ]
    newer = [
        {"role": "user", "content": "Hello again."},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "I bought another kite, so I have 3 kites.", "has_answer": True},
        {"role": "assistant", "content": "Three kites, lovely."},
    ]
    record = {
        "question_id": question_id,
        "question_type": "knowledge-update",
        "question": "How many kites do I own?",
        "answer": answer,
        "question_date": "2023/06/01 (Thu) 10:00",
        "haystack_dates": ["2023/05/01 (Mon) 09:00", "2023/05/09 (Tue) 09:00", "2023/05/20 (Sat) 09:00"],
        "haystack_session_ids": ["s1", "s2", "s3"],
        "haystack_sessions": [older, chat, newer],
        "answer_session_ids": ["s1", "s3"],
    }
    return record | changes


# The plain format.


def plain_dialogue(dialogue_id: str = "cafe-1", **changes: Any) -> Record:
    """A table is moved, with a free-form question about it."""
    texts = [
        ("user", "A table at six, please.", "six"),
        ("system", "Six is noted. Anything else?", "six"),
        ("user", "Is there parking?", "six"),
        ("system", "Yes. Shall I leave it at that?", "six"),
        ("user", "No, make it half past eight.", "half past eight"),
        ("system", "Half past eight it is.", "half past eight"),
        ("user", "Thanks.", "half past eight"),
    ]
    turns = [{"speaker": who, "text": text, "state": {"cafe": {"time": [value]}}} for who, text, value in texts]
    question = {
        "question": "When does the user want the table?",
        "answer": "half past eight",
        "old_answer": "six",
        "slot": "time",
        "transition_type": "replace_value",
        "update_turn": 4,
        "boundary_turns": [4],
        "support_turns": [3, 4, 5],
        "distractor_turns": [],
    }
    return {"dialogue_id": dialogue_id, "language": "en", "turns": turns, "questions": [question]} | changes


def write_plain(path: Path, *records: Record) -> Path:
    """Writes dialogues in the plain format."""
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path
