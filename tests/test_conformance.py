"""Stored scores of the published scorer, recomputed: every one that can be must agree.

The rows lie beside the checkout and are never part of the project. Fields that need a context the rows do not
hold (``support_in_ctx``, ``gold_in_ctx``) cannot be recomputed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from conftest import shared_file

from tpbench_data.judgments import GOAL_QUESTION, is_right, label_of, pair_id
from tpbench_data.matching import alias_equivalent, value_in_text
from tpbench_data.normalize import normalize_value
from tpbench_data.slots import slot_group
from tpbench_score.agreement import RatedPair, answer_words, token_f1
from tpbench_score.answer import score_answer, score_value
from tpbench_score.parsing import extract_json, last_flat_object, read_string_value, read_text_value
from tpbench_score.records import AnswerScore, Reference
from tpbench_score.rules import current_value, free_form, joint_recovery

Row = dict[str, Any]
Comparison = tuple[str, Any, Any]
"""(field, recomputed, stored)."""


def rows_of(name: str) -> list[Row]:
    lines = shared_file(f"conformance/{name}").read_bytes().split(b"\n")
    return [json.loads(line) for line in lines if line]


def scored(probe: str, row: Row, **references: str) -> AnswerScore:
    """The score from the text where the row has it, else from the stored value and flag."""
    corpus = row.get("dataset", "sgd")
    if "reader_output_text" in row:
        return score_answer(probe, row["reader_output_text"], corpus=corpus, **references)
    # Without a text the stored flag already is the scorer's verdict, so it is taken as a plain truth value.
    return score_value(probe, row["pred_value"], abstain=bool(row.get("abstain")), corpus=corpus, **references)


def compare_normalize(row: Row) -> Iterator[Comparison]:
    stored = row["stored"]
    yield (
        "normal form",
        normalize_value(row["value"], row["dataset"]),
        (stored["normalized"] if isinstance(stored, dict) else stored),
    )


def compare_alias(row: Row) -> Iterator[Comparison]:
    yield "alias", alias_equivalent(row["old_value"], row["new_value"], row["dataset"]), row["stored"]


def compare_retention(row: Row) -> Iterator[Comparison]:
    yield "retained", value_in_text(row["value"], row["text"], row["dataset"]), row["stored"]


def compare_slot_group(row: Row) -> Iterator[Comparison]:
    yield "group", slot_group(row["slot"]), row["stored"]


def compare_lme_ku(row: Row) -> Iterator[Comparison]:
    stored = row["stored"]
    result = scored("current_value", row | {"dataset": "lme_ku"}, reference_value=str(row["gold_value"]))
    yield "strict", result.strict, stored.get("strict", stored.get("p3_em_strict"))
    yield "loose", result.loose, stored.get("loose", stored.get("p3_em_loose"))
    yield "abstain", result.abstained, stored["abstain"]
    yield "pred_value", result.answer, stored.get("pred_value", row.get("pred_value"))


def compare_free_form(row: Row) -> Iterator[Comparison]:
    extracted = free_form.read(free_form.parse(row["answer"]))
    reference = Reference("fmts", value=row["gold_answer"], old_value=row["old_state_answer"])
    yield "correct", free_form.score(extracted, reference).strict, row["stored"]["correct"]


def compare_deletion(row: Row) -> Iterator[Comparison]:
    stored = row["stored"]
    for text_or_value in ({}, {"reader_output_text": None}):  # the stored value gives the same score as the text
        given = {k: v for k, v in (row | {"dataset": "fmts"} | text_or_value).items() if v is not None}
        result = scored("current_value", given, reference_value=row["gold_value"])
        yield "p3_correct", result.strict, stored["p3_correct"]
        yield "p3_correct_loose", result.loose, stored["p3_correct_loose"]
        yield "abstain", result.abstained, stored["abstain"]
        yield "pred_value", result.answer, row["pred_value"]
    yield "norm_pred", normalize_value(row["pred_value"], "fmts"), stored["norm_pred"]
    yield "norm_gold", normalize_value(row["gold_value"], "fmts"), stored["norm_gold"]


def compare_judged_pair(row: Row) -> Iterator[Comparison]:
    yield "id", pair_id(row["gold"], row["pred_value"]), row["id"]
    yield "question", GOAL_QUESTION, row["question"]
    label = label_of(row["stored"]["equivalent"])
    yield "scores", is_right(label), row["stored"]["equivalent"] is True


def compare_rated_pair(row: Row) -> Iterator[Comparison]:
    stored = row["stored"]
    f1 = stored["token_f1"]
    if "gold" in row:
        f1 = token_f1(row["gold"], row["pred_value"])
        yield "token_f1", f1, stored["token_f1"]
        exact = answer_words(row["gold"]) == answer_words(row["pred_value"])
        yield "exact_match", exact, stored["exact_match"]
    pair = RatedPair(row["id"], row["n_ratings"], row["n_positive"], stored["exact_match"], f1)
    yield "majority_label", pair.majority, stored["majority_label"]
    yield "token_f1_ge_half", pair.baseline, stored["token_f1_ge_half"]


def compare_p1(row: Row) -> Iterator[Comparison]:
    stored = row["stored"]
    result = scored("initial_goal", row, reference_goal=row["gold"])
    names = {
        "strict": ("strict", "p1_correct"),
        "loose": ("loose", "p1_correct_loose"),
        "token_f1": ("token_f1", "p1_token_f1"),
    }
    for ours, theirs in names.items():
        for name in theirs:
            if name in stored:
                yield name, getattr(result, ours), stored[name]
    yield "abstain", result.abstained, stored.get("abstain", row.get("abstain"))
    yield "pred", result.answer, stored.get("pred", row.get("pred_value"))
    if "format_error" in stored and "reader_output_text" in row:
        yield "format_error", last_flat_object(row["reader_output_text"]) is None, stored["format_error"]


def compare_p2(row: Row) -> Iterator[Comparison]:
    stored = row["stored"]
    prefix = "" if "strict" in stored else "p3_"
    if row.get("reader_error"):
        failed = current_value.score_failed(read_string_value(None))
        yield "p3_correct", failed.strict, stored["p3_correct"]
        yield "p3_correct_loose", failed.loose, stored["p3_correct_loose"]
        yield "abstain", failed.abstained, stored["abstain"]
        yield "err", failed.reason == "error", stored["err"]
        return
    corpus, reference = row["dataset"], row["gold_value"]
    result = scored("current_value", row, reference_value=reference)
    yield "strict", result.strict, stored["strict" if not prefix else "p3_correct"]
    yield "loose", result.loose, stored["loose" if not prefix else "p3_correct_loose"]
    yield "abstain", result.abstained, stored["abstain"]
    yield "pred_value", result.answer, stored.get("pred_value", row.get("pred_value"))
    if "reader_output_text" in row:
        extracted = read_string_value(extract_json(row["reader_output_text"]))
    else:
        extracted = read_string_value({"value": row["pred_value"], "abstain": bool(row["abstain"])})
    shared = current_value.overlap(extracted, Reference(corpus, value=reference))
    yield "overlap_strict", shared.strict, stored[f"{prefix}overlap_strict"]
    yield "overlap_loose", shared.loose, stored[f"{prefix}overlap_loose"]
    text = result.answer if isinstance(result.answer, str) else None
    yield "norm_pred", normalize_value(text, corpus), stored["norm_pred"]
    yield "norm_gold", normalize_value(reference, corpus), stored["norm_gold"]


P3_FIELDS: dict[str, str] = {
    # segment-local
    "joint_strict": "strict",
    "p3_joint_strict": "strict",
    "separated_strict": "strict",
    "segment_strict": "strict",
    "joint_loose": "loose",
    "p3_joint_loose": "loose",
    "separated_loose": "loose",
    "segment_loose": "loose",
    "separated_goal": "goal_ok",
    "p3_goal_correct": "goal_ok",
    "p3_value_strict": "value_strict",
    "p3_value_loose": "value_loose",
    "parsed": "parsed",
    "p3_segment_parse": "parsed",
    "segment_parse": "parsed",
    "goal_segment": "goal_segment",
    "goal_part": "goal_segment",
    "value_segment": "value_segment",
    "value_part": "value_segment",
    # the entire answer
    "whole_strict": "whole_strict",
    "original_strict": "whole_strict",
    "p1late_combined_strict": "whole_strict",
    "whole_loose": "whole_loose",
    "original_loose": "whole_loose",
    "p1late_combined": "whole_loose",
    # the answer
    "abstain": "abstained",
    "pred_value": "answer",
}


def compare_p3(row: Row) -> Iterator[Comparison]:
    stored = dict(row["stored"])
    goal, value = row.get("gold_story_label", row.get("gold_goal")), row["gold_value"]
    result = scored("joint_recovery", row, reference_goal=goal, reference_value=value)
    if "strict" in stored:  # the matched comparison calls the whole-answer scores so
        yield "whole_strict", result.whole_strict, stored["strict"]
        yield "whole_loose", result.whole_loose, stored["loose"]
    for theirs, ours in P3_FIELDS.items():
        if theirs in stored:
            yield theirs, getattr(result, ours), stored[theirs]
    if "pred_value" in row:
        yield "pred_value", result.answer, row["pred_value"]
    extracted = read_text_value({"value": result.answer})
    reference = Reference("sgd", goal, value)
    whole = joint_recovery.whole_field(extracted, reference)
    details = {
        "original_goal": whole.goal,
        "p1late_story_label_correct": whole.goal,
        "p1late_value_correct": whole.value_loose,
        "p1late_value_correct_strict": whole.value_strict,
        "goal_cross_segment": result.parsed and whole.goal and not result.goal_ok,
        "value_cross_segment_strict": result.parsed and whole.value_strict and not result.value_strict,
        "p1late_token_f1": joint_recovery.whole_token_f1(extracted, reference),
    }
    for name, ours in details.items():
        if name in stored:
            yield name, ours, stored[name]


CASES: list[tuple[str, Callable[[Row], Iterator[Comparison]]]] = [
    ("fuzz/normalize.jsonl", compare_normalize),
    ("fuzz/alias.jsonl", compare_alias),
    ("fuzz/retention.jsonl", compare_retention),
    ("fuzz/slot_group.jsonl", compare_slot_group),
    ("fuzz/p1.jsonl", compare_p1),
    ("fuzz/p2.jsonl", compare_p2),
    ("fuzz/p3.jsonl", compare_p3),
    ("value_normalizer.jsonl", compare_normalize),
    ("p1_saved.jsonl", compare_p1),
    ("p1_token_f1.jsonl", compare_p1),
    ("p2_main.jsonl", compare_p2),
    ("p2_mistral_reader.jsonl", compare_p2),
    ("p2_deletion.jsonl", compare_p2),
    ("risawoz.jsonl", compare_p2),
    ("fuzz/lme_ku.jsonl", compare_lme_ku),
    ("lme_ku.jsonl", compare_lme_ku),
    ("fmts.jsonl", compare_free_form),
    ("fmts_deletion.jsonl", compare_deletion),
    ("semantic_p1.jsonl", compare_judged_pair),
    ("semantic_ae.jsonl", compare_rated_pair),
    ("p3_scored.jsonl", compare_p3),
    ("p3_per_answer.jsonl", compare_p3),
    ("p3_reader_eval.jsonl", compare_p3),
]


@pytest.mark.parametrize(("name", "compare"), CASES, ids=[name for name, _ in CASES])
def test_stored_scores_are_reproduced(
    name: str, compare: Callable[[Row], Iterator[Comparison]], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = rows_of(name)
    compared = 0
    different = []
    for row in rows:
        for field, ours, stored in compare(row):
            compared += 1
            if ours != stored:
                different.append(f"{row['id']} {field}: {ours!r}, stored {stored!r}")
    with capsys.disabled():
        print(f"\n  {name}: {len(rows)} rows, {compared} comparisons, {len(different)} different", end="")
    assert rows
    assert compared >= len(rows)
    assert not different, "\n".join(different[:20])
