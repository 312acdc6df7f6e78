"""The main tables from score rows: denominators, marks, seeds, protocols, and what is said where inputs lack."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from score_rows import cell, row, table

from tpbench_data.errors import BadInput
from tpbench_score.tables import (
    FIGURES,
    TABLES,
    Cell,
    Number,
    Scores,
    Study,
    TableResult,
    Unavailable,
    Universe,
    make_tables,
    open_study,
)
from tpbench_score.tables.registry import chosen_tables

MAIN = (3, 10, 23, 24, 25)


def study(rows: list[dict[str, Any]], **settings: Any) -> Study:
    opening = {key: settings.pop(key) for key in ("reader", "runs") if key in settings}
    return open_study(Study(Scores.from_arrow(table(rows)), **settings), **opening)


def results(number: int, rows: list[dict[str, Any]], **settings: Any) -> list[TableResult]:
    made = make_tables(study(rows, **settings), chosen_tables([number], []))
    assert all(isinstance(r, TableResult) for r in made), made
    return [r for r in made if isinstance(r, TableResult)]


def result(number: int, rows: list[dict[str, Any]], **settings: Any) -> TableResult:
    (only,) = results(number, rows, **settings)
    return only


def at(made: TableResult, row_key: str, column_key: str) -> Cell:
    place = [c.key for c in made.columns].index(column_key)
    return next(r for r in made.rows if r.key == row_key).cells[place]


def first(made: TableResult, row_key: str, column_key: str) -> Number:
    return at(made, row_key, column_key).numbers[0]


def best_rows(made: TableResult, column_key: str, part: int = 0) -> list[str]:
    return [r.key for r in made.rows if at(made, r.key, column_key).numbers[part].best]


P2 = "sgd.current_value.strict"


# --- cells ------------------------------------------------------------------------------------------------------


def test_a_cell_is_the_mean_over_seeds_although_seeds_differ_in_size() -> None:
    made = result(3, cell((86, 87, 93), (128, 125, 132), method="full_context"))
    number = first(made, "full_context", P2)
    assert number.value == pytest.approx((86 / 128 + 87 / 125 + 93 / 132) / 3, abs=1e-15)
    assert [(s.seed, s.n) for s in number.per_seed] == [(42, 128), (43, 125), (44, 132)]
    assert number.sd == pytest.approx(0.016943, abs=1e-6)


def test_a_row_of_two_sample_seeds_counts_in_both_and_is_one_input() -> None:
    rows = [row(example_id="a", sample_seeds=[42, 43], strict=True), row(example_id="b", sample_seeds=[43])]
    made = result(24, rows)
    number = first(made, "recency", "sgd.current_value.strict.r030")
    assert [(s.seed, s.value, s.n) for s in number.per_seed] == [(42, 1.0, 1), (43, 0.5, 2)]
    assert number.value == 0.75
    assert number.counts is not None
    assert number.counts.planned == 2


def test_rows_of_no_sample_are_one_group_without_deviation() -> None:
    made = result(24, [row(example_id=str(i), sample_seeds=[], strict=i == 0) for i in range(4)])
    number = first(made, "recency", "sgd.current_value.strict.r030")
    assert (number.value, number.sd) == (0.25, None)
    assert number.per_seed[0].seed is None


def test_missing_answers_and_errors_count_as_wrong_and_are_named() -> None:
    rows = cell((2,), (4,), seeds=(42,), method="recency")
    rows[2] |= {"status": "missing", "reason": "missing"}
    rows[3] |= {"status": "error", "reason": "error"}
    made = result(24, rows)
    number = first(made, "recency", "sgd.current_value.strict.r030")
    assert number.value == 0.5
    counts = number.counts
    assert counts is not None
    assert (counts.planned, counts.answered, counts.errors, counts.missing, counts.parsed) == (4, 3, 1, 1, 2)
    assert "Reader errors, counted as wrong: Recency 1." in made.notes
    assert "Missing answers, counted as wrong: Recency 1." in made.notes


def test_a_limited_run_says_n_of_n_and_keeps_its_plan_as_denominator() -> None:
    inputs = pa.table(
        {
            "corpus": ["sgd"] * 385,
            "protocol": ["paper"] * 385,
            "example_id": [f"e{number}" for number in range(385)],
            "method": ["recency"] * 385,
            "method_config": ["recency"] * 385,
            "ratio": [0.3] * 385,
            "sample_seeds": [[42]] * 385,
            "n_turns": [10] * 385,
            "k_turns": [3] * 385,
            "context_words": [25] * 385,
            "full_context_words": [100] * 385,
        }
    )
    universe = Universe.from_inputs({"current_value": inputs})
    made = result(24, cell((5, 3, 4), (14, 13, 13)), universe=universe)
    counts = first(made, "recency", "sgd.current_value.strict.r030").counts
    assert counts is not None
    assert (counts.answered, counts.total, counts.complete) == (40, 385, False)
    assert (counts.turns_kept, counts.words_kept) == (pytest.approx(0.3), pytest.approx(0.25))
    assert any(note.startswith("(n of N)") for note in made.notes)


def test_a_cache_method_is_measured_against_the_full_context_inputs() -> None:
    universe = Universe({("joint_recovery", "sgd", "paper", "full_context", 0.3): 200})
    assert universe.size("joint_recovery", "sgd", "paper", "chunkkv", 0.3, 10) == 200
    assert universe.size("joint_recovery", "sgd", "paper", "chunkkv", None, 10) == 10


def test_a_share_of_nothing_is_a_dash_with_a_reason_and_never_nan() -> None:
    rows = cell((0,), (3,), seeds=(42,), probe="joint_recovery", parsed=False, whole_strict=False)
    made = result(10, rows)
    number = first(made, "recency", "sgd.joint_recovery.strict_given_parsed")
    assert number.value is None
    assert number.why == "no item to count"
    assert first(made, "recency", "sgd.joint_recovery.parsed").value == 0.0


def test_given_parsed_is_the_mean_of_seed_shares_and_not_the_pooled_share() -> None:
    rows = []
    for seed, parsed, right in ((42, 4, 1), (43, 2, 2)):
        for i in range(6):
            rows.append(
                row(
                    example_id=f"{seed}-{i}",
                    probe="joint_recovery",
                    sample_seeds=[seed],
                    parsed=i < parsed,
                    strict=i < right,
                    whole_strict=True,
                )
            )
    number = first(result(10, rows), "recency", "sgd.joint_recovery.strict_given_parsed")
    assert number.value == (1 / 4 + 2 / 2) / 2
    assert [s.n for s in number.per_seed] == [4, 2]


def test_token_f1_is_averaged_per_seed() -> None:
    rows = [
        row(example_id=str(i), probe="initial_goal", sample_seeds=[42 + i % 2], token_f1=f1)
        for i, f1 in enumerate((0.1, 0.5, 0.2, 0.5))
    ]
    number = first(result(23, rows), "recency", "sgd.initial_goal.token_f1")
    assert number.value == pytest.approx((0.15 + 0.5) / 2)


# --- marks ------------------------------------------------------------------------------------------------------


def test_points_of_reference_are_italic_and_never_best() -> None:
    rows = cell((9,), (10,), seeds=(42,), method="full_context")
    rows += cell((8,), (10,), seeds=(42,), method="oracle_evidence")
    rows += cell((7,), (10,), seeds=(42,), method="no_context")
    rows += cell((3,), (10,), seeds=(42,), method="recency")
    rows += cell((2,), (10,), seeds=(42,), method="random", selector_seed=42)
    made = result(3, rows)
    assert [r.key for r in made.rows if r.reference] == ["full_context", "no_context", "oracle_evidence"]
    assert best_rows(made, P2) == ["recency"]
    assert any(note.startswith("Italic: points of reference") for note in made.notes)


def test_an_exact_tie_is_bold_for_all_and_each_number_of_a_pair_has_its_own_best() -> None:
    rows = cell((5,), (10,), loose=(6,), seeds=(42,), method="first_turns", probe="initial_goal")
    rows += cell((5,), (10,), loose=(9,), seeds=(42,), method="uniform_stride", probe="initial_goal")
    made = result(3, rows)
    column = "sgd.initial_goal.strict_loose"
    assert best_rows(made, column, 0) == ["first_turns", "uniform_stride"]
    assert best_rows(made, column, 1) == ["uniform_stride"]


def test_best_is_found_within_each_corpus() -> None:
    rows = cell((5,), (10,), seeds=(42,), method="recency") + cell((4,), (10,), seeds=(42,), method="first_turns")
    rows += cell((1,), (10,), seeds=(42,), method="recency", corpus="own corpus")
    rows += cell((2,), (10,), seeds=(42,), method="first_turns", corpus="own corpus")
    made = result(3, rows)
    assert best_rows(made, P2) == ["recency"]
    assert best_rows(made, "own corpus.current_value.strict") == ["first_turns"]


def test_parse_rate_and_given_parsed_have_no_best_entry() -> None:
    rows = cell((5,), (10,), seeds=(42,), probe="joint_recovery", parsed=True, whole_strict=True)
    made = result(10, rows)
    assert best_rows(made, "sgd.joint_recovery.strict") == ["recency"]
    assert best_rows(made, "sgd.joint_recovery.whole_strict") == ["recency"]
    assert best_rows(made, "sgd.joint_recovery.parsed") == []
    assert best_rows(made, "sgd.joint_recovery.strict_given_parsed") == []


def test_a_cache_method_in_table_25_is_shown_and_never_best() -> None:
    rows = cell((2, 2, 2), (10, 10, 10), probe="joint_recovery", parsed=True)
    rows += cell(
        (9,), (10,), seeds=(42,), probe="joint_recovery", parsed=True, method="chunkkv", role="kv", run_id="kv-0"
    )
    made = result(25, rows)
    number = first(made, "chunkkv", "sgd.joint_recovery.strict")
    assert (number.value, number.sd, number.best) == (0.9, None, False)
    assert best_rows(made, "sgd.joint_recovery.strict") == ["recency"]
    assert any("seed 42" in note for note in made.notes)


def test_deletion_conditions_are_no_rows_of_the_main_tables() -> None:
    rows = cell((2,), (10,), seeds=(42,)) + cell((2,), (10,), seeds=(42,), method="drop_update")
    assert [r.key for r in result(3, rows).rows] == ["recency"]


# --- shape ------------------------------------------------------------------------------------------------------


def test_methods_stand_in_table_order_and_a_users_own_last() -> None:
    methods = ("zeta", "llmlingua2", "recency", "alpha", "full_context", "random")
    rows = [r for m in methods for r in cell((1,), (2,), seeds=(42,), method=m)]
    found = [r.key for r in result(3, rows).rows]
    assert found == ["full_context", "recency", "random", "llmlingua2", "alpha", "zeta"]


def test_every_corpus_has_its_columns_with_the_papers_two_first() -> None:
    rows = [r for c in ("aaa", "multiwoz", "sgd") for r in cell((1,), (2,), seeds=(42,), corpus=c)]
    made = result(3, rows)
    assert [c.group for c in made.columns] == ["SGD"] * 4 + ["MultiWOZ"] * 4 + ["aaa"] * 4


def test_a_condition_that_was_not_run_is_a_dash() -> None:
    rows = cell((1,), (2,), seeds=(42,)) + cell((1,), (2,), seeds=(42,), method="full_context", probe="initial_goal")
    made = result(3, rows)
    number = first(made, "recency", "sgd.initial_goal.strict_loose")
    assert (number.value, number.why) == (None, "not run")


def test_protocols_are_never_mixed() -> None:
    rows = cell((4,), (4,), seeds=(42,)) + cell((0,), (4,), seeds=(42,), protocol="matched")
    made = results(3, rows)
    assert [dict(m.facts)["protocol"] for m in made] == ["matched", "paper"]
    assert [first(m, "recency", P2).value for m in made] == [0.0, 1.0]


def test_ratios_are_columns_in_table_24_and_tables_of_their_own_elsewhere() -> None:
    rows = [r for ratio in (0.1, 0.3, 0.5) for r in cell((1,), (2,), seeds=(42,), ratio=ratio)]
    assert [c.label for c in result(24, rows).columns] == ["r = 0.10", "r = 0.30", "r = 0.50"]
    assert [dict(m.facts)["ratio"] for m in results(3, rows)] == ["0.10", "0.30", "0.50"]


def test_table_3_is_printed_where_all_its_probes_were_run() -> None:
    rows = [r for ratio in (0.1, 0.3) for r in cell((1,), (2,), seeds=(42,), ratio=ratio)]
    for probe in ("initial_goal", "joint_recovery"):
        rows += cell((1,), (2,), seeds=(42,), probe=probe, parsed=True)
    assert [dict(m.facts)["ratio"] for m in results(3, rows)] == ["0.30"]


def test_a_method_without_a_ratio_stands_beside_those_with_one() -> None:
    rows = cell((1,), (2,), seeds=(42,)) + cell((2,), (2,), seeds=(42,), method="dycp", ratio=None)
    made = result(3, rows)
    assert first(made, "dycp", P2).value == 1.0
    assert best_rows(made, P2) == ["dycp"]


def test_a_ratio_with_a_rounding_error_is_the_same_cell() -> None:
    rows = cell((1,), (2,), seeds=(42,), ratio=0.1 + 0.2) + cell((1,), (2,), seeds=(42,), method="random", ratio=0.3)
    assert [r.key for r in result(3, rows).rows] == ["recency", "random"]


# --- readers and runs ---------------------------------------------------------------------------------------------


def other_reader(rows: list[dict[str, Any]], reader: str = "other") -> list[dict[str, Any]]:
    return [r | {"reader": reader, "run_id": f"{reader}-1"} for r in rows]


def test_one_reader_per_table_and_the_other_in_17_and_18() -> None:
    rows = cell((1, 1, 1), (2, 2, 2)) + cell((1,), (2,), seeds=(42,), probe="joint_recovery", parsed=True)
    rows += other_reader(cell((2,), (2,), seeds=(42,)))
    made = result(24, rows)
    assert dict(made.facts)["reader"] == "reader"
    assert any("other" in note for note in made.notes)
    seventeen = result(17, rows)
    assert dict(seventeen.facts)["reader"] == "other"
    assert first(seventeen, "recency", "sgd.current_value.strict.r030").value == 1.0
    assert dict(result(24, rows, reader="other").facts)["reader"] == "other"


def test_an_unknown_reader_names_the_known_ones() -> None:
    with pytest.raises(BadInput, match="Readers here: reader"):
        study(cell((1,), (2,)[:1], seeds=(42,)), reader="nobody")


def test_two_runs_of_one_reader_and_role_need_a_choice() -> None:
    rows = cell((1,), (2,), seeds=(42,))
    rows += [r | {"run_id": "reader-2", "strict": True} for r in rows]
    with pytest.raises(BadInput, match=r"2 runs of reader 'reader' in role 'main'.*reader-00000000, reader-2.*--run"):
        study(rows)
    assert first(result(3, rows, runs=["reader-2"]), "recency", P2).value == 1.0
    with pytest.raises(BadInput, match=r"no run 'x'.*Runs here"):
        study(rows, runs=["x"])


def test_two_runs_of_one_reader_with_different_methods_stand_together() -> None:
    rows = cell((1,), (2,), seeds=(42,)) + cell((2,), (2,), seeds=(42,), method="mine", run_id="reader-2")
    assert [r.key for r in result(3, rows).rows] == ["recency", "mine"]


def test_choosing_a_run_leaves_other_roles_alone() -> None:
    rows = cell((1,), (2,), seeds=(42,))
    rows += [r | {"run_id": "reader-2"} for r in rows]
    rows += cell((1,), (2,), seeds=(42,), role="budgets", run_id="wide", ratio=0.5)
    assert study(rows, runs=["reader-2"]).scores.present("run_id") == ["reader-2", "wide"]


# --- registry -----------------------------------------------------------------------------------------------------


def test_a_table_without_inputs_says_which_in_one_line() -> None:
    made = make_tables(study(cell((1,), (2,), seeds=(42,))))
    lines = {m.name: m.missing for m in made if isinstance(m, Unavailable)}
    assert lines["Table 23"] == "outputs in role main of P1 initial_goal"
    assert "second reader" in lines["Table 17"]
    assert all("\n" not in line for line in lines.values())
    assert {m.number for m in made if isinstance(m, TableResult)} >= {3, 24}


def test_every_registered_table_has_title_columns_and_inputs() -> None:
    for number, entry in (*TABLES.items(), *FIGURES.items()):
        assert entry.number == number
        assert entry.title
        assert entry.columns
        assert entry.inputs
    assert set(MAIN) <= set(TABLES)


def test_an_unknown_number_names_the_known_ones() -> None:
    with pytest.raises(BadInput, match=r"'--table': there is no number 99.*Numbers: .*3"):
        chosen_tables([99], [])


def test_a_score_table_without_a_column_is_refused() -> None:
    with pytest.raises(BadInput, match="retained"):
        Scores.from_arrow(table([row()]).drop_columns(["retained"]))


def test_no_output_at_all_makes_no_table() -> None:
    made = make_tables(study([]))
    assert all(isinstance(m, Unavailable) for m in made)


# --- row order and intervals --------------------------------------------------------------------------------------


def test_the_order_of_rows_changes_nothing() -> None:
    rows = cell((3, 5, 2), (10, 9, 8)) + cell((2, 1, 0), (10, 9, 8), method="random")
    rows += cell((3, 5, 2), (9, 9, 9), probe="initial_goal", token_f1=1 / 3)
    shuffled = list(rows)
    random.Random(1).shuffle(shuffled)
    wanted = chosen_tables(list(MAIN), [])
    straight = make_tables(study(rows, with_intervals=True), wanted)
    turned = make_tables(study(shuffled, with_intervals=True), wanted)
    assert straight == turned


def test_intervals_come_on_request_and_hold_the_value() -> None:
    rows = cell((30, 33, 28), (100, 100, 100))
    assert first(result(3, rows), "recency", P2).interval is None
    number = first(result(3, rows, with_intervals=True), "recency", P2)
    assert number.interval is not None
    assert number.value is not None
    assert 0.2 < number.interval[0] < number.value < number.interval[1] < 0.4


def test_a_table_that_only_another_reader_can_give_is_made_for_that_one() -> None:
    rows = cell((1, 1), (2, 2), seeds=(42, 43)) + other_reader(cell((2,), (2,), seeds=(42,), probe="initial_goal"))
    assert dict(result(24, rows).facts)["reader"] == "reader"
    assert dict(result(23, rows).facts)["reader"] == "other"
    (absent,) = make_tables(study(rows, reader="reader"), chosen_tables([23], []))
    assert isinstance(absent, Unavailable)
