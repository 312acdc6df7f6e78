"""MultiWOZ: 2.2 and the legacy layout under one name, with the quirks of both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import shared_file
from corpus_files import DOMAINS, legacy_dialogue, multiwoz22_dialogue, write_json

from tpbench_data.changes import VALUE_RULES, updates
from tpbench_data.corpora import MULTIWOZ
from tpbench_data.corpora.multiwoz import LEGACY, V22
from tpbench_data.dialogue import Dialogue
from tpbench_data.errors import BadInput
from tpbench_data.pool import native_pool


def load(path: Path) -> tuple[list[Dialogue], str]:
    files = MULTIWOZ.files(path)
    return list(MULTIWOZ.dialogues(files)), files.version


def test_version_22_keeps_the_slot_names_lists_and_carried_over_values(tmp_path: Path) -> None:
    write_json(tmp_path / "train" / "dialogues_001.json", [multiwoz22_dialogue()])
    (dialogue,), version = load(tmp_path)
    assert version == V22
    assert dialogue.dialogue_id == "MUL9001.json"
    assert dialogue.speakers == ("user", "system") * 3
    assert dialogue.states[1] is None
    state = dialogue.states[4]
    assert state is not None
    assert state["taxi"] == {
        "taxi-destination": ("elm lodge",),
        "taxi-leaveat": ("9:15", "09:15", "quarter past nine"),
    }
    assert set(state) == {"hotel", "taxi"}, f"of the {len(DOMAINS)} domains only those with a value"


def test_version_22_takes_the_train_files_and_orders_them_by_number(tmp_path: Path) -> None:
    for folder, number, name in (("train", 10, "B.json"), ("train", 2, "A.json"), ("dev", 1, "C.json")):
        write_json(tmp_path / folder / f"dialogues_{number:03d}.json", [multiwoz22_dialogue(name)])
    assert [dialogue.dialogue_id for dialogue in load(tmp_path)[0]] == ["A.json", "B.json"]


def test_a_carried_over_slot_is_a_first_assignment_and_no_update(tmp_path: Path) -> None:
    (dialogue,), _ = load(write_json(tmp_path / "dialogues_001.json", [multiwoz22_dialogue()]))
    for rule in VALUE_RULES.values():
        assert [(u.slot, u.turn, u.new_value) for u in updates(dialogue, rule)] == [("hotel-bookday", 2, "friday")]


def test_the_legacy_state_belongs_to_the_user_turn_before_it(tmp_path: Path) -> None:
    (dialogue,), version = load(write_json(tmp_path / "data.json", {"SNG1.json": legacy_dialogue()}))
    assert version == LEGACY
    assert dialogue.states[0] == {"restaurant": {"restaurant-pricerange": ("cheap",), "restaurant-bookpeople": ("3",)}}
    assert [state is None for state in dialogue.states] == [False, True, False, True, True]


def test_unset_slots_are_absent_and_a_bar_parts_values_only_without_spaces(tmp_path: Path) -> None:
    (dialogue,), _ = load(write_json(tmp_path / "data.json", {"SNG1.json": legacy_dialogue()}))
    state = dialogue.states[2]
    assert state is not None
    assert state["restaurant"] == {
        "restaurant-pricerange": ("moderate", "expensive"),
        "restaurant-food": ("dontcare",),
        "restaurant-name": ("Oak | A Tea House",),
        "restaurant-bookpeople": ("3",),
        "restaurant-booktime": ("18:30",),
    }


def test_values_may_be_lists_as_in_later_legacy_releases(tmp_path: Path) -> None:
    record = legacy_dialogue()
    record["log"][3]["metadata"]["restaurant"]["semi"]["area"] = ["north", "not mentioned"]
    (dialogue,), _ = load(write_json(tmp_path / "data.json", {"SNG1.json": record}))
    state = dialogue.states[2]
    assert state is not None
    assert state["restaurant"]["restaurant-area"] == ("north",)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda record: record.update(log=[]), ["row 1", "has no turns"]),
        (lambda record: record["log"][1].pop("text"), ["row 1", "'text'"]),
        (lambda record: record["log"][1].update(metadata=[]), ["'metadata'"]),
        (lambda record: record["log"][1]["metadata"]["hotel"].pop("book"), ["'book'"]),
        (lambda record: record["log"][1]["metadata"]["hotel"]["semi"].update(stars=4), ["slot 'stars'"]),
    ],
)
def test_a_malformed_legacy_dialogue_is_named(tmp_path: Path, change: object, words: list[str]) -> None:
    record = legacy_dialogue()
    change(record)  # type: ignore[operator]
    path = write_json(tmp_path / "data.json", {"SNG1.json": record})
    with pytest.raises(BadInput) as problem:
        load(path)
    assert all(word in str(problem.value) for word in words), problem.value


def test_two_versions_in_one_folder_are_refused(tmp_path: Path) -> None:
    write_json(tmp_path / "data.json", {"SNG1.json": legacy_dialogue()})
    write_json(tmp_path / "dialogues_001.json", [multiwoz22_dialogue()])
    with pytest.raises(BadInput, match="Give a folder of one version"):
        load(tmp_path)


def test_one_large_legacy_file_is_read_record_by_record(tmp_path: Path) -> None:
    file = tmp_path / "data.json"
    one = json.dumps(legacy_dialogue())
    with file.open("w", encoding="utf-8") as handle:
        handle.write("{" + ",\n".join(f'"D{number}": {one}' for number in range(2000)) + "}\n")
    files = MULTIWOZ.files(file)
    stream = MULTIWOZ.dialogues(files)
    assert next(stream).dialogue_id == "D0"
    assert sum(1 for _ in stream) == 1999


def test_real_21_dev_and_test_come_from_the_archives_in_their_folder() -> None:
    folder = shared_file("corpora/multiwoz21")
    dialogues, version = load(folder)
    assert (len(dialogues), version) == (1999, LEGACY)
    assert sum(len(dialogue) for dialogue in dialogues) == 2 * 14737
    assert all(dialogue.speakers == ("user", "system") * (len(dialogue) // 2) for dialogue in dialogues)
    values = [
        form for d in dialogues for s in d.states for slots in (s or {}).values() for v in slots.values() for form in v
    ]
    assert not {"", "not mentioned", "none"} & set(values)
    assert sum(value == "dontcare" for value in values) == 1944
    pool = native_pool(dialogues, "multiwoz", VALUE_RULES["first"])
    assert pool.counts == {
        "dialogues": 1999,
        "updates": 969,
        "dropped: dontcare": 75,
        "dropped: new value in no turn": 32,
        "questions": 862,
    }
