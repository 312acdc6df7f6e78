"""LongMemEval: sessions as one dialogue, answers as text, and which questions can be asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import run_command
from corpus_files import longmemeval_question, write_json

from tpbench_data.corpora import LME_KU
from tpbench_data.corpora.lme_ku import memory_slot
from tpbench_data.dialogue import Dialogue
from tpbench_data.eligible import authored_pool
from tpbench_data.errors import BadInput
from tpbench_data.release.reader import Release
from tpbench_data.turn_cap import CUT_MARK

NAME = "longmemeval_s_cleaned.json"


def load(tmp_path: Path, *records: Any) -> list[Dialogue]:
    return list(LME_KU.dialogues(LME_KU.files(write_json(tmp_path / NAME, list(records)))))


def test_sessions_are_flattened_with_a_break_turn_before_each(tmp_path: Path) -> None:
    (dialogue,) = load(tmp_path, longmemeval_question())
    assert len(dialogue) == 8 + 3
    assert dialogue.texts[0] == "[SESSION_BREAK: date=2023/05/01 (Mon) 09:00 sid=s1]"
    assert [turn for turn, text in enumerate(dialogue.texts) if text.startswith("[SESSION_BREAK")] == [0, 3, 6]
    assert dialogue.speakers[:4] == ("system", "user", "system", "system")


def test_support_and_boundaries_are_the_annotated_turns(tmp_path: Path) -> None:
    (dialogue,) = load(tmp_path, longmemeval_question())
    (asked,) = dialogue.questions
    assert asked.boundary_turns == (1, 9)
    assert asked.support_turns == (1, 9)
    assert asked.update_turn == 9
    assert asked.old_answer == ""


@pytest.mark.parametrize(
    ("answer", "text"), [(3, "3"), (2.5, "2.5"), ("25:50 (or 26)", "25:50 (or 26)"), ("007", "007")]
)
def test_answers_are_texts_whatever_the_corpus_writes(tmp_path: Path, answer: Any, text: str) -> None:
    (dialogue,) = load(tmp_path, longmemeval_question(answer=answer))
    assert dialogue.questions[0].answer == text


@pytest.mark.parametrize("answer", [None, True, ["3"], {"a": 1}])
def test_an_answer_that_is_no_value_is_an_error(tmp_path: Path, answer: Any) -> None:
    with pytest.raises(BadInput, match="neither a text nor a number"):
        load(tmp_path, longmemeval_question(answer=answer))


def test_only_knowledge_updates_with_annotated_answers_can_be_asked(tmp_path: Path) -> None:
    without = longmemeval_question("abs")
    for session in without["haystack_sessions"]:
        for turn in session:
            turn.pop("has_answer", None)
    elsewhere = longmemeval_question("elsewhere", answer_session_ids=["s9"])
    other = longmemeval_question("other", question_type="multi-session")
    dialogues = load(tmp_path, longmemeval_question("z"), without, other, elsewhere, longmemeval_question("a"))
    assert [dialogue.dialogue_id for dialogue in dialogues] == ["z", "abs", "elsewhere", "a"]
    pool = authored_pool(dialogues, "lme_ku")
    assert [question.example_id for question in pool.questions] == ["lme_ku_a", "lme_ku_z"]
    assert pool.counts == {"dialogues": 4, "dropped: no annotated answer turn": 2, "questions": 2}


def test_has_answer_false_is_no_answer(tmp_path: Path) -> None:
    record = longmemeval_question()
    record["haystack_sessions"][0][0]["has_answer"] = False
    assert load(tmp_path, record)[0].questions[0].support_turns == (9,)


@pytest.mark.parametrize(
    ("question", "slot"),
    [
        ("What is my dog's name?", "dog s name"),
        ("What's the best time I ran this year?", "best time i ran this"),
        ("What brand?", "brand"),
        ("How many kites do I own?", "how many kites do i"),
        ("?", "lme_ku_q1"),
    ],
)
def test_the_label_is_taken_from_the_question(question: str, slot: str) -> None:
    assert memory_slot(question, "q1") == slot


def test_sessions_dates_and_ids_must_agree_in_number(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="3 sessions, 1 dates and 3 session ids"):
        load(tmp_path, longmemeval_question(haystack_dates=["2023"]))


def test_built_as_published_with_the_cap_recorded_and_none_under_matched(tmp_path: Path) -> None:
    corpus = write_json(tmp_path / NAME, [longmemeval_question("b"), longmemeval_question("a", answer="three")])
    out = tmp_path / "r"
    result = run_command(
        "tpbench-data", "build", f"--corpus=lme_ku={corpus}", "--protocol=paper,matched",
        "--methods=full_context,recency,first_turns,uniform_stride,random", "--out", out,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert run_command("tpbench-data", "validate", out).stdout.endswith("valid\n")
    release = Release.open(out)
    assert release.manifest["corpora"]["lme_ku"]["turn_characters"] == 200
    assert release.probes == ["current_value"]
    rows = release.table("current_value").to_pylist()
    paper = [row for row in rows if row["protocol"] == "paper"]
    assert len(paper) == 2 * 9, "four methods, and random selection with five seeds"
    assert sorted({row["selector_seed"] for row in paper if row["method"] == "random"}) == [42, 43, 44, 45, 46]
    assert [row["example_id"] for row in paper[:1]] == ["lme_ku_a"]
    full = {row["protocol"]: row for row in rows if row["method"] == "full_context" and row["example_id"] == "lme_ku_b"}
    assert CUT_MARK in full["paper"]["context"]
    assert CUT_MARK not in full["matched"]["context"]
    assert full["matched"]["full_context_words"] > full["paper"]["full_context_words"]
    assert full["paper"]["prompt"][1]["content"].count("How many kites do I own?") == 1
    assert full["paper"]["slot"] == "how many kites do i"
    assert full["paper"]["reference_value"] == "3"
    assert full["paper"]["answer_turns"] == [1, 9]


def test_the_cap_can_be_switched_off_and_the_manifest_says_so(tmp_path: Path) -> None:
    corpus = write_json(tmp_path / NAME, [longmemeval_question()])
    for value, cut, recorded in (("none", False, None), ("20", True, 20)):
        out = tmp_path / value
        result = run_command(
            "tpbench-data", "build", f"--corpus=lme_ku={corpus}", f"--turn-cap=lme_ku={value}", "--methods=recency",
            "--ratios=1", "--out", out,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        release = Release.open(out)
        assert release.manifest["corpora"]["lme_ku"]["turn_characters"] == recorded
        assert (CUT_MARK in release.table("current_value")["context"][0].as_py()) is cut
        assert run_command("tpbench-data", "validate", out).returncode == 0
