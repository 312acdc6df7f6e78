"""Scoring whole runs: joins, denominators, and what becomes of every planned input."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from small_release import output_rows, probe_row, run_row, write_small_release, write_small_run

from tpbench_data import __version__
from tpbench_data.errors import BadInput
from tpbench_data.release.reader import Release
from tpbench_data.run_folder import read_run
from tpbench_score import score, score_answer
from tpbench_score.records import ANSWER_FIELDS, REASONS
from tpbench_score.scoring import SCORES, count_rows
from tpbench_score.signature import Signature, signature_of

PROBES = ("initial_goal", "current_value", "joint_recovery")
ANSWERS = {
    "initial_goal": '{"value": "book a quiet table"}',
    "current_value": '{"value": "12:00"}',
    "joint_recovery": '{"value": "book a table; time: 12 pm"}',
}
ROWS: dict[str, list[dict[str, Any]]] = {probe: [probe_row(probe, n) for n in range(4)] for probe in PROBES}
ALL_ROWS = [row for probe in PROBES for row in ROWS[probe]]
P2_ROWS = ROWS["current_value"]


def good_answers() -> dict[str, Any]:
    return {row["input_id"]: ANSWERS[probe] for probe in PROBES for row in ROWS[probe]}


@pytest.fixture
def release(tmp_path: Path) -> Release:
    return write_small_release(tmp_path / "r", ROWS)


def rows_by_id(table: pa.Table) -> dict[str, dict[str, Any]]:
    return {row["input_id"]: row for row in table.to_pylist()}


def test_every_row_is_what_the_single_answer_scores(release: Release, tmp_path: Path) -> None:
    texts = [*ANSWERS.values(), "", "no json", '{"value": 25}', '{"value": "6 pm"}', '{"value": "\\ud800; x: y"}']
    answers = {row["input_id"]: texts[n % len(texts)] for n, row in enumerate(ALL_ROWS)}
    table = score(release, [write_small_run(tmp_path / "x", ALL_ROWS, answers)])
    assert table.schema.equals(SCORES)
    for row, planned in zip(table.to_pylist(), ALL_ROWS, strict=True):
        expected = score_answer(
            row["probe"],
            answers[row["input_id"]],
            corpus="sgd",
            reference_goal=planned["reference_goal"],
            reference_value=planned["reference_value"],
        )
        for field in set(ANSWER_FIELDS) - {"answer", "goal_segment"}:
            assert row[field] == getattr(expected, field), field
        assert row["reason"] in REASONS


def test_columns_of_input_run_and_method(release: Release, tmp_path: Path) -> None:
    run = write_small_run(tmp_path / "x", P2_ROWS, good_answers(), role="budgets")
    row = score(release, [run]).to_pylist()[0]
    expected = {
        "run_id": "tiny-00000000",
        "reader": "tiny",
        "role": "budgets",
        "probe": "current_value",
        "example_id": "sgd_d0__qa_00",
        "slot": "time",
        "method": "recency",
        "ratio": 0.3,
        "sample_seeds": [42],
        "alias_equivalent": False,
        "scorer": "paper-1",
        "status": "ok",
        "error": None,
        "token_f1": None,
        "parsed": None,
    }
    assert {name: row[name] for name in expected} == expected


def test_a_kv_run_is_reported_under_its_kv_method_and_ratio(release: Release, tmp_path: Path) -> None:
    compressed = [row | {"method": "snapkv", "ratio": 0.5} for row in P2_ROWS]
    table = score(release, [write_small_run(tmp_path / "x", compressed, good_answers())])
    assert set(table["method"].to_pylist()) == {"snapkv"}
    assert set(table["ratio"].to_pylist()) == {0.5}


def test_rows_come_in_release_order_whatever_the_plan_says(release: Release, tmp_path: Path) -> None:
    shuffled = random.Random(7).sample(ALL_ROWS, len(ALL_ROWS))
    first = score(release, [write_small_run(tmp_path / "a", ALL_ROWS, good_answers())])
    second = score(release, [write_small_run(tmp_path / "b", shuffled, good_answers())])
    assert first.equals(second)
    assert first["input_id"].to_pylist() == [row["input_id"] for row in ALL_ROWS]


def test_inputs_outside_the_plan_are_not_missing(release: Release, tmp_path: Path) -> None:
    table = score(release, [write_small_run(tmp_path / "x", P2_ROWS[:2], good_answers())])
    assert table.num_rows == 2


def test_a_planned_input_without_output_is_an_error_that_lists_it(release: Release, tmp_path: Path) -> None:
    answers = good_answers()
    del answers[P2_ROWS[1]["input_id"]]
    run = write_small_run(tmp_path / "x", P2_ROWS, answers)
    with pytest.raises(BadInput) as caught:
        score(release, [run])
    assert "1 of 4 planned inputs have no output" in str(caught.value)
    assert P2_ROWS[1]["input_id"] in str(caught.value)
    assert "--allow-missing" in str(caught.value)


def test_missing_inputs_are_counted_wrong_when_allowed(release: Release, tmp_path: Path) -> None:
    last = ALL_ROWS[-1]["input_id"]
    run = write_small_run(tmp_path / "x", ALL_ROWS, {last: ANSWERS["joint_recovery"]})
    with pytest.raises(BadInput, match=r"11 of 12 planned .* and 6 more"):
        score(release, [run])
    table = score(release, [run], allow_missing=True)
    for row in table.to_pylist()[:-1]:
        assert (row["status"], row["reason"], row["answer"]) == ("missing", "missing", None)
        assert not any(row[verdict] for verdict in ("strict", "loose", "abstained"))
    assert table["token_f1"].to_pylist()[0] == 0.0
    nothing = {"planned": 4, "ok": 0, "error": 0, "missing": 4, "strict": 0, "loose": 0, "abstained": 0}
    one = nothing | {"ok": 1, "missing": 3, "strict": 1, "loose": 1}
    assert [found for _, found in count_rows(table)] == [nothing, nothing, one]


def test_a_reader_error_zeroes_p2_but_p1_and_p3_texts_are_scored(release: Release, tmp_path: Path) -> None:
    outputs = output_rows("tiny-00000000", ALL_ROWS, good_answers())
    for output in outputs:
        output |= {"error": "no-json", "finish_reason": "error"}
    rows = score(release, [write_small_run(tmp_path / "x", ALL_ROWS, {}, outputs=outputs)]).to_pylist()
    assert {row["status"] for row in rows} == {"error"}
    assert {row["error"] for row in rows} == {"no-json"}
    for row in rows:
        if row["probe"] == "current_value":
            assert (row["strict"], row["abstained"], row["reason"], row["answer"]) == (False, False, "error", None)
        else:
            assert (row["strict"], row["reason"]) == (True, "match")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda rows: [*rows, rows[1]], "outputs.parquet, row 5, field 'input_id': .*d1.* appears twice"),
        (
            lambda rows: [*rows, rows[0] | {"input_id": ALL_ROWS[0]["input_id"]}],
            "outputs.parquet, row 5, .* is not in the plan of this run",
        ),
        (lambda rows: [rows[0] | {"input_id": "nonsense"}, *rows[1:]], "row 1, .*'nonsense' is not in the plan"),
    ],
)
def test_duplicate_and_unknown_outputs_are_named(release: Release, tmp_path: Path, change: Any, problem: str) -> None:
    outputs = change(output_rows("tiny-00000000", P2_ROWS, good_answers()))
    run = write_small_run(tmp_path / "x", P2_ROWS, {}, outputs=outputs)
    for allowed in (False, True):
        with pytest.raises(BadInput, match=problem):
            score(release, [run], allow_missing=allowed)


def test_a_plan_that_names_an_input_twice_is_refused(release: Release, tmp_path: Path) -> None:
    run = write_small_run(tmp_path / "x", [*P2_ROWS, P2_ROWS[2]], good_answers())
    with pytest.raises(BadInput, match=r"plan.parquet, row 5, field 'input_id': .* appears twice"):
        score(release, [run])


def test_a_run_of_another_release_is_recognised_by_id_or_prompt(release: Release, tmp_path: Path) -> None:
    stranger = probe_row("current_value", 99)
    run = write_small_run(tmp_path / "x", [stranger], {stranger["input_id"]: "{}"})
    with pytest.raises(BadInput, match="is not an input of this release"):
        score(release, [run])
    same_id = P2_ROWS[3] | {"prompt": [{"role": "user", "content": "another context"}]}
    run = write_small_run(tmp_path / "y", [*P2_ROWS[:3], same_id], good_answers())
    with pytest.raises(BadInput, match=r"plan.parquet, row 4, .*another release"):
        score(release, [run])


def test_an_import_without_prompts_has_nothing_to_compare(tmp_path: Path) -> None:
    row = probe_row("current_value", prompt=None, context=None, kept_turns=None)
    release = write_small_release(tmp_path / "r", {"current_value": [row]})
    planned = row | {"prompt": [{"role": "user", "content": "x"}]}
    run = write_small_run(tmp_path / "x", [planned], {row["input_id"]: ANSWERS["current_value"]})
    scored = score(release, [run]).to_pylist()[0]
    assert (scored["strict"], scored["retained"]) == (True, None)


def test_folders_of_one_run_are_united(release: Release, tmp_path: Path) -> None:
    whole = score(release, [write_small_run(tmp_path / "w", ALL_ROWS, good_answers())])
    parts = [
        write_small_run(tmp_path / "a", ALL_ROWS[5:], good_answers()),
        write_small_run(tmp_path / "b", ALL_ROWS[:5], good_answers()),
    ]
    assert score(release, parts).equals(whole)


def test_parts_may_share_a_plan_but_not_an_answer(release: Release, tmp_path: Path) -> None:
    answers = good_answers()
    half = {row["input_id"] for row in P2_ROWS[:2]}
    first = write_small_run(tmp_path / "a", P2_ROWS, {key: answers[key] for key in half})
    rest = {row["input_id"]: answers[row["input_id"]] for row in P2_ROWS[2:]}
    second = write_small_run(tmp_path / "b", P2_ROWS, rest)
    assert score(release, [first, second]).num_rows == 4
    with pytest.raises(BadInput, match=r"is answered in .* as well"):
        score(release, [first, second, write_small_run(tmp_path / "c", P2_ROWS, rest)])


def test_one_reader_in_two_roles_is_two_runs(release: Release, tmp_path: Path) -> None:
    main = write_small_run(tmp_path / "a", P2_ROWS, good_answers())
    deletion = write_small_run(tmp_path / "b", P2_ROWS, good_answers(), role="deletion")
    assert score(release, [main, deletion])["role"].to_pylist() == ["main"] * 4 + ["deletion"] * 4


def test_run_folders_can_be_given_as_objects_and_the_release_as_a_path(release: Release, tmp_path: Path) -> None:
    run = write_small_run(tmp_path / "x", P2_ROWS, good_answers())
    assert score(str(release.path), [read_run(run)]).equals(score(release, [str(run)]))


def test_no_run_folder_at_all_is_an_error(release: Release) -> None:
    with pytest.raises(BadInput, match="no run folder given"):
        score(release, [])


def test_an_unknown_scorer_is_an_error(release: Release, tmp_path: Path) -> None:
    run = write_small_run(tmp_path / "x", P2_ROWS, good_answers())
    with pytest.raises(BadInput, match="unknown scorer 'paper-9'"):
        score(release, [run], rule="paper-9")


# --- runs stored in a release --------------------------------------------------------------------------------


def stored(tmp_path: Path, n_planned: int, outputs: list[dict[str, Any]], **changes: Any) -> Release:
    runs = [run_row("other-11111111", 4), run_row("tiny-00000000", n_planned, **changes)]
    others = output_rows("other-11111111", P2_ROWS, good_answers())
    return write_small_release(tmp_path / "r", ROWS, runs, [*others, *outputs])


def test_stored_runs_give_the_rows_of_their_folders(tmp_path: Path) -> None:
    outputs = output_rows("tiny-00000000", ALL_ROWS, good_answers())
    release = stored(tmp_path, len(ALL_ROWS), outputs[::-1])
    folders = [
        write_small_run(tmp_path / "a", P2_ROWS, good_answers(), run_id="other-11111111"),
        write_small_run(tmp_path / "b", ALL_ROWS, good_answers()),
    ]
    assert score(release).equals(score(release, folders))


@pytest.mark.parametrize(
    ("n_planned", "change", "problem"),
    [
        (5, lambda rows: rows, "planned 5 inputs, but 4 outputs are stored"),
        (5, lambda rows: [*rows, rows[0]], "row 9, field 'input_id': .*d0.* appears twice"),
        (4, lambda rows: [*rows[:3], rows[3] | {"input_id": "nonsense"}], "row 8, .*'nonsense' is not an input"),
        (4, lambda rows: [*rows, rows[0] | {"run_id": "who"}], "row 9, field 'run_id': 'who' is not among the runs"),
    ],
)
def test_stored_outputs_must_be_exactly_the_plan(tmp_path: Path, n_planned: int, change: Any, problem: str) -> None:
    release = stored(tmp_path, n_planned, change(output_rows("tiny-00000000", P2_ROWS, good_answers())))
    for allowed in (False, True):
        with pytest.raises(BadInput, match=problem):
            score(release, allow_missing=allowed)


def test_a_judge_has_no_outputs(tmp_path: Path) -> None:
    table = score(stored(tmp_path, 300, [], role="judge"))
    assert set(table["run_id"].to_pylist()) == {"other-11111111"}


def test_a_release_without_runs_has_no_scores(release: Release) -> None:
    table = score(release)
    assert table.num_rows == 0
    assert table.schema.equals(SCORES)
    assert str(signature_of(table)).startswith("scorer:none|")


# --- diagnostics ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "old_value", "superseded"),
    [
        ('{"value": "18:00"}', "6 pm", True),
        ('{"value": "6 pm", "abstain": true}', "6 pm", True),  # an abstaining answer may state the old value
        ('{"value": "6 pm or so"}', "6 pm", False),
        ('{"value": 6}', "6", False),
        ("no json", "6 pm", False),
        ('{"value": "18:00"}', None, None),
    ],
)
def test_superseded_values(tmp_path: Path, text: str, old_value: str | None, superseded: bool | None) -> None:
    row = probe_row("current_value", old_value=old_value)
    release = write_small_release(tmp_path / "r", {"current_value": [row]})
    table = score(release, [write_small_run(tmp_path / "x", [row], {row["input_id"]: text})])
    assert table["superseded"].to_pylist() == [superseded]


@pytest.mark.parametrize(
    ("context", "retained"),
    [
        ("We meet at 12:00.", True),
        ("We meet at 12 p.m. today.", False),  # the dotted form is no time
        ("We meet at 11.", False),
        ("ends with 12 pm starts", True),  # found across turns without markers as well
        ("", False),
    ],
)
def test_retention(tmp_path: Path, context: str, retained: bool) -> None:
    rows = {probe: [probe_row(probe, context=context)] for probe in PROBES}
    release = write_small_release(tmp_path / "r", rows)
    run = write_small_run(tmp_path / "x", [r for part in rows.values() for r in part], good_answers())
    assert score(release, [run])["retained"].to_pylist() == [None, retained, retained]


def test_values_that_are_no_text_are_stored_as_json_and_lone_surrogates_replaced(
    release: Release, tmp_path: Path
) -> None:
    texts = ['{"value": [1, "\\u2028"]}', '{"value": NaN}', '{"value": "a\\ud800b"}', '{"value": null}']
    answers = {row["input_id"]: text for row, text in zip(P2_ROWS, texts, strict=True)}
    table = score(release, [write_small_run(tmp_path / "x", P2_ROWS, answers)])
    assert table["answer"].to_pylist() == ['[1, "\\u2028"]', '"nan"', "a?b", None]


def test_the_matched_comparison_looks_for_a_flat_object(release: Release, tmp_path: Path) -> None:
    answers = {row["input_id"]: '{"value": "12 pm"} }' for row in P2_ROWS}
    plain = score(release, [write_small_run(tmp_path / "a", P2_ROWS, answers)])
    matched = score(release, [write_small_run(tmp_path / "b", P2_ROWS, answers, role="first_user_recent")])
    assert set(plain["reason"].to_pylist()) == {"no_json"}
    assert set(matched["reason"].to_pylist()) == {"match"}


# --- signature -----------------------------------------------------------------------------------------------


def test_the_signature_says_what_was_scored(release: Release, tmp_path: Path) -> None:
    answers = good_answers()
    del answers[P2_ROWS[0]["input_id"]]
    table = score(release, [write_small_run(tmp_path / "x", P2_ROWS, answers)], allow_missing=True)
    signature = signature_of(table)
    expected = f"scorer:paper-1|release:{release.digest[:8]}|runs:tiny-00000000|missing:1|tpbench:{__version__}"
    assert str(signature) == expected
    assert Signature.parse(expected) == signature
    assert str(signature.extended(bootstrap="5000@20260928")) == expected.replace(
        "|tpbench", "|bootstrap:5000@20260928|tpbench"
    )
    assert "missing:0" in str(signature_of(table.slice(1)))


def test_many_runs_are_given_by_number_and_hash(release: Release, tmp_path: Path) -> None:
    folders = [write_small_run(tmp_path / f"x{n}", P2_ROWS[:1], good_answers(), run_id=f"r-{n}") for n in range(5)]
    text = str(signature_of(score(release, folders)))
    assert "|runs:5-" in text
    assert text == str(signature_of(score(release, folders[::-1])))


@pytest.mark.parametrize(
    ("key", "value"), [("a", "x|y"), ("a", "x:y"), ("a", ""), ("a", "x y"), ("A", "x"), ("a|b", "x")]
)
def test_a_signature_refuses_ambiguous_parts(key: str, value: str) -> None:
    with pytest.raises(ValueError, match="cannot stand in a signature"):
        Signature(((key, value),))


def test_a_table_of_unknown_origin_has_no_signature() -> None:
    with pytest.raises(ValueError, match="without the digest"):
        signature_of(SCORES.empty_table())


def test_a_score_table_is_plain_data(release: Release, tmp_path: Path) -> None:
    table = score(release, [write_small_run(tmp_path / "x", ALL_ROWS, good_answers())])
    assert json.loads(json.dumps(table.to_pylist()))[0]["strict"] is True


# --- the other scorer ----------------------------------------------------------------------------------------


def test_the_other_scorer_accepts_alternatives_and_names_the_parse_level(tmp_path: Path) -> None:
    rows = [probe_row("current_value", n, value_alternatives=["12 pm", "lunch time"]) for n in range(3)]
    release = write_small_release(tmp_path / "r", {"current_value": rows})
    texts = ['{"value": "Lunch time"}', "Sure: {'value': 'noon'}", "no object"]
    run = write_small_run(tmp_path / "x", rows, {row["input_id"]: text for row, text in zip(rows, texts, strict=True)})
    table = score(release, [run], rule="tpbench-1")
    assert table["strict"].to_pylist() == [True, True, False]
    assert table["parse_level"].to_pylist() == ["strict", "repaired", None]
    assert set(table["scorer"].to_pylist()) == {"tpbench-1"}
    published = score(release, [run])
    assert published["strict"].to_pylist() == [False, False, False]
    assert published["parse_level"].to_pylist() == [None, None, None]


@pytest.mark.parametrize(
    ("context", "published", "ours"),
    [
        ("我要去厦门玩", False, True),
        ("我要去 厦 门 玩", False, True),
        ("Fly to Xiamen", False, True),  # a listed alternative
        ("Fly to Xiamenwest", False, False),
    ],
)
def test_each_scorer_has_its_own_test_of_retention(tmp_path: Path, context: str, published: bool, ours: bool) -> None:
    facts = {
        "corpus": "risawoz",
        "context": context,
        "reference_value": "厦门",
        "value_alternatives": ["厦门", "Xiamen"],
    }
    row = probe_row("current_value", **facts)
    release = write_small_release(tmp_path / "r", {"current_value": [row]})
    run = write_small_run(tmp_path / "x", [row], {row["input_id"]: "{}"})
    assert score(release, [run])["retained"].to_pylist() == [published]
    assert score(release, [run], rule="tpbench-1")["retained"].to_pylist() == [ours]


@pytest.mark.parametrize("rule", ["paper-1", "tpbench-1"])
@pytest.mark.parametrize("probe", ["initial_goal", "current_value", "joint_recovery", "free_form"])
def test_a_missing_answer_is_wrong_also_where_an_empty_one_is_right(tmp_path: Path, rule: str, probe: str) -> None:
    row = probe_row(probe) if probe != "free_form" else free_form_row()
    release = write_small_release(tmp_path / "r", {probe: [row]})
    run = write_small_run(tmp_path / "x", [row], {})
    (found,) = score(release, [run], rule=rule, allow_missing=True).to_pylist()
    assert (found["strict"], found["loose"], found["reason"], found["status"]) == (False, False, "missing", "missing")


def free_form_row() -> dict[str, Any]:
    row = probe_row("current_value", input_id="free")
    return row | {"reference_value": None, "old_value": None, "reference_answer": "12 pm", "question": "When?"}
