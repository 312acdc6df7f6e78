"""Tables beside the main ones, from rows of our own: retention, deletion, judgments, cache methods, corpora, ranks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from score_rows import cell, row
from test_tables import at, best_rows, first, results, study

from tpbench_data.errors import BadInput
from tpbench_score.tables import Study, TableResult, Unavailable, make_tables
from tpbench_score.tables.context_facts import boundary_recall, lexical_retention
from tpbench_score.tables.registry import chosen_tables
from tpbench_score.tables.universe import Universe

Rows = list[dict[str, Any]]


def parts(number: int, rows: Rows, *, figure: bool = False, **settings: Any) -> dict[str, TableResult]:
    """Table part -> table."""
    wanted = chosen_tables([], [number]) if figure else chosen_tables([number], [])
    made = make_tables(study(rows, **settings), wanted)
    assert all(isinstance(m, TableResult) for m in made), made
    return {m.part: m for m in made if isinstance(m, TableResult)}


def absent(number: int, rows: Rows, **settings: Any) -> str:
    (made,) = make_tables(study(rows, **settings), chosen_tables([number], []))
    assert isinstance(made, Unavailable)
    return made.missing


# --- retention (5, 6, 7) ------------------------------------------------------------------------------------------


def retention(method: str, kept_right: int, kept_wrong: int, lost: int, seed: int = 42, **facts: Any) -> Rows:
    outcomes = [(True, True)] * kept_right + [(True, False)] * kept_wrong + [(False, False)] * lost
    return [
        row(example_id=f"{seed}-{i}", method=method, sample_seeds=[seed], retained=kept, strict=right, **facts)
        for i, (kept, right) in enumerate(outcomes)
    ]


def test_accuracy_where_the_value_is_kept_is_no_ranking() -> None:
    rows = retention("recency", 1, 0, 9) + retention("random", 3, 3, 4)
    made = parts(6, rows)[""]
    assert first(made, "recency", "sgd.current_value.strict_given_retained").value == 1.0
    assert best_rows(made, "sgd.current_value.strict_given_retained") == []
    assert best_rows(made, "sgd.current_value.retained") == ["random"]
    assert best_rows(made, "sgd.current_value.strict") == ["random"]


def test_nothing_kept_is_a_dash() -> None:
    number = first(parts(6, retention("recency", 0, 0, 3))[""], "recency", "sgd.current_value.strict_given_retained")
    assert (number.value, number.why) == (None, "no item to count")


def test_a_seed_that_kept_nothing_is_left_out_of_the_mean_and_shown_as_empty() -> None:
    rows = retention("recency", 1, 1, 2, seed=42) + retention("recency", 0, 0, 4, seed=43)
    number = first(parts(6, rows)[""], "recency", "sgd.current_value.strict_given_retained")
    assert number.value == 0.5
    assert [(s.value, s.n) for s in number.per_seed] == [(0.5, 2), (None, 0)]


def test_retention_needs_contexts() -> None:
    assert "contexts" in absent(6, cell((1,), (2,), seeds=(42,)))


def test_a_method_without_stored_contexts_is_a_dash_beside_those_that_have_them() -> None:
    rows = retention("recency", 1, 0, 1) + retention("random", 1, 0, 1)
    for r in rows[2:]:
        r["retained"] = None
    number = first(parts(6, rows)[""], "random", "sgd.current_value.retained")
    assert number.value is None
    assert "not known" in number.why


def test_table_5_shows_one_sample() -> None:
    rows = retention("recency", 1, 0, 1, seed=42) + retention("recency", 2, 0, 0, seed=43)
    assert first(parts(5, rows)[""], "recency", "sgd.current_value.retained").value == 0.5


def test_slot_groups_cover_every_item_and_leave_out_the_full_context() -> None:
    rows = []
    for slot, right in (("arrival_time", 1), ("date", 0), ("city", 1), ("party_size", 0)):
        for i in range(2):
            facts = {"slot": slot, "sample_seeds": [42], "retained": i == 0, "strict": i < right}
            rows.append(row(example_id=f"{slot}-{i}", method="recency", **facts))
            rows.append(row(example_id=f"{slot}-{i}", method="full_context", **facts))
    made = parts(7, rows)[""]
    assert [c.label for c in made.columns] == ["Time", "Date", "Place and name", "Other"]
    assert [r.key for r in made.rows] == ["recency"]
    assert [c.numbers[0].value for c in made.rows[0].cells] == [0.5, 0.0, 0.5, 0.0]
    assert [c.numbers[1].value for c in made.rows[0].cells] == [0.5] * 4
    assert not any(c.numbers[1].best for c in made.rows[0].cells)


# --- deletion (11, 12, 13, figure 3) --------------------------------------------------------------------------------


def deletion(**flags: list[int]) -> Rows:
    rows = []
    for method, right in flags.items():
        for i, value in enumerate(right):
            if value >= 0:
                rows.append(
                    row(example_id=f"e{i}", method=method, role="deletion", strict=value == 1, superseded=value == 0)
                )
    return rows


FLAGS = {
    "full_context": [1, 1, 1, 0, 1],
    "drop_update": [0, 0, 1, 1, 0],
    "drop_update_control": [1, 1, 1, 0, 1],
    "drop_evidence": [0, 0, 0, 0, -1],
    "drop_evidence_control": [1, 1, 0, 0, -1],
}


def test_pairs_are_the_items_of_all_three_conditions() -> None:
    made = parts(12, deletion(**FLAGS))["paired"]
    update, evidence = made.rows
    assert [n.value for n in update.cells[0].numbers + update.cells[1].numbers] == [5, 4]
    assert [n.value for n in evidence.cells[0].numbers + evidence.cells[1].numbers] == [4, 3]
    assert [n.value for n in update.cells[4].numbers] == [3, 0]
    assert [n.value for n in update.cells[6].numbers] == [3, 1]
    assert update.cells[5].numbers[0].value == 0.25


def test_an_item_without_a_control_is_said_and_leaves_only_its_own_condition() -> None:
    made = parts(11, deletion(**FLAGS))[""]
    assert first(made, "full_context", "sgd.current_value.strict").value == 0.8
    assert first(made, "drop_evidence", "sgd.current_value.strict").value == 0.0
    assert any("items: Full context 5" in note and "Control for all evidence 4" in note for note in made.notes)
    assert not any(number.best for r in made.rows for c in r.cells for number in c.numbers)
    assert not any(r.reference for r in made.rows)


def test_one_sample_gets_wilson_intervals_and_several_get_clustered_ones() -> None:
    one = parts(11, deletion(**FLAGS), with_intervals=True)[""]
    assert one.intervals == "wilson(1.96)"
    two = [r | {"sample_seeds": [42, 43]} for r in deletion(**FLAGS)]
    assert parts(11, two, with_intervals=True)[""].intervals.startswith("shake256-1(")


def test_deletions_of_a_main_run_are_found_too() -> None:
    rows = [r | {"role": "main"} for r in deletion(**FLAGS)]
    assert first(parts(11, rows)[""], "drop_update", "sgd.current_value.strict").value == 0.4


def test_the_old_value_is_a_dash_where_no_input_has_one() -> None:
    rows = [r | {"superseded": None} for r in deletion(**FLAGS)]
    assert first(parts(13, rows)[""], "drop_update", "sgd.current_value.superseded").value is None
    assert first(parts(13, deletion(**FLAGS))[""], "drop_update", "sgd.current_value.superseded").value == 0.6


def test_figure_3_has_three_conditions() -> None:
    made = parts(3, deletion(**FLAGS), figure=True)[""]
    assert [r.key for r in made.rows] == ["full_context", "drop_update", "drop_update_control"]
    assert made.kind == "figure"


# --- judgments (4) ---------------------------------------------------------------------------------------------------


def judged(answers: dict[str, list[str]], labels: dict[str, str]) -> tuple[Rows, dict[str, Any]]:
    rows = [
        row(example_id=f"e{i}", probe="initial_goal", method=method, answer=text or None)
        for method, texts in answers.items()
        for i, text in enumerate(texts)
    ]
    references = {r["input_id"]: "ref" for r in rows}
    return rows, {
        "judgments": {("ref", answer): label for answer, label in labels.items()},
        "references": lambda: references,
    }


def test_an_uncertain_judgment_and_an_absent_answer_are_wrong_and_counted() -> None:
    rows, settings = judged(
        {"recency": ["yes", "no", "maybe", ""]}, {"yes": "equivalent", "no": "not_equivalent", "maybe": "uncertain"}
    )
    made = parts(4, rows, **settings)[""]
    assert first(made, "recency", "sgd.initial_goal.equivalent").value == 0.25
    assert "Uncertain judgments, counted as not equivalent: 1." in made.notes


def test_a_method_with_an_unjudged_answer_is_left_out_and_named() -> None:
    rows, settings = judged({"recency": ["yes"], "random": ["yes", "new"]}, {"yes": "equivalent"})
    made = parts(4, rows, **settings)[""]
    assert [r.key for r in made.rows] == ["recency"]
    assert "Random selection is left out: 1 answers have no judgment." in made.notes


def test_judgments_of_other_references_do_not_count() -> None:
    rows, settings = judged({"recency": ["yes"]}, {"yes": "equivalent"})
    settings["references"] = lambda: {r["input_id"]: "another" for r in rows}
    assert "saved judgments" in absent(4, rows, **settings)
    assert "saved judgments" in absent(4, rows)


# --- matched run (8) and gaps --------------------------------------------------------------------------------------


def p3(method: str, right: list[int], **facts: Any) -> Rows:
    return [
        row(
            example_id=f"e{i}",
            probe="joint_recovery",
            method=method,
            sample_seeds=[42 + i % 2],
            strict=bool(value),
            loose=bool(value),
            parsed=True,
            **facts,
        )
        for i, value in enumerate(right)
    ]


def test_differences_are_paired_and_in_points() -> None:
    rows = p3("full_context", [1, 1, 1, 1], role="first_user_recent")
    rows += p3("first_user_recent", [1, 0, 0, 0], role="first_user_recent")
    made = parts(8, rows)
    number = first(made["differences"], "full_context", "sgd.joint_recovery.difference")
    assert (number.kind, number.value) == ("points", -75.0)
    assert number.interval is not None
    assert made["differences"].intervals == "paper-pcg64(5000,20260928)"
    assert best_rows(made[""], "sgd.joint_recovery.strict") == ["first_user_recent"]


def test_gaps_come_with_intervals_only() -> None:
    rows = p3("full_context", [1, 1, 1, 1]) + p3("recency", [1, 0, 0, 1])
    assert set(parts(25, rows)) == {""}
    made = parts(25, rows, with_intervals=True)["gaps"]
    assert first(made, "recency", "sgd.joint_recovery.strict_gap").value == 50.0


# --- alias exclusion (9) ---------------------------------------------------------------------------------------------


def test_excluded_pairs_leave_the_denominator_and_ties_are_all_named() -> None:
    rows = p3("full_context", [1, 1, 0, 0]) + p3("recency", [0, 1, 0, 0]) + p3("random", [0, 1, 0, 0])
    for r in rows:
        r["alias_equivalent"] = r["example_id"] == "e0"
    made = parts(9, rows)[""]
    number = first(made, "reader.sgd", "full_context.strict")
    assert [(s.seed, s.value, s.n) for s in number.per_seed] == [(42, 0.0, 1), (43, 0.5, 2)]
    assert number.counts is not None
    assert (number.counts.planned, number.counts.complete) == (3, True)
    assert at(made, "reader.sgd", "best.strict").text == "Random selection = Recency"
    assert any("1/2 of 2/2 items stay" in note for note in made.notes)


def test_inputs_that_were_not_asked_may_stay() -> None:
    rows = p3("full_context", [1, 1, 0, 0])
    for r in rows:
        r["alias_equivalent"] = r["example_id"] == "e0"
    universe = Universe({("joint_recovery", "sgd", "paper", "full_context", 0.3): 9})
    counts = first(parts(9, rows, universe=universe)[""], "reader.sgd", "full_context.strict").counts
    assert counts is not None
    assert (counts.planned, counts.total) == (3, 8)


# --- cache methods (15, 16) ------------------------------------------------------------------------------------------


def sweep(length: int, right: int) -> Rows:
    return cell((right,), (4,), seeds=(42,), method="chunkkv", role="chunk_sweep", run_id=f"sweep-{length}")


KV = {f"sweep-{length}": {"chunk_length": length} for length in (10, 20)}


def test_runs_that_differ_in_their_cache_settings_are_no_rivals() -> None:
    rows = sweep(20, 1) + sweep(10, 2)
    made = parts(16, rows, kv_settings=KV)[""]
    assert [(r.label, r.cells[0].numbers[0].value) for r in made.rows] == [("10", 0.5), ("20", 0.25)]
    with pytest.raises(BadInput, match="2 runs"):
        study(rows)


def test_the_sweep_stands_in_for_chunkkv_and_says_so() -> None:
    rows = sweep(20, 1) + sweep(10, 4) + cell((3,), (4,), seeds=(42,), method="chunkkv", role="kv", run_id="kv-1")
    rows += cell((2,), (4,), seeds=(42,), method="snapkv", role="kv", run_id="kv-2")
    rows += cell((1,), (4,), seeds=(42,)) + cell((4,), (4,), seeds=(43,), method="random")
    made = parts(15, rows, kv_settings=KV)[""]
    assert [c.numbers[0].value for c in made.rows[0].cells] == [0.25, 0.5, 0.25]
    assert made.rows[0].cells[2].text == "Recency"  # random was run on another sample only
    assert [c.numbers[0].best for c in made.rows[0].cells] == [False, True, False]
    assert any("chunk sweep (sweep-20)" in note for note in made.notes)


def test_a_sweep_without_chunk_lengths_is_no_table() -> None:
    rows = sweep(20, 1)
    assert "chunk_length" in absent(16, rows)
    assert "chunk_length" in absent(16, rows, kv_settings={"sweep-20": {"chunk_length": True}})


# --- corpora (19, 20) ------------------------------------------------------------------------------------------------


def test_random_selection_is_averaged_over_its_selector_seeds() -> None:
    rows = cell((3,), (4,), seeds=(42,), corpus="lme_ku", role="corpus", method="full_context")
    for selector_seed, right in ((42, 1), (43, 2)):
        rows += cell(
            (right,), (4,), seeds=(42,), corpus="lme_ku", role="corpus", method="random", selector_seed=selector_seed
        )
    made = parts(19, rows)[""]
    number = first(made, "random", "lme_ku.current_value.strict")
    assert number.value == 0.375
    assert [(s.seed, s.value, s.n) for s in number.per_seed] == [(42, 0.25, 4), (43, 0.5, 4)]
    assert number.interval is not None
    assert made.mean == "selector-seeds"
    assert "risawoz" in absent(20, rows)


def test_an_input_of_several_samples_counts_once() -> None:
    rows = cell((2,), (4,), seeds=(42,), corpus="risawoz", role="corpus")
    rows = [r | {"sample_seeds": [42, 43, 44]} for r in rows]
    assert first(parts(20, rows)[""], "recency", "risawoz.current_value.strict").per_seed[0].n == 4


# --- figure 2 and table 2 --------------------------------------------------------------------------------------------


def test_ranks_leave_out_points_of_reference_and_average_ties() -> None:
    rows: Rows = []
    for method, p1, p2 in (("full_context", 10, 10), ("recency", 5, 1), ("random", 5, 4), ("first_turns", 2, 8)):
        rows += cell((p1,), (10,), seeds=(42,), method=method, probe="initial_goal")
        rows += cell((p2,), (10,), seeds=(42,), method=method)
    made = parts(2, rows, figure=True)
    ranks = {r.key: [c.numbers[0].value for c in r.cells] for r in made[""].rows}
    assert ranks == {"recency": [1.5, 1.5, 3], "random": [1.5, 1.5, 2], "first_turns": [3, 3, 1]}
    assert made["correlation"].rows[0].cells[0].numbers[0].value == pytest.approx(-(3**0.5) / 2)
    weights = {r.key: r.cells[0].numbers[0].value for r in made["crossing"].rows}
    assert weights == {"recency.first_turns": pytest.approx(0.7), "random.first_turns": pytest.approx(4 / 7)}


def test_a_constant_side_has_no_correlation() -> None:
    rows: Rows = []
    for method in ("recency", "random"):
        rows += cell((5,), (10,), seeds=(42,), method=method, probe="initial_goal")
        rows += cell((5,), (10,), seeds=(42,), method=method)
    number = parts(2, rows, figure=True)["correlation"].rows[0].cells[0].numbers[0]
    assert (number.value, number.why) == (None, "one side is constant")


def test_table_2_lists_what_was_run() -> None:
    rows = cell((1, 1), (4, 5), seeds=(42, 43)) + cell((1, 1), (4, 5), seeds=(42, 43), method="full_context")
    (only,) = results(2, rows)
    assert [c.text for c in only.rows[0].cells] == [
        "reader",
        "paper",
        "0.30",
        "42: 4, 43: 5",
        "1 methods + 1 of reference",
        "paper-1",
    ]


# --- free form (21, 22) ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "context", "kept"),
    [
        ("Seven PM", "we said seven pm then", True),
        ("one two three four", "four x three", False),  # exactly half is not above half
        ("one two three", "three ... one", True),
        ("서울 역", "어제 서울 그리고 역", True),
        ("", "anything", True),
        ("!?", "nothing", False),
    ],
)
def test_lexical_retention(reference: str, context: str, kept: bool) -> None:
    assert lexical_retention(reference, context) is kept


def test_boundary_recall_without_boundaries_is_whole() -> None:
    assert boundary_recall([], [1]) == 1.0
    assert boundary_recall([1, 2, 2], [2, 3]) == 0.5


def test_context_diagnostics_need_no_answers() -> None:
    item = {"corpus": "fmts", "ratio": 0.3, "protocol": "paper", "reference_answer": "noon", "boundary_turns": [1]}
    rows = [
        item | {"method": "full_context", "context": "at noon", "kept_turns": [0, 1]},
        item | {"method": "recency", "context": "at one", "kept_turns": [0]},
        item | {"method": "rewriter", "context": "noon", "kept_turns": None},
    ]
    empty = replace(study([]), free_form=lambda: pa.Table.from_pylist(rows))
    assert isinstance(empty, Study)
    (made,) = make_tables(empty, chosen_tables([22], []))
    assert isinstance(made, TableResult)
    found = {r.key: [n.value for n in r.cells[0].numbers] for r in made.rows}
    assert found == {"full_context": [1.0, 1.0], "recency": [0.0, 0.0], "rewriter": [1.0, None]}
    assert best_rows(made, "fmts.free_form.retention_recall") == ["rewriter"]
