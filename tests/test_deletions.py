"""Deletion conditions: matched controls, tie-breaks, and contexts that differ by the removed turns alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from conftest import run_command, shared_file
from hypothesis import given, settings
from hypothesis import strategies as st

from tpbench_data.changes import VALUE_RULES
from tpbench_data.corpora import MULTIWOZ, RISAWOZ, SGD
from tpbench_data.deletions import DELETIONS, plan_deletions
from tpbench_data.dialogue import Dialogue
from tpbench_data.eligible import latest_update_pool
from tpbench_data.evidence import MATCHED, answer_turns, matched_control
from tpbench_data.han import value_stated
from tpbench_data.pool import given_pool, native_pool, read_candidates
from tpbench_data.probes import Example, draw
from tpbench_data.release.reader import Release
from tpbench_data.rendering import count_words
from tpbench_data.templates import prompt_of

USER_SYSTEM = ("user", "system") * 6


def plan(texts: list[str], update_turn: int, old: str = "six", new: str = "nine") -> dict[str, tuple[int, ...]]:
    evidence = answer_turns(texts, new, "cafe")
    return plan_deletions(
        update_turn=update_turn,
        evidence_turns=evidence,
        old_value=old,
        new_value=new,
        speakers=USER_SYSTEM[: len(texts)],
        texts=texts,
        corpus="cafe",
    ).removed


def test_update_and_answer_turns_go_and_their_controls_stay_clear_of_both_values() -> None:
    texts = [
        "Hello there you",
        "a b",
        "At six please",
        "Six it is",
        "No, make it nine",
        "Nine o'clock",
        "thanks a lot",
        "bye",
    ]
    removed = plan(texts, 4)
    assert removed["drop_update"] == (4,)
    assert removed["drop_update_control"] == (6,), "as long as turn 4 within a word, and nearer than turn 0"
    assert removed["drop_evidence"] == (4, 5)
    assert removed["drop_evidence_control"] == (1, 6), "turn 1 has the two words of turn 5, turn 7 only one"


@pytest.mark.parametrize(
    ("words", "target", "expected"),
    [
        ([3, 1, 3, 1, 3, 1, 3, 1], 4, 2),  # equal words: the nearer turn; equally near: the lower id
        ([3, 1, 9, 1, 3, 1, 9, 1], 4, 0),  # words count before distance
        ([9, 1, 4, 1, 3, 1, 2, 1], 4, 2),  # equal difference of words and distance: the lower id
    ],
)
def test_ties_are_broken_by_words_then_distance_then_id(words: list[int], target: int, expected: int) -> None:
    texts = [" ".join(["w"] * n) for n in words]
    control = matched_control([target], {target}, ["old", "new"], USER_SYSTEM, texts, "cafe")
    assert control.turns == (expected,)


def test_targets_take_their_controls_in_ascending_order_and_none_serves_twice() -> None:
    texts = ["a", "x", "a b", "x", "a b", "x", "a b c", "x"]
    control = matched_control([6, 4], {4, 6}, [], USER_SYSTEM, texts, "cafe")
    assert control.turns == (0, 2), "turn 4 takes turn 2, turn 6 what is left"


def test_an_unmatched_pair_is_left_out_with_its_reason() -> None:
    texts = ["six", "nine", "nine", "nine", "make it nine", "ok then"]
    found = plan_deletions(
        update_turn=4,
        evidence_turns=answer_turns(texts, "nine", "cafe"),
        old_value="six",
        new_value="nine",
        speakers=USER_SYSTEM[:6],
        texts=texts,
        corpus="cafe",
    )
    assert found.removed == {}
    assert found.update_status == found.evidence_status == "no unused user turn without either value"


def test_an_empty_old_value_forbids_nothing() -> None:
    control = matched_control([2], {2}, ["", "nine"], USER_SYSTEM, ["hello", "x", "nine", "y"], "cafe")
    assert control.turns == (0,)


words = st.lists(st.sampled_from(["six", "nine", "tea", "a", "nineteen", "six-ish"]), max_size=6).map(" ".join)


@given(st.lists(words, min_size=2, max_size=12), st.data())
@settings(max_examples=300, deadline=None)
def test_controls_obey_the_rules(texts: list[str], data: st.DataObject) -> None:
    update = data.draw(st.integers(0, len(texts) - 1))
    speakers = data.draw(st.lists(st.sampled_from(["user", "system"]), min_size=len(texts), max_size=len(texts)))
    check_rules(texts, speakers, update, "six", "nine", "cafe")


def check_rules(
    texts: list[str] | tuple[str, ...],
    speakers: list[str] | tuple[str, ...],
    update: int,
    old: str,
    new: str,
    corpus: str,
) -> tuple[str, str]:
    """The rules of construction 7 for both pairs; returns the two statuses."""
    evidence = answer_turns(texts, new, corpus)
    made = [
        plan_deletions(
            update_turn=update,
            evidence_turns=turns,
            old_value=old,
            new_value=new,
            speakers=speakers,
            texts=texts,
            corpus=corpus,
        )
        for turns in (evidence, tuple(reversed(evidence)))
    ]
    assert made[0] == made[1], "deterministic, whatever the order of the evidence"
    support = {update, *evidence}
    for deletion, control, targets, status in (
        ("drop_update", "drop_update_control", {update}, made[0].update_status),
        ("drop_evidence", "drop_evidence_control", support, made[0].evidence_status),
    ):
        assert (deletion in made[0].removed) == (control in made[0].removed) == (status == MATCHED)
        if status == MATCHED:
            picked = made[0].removed[control]
            assert set(made[0].removed[deletion]) == targets
            assert list(picked) == sorted(set(picked))
            assert not set(picked) & support
            assert sorted(speakers[turn] for turn in picked) == sorted(speakers[turn] for turn in targets)
            assert not any(value_stated(value, texts[turn], corpus) for turn in picked for value in (old, new))
    return made[0].update_status, made[0].evidence_status


def real_examples(corpus: str) -> Iterator[Example]:
    rule = VALUE_RULES["first"]
    if corpus == "risawoz":
        dialogues = RISAWOZ.dialogues(RISAWOZ.files(shared_file("corpora/risawoz")))
        pool = latest_update_pool(dialogues, corpus, rule)
    elif corpus == "multiwoz":
        pool = native_pool(MULTIWOZ.dialogues(MULTIWOZ.files(shared_file("corpora/multiwoz21"))), corpus, rule)
    else:
        some: Iterator[Dialogue] = islice(SGD.dialogues(SGD.files(shared_file("corpora/sgd/sgd_train.tar.xz"))), 1500)
        pool = native_pool(some, corpus, rule)
    yield from draw(pool, "current_value", [42], 1000)[0]


@pytest.mark.parametrize("corpus", ["sgd", "multiwoz", "risawoz"])
def test_controls_obey_the_rules_on_real_dialogues(corpus: str) -> None:
    statuses = [
        check_rules(
            example.dialogue.texts,
            example.dialogue.speakers,
            example.question.turn,
            example.question.old_value,
            example.question.new_value,
            corpus,
        )
        for example in real_examples(corpus)
    ]
    assert len(statuses) > 20
    matched = sum(status == (MATCHED, MATCHED) for status in statuses)
    assert matched >= 0.97 * len(statuses)


def test_the_published_example_has_its_published_turns() -> None:
    """Update turn 26, evidence 25; controls 8, and 8 with 19."""
    rows = [
        row
        for row in read_candidates(shared_file("artifact/origin_index_sgd.tsv"))
        if row["dialogue_id"] == "v20_sgd_66_00065__qa_02"
    ]
    dialogues = SGD.dialogues(SGD.files(shared_file("corpora/sgd/sgd_train.tar.xz")))
    pool = given_pool(dialogues, "sgd", VALUE_RULES["first"], rows, None)
    (question,) = pool.questions
    if question.dialogue is None:
        pytest.skip("the source dialogue is among those that could not be had")
    assert question.turn == 26
    assert answer_turns(question.dialogue.texts, question.new_value, "sgd") == (25,)
    removed = plan_deletions(
        update_turn=26,
        evidence_turns=(25,),
        old_value=question.old_value,
        new_value=question.new_value,
        speakers=question.dialogue.speakers,
        texts=question.dialogue.texts,
        corpus="sgd",
    ).removed
    assert removed == {
        "drop_update": (26,),
        "drop_update_control": (8,),
        "drop_evidence": (25, 26),
        "drop_evidence_control": (8, 19),
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("deletions") / "r"
    result = run_command(
        "tpbench-data", "build", f"--corpus=multiwoz={shared_file('corpora/multiwoz21')}", "--n=60",
        "--probes=current_value,free_form", "--methods=full_context,deletions", "--protocol=paper,matched",
        "--out", out,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert run_command("tpbench-data", "validate", out).returncode == 0
    return out


@pytest.mark.parametrize("probe", ["current_value", "free_form"])
def test_contexts_differ_from_the_full_one_by_exactly_the_removed_turns(built: Path, probe: str) -> None:
    release = Release.open(built)
    dialogues = {row["dialogue_id"]: row for row in release.table("dialogues").to_pylist()}
    full: dict[tuple[str, str], str] = {}
    seen = set()
    for row in release.table(probe).to_pylist():
        key = (row["example_id"], row["protocol"])
        if row["method"] == "full_context":
            full[key] = row["context"]
            continue
        seen.add(row["method"])
        dialogue = dialogues[row["dialogue_id"]]
        removed = set(range(row["n_turns"])) - set(row["kept_turns"])
        marked = "[T0]" in full[key]
        pieces = [
            f"[T{turn}] {dialogue['speakers'][turn].upper()}: {text}" if marked else text
            for turn, text in enumerate(dialogue["texts"])
        ]
        joiner = "\n" if marked else " "
        assert full[key] == joiner.join(pieces)
        assert row["context"] == joiner.join(piece for turn, piece in enumerate(pieces) if turn not in removed)
        assert row["context_words"] == count_words(row["context"])
        assert row["prompt"] == prompt_of(row, row["context"])
    assert seen == set(DELETIONS)


def test_the_manifest_counts_controls_and_names_the_reason_for_every_missing_one(built: Path) -> None:
    manifest = Release.open(built).manifest
    rows = Release.open(built).table("current_value").to_pylist()
    counts = manifest["counts"]["multiwoz"]["deletions"]["current_value"]
    examples = {row["example_id"] for row in rows}
    assert sum(n for key, n in counts.items() if key.startswith("evidence")) == len(examples)
    with_pair = {row["example_id"] for row in rows if row["method"] == "drop_evidence"}
    assert counts["evidence: matched"] == len(with_pair)
    named = manifest["unpaired_deletions"].get("multiwoz", {}).get("current_value", {})
    assert {example for example, reasons in named.items() if "evidence" in reasons} == examples - with_pair
