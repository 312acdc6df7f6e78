"""The other experiments of the published layout: other corpora, the matched comparison, free-form questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from artifact_folder import write_lines
from conftest import shared_file

from tpbench_data.artifact_import.findings import Findings
from tpbench_data.artifact_import.importing import import_artifact
from tpbench_data.release.reader import Release
from tpbench_data.release.validate import validate
from tpbench_score import score


def conformance(name: str) -> list[dict[str, Any]]:
    lines = shared_file(f"conformance/{name}.jsonl").read_bytes().split(b"\n")
    return [json.loads(line) for line in lines if line]


def imported(folder: Path, out: Path) -> tuple[Release, Findings]:
    found = import_artifact(folder, out)
    assert found.digest is not None, found.findings.problems[:5]
    assert [str(issue) for issue in validate(out)] == []
    return Release.open(out), found.findings


# --- LongMemEval-KU and RiSAWOZ ------------------------------------------------------------------------------


def write_corpus(folder: Path, corpus: str, rows: list[dict[str, Any]], *, raw: bool) -> None:
    identity = [
        {"dialogue_id": row["dialogue_id"], "dataset": corpus, "method": row["method"], "probe_type": "P3"}
        for row in rows
    ]
    if raw:
        texts = [{"reader_output_text": row["reader_output_text"], "error": row.get("error")} for row in rows]
        file = f"results/seed_robustness/reader/{corpus}_all{len(rows)}_r30_llama.jsonl"
        write_lines(folder, file, [one | text for one, text in zip(identity, texts, strict=True)])
    scored = [
        one
        | {"gold_value": row["gold_value"], "pred_value": row["pred_value"], "abstain": row["abstain"]}
        | row["stored"]
        for one, row in zip(identity, rows, strict=True)
    ]
    write_lines(folder, f"results/seed_robustness/scored/{corpus}_p2.jsonl", scored)


@pytest.mark.parametrize("raw", [True, False], ids=["raw", "scored only"])
def test_longmemeval_has_no_prompts_but_keeps_its_scores(tmp_path: Path, raw: bool) -> None:
    rows = [row for row in conformance("lme_ku") if "reader_output_text" in row or not raw]
    assert len(rows) == (5 if raw else 29)
    write_corpus(tmp_path / "clone", "lme_ku", rows, raw=raw)
    release, _ = imported(tmp_path / "clone", tmp_path / "out")
    inputs = release.table("current_value").to_pylist()
    assert {(row["prompt"], row["context"], row["ratio"]) for row in inputs} == {(None, None, 0.3)}
    scores = score(release).to_pylist()
    assert {row["role"] for row in scores} == {"corpus"}
    found = sorted((row["example_id"], row["method"], int(row["strict"]), int(row["loose"])) for row in scores)
    stored = [row["stored"] for row in rows]
    assert sorted((x[2], x[3]) for x in found) == sorted((s["p3_em_strict"], s["p3_em_loose"]) for s in stored)
    assert {row["retained"] for row in scores} == {None}


def test_risawoz_has_five_random_selections(tmp_path: Path) -> None:
    rows = [row for row in conformance("risawoz") if "reader_output_text" in row]
    probes = [
        {
            "dialogue_id": row["dialogue_id"],
            "dataset": "risawoz",
            "method": row["method"],
            "probe_type": "P3",
            "slot": "景点-名称",
            "gold": row["gold_value"],
            "old_value": "旧",
            "prompt_system": "系统",
            "prompt_user": "对话内容：\n上下文\n\n问题：?",
            "compressed_text_used": "上下文",
            "language": "zh",
            "meta": {"ratio": 0.3, "n_turns": 20},
        }
        for row in rows
    ]
    write_lines(tmp_path / "clone", "data/probes/probes_risawoz_all207_r30_s42-46.jsonl", probes)
    write_corpus(tmp_path / "clone", "risawoz", rows, raw=True)
    release, _ = imported(tmp_path / "clone", tmp_path / "out")
    inputs = release.table("current_value").to_pylist()
    assert {(row["language"], row["context"], row["slot_label"]) for row in inputs} == {("zh", "上下文", "景点-名称")}
    settings = {
        (row["method"], row["method_config"], row["selector_seed"]) for row in inputs if row["method"] == "random"
    }
    assert settings <= {("random", "random", 42), *(("random", f"random(seed={n})", n) for n in range(43, 47))}
    scores = sorted(int(row["strict"]) for row in score(release).to_pylist())
    assert scores == sorted(row["stored"]["p3_correct"] for row in rows)


# --- the matched comparison ----------------------------------------------------------------------------------


def matched(folder: Path) -> list[dict[str, Any]]:
    """Two examples under two methods; the two share one input, and its answer."""
    prompts = [
        {"id": f"{number:024x}", "prompt_system": "s", "prompt_user": f"Context:\nc{number}\n\nQuestion: ?"}
        for number in range(3)
    ]
    answers = [
        {
            "id": row["id"],
            "reader_output_text": 'Sure. {"value": "find a park; area: north"} {broken',
            "error": None,
            "model": "org/llama@r1",
            "input_tokens": 7,
        }
        for row in prompts
    ]
    scored = [
        {
            "id": prompts[number]["id"],
            "dataset": "sgd",
            "seed": 42,
            "dialogue_id": f"v20_sgd_1_0__qa_0{example}",
            "method": method,
            "probe": "P3",
            "condition": "original_question",
            "gold": "find a park; in town; area: north: west",
        }
        for number, example, method in ((0, 0, "full_context"), (1, 0, "first_user_recent"), (2, 1, "full_context"))
    ]
    scored.append(scored[1] | {"dialogue_id": "v20_sgd_1_0__qa_01"})
    write_lines(folder, "data/reader_evaluation/inputs.jsonl", prompts)
    write_lines(folder, "results/reader_evaluation/answers.jsonl", answers)
    write_lines(folder, "results/reader_evaluation/scored/scored.jsonl", scored)
    return scored


def test_one_published_answer_serves_several_examples(tmp_path: Path) -> None:
    rows = matched(tmp_path / "clone")
    rows.append(rows[0] | {"condition": "other_wording"})
    rows.append(rows[0] | {"method": "llmlingua2_cache", "id": "0" * 64})
    write_lines(tmp_path / "clone", "results/reader_evaluation/scored/scored.jsonl", rows)
    release, findings = imported(tmp_path / "clone", tmp_path / "out")
    assert sorted(findings.notes.values()) == [1, 1, 2]
    inputs = release.table("joint_recovery").to_pylist()
    assert len(inputs) == 4
    assert {row["reference_goal"] for row in inputs} == {"find a park; in town"}
    assert {row["reference_value"] for row in inputs} == {"north: west"}
    (run,) = release.table("runs").to_pylist()
    assert (run["role"], run["model_revision"], run["n_planned"]) == ("first_user_recent", "r1", 4)
    outputs = release.table("outputs").to_pylist()
    assert {(row["text_source"], row["prompt_tokens"]) for row in outputs} == {("raw", 7)}
    assert {row["goal_ok"] for row in score(release).to_pylist()} == {True}  # the flat object is searched, as published


def test_a_matched_row_without_its_input_is_a_problem(tmp_path: Path) -> None:
    rows = matched(tmp_path / "clone")
    rows[0]["id"] = "f" * 24
    rows.append(rows[1])
    write_lines(tmp_path / "clone", "results/reader_evaluation/scored/scored.jsonl", rows)
    problems = list(map(str, import_artifact(tmp_path / "clone", tmp_path / "out").findings.problems))
    assert any("names the id ffffffffffffffffffffffff, which is not in" in text for text in problems)
    assert any("repeats v20_sgd_1_0__qa_00, first_user_recent of row 2" in text for text in problems)
    (tmp_path / "clone/results/reader_evaluation/answers.jsonl").unlink()
    problems = list(map(str, import_artifact(tmp_path / "clone", tmp_path / "out").findings.problems))
    assert any("answers.jsonl: is missing, but" in text for text in problems)


# --- free-form questions -------------------------------------------------------------------------------------


def free_form(folder: Path) -> list[dict[str, Any]]:
    items = [
        {
            "dialogue_id": f"indirect_stress_{number:04d}",
            "turns": [{"turn_id": t, "speaker": s, "text": f"t{t}\u2028"} for t, s in enumerate(("user", "assistant"))],
            "transition": {"operation": "REPLACE_VALUE", "boundary_turn_ids": [1], "support_turn_ids": [1, 0]},
            "probe": {"question": "Which?", "gold_answer": "Supplier B", "old_state_answer": "Supplier A."},
        }
        for number in range(2)
    ]
    responses = [
        {"id": f"{item['dialogue_id']}::{method}", "answer": answer}
        for method, answer in (("full_context", "It is supplier b."), ("first_n", ""))
        for item in items
    ]
    write_lines(folder, "data/fmts/fmts_indirect_seed42.jsonl", items)
    for ratio in ("010", "030"):
        write_lines(folder, f"batches/fmts_refpool/responses_tqa_indirect_seed42_refpool_r{ratio}.jsonl", responses)
    task = {"batch_tag": "indirect_seed42_refpool_r030", "item_id": responses[0]["id"], "context": "t0 t1"}
    write_lines(folder, "results/fmts_execution/tasks.jsonl", [task])
    return responses


def test_free_form_answers_and_their_dialogues(tmp_path: Path) -> None:
    free_form(tmp_path / "clone")
    release, _ = imported(tmp_path / "clone", tmp_path / "out")
    inputs = release.table("free_form").to_pylist()
    assert sorted({(row["method"], row["ratio"]) for row in inputs}) == [
        ("first_turns", 0.1),
        ("first_turns", 0.3),
        ("full_context", 0.1),
        ("full_context", 0.3),
    ]
    assert [row["context"] for row in inputs if row["context"]] == ["t0 t1"]
    assert {(row["corpus"], row["transition_type"], row["update_turn"]) for row in inputs} == {
        ("fmts", "replace_value", 1)
    }
    (first, _) = release.table("dialogues").to_pylist()
    assert (first["speakers"], first["texts"]) == (["user", "system"], ["t0\u2028", "t1\u2028"])
    assert {row["strict"] for row in score(release).to_pylist()} == {True}  # an empty answer is right, as published


def test_damaged_free_form_answers_are_reported(tmp_path: Path) -> None:
    rows = free_form(tmp_path / "clone")
    rows[0]["id"] = "indirect_stress_0000::magic"
    rows += [rows[1], {"id": "nobody::full_context", "answer": "x"}]
    write_lines(tmp_path / "clone", "batches/fmts_refpool/responses_tqa_indirect_seed42_refpool_r030.jsonl", rows)
    found = import_artifact(tmp_path / "clone", tmp_path / "out")
    text = "\n".join(map(str, found.findings.problems))
    for message in (
        "'indirect_stress_0000::magic' is not an item",
        "again, as row 2 does",
        "nobody, which is not among",
        "has no answer to indirect_stress_0000::full_context",
    ):
        assert message in text
