"""RiSAWOZ: Chinese dialogues, their states, and the one update asked per dialogue."""

from __future__ import annotations

import lzma
import zipfile
from pathlib import Path

import pytest
from conftest import shared_file
from corpus_files import risawoz_dialogue, write_json

from tpbench_data.changes import VALUE_RULES
from tpbench_data.corpora import RISAWOZ
from tpbench_data.dialogue import Dialogue
from tpbench_data.eligible import latest_update_pool
from tpbench_data.errors import BadInput
from tpbench_data.pool import Pool
from tpbench_data.probes import draw
from tpbench_data.selectors import SelectionInput
from tpbench_data.selectors.random_turns import RandomTurns


def load(path: Path) -> list[Dialogue]:
    return list(RISAWOZ.dialogues(RISAWOZ.files(path)))


def pool_of(*records: object, rule: str = "first", tmp_path: Path) -> Pool:
    path = write_json(tmp_path / "all.json", list(records))
    return latest_update_pool(load(path), "risawoz", VALUE_RULES[rule])  # type: ignore[index]


def test_both_turns_of_an_exchange_carry_its_state_and_an_empty_one_gives_no_turn(tmp_path: Path) -> None:
    record = risawoz_dialogue()
    record["dialogue"][1]["system_utterance"] = "  "
    (dialogue,) = load(write_json(tmp_path / "all.json", [record]))
    assert dialogue.language == "zh"
    assert dialogue.speakers[:5] == ("user", "system", "user", "user", "system")
    assert dialogue.states[0] == dialogue.states[1] == {"酒店": {"酒店-区域": ("城南",)}}


def test_values_keep_their_segmentation_and_only_plain_values_are_slots(tmp_path: Path) -> None:
    record = risawoz_dialogue()
    values = record["dialogue"][2]["belief_state"]["inform slot-values"]
    values |= {"酒店-星级": 5, "酒店-电话": None, "酒店-名称": "  ", "酒店-设施": ["早餐"]}
    (dialogue,) = load(write_json(tmp_path / "all.json", [record]))
    state = dialogue.states[4]
    assert state is not None
    assert state["酒店"] == {"酒店-区域": ("城 北",), "酒店-价位": ("中等",), "酒店-星级": ("5",)}


def test_the_latest_update_in_the_middle_is_asked_for(tmp_path: Path) -> None:
    pool = pool_of(risawoz_dialogue(), tmp_path=tmp_path)
    (question,) = pool.questions
    assert question.example_id == question.dialogue_id == "hotel_goal_9-9"
    assert (question.slot, question.old_value, question.new_value, question.turn) == ("酒店-区域", "城南", "城 北", 4)
    assert pool.is_complete


@pytest.mark.parametrize(
    ("exchanges", "change_at", "eligible"),
    [
        (2, 1, False),  # four turns are too few
        (3, 1, False),  # turn 2 is before turn 3
        (3, 2, True),  # turn 4 is n - 2
        (5, 2, True),
        (5, 9, False),  # no change at all
    ],
)
def test_eligibility_by_length_and_place(tmp_path: Path, exchanges: int, change_at: int, eligible: bool) -> None:
    pool = pool_of(risawoz_dialogue(exchanges=exchanges, change_at=change_at), tmp_path=tmp_path)
    assert bool(pool.questions) is eligible
    assert sum(v for k, v in pool.counts.items() if k.startswith("dropped")) == (not eligible)


def test_a_slot_is_compared_with_its_last_seen_value_across_a_gap(tmp_path: Path) -> None:
    record = risawoz_dialogue(exchanges=6, change_at=4)
    for number in (2, 3):
        del record["dialogue"][number]["belief_state"]["inform slot-values"]["酒店-区域"]
    (question,) = pool_of(record, tmp_path=tmp_path).questions
    assert (question.turn, question.old_value) == (8, "城南")


def test_another_segmentation_is_an_update_under_first_only(tmp_path: Path) -> None:
    record = risawoz_dialogue(change_at=9)
    for exchange in record["dialogue"][2:]:
        exchange["belief_state"]["inform slot-values"]["酒店-区域"] = "城 南"
    assert len(pool_of(record, tmp_path=tmp_path).questions) == 1
    assert len(pool_of(record, rule="disjoint", tmp_path=tmp_path).questions) == 0


def test_questions_are_ordered_by_id_and_all_belong_to_every_seed(tmp_path: Path) -> None:
    records = [risawoz_dialogue(name) for name in ("b_2", "a_10", "a_9")]
    pool = pool_of(*records, tmp_path=tmp_path)
    examples, counts = draw(pool, "current_value", [42, 43], 2)
    assert [example.question.example_id for example in examples] == ["a_10", "a_9", "b_2"]
    assert {example.sample_seeds for example in examples} == {(42, 43)}
    assert counts[42] == {"eligible": 3, "left": 3}


def test_the_value_is_found_in_unsegmented_text(tmp_path: Path) -> None:
    (example,), _ = draw(pool_of(risawoz_dialogue(), tmp_path=tmp_path), "current_value", [42], 1)
    assert example.answer_turns == (4,)


def test_only_the_test_file_is_taken_from_the_published_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "source-data.zip", "w") as archive:
        for name in ("all_train10000_new", "all_test600_new", "all_dev600_new"):
            path = write_json(tmp_path / "x.json", [risawoz_dialogue(f"{name}_1")])
            archive.write(path, f"source-data/{name}.json")
    assert [d.dialogue_id for d in load(tmp_path / "source-data.zip")] == ["all_test600_new_1"]


def test_a_compressed_file_is_read_and_has_the_digest_of_its_content(tmp_path: Path) -> None:
    plain = write_json(tmp_path / "plain" / "all.json", [risawoz_dialogue()])
    packed = tmp_path / "packed"
    packed.mkdir()
    (packed / "all.json.xz").write_bytes(lzma.compress(plain.read_bytes()))
    digests = []
    for path in (plain, plain.parent, packed, packed / "all.json.xz"):
        files = RISAWOZ.files(path)
        assert len(list(RISAWOZ.dialogues(files))) == 1
        digests.append(files.digest)
    assert len(set(digests)) == 1


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda record: record.update(dialogue=[]), "has no turns"),
        (lambda record: record["dialogue"][0].pop("system_utterance"), "system_utterance"),
        (lambda record: record["dialogue"][0].pop("belief_state"), "belief_state"),
        (lambda record: record["dialogue"][0].update(user_utterance="\ud83d"), "lone surrogate"),
    ],
)
def test_a_malformed_dialogue_is_named(tmp_path: Path, change: object, word: str) -> None:
    import json

    record = risawoz_dialogue()
    change(record)  # type: ignore[operator]
    path = tmp_path / "all.json"
    path.write_text(json.dumps([risawoz_dialogue("ok"), record]), encoding="utf-8")
    with pytest.raises(BadInput) as problem:
        load(path)
    assert word in str(problem.value)
    assert "row 2" in str(problem.value)


def test_real_dialogues_give_25_eligible_of_100() -> None:
    dialogues = load(shared_file("corpora/risawoz"))
    pool = latest_update_pool(dialogues, "risawoz", VALUE_RULES["first"])
    assert (len(dialogues), sum(map(len, dialogues)), len(pool.questions)) == (100, 1318, 25)
    examples, _ = draw(pool, "current_value", [42], 1)
    stated = [example for example in examples if example.answer_turns]
    assert len(stated) == 25, "every reference is stated in a turn once segmentation is ignored"


@pytest.mark.parametrize(
    ("seed", "kept"),
    [
        (42, [5, 6, 8, 10, 13, 14]),
        (43, [0, 1, 6, 12, 14, 16]),
        (44, [2, 3, 10, 11, 14, 16]),
        (45, [2, 3, 12, 13, 16, 17]),
        (46, [0, 2, 4, 15, 16, 18]),
    ],
)
def test_random_selection_draws_the_published_turns(seed: int, kept: list[int]) -> None:
    item = SelectionInput("Car_goal_1-1", ("user", "system") * 10, ("x",) * 20, "?", ())
    assert RandomTurns(seed).keep(item, 0.3) == kept


@pytest.mark.parametrize(("k", "kept"), [(2, [0, 3]), (6, [0, 2, 3, 7, 8, 16])])
def test_unkeyed_random_selection_draws_the_published_free_form_turns(k: int, kept: list[int]) -> None:
    for example in ("a", "b"):
        item = SelectionInput(example, ("user", "system") * 10, ("x",) * 20, "?", ())
        assert RandomTurns(keyed=False).keep(item, k / 20) == kept
