"""Free-form questions: derived by rule from states, or authored; and their columns in a release."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import run_command, shared_file
from corpus_files import plain_dialogue, write_plain

from tpbench_data.budget import keep_count
from tpbench_data.corpora import MULTIWOZ, corpus_named
from tpbench_data.dialogue import Dialogue
from tpbench_data.free_form import FreeFormCollector, derived_question
from tpbench_data.release.reader import Release


def dialogue(values: list[dict[str, str]], *, language: str = "en", corpus: str = "cafe") -> Dialogue:
    """One user turn per entry, each stating its values, and a system turn after it."""
    speakers = ("user", "system") * len(values)
    texts = [text for entry in values for text in (", ".join(entry.values()) or "hello", "ok")]
    states = [
        state for entry in values for state in ({"Cafes_2": {slot: (value,) for slot, value in entry.items()}}, None)
    ]
    return Dialogue("d", corpus, language, speakers, tuple(texts), tuple(states))


BASE = {"area": "north"}


def test_a_replacement_in_the_middle_is_preferred_to_an_addition() -> None:
    asked = derived_question(
        dialogue([BASE, BASE, BASE | {"day": "monday"}, {"area": "south", "day": "monday"}, BASE | {"area": "south"}])
    )
    assert asked is not None
    assert (asked.transition_type, asked.slot, asked.answer, asked.old_answer) == (
        "replace_value",
        "area",
        "south",
        "north",
    )
    assert asked.boundary_turns == (6,)
    assert asked.support_turns == (4, 6), "the last turn with the old value, and the boundary"
    assert asked.question == "In the part of the conversation about cafes, what is the user's current choice for area?"


def test_an_addition_is_supported_by_the_turn_before_it() -> None:
    asked = derived_question(dialogue([BASE, BASE, BASE | {"day": "monday"}, BASE | {"day": "monday"}]))
    assert asked is not None
    assert (asked.transition_type, asked.answer, asked.old_answer) == ("add_constraint", "monday", "")
    assert asked.support_turns == (3, 4)


@pytest.mark.parametrize(
    "values",
    [
        [BASE, BASE | {"day": "monday"}, BASE | {"day": "friday"}, BASE | {"day": "sunday"}],  # changes once more
        [BASE | {"day": "monday"}, BASE, BASE | {"day": "monday"}, BASE],  # returns, so it is no addition
        [BASE, BASE, {"area": "dontcare"}, {"area": "dontcare"}],  # not a value
        [BASE, {"area": "dontcare"}, {"area": "dontcare"}, {"area": "south"}],  # outside the middle
        [BASE, BASE, BASE, BASE],
    ],
)
def test_no_question_without_a_lasting_change_in_the_middle(values: list[dict[str, str]]) -> None:
    found = derived_question(dialogue(values))
    assert found is None


def test_an_unstated_value_gives_no_question() -> None:
    made = dialogue([BASE, BASE, {"area": "south"}, {"area": "south"}])
    silent = Dialogue("d", "cafe", "en", made.speakers, ("x",) * len(made), made.states)
    assert derived_question(made) is not None
    assert derived_question(silent) is None


def test_ties_go_to_the_earlier_turn_then_to_the_first_slot() -> None:
    values = [BASE, BASE | {"b": "two", "a": "one"}, BASE | {"b": "two", "a": "one"}, BASE | {"a": "one"}]
    asked = derived_question(dialogue(values))
    assert asked is not None
    assert (asked.slot, asked.update_turn) == ("a", 2)


def test_the_wording_follows_the_language_and_an_unknown_one_gets_none() -> None:
    values = [BASE, BASE, {"area": "south"}, {"area": "south"}]
    chinese = derived_question(dialogue(values, language="zh-CN"))
    assert chinese is not None
    assert "cafes" in chinese.question
    assert "area" in chinese.question
    assert derived_question(dialogue(values, language="fr")) is None


def test_authored_questions_are_all_taken_and_derived_ones_up_to_the_limit() -> None:
    corpus = corpus_named("cafe")
    values = [BASE, BASE, {"area": "south"}, {"area": "south"}]
    plain = Dialogue("x", "cafe", "en", *(getattr(dialogue(values), f) for f in ("speakers", "texts", "states")))
    collector = FreeFormCollector(derive=True, limit=2)
    assert list(collector.watch([plain] * 5)) == [plain] * 5
    assert collector.counts["derived"] == 2
    assert corpus.name == "cafe"


def test_derived_sets_of_real_dialogues_mix_replacements_and_additions() -> None:
    dialogues = list(MULTIWOZ.dialogues(MULTIWOZ.files(shared_file("corpora/multiwoz21"))))
    collector = FreeFormCollector(derive=True, limit=200)
    for made in dialogues:
        collector.add(made)
    assert len(collector.found) == 200
    assert collector.counts["derived: replace_value"] + collector.counts["derived: add_constraint"] == 200
    assert 20 <= collector.counts["derived: replace_value"] <= 100
    for made, _, asked in collector.found:
        span = len(made) - 1
        assert span <= 5 * asked.update_turn <= 4 * span
        assert made.speakers[asked.update_turn] == "user"
        assert asked.answer not in ("dontcare", "")


def test_columns_prompts_budgets_and_renderings(tmp_path: Path) -> None:
    path = write_plain(tmp_path / "own.jsonl", plain_dialogue("a"), plain_dialogue("b", questions=[]))
    out = tmp_path / "r"
    result = run_command(
        "tpbench-data", "build", f"--corpus=cafe={path}", "--ratios=0.4", "--protocol=paper,matched",
        "--methods=recency,random,deletions", "--out", out, "--json",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert run_command("tpbench-data", "validate", out).returncode == 0
    rows = Release.open(out).table("free_form").to_pylist()
    assert {row["example_id"] for row in rows} == {"cafe_a__qa_00"}, "nothing is derived unless asked for"
    row = next(r for r in rows if r["method"] == "recency" and r["protocol"] == "paper")
    assert row["k_turns"] == keep_count(7, 0.4, "floor") == 2
    assert row["context"] == "Half past eight it is. Thanks.", "plain rendering"
    assert row["input_id"].split("|")[:3] == ["cafe", "cafe_a__qa_00", "free_form"]
    for column in ("reference_goal", "reference_value", "old_value", "value_alternatives", "alias_equivalent"):
        assert row[column] is None
    assert (row["reference_answer"], row["old_answer"]) == ("half past eight", "six")
    assert row["question"] in row["prompt"][1]["content"]
    assert row["slot_label"] == "time"
    matched = next(r for r in rows if r["method"] == "recency" and r["protocol"] == "matched")
    assert matched["k_turns"] == 3
    assert matched["context"].startswith("[T4] USER:")
    assert {r["method_config"] for r in rows if r["method"] == "random"} == {"random", "random(keyed=false)"}


def test_free_form_alone_can_be_asked_of_a_known_corpus(tmp_path: Path, sgd_folder: Path) -> None:
    out = tmp_path / "r"
    result = run_command(
        "tpbench-data", "build", f"--corpus=sgd={sgd_folder}", "--probes=free_form", "--methods=recency", "--out", out
    )
    assert result.returncode == 0, result.stderr
    assert "derived: replace_value" in result.stdout
    assert Release.open(out).configs == ["dialogues", "free_form"]
    assert run_command("tpbench-data", "validate", out).returncode == 0
