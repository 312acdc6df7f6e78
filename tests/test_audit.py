"""The audits: counts that can be checked by hand, known facts of real corpora, and problems that must be found."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import run_command, shared_file
from corpus_files import plain_dialogue, write_plain

from tpbench_data.audit import aliases, cues, matched, run
from tpbench_data.audit.authored import audit_release as audit_authored
from tpbench_data.audit.duplicates import near_duplicates
from tpbench_data.audit.finding import Audit
from tpbench_data.audit.material import ReleaseMaterial
from tpbench_data.audit.value_rules import KINDS, kind_of
from tpbench_data.changes import Update
from tpbench_data.dialogue import Dialogue
from tpbench_data.errors import BadInput
from tpbench_data.release.reader import Release


def said(*texts: str, language: str = "en") -> Dialogue:
    speakers = tuple("system" if turn % 2 else "user" for turn in range(len(texts)))
    return Dialogue("d", "cafe", language, speakers, texts, (None,) * len(texts))


@pytest.mark.parametrize(
    "text",
    [
        "Actually six.",
        "Make it six INSTEAD!",
        "I'd rather walk",
        "on second thought, no",
        "Wait, let me see",
        "wait I forgot",
        "No, make it two",
        "no I meant Leeds",
        "not that one",
        "Let's change it",
        "never mind",
    ],
)
def test_a_cue_is_found(text: str) -> None:
    assert cues.has_cue(said("Hello.", "Hi.", text))


@pytest.mark.parametrize("text", ["Factually six.", "Waiting, let us see", "no  make it two", "nevermind", "rathernot"])
def test_no_cue_inside_a_word_or_with_other_spaces(text: str) -> None:
    assert not cues.has_cue(said("Hello.", "Hi.", text))


def test_only_user_turns_count_and_chinese_has_its_own_cues() -> None:
    assert not cues.has_cue(said("Hello.", "Actually, we are full."))
    assert cues.has_cue(said("我想订票。", "好的。", "还是换成周五吧。", language="zh"))
    assert not cues.has_cue(said("我想订票。", "好的。", "周五。", language="zh"))


@pytest.mark.parametrize(
    ("old", "new", "clause"),
    [
        ("Paris", "paris", aliases.EQUAL),
        ("Paris, France", "Paris", aliases.WHOLE_WORDS),
        ("economy", "economy extra", aliases.WHOLE_WORDS),
        ("east", "southeast", aliases.INSIDE_WORD),
        ("LA", "Atlanta", aliases.TOO_SHORT),
        ("Springfield, Ohio", "Springfield, Maine", aliases.COMMA),
        ("north", "south", aliases.OTHER),
    ],
)
def test_the_clause_that_decides_a_pair(old: str, new: str, clause: str) -> None:
    from tpbench_data.matching import alias_equivalent

    assert aliases.clause_of(old, new, "sgd") == clause
    assert aliases.CLAUSES[clause] == alias_equivalent(old, new, "sgd")


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (("LA",), ("Los Angeles", "LA"), KINDS[0]),
        (("LA", "Los Angeles"), ("Los Angeles",), KINDS[1]),
        (("LA", "L.A."), ("City of Angels", "L.A."), KINDS[2]),
        (("6 pm",), ("18:00",), KINDS[3]),
        (("LA",), ("Portland",), None),
    ],
)
def test_kinds_of_updates_that_are_none_under_disjoint(old: Any, new: Any, kind: str | None) -> None:
    update = Update("city", old, new, 4, (4,), (), 4, new[0])
    assert kind_of(update, "sgd") == kind


def test_near_duplicates_are_found_and_the_rest_is_not() -> None:
    base = "i would like a table for two near the old harbour please and a view of the boats"
    texts = [base, base.replace("boats", "ships"), "a train to leeds on friday morning please", base]
    assert [(a, b) for a, b, _ in near_duplicates([[text] for text in texts])] == [(0, 1), (0, 3), (1, 3)]
    chinese = "我想订一桌晚饭庆祝结婚纪念日最好靠窗可以看到江景谢谢"
    other = "请帮我买一张去海边的火车票周六出发可以吗"
    assert [pair[:2] for pair in near_duplicates([[chinese], [chinese + "。"], [other]])] == [(0, 1)]


def test_long_dialogues_are_compared_turn_by_turn_and_quickly() -> None:
    def long_dialogue(first: int) -> list[str]:
        return [f"turn {number} " + "says a good deal about many things " * 15 for number in range(first, first + 500)]

    base = long_dialogue(0)
    changed = [*base[:450], *long_dialogue(9_000)[:50]]
    started = time.perf_counter()
    pairs = near_duplicates([base, changed, long_dialogue(20_000), base, ["turn 3 says a good deal"]])
    assert [(a, b, round(score)) for a, b, score in pairs] == [(0, 1, 90), (0, 3, 100), (1, 3, 90)]
    assert time.perf_counter() - started < 10, "characters would take minutes"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    result = run_command(
        "tpbench-data", "audit", f"--corpus=sgd={shared_file('corpora/sgd')}",
        f"--candidates=sgd={shared_file('artifact/origin_index_sgd.tsv')}",
        f"--p3-pool=sgd={shared_file('artifact/p3_pool_sgd.txt')}", "--json",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    audits: list[dict[str, Any]] = json.loads(result.stdout)
    return audits


def table(audits: list[dict[str, Any]], name: str, title: str) -> dict[str, list[Any]]:
    audit = next(audit for audit in audits if audit["name"] == name)
    rows = next(table["rows"] for table in audit["tables"] if table["title"] == title)
    return {row[0]: row[1:] for row in rows}


def test_the_value_rule_table_has_the_counts_of_the_index(published: list[dict[str, Any]]) -> None:
    """FINDINGS part B: 326 of 648 rows list the old value in some frame; 282 of 537 final ones in the merged state."""
    kinds = table(published, "value_rules", "kinds of updates")
    assert kinds["replayed updates"][:2] == [648, 537]
    assert kinds["the old form is listed in some frame"][0] == 326
    assert kinds["the old form is still listed"][:2] == [322, 282]
    assert kinds["an update under both rules"][:2] == [326, 255]
    sizes = table(published, "value_rules", "sizes")
    assert sizes["questions"] == [648, 326]
    assert sizes["final updates"] == [537, 313]
    assert sizes["final updates after the alias rule"] == [436, 309]
    assert sizes["P3-eligible"] == [312, 122]
    groups = table(published, "value_rules", "by slot group")
    assert sum(row[0] for row in groups.values()) == 648
    assert sum(row[1] for row in groups.values()) == 322


def test_every_published_sgd_alias_is_a_containment(published: list[dict[str, Any]]) -> None:
    """FINDINGS part C: 168 of 791 final SGD pairs are aliases, none of them equal."""
    clauses = table(published, "aliases", "final updates")
    assert clauses[aliases.EQUAL][1] == 0
    assert clauses[aliases.WHOLE_WORDS][1] + clauses[aliases.INSIDE_WORD][1] == 168
    assert sum(row[1] for row in clauses.values()) == 791


def test_every_published_sgd_question_has_one_candidate_turn(published: list[dict[str, Any]]) -> None:
    assert table(published, "mapping", "questions by number of candidate turns") == {1: [648]}


def test_cue_rates_inside_and_outside_the_p2_set(published: list[dict[str, Any]]) -> None:
    rates = table(published, "cues", "P2 set of seed 42")
    assert rates["included"][:2] == [85, 28]
    assert rates["excluded"][:2] == [452, 103]


def test_a_release_of_several_corpora_passes(tmp_path: Path) -> None:
    path = write_plain(tmp_path / "own.jsonl", *(plain_dialogue(f"d{number}") for number in range(3)))
    out = tmp_path / "r"
    result = run_command("tpbench-data", "build", f"--corpus=cafe={path}", "--protocol=paper,matched", "--out", out)
    assert result.returncode == 0, result.stderr
    result = run_command("tpbench-data", "audit", out)
    assert result.returncode == 0, result.stdout + result.stderr
    for name in run.RELEASE_AUDITS:
        assert f"\n{name}: " in f"\n{result.stdout}"
    only = run_command("tpbench-data", "audit", out, "--only=matched", "--json")
    assert [audit["name"] for audit in json.loads(only.stdout)] == ["matched"]


class Changed(ReleaseMaterial):
    """A release some rows of which are changed after opening."""

    def __init__(self, release: Release, config: str, change: Any) -> None:
        import pyarrow as pa

        table = release.table(config)
        rows = table.to_pylist()
        change(rows)
        tables = {config: pa.Table.from_pylist(rows, schema=table.schema)}

        class _Release(Release):
            def table(self, name: str) -> Any:
                return tables[name] if name in tables else super().table(name)

        super().__init__(_Release(release.path, release.manifest))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Release:
    place = tmp_path_factory.mktemp("audit")
    path = write_plain(place / "own.jsonl", *(plain_dialogue(f"d{number}") for number in range(3)))
    result = run_command(
        "tpbench-data",
        "build",
        f"--corpus=tpbench_en={path}",
        "--protocol=matched",
        "--ratios=0.5",
        "--out",
        place / "r",
    )
    assert result.returncode == 0, result.stderr
    return Release.open(place / "r")


def problems(audit: Audit) -> str:
    return "\n".join(audit.problems)


def test_matched_finds_another_budget_rendering_and_template(small: Release) -> None:
    assert matched.audit_release(ReleaseMaterial(small)).problems == []

    def fewer(rows: list[dict[str, Any]]) -> None:
        row = next(row for row in rows if row["method"] == "recency")
        row["k_turns"] -= 1

    def plain(rows: list[dict[str, Any]]) -> None:
        rows[0]["context"] = "no markers at all"

    def other(rows: list[dict[str, Any]]) -> None:
        rows[0]["template"] = "another@1"

    for change, text in ((fewer, "another number of turns"), (plain, "marked rendering"), (other, "several templates")):
        found = matched.audit_release(Changed(small, "current_value", change))
        assert text in problems(found)
        assert len(found.problems) == 1


def test_a_leak_and_copied_dialogues_of_our_own_sets_are_problems(small: Release) -> None:
    found = audit_authored(ReleaseMaterial(small))
    assert "share more than a third of their turns" in problems(found), "the three dialogues are copies"
    assert "answered outside" not in problems(found)

    def narrower(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            row["support_turns"] = [4]

    assert "is answered outside its support turns" in problems(audit_authored(Changed(small, "free_form", narrower)))


def test_a_problem_makes_the_command_exit_with_1(small: Release) -> None:
    result = run_command("tpbench-data", "audit", small.path)
    assert result.returncode == 1
    assert "PROBLEM: " in result.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only=magic"], "unknown name 'magic'"),
        (["--candidates=sgd=x"], "--corpus does not"),
        (["--corpus=risawoz=x"], "no pool to draw from"),
        (["--corpus=sgd=x", "--only=matched"], "leaves nothing to audit"),
        (["--corpus=sgd=nowhere"], "no such file or folder"),
    ],
)
def test_a_bad_option_is_one_error(options: list[str], message: str) -> None:
    result = run_command("tpbench-data", "audit", *options)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_a_pool_that_is_used_whole_has_no_pool_audit(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="all its questions are used"):
        run.pool_material("lme_ku", tmp_path, None, None, 42, 200)
