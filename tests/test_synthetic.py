"""The synthetic set: deterministic, varied, and every answer in its support turns only."""

from __future__ import annotations

import json
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import run_command
from hypothesis import given
from hypothesis import strategies as st

from tpbench_data.audit.authored import highest_share, is_leaking
from tpbench_data.changes import VALUE_RULES, updates
from tpbench_data.context_facts import lexical_retention
from tpbench_data.corpora import corpus_named
from tpbench_data.dialogue import Dialogue
from tpbench_data.errors import BadInput
from tpbench_data.han import value_stated
from tpbench_data.names import TRANSITION_TYPES
from tpbench_data.release.reader import Release
from tpbench_data.synthetic.draws import Draws
from tpbench_data.synthetic.generate import plain_lines, synthesize
from tpbench_data.synthetic.grammar import LANGUAGES, bare, grammar_of

PER_TYPE = 40


@pytest.fixture(scope="module", params=LANGUAGES)
def made(request: pytest.FixtureRequest) -> list[Dialogue]:
    return synthesize(request.param, 1, PER_TYPE)


def test_forty_dialogues_of_each_of_the_five_types(made: list[Dialogue]) -> None:
    kinds = Counter(dialogue.questions[0].transition_type for dialogue in made)
    assert kinds == dict.fromkeys(TRANSITION_TYPES, PER_TYPE)
    assert len({dialogue.dialogue_id for dialogue in made}) == len(made)
    assert all(len(dialogue.questions) == 1 for dialogue in made)


def test_no_answer_is_retained_without_its_support_turns(made: list[Dialogue]) -> None:
    leaks = []
    for dialogue in made:
        (asked,) = dialogue.questions
        assert len(asked.support_turns) in (3, 4)
        row = {"support_turns": asked.support_turns, "reference_answer": asked.answer}
        left = [text for turn, text in enumerate(dialogue.texts) if turn not in asked.support_turns]
        if is_leaking(dialogue, row) or asked.answer.lower() in "\n".join(left).lower():
            leaks.append(dialogue.dialogue_id)
    assert leaks == []


def test_every_answer_can_be_found_in_the_full_dialogue(made: list[Dialogue]) -> None:
    for dialogue in made:
        (asked,) = dialogue.questions
        stating = [t for t, text in enumerate(dialogue.texts) if value_stated(asked.answer, text, dialogue.corpus)]
        assert stating
        assert set(stating) <= set(asked.support_turns)
        assert not lexical_retention(asked.answer, asked.question)
        assert asked.answer != asked.old_answer


def test_no_two_dialogues_share_more_than_a_third_of_their_turns(made: list[Dialogue]) -> None:
    share, pair = highest_share(made)
    assert share <= Fraction(1, 3), pair


def test_turns_alternate_and_are_clean_text(made: list[Dialogue]) -> None:
    for dialogue in made:
        assert dialogue.speakers == ("user", "system") * (len(dialogue) // 2)
        for text in dialogue.texts:
            assert not re.search(r"[\[\]{}|]|  | [,.?!;]|\.\.|\?\?", text), text
            assert text == text.strip()


def test_states_follow_the_user_and_show_the_transition(made: list[Dialogue]) -> None:
    for dialogue in made:
        (asked,) = dialogue.questions
        before = _slot(dialogue, asked.update_turn - 1, asked.slot)
        after = _slot(dialogue, asked.update_turn, asked.slot)
        last = _slot(dialogue, len(dialogue) - 1, asked.slot)
        assert after == last, "the answer holds to the end"
        if asked.transition_type == "add_constraint":
            assert (before, after) == (None, asked.answer)
        elif asked.transition_type == "remove_constraint":
            assert (before, after) == (asked.answer, None)
        else:
            assert (before, after) == (asked.old_answer, asked.answer)
            found = [u for u in updates(dialogue, VALUE_RULES["disjoint"]) if u.slot == asked.slot]
            assert found[-1].turn == asked.update_turn
            assert len(found) == (2 if asked.transition_type == "return_value" else 1)


def test_a_return_goes_back_to_the_first_value(made: list[Dialogue]) -> None:
    for dialogue in made:
        (asked,) = dialogue.questions
        if asked.transition_type == "return_value":
            values = [_slot(dialogue, turn, asked.slot) for turn in range(len(dialogue))]
            first = next(value for value in values if value is not None)
            assert first == values[-1] == asked.answer
            assert len(asked.boundary_turns) == 2


def _slot(dialogue: Dialogue, turn: int, slot: str) -> str | None:
    state = dialogue.states[turn]
    assert state is not None
    (slots,) = state.values()
    return slots[slot][0] if slot in slots else None


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_seed_decides_every_byte(language: str) -> None:
    once = plain_lines(synthesize(language, 5, 2))
    assert once == plain_lines(synthesize(language, 5, 2))
    assert once != plain_lines(synthesize(language, 6, 2))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_type_alone_is_what_it_is_among_others_where_no_redraw_is_needed(language: str) -> None:
    alone = {d.dialogue_id: d for d in synthesize(language, 5, 3, ["switch_goal"])}
    among = {d.dialogue_id: d for d in synthesize(language, 5, 3)}
    same = sum(among[name] == dialogue for name, dialogue in alone.items())
    assert same >= 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_grammar_is_complete(language: str) -> None:
    grammar = grammar_of(language)
    assert len(grammar.scenarios) == 10
    for scenario in grammar.scenarios:
        names = [slot.name for slot in scenario.slots]
        assert len(set(names)) == len(names) >= 4
        for slot in scenario.slots:
            assert len({bare(value) for value in slot.values}) >= 6, slot.name
            assert slot.question
            assert slot.ask
            assert slot.tell
            assert "{value}" in slot.phrase
        assert len(set(scenario.requirements)) >= 6
        assert len(set(scenario.goals)) >= 6
        for fact in (*scenario.facts, *grammar.facts):
            assert len(fact.q) == len(fact.a)


@given(st.integers(1, 1000), st.integers())
def test_draws_stay_in_range_and_repeat(n: int, key: int) -> None:
    first, second = Draws(key), Draws(key)
    drawn = [first.below(n) for _ in range(5)]
    assert drawn == [second.below(n) for _ in range(5)]
    assert all(0 <= value < n for value in drawn)
    assert sorted(Draws(key).shuffled(range(7))) == list(range(7))


def test_draws_never_move() -> None:
    draws = Draws(1, "en-replace_value-000", 0)
    assert [draws.below(10) for _ in range(8)] == [4, 4, 0, 0, 6, 6, 9, 7]


def test_unknown_languages_and_types_are_refused() -> None:
    with pytest.raises(BadInput, match="unknown language 'xx'"):
        synthesize("xx", 1, 1)
    with pytest.raises(BadInput, match="unknown transition type 'swap'"):
        synthesize("en", 1, 1, ["swap"])


def test_the_command_writes_a_plain_corpus_that_builds_and_passes_its_audit(tmp_path: Path) -> None:
    for language in LANGUAGES:
        path = tmp_path / f"tpbench_{language}.jsonl"
        result = run_command(
            "tpbench-data", "synthesize", "--language", language, "--seed", 3, "--per-type", 3, "--out", path, "--json"
        )
        assert result.returncode == 0, result.stderr
        assert json.loads(result.stdout)["dialogues"] == 15
        corpus = corpus_named(path.stem)
        dialogues = list(corpus.dialogues(corpus.files(path)))
        assert dialogues == synthesize(language, 3, 3), "what is written is what is read"
        again = run_command("tpbench-data", "synthesize", "--language", language, "--seed", 3, "--out", path)
        assert again.returncode == 2
        assert "already exists" in again.stderr
    out = tmp_path / "r"
    corpora = [f"--corpus=tpbench_{language}={tmp_path}/tpbench_{language}.jsonl" for language in LANGUAGES]
    result = run_command(
        "tpbench-data", "build", *corpora, "--methods=full_context,recency,deletions", "--out", out, "--workers=2"
    )
    assert result.returncode == 0, result.stderr
    assert run_command("tpbench-data", "validate", out).returncode == 0
    audit = run_command("tpbench-data", "audit", out)
    assert audit.returncode == 0, audit.stdout
    assert "answers retained without the support turns" in audit.stdout
    rows = Release.open(out).table("free_form").to_pylist()
    for row in rows:
        retained = lexical_retention(row["reference_answer"], row["context"])
        assert retained == (row["method"] != "drop_evidence") or row["method"] in ("recency", "drop_update")
    templates = {(row["language"], row["template"]) for row in rows}
    assert templates == {("en", "free_form@1"), ("zh", "free_form_zh@1")}
