"""The published SGD pool, rebuilt from real dialogues: the counts of the paper and of its index.

Facts from the paper (section 4) and from replaying its index over the 12,174 train dialogues at hand.
"""

from __future__ import annotations

import filecmp
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import run_command, shared_file

from tpbench_data.changes import VALUE_RULES, updates
from tpbench_data.corpora import SGD
from tpbench_data.dialogue import Dialogue
from tpbench_data.normalize import normalize_value
from tpbench_data.pool import Pool, Question, given_pool, native_pool, read_candidates, read_p3_pool
from tpbench_data.probes import draw, pool_counts
from tpbench_data.release.reader import Release


@pytest.fixture(scope="module")
def corpus() -> Path:
    return shared_file("corpora/sgd/sgd_train.tar.xz")


@pytest.fixture(scope="module")
def dialogues(corpus: Path) -> list[Dialogue]:
    return list(SGD.load(SGD.files(corpus)))


@pytest.fixture(scope="module")
def replayed(dialogues: list[Dialogue]) -> list[Question]:
    rows = read_candidates(shared_file("artifact/origin_index_sgd.tsv"))
    return given_pool(dialogues, "sgd", VALUE_RULES["first"], rows, None).questions


@pytest.fixture(scope="module")
def published(corpus: Path) -> list[str]:
    return [
        f"--corpus=sgd={corpus}",
        f"--candidates=sgd={shared_file('artifact/origin_index_sgd.tsv')}",
        f"--p3-pool=sgd={shared_file('artifact/p3_pool_sgd.txt')}",
    ]


@pytest.fixture(scope="module")
def built(published: list[str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    out = tmp_path_factory.mktemp("published") / "tpbench"
    result = run_command("tpbench-data", "build", *published, "--out", out, "--json")
    assert result.returncode == 0, result.stderr
    return out, json.loads(result.stdout)


def test_all_648_available_rows_agree_in_every_field(built: tuple[Path, dict[str, Any]]) -> None:
    pool = built[1]["counts"]["sgd"]["pool"]
    assert pool["dialogues"] == 12174
    assert pool["candidates"] == 949
    assert pool["candidates whose dialogue is missing"] == 301
    assert pool["candidates reproduced in every field"] == 648
    assert built[1]["unmatched"]["sgd"] == []


def test_pool_counts_are_the_published_ones(built: tuple[Path, dict[str, Any]]) -> None:
    pool = built[1]["counts"]["sgd"]["pool"]
    assert (pool["final updates"], pool["final updates after the alias rule"], pool["P3-eligible"]) == (791, 623, 452)


@pytest.mark.parametrize(
    ("probe", "step", "expected"),
    [
        ("current_value", "eligible before missing dialogues", [128, 125, 132]),
        ("current_value", "dropped: new value in no turn", [0, 0, 0]),
        ("current_value", "left", [85, 84, 88]),
        ("initial_goal", "drawn", [200, 200, 200]),
        ("initial_goal", "left", [137, 133, 131]),
        ("joint_recovery", "drawn", [200, 200, 200]),
        ("joint_recovery", "left", [133, 138, 133]),
    ],
)
def test_seeded_draws_are_the_published_ones(
    built: tuple[Path, dict[str, Any]], probe: str, step: str, expected: list[int]
) -> None:
    per_seed = built[1]["counts"]["sgd"]["probes"][probe]
    assert [per_seed[seed][step] for seed in ("42", "43", "44")] == expected


def test_the_release_holds_what_the_counts_say_and_validates(built: tuple[Path, dict[str, Any]]) -> None:
    release = Release.open(built[0])
    for probe, per_seed in built[1]["counts"]["sgd"]["probes"].items():
        rows = release.table(probe).select(["sample_seeds", "method"]).to_pylist()
        for seed, steps in per_seed.items():
            assert sum(int(seed) in row["sample_seeds"] and row["method"] == "recency" for row in rows) == steps["left"]
    result = run_command("tpbench-data", "validate", built[0])
    assert result.returncode == 0, result.stdout


def test_building_twice_gives_identical_bytes(
    built: tuple[Path, dict[str, Any]], published: list[str], tmp_path: Path
) -> None:
    again = tmp_path / "again"
    environment = {"LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7", "PATH": "/usr/bin"}
    assert run_command("tpbench-data", "build", *published, "--out", again, env=environment).returncode == 0
    names = sorted(p.relative_to(again).as_posix() for p in again.rglob("*") if p.is_file())
    assert names == sorted(p.relative_to(built[0]).as_posix() for p in built[0].rglob("*") if p.is_file())
    same, different, unreadable = filecmp.cmpfiles(built[0], again, names, shallow=False)
    assert (different, unreadable) == ([], [])
    assert len(same) == len(names)


def test_p3_eligibility_from_raw_data_agrees_with_the_given_list(replayed: list[Question]) -> None:
    given = read_p3_pool(shared_file("artifact/p3_pool_sgd.txt"), {q.example_id for q in replayed})
    available = {q.example_id for q in replayed if q.dialogue is not None}
    pool = Pool(replayed, {})
    examples, _ = draw(pool, "joint_recovery", [42], 10_000)
    assert {e.question.example_id for e in examples} == set(given) & available
    assert pool_counts(pool)["P3-eligible"] == 312


def test_half_of_the_first_rule_updates_only_reorder_equivalents(replayed: list[Question]) -> None:
    """In the merged state 322 of 648 (282 of the 537 final); in any frame of the turn 326."""
    found = [(q, q.update, q.dialogue) for q in replayed if q.update is not None and q.dialogue is not None]
    assert len(found) == 648
    merged = [q for q, update, _ in found if update.old_value in update.new_alternatives]
    assert (len(merged), sum(q.is_final for q in merged)) == (322, 282)
    frames = [(q, (dialogue.states[q.turn] or {}).values()) for q, _, dialogue in found]
    assert sum(any(q.old_value in slots.get(q.slot, ()) for slots in state) for q, state in frames) == 326


def test_a_candidates_row_that_matches_nothing_is_counted_and_listed(corpus: Path, tmp_path: Path) -> None:
    lines = shared_file("artifact/origin_index_sgd.tsv").read_text(encoding="utf-8").split("\n")
    cells = lines[1].split("\t")
    cells[5] = "no such value"
    changed = tmp_path / "candidates.tsv"
    changed.write_text("\n".join([lines[0], "\t".join(cells), *lines[2:]]), encoding="utf-8")
    out = tmp_path / "out"
    result = run_command(
        "tpbench-data", "build", f"--corpus=sgd={corpus}", f"--candidates=sgd={changed}", "--probes=current_value",
        "--methods=recency", "--out", out,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert f"not reproduced from raw data: {cells[1]}" in result.stdout


@pytest.mark.parametrize("rule", ["first", "disjoint"])
def test_native_pool_follows_file_place_turn_and_slot_order(dialogues: list[Dialogue], rule: Any) -> None:
    order = {dialogue.dialogue_id: place for place, dialogue in enumerate(dialogues)}
    pool = native_pool(dialogues, "sgd", VALUE_RULES[rule])
    keys = [(order[q.dialogue_id], q.turn, q.slot) for q in pool.questions]
    assert keys == sorted(keys)
    assert len({q.example_id for q in pool.questions}) == len(keys)
    assert pool.counts["updates"] == len(keys) + sum(v for k, v in pool.counts.items() if k.startswith("dropped"))


def test_disjoint_updates_share_no_normal_form(dialogues: list[Dialogue]) -> None:
    for dialogue in dialogues[:2000]:
        for update in updates(dialogue, VALUE_RULES["disjoint"]):
            old = {normalize_value(v, "sgd") for v in update.old_alternatives}
            assert old.isdisjoint(normalize_value(v, "sgd") for v in update.new_alternatives)
