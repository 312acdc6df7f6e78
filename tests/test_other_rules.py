"""Scorers of single corpora: LongMemEval-KU, Chinese goals, free-form answers, the synthetic deletion test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_release import output_rows, probe_row, write_small_release, write_small_run

from tpbench_score import score
from tpbench_score.answer import score_answer, score_value
from tpbench_score.frozen_inputs import SCORED_CONFIGS
from tpbench_score.records import REASONS, AnswerScore, Reference
from tpbench_score.rules import free_form
from tpbench_score.rules.chinese_goal import STOP_WORDS, tokens
from tpbench_score.rules.lme_ku import normal_form, variants
from tpbench_score.rules.synthetic_deletion import reverted, summarize

# --- LongMemEval-KU ------------------------------------------------------------------------------------------


def lme(value: Any, reference: str, **fields: Any) -> AnswerScore:
    text = json.dumps({"value": value, **fields})
    return score_answer("current_value", text, corpus="lme_ku", reference_value=reference)


@pytest.mark.parametrize(
    ("value", "reference", "strict", "loose"),
    [
        ("2", "32", False, False),
        ("0", "220", False, False),
        ("Kansas City Master", "Kansas City Masterpiece", False, True),  # two of three words
        (25, "25", True, True),  # numbers count here
        ("25:50", "25 minutes and 50 seconds (or 25:50)", True, True),
        ("WA", "Seattle (WA)", True, True),  # every parenthesis is an alternative
        ("Seattle", "Seattle (WA)", True, True),
        ("7:30 p.m.", "7:30 pm", True, True),  # the dotted form is a time here
        ("1200", "1,200", False, False),
        ("1 200", "1,200", True, True),
        ("$ 400,000", "$400,000", True, True),
        ("3.5", "3,5", True, True),  # dots and commas are gone before numbers are compared
        ("3 and 5", "3,5", False, False),
        (True, "True", False, False),
        ("I said 25 of them", "25", True, True),
        ("every other week", "Every week", False, True),  # one of {every, week} is half
        ("week", "Every single week", False, False),  # half of three is two
        ("25", "?", False, False),
    ],
)
def test_lme_ku_scores(value: Any, reference: str, strict: bool, loose: bool) -> None:
    result = lme(value, reference)
    assert (result.strict, result.loose, result.abstained) == (strict, loose, False)


def test_lme_ku_abstains_without_json_or_value() -> None:
    for text in ("no json", "[]", '{"value": null}', '{"value": "None"}', '{"value": 3, "abstain": "false"}'):
        assert score_answer("current_value", text, corpus="lme_ku", reference_value="3").abstained


def test_lme_ku_variants_of_a_reference() -> None:
    assert variants("25:50 (or 25 minutes, 50 seconds.)") == [
        "25:50 (or 25 minutes, 50 seconds.)",
        "25 minutes, 50 seconds",
        "25:50",
    ]
    assert variants("plain") == ["plain"]
    assert variants("a (b (c))") == ["a (b (c))", "c", "a (b  )"]
    assert variants("()") == ["()"]


def test_lme_ku_normal_form_leaves_bare_numbers_alone() -> None:
    assert normal_form("1300 at 7:30 p.m.") == "1300 at 19:30"
    assert normal_form(3.5) == "3 5"
    assert normal_form(False) == ""


# --- Chinese goals -------------------------------------------------------------------------------------------


def test_chinese_goals_share_code_points() -> None:
    def p1(value: str, reference: str) -> AnswerScore:
        return score_value("initial_goal", value, corpus="risawoz", reference_goal=reference)

    result = p1("找一家餐厅", "想找个餐厅")
    assert (result.strict, result.loose) == (True, True)
    assert result.token_f1 == pytest.approx(0.6)
    assert (p1("找", "想找个餐厅").strict, p1("找", "想找个餐厅").loose) == (False, True)
    assert p1("酒店", "想找个餐厅").reason == "goal_differs"
    assert p1("ＫＦＣ", "kfc 附近").loose


def test_chinese_tokens_keep_latin_words_but_no_stop_words() -> None:
    assert len(STOP_WORDS) == 29
    assert tokens("Please 订 KFC a 5 ２０ table。") == {"订", "kfc", "20", "table"}
    assert tokens("\u3400\u9fff\uf900한あ") == {"\u3400", "\u9fff", "\u8c48"}  # NFKC folds compatibility forms


# --- free-form answers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reference", "old", "right"),
    [
        ("The second approach was preferred.", "second approach", "", True),
        ("east area of town", "EAST ", "", True),
        ("1", "10", "", True),  # a part of the reference is enough
        ("", "10", "", True),  # and so is nothing at all
        ("x", "", "", False),
        ("not found", "east", "", False),
        (" east ", "east", "", True),
        (" eas", "east", "", False),  # the answer is not trimmed
        ('{"answer": "East"}', "east", "", True),
        ('{"answer": 5}', "5", "", True),  # no string: the text itself is the answer
        ("hotel", "new hotel", "hotel", True),  # the only longer word is one of the old answer itself
        ("new hotel", "new hotel", "hotel", True),
        ("some place", "some place", "some place", True),  # the same answer is no old answer
    ],
)
def test_free_form_scores(text: str, reference: str, old: str, right: bool) -> None:
    extracted = free_form.read(free_form.parse(text))
    result = free_form.score(extracted, Reference("fmts", value=reference, old_value=old))
    assert (result.strict, result.loose, result.abstained) == (right, right, False)
    assert result.reason in REASONS


def test_an_answer_without_the_old_answer_that_the_reference_holds_is_wrong() -> None:
    reference = Reference("fmts", value="park and museum", old_value="park")
    answers = {
        text: free_form.score(free_form.read({"value": text}), reference).reason
        for text in ("museum", "park", "the park and the museum")
    }
    assert answers == {"museum": "old_answer", "park": "match", "the park and the museum": "match"}


def test_score_answer_knows_the_free_form_probe() -> None:
    assert score_answer("free_form", "It is in the east.", corpus="fmts", reference_value="east").strict


@pytest.mark.skipif("free_form" not in SCORED_CONFIGS, reason="this schema has no free-form inputs")
def test_free_form_inputs_are_scored_against_their_answers(tmp_path: Path) -> None:
    from tpbench_data.release.schema import CONFIGS

    schema = CONFIGS["free_form"]
    row = dict.fromkeys(schema.names) | probe_row("free_form", reference_goal=None)
    row |= {"question": "Which?", "reference_answer": "table 0", "old_answer": "", "reference_value": "table 0"}
    release = write_small_release(tmp_path / "r", {"free_form": [row]})
    run = write_small_run(tmp_path / "x", [row], {row["input_id"]: "Table 0, I think"}, role="free_form")
    scored = score(release, [run]).to_pylist()[0]
    expected = {"probe": "free_form", "strict": True, "retained": True, "superseded": None, "abstained": False}
    assert {name: scored[name] for name in expected} == expected


# --- synthetic deletion --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "strict", "loose"),
    [
        ("shorter version", True, True),
        ("the shorter version", False, True),
        ("shorter", False, True),  # the other direction
        ("short", False, False),
        ("None", False, False),
        (5, False, False),
        ("?", False, False),
    ],
)
def test_deletion_answers_may_be_a_part_of_the_reference(value: Any, strict: bool, loose: bool) -> None:
    result = score_value("current_value", value, corpus="fmts", reference_value="shorter version")
    assert (result.strict, result.loose) == (strict, loose)
    assert (result.reason == "loose_match") == (loose and not strict)


def test_an_abstaining_deletion_answer_is_never_loose() -> None:
    text = '{"value": "shorter", "abstain": 1}'
    assert not score_answer("current_value", text, corpus="fmts", reference_value="shorter version").loose


def test_reversion_is_a_plain_substring() -> None:
    assert reverted("Suppliers A and B", "supplier", "fmts")
    assert not reverted("", "supplier", "fmts")
    assert not reverted("anything", "?", "fmts")


def test_deletion_summary() -> None:
    items = [(True, False, True)] * 6 + [(True, True, True), (True, False, False), (False, False, True), (False,) * 3]
    found = summarize(items)
    assert (found.items, found.full_correct) == (10, 8)
    assert (found.full, found.without_support, found.without_control) == (0.8, 0.1, 0.8)
    assert (found.validity, found.support_flip, found.control_keep) == (0.6, 7 / 8, 7 / 8)
    assert summarize([]).full is None
    assert summarize([(False, False, False)]).support_flip is None


# --- in whole runs -------------------------------------------------------------------------------------------


def test_a_failed_lme_ku_output_is_wrong_but_may_abstain(tmp_path: Path) -> None:
    rows = [probe_row("current_value", n, corpus="lme_ku", old_value="") for n in range(2)]
    release = write_small_release(tmp_path / "r", {"current_value": rows})
    texts = {rows[0]["input_id"]: '{"value": "12 pm"}', rows[1]["input_id"]: "nothing"}
    outputs = output_rows("tiny-00000000", rows, texts)
    for output in outputs:
        output |= {"error": "exception", "finish_reason": "error"}
    table = score(release, [write_small_run(tmp_path / "x", rows, {}, outputs=outputs)])
    found = [(row["strict"], row["abstained"], row["reason"]) for row in table.to_pylist()]
    assert found == [(False, False, "error"), (False, True, "error")]


def test_corpora_with_their_own_scorer_use_it_in_a_run(tmp_path: Path) -> None:
    rows = [
        probe_row("current_value", 0, corpus="lme_ku", reference_value="Seattle (WA)", old_value=""),
        probe_row("current_value", 1, corpus="fmts", reference_value="shorter version", old_value="version"),
        probe_row("current_value", 2, corpus="sgd", reference_value="shorter version", old_value="version"),
    ]
    release = write_small_release(tmp_path / "r", {"current_value": rows})
    values = ["WA", "longer version", "longer version"]
    answers = {row["input_id"]: json.dumps({"value": value}) for row, value in zip(rows, values, strict=True)}
    table: pa.Table = score(release, [write_small_run(tmp_path / "x", rows, answers)])
    assert table["strict"].to_pylist() == [True, False, False]
    assert table["superseded"].to_pylist() == [None, True, False]


CASES = [("current_value", "lme_ku"), ("current_value", "fmts"), ("initial_goal", "risawoz"), ("free_form", "fmts")]
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text(), max_size=2)


@given(st.sampled_from(CASES), VALUES, st.sampled_from(["25 (or 26)", "12 pm", "east", "想找个餐厅", "", "?"]))
def test_laws_of_the_other_scorers(case: tuple[str, str], value: Any, reference: str) -> None:
    probe, corpus = case
    result = score_value(probe, value, corpus=corpus, reference_goal=reference, reference_value=reference)
    assert result.loose or not result.strict
    assert not (result.abstained and result.loose)
    assert result.reason in REASONS
    assert (result.reason == "match") == result.strict
