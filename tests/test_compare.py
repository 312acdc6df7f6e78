"""Paired comparisons of runs and methods."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import run_command
from score_rows import row, table
from small_release import probe_row, write_small_release, write_small_run

from tpbench_data.errors import BadInput
from tpbench_score.comparing import Comparison, compare
from tpbench_score.sides import read_side


def rows_of(method: str, right: list[int], **facts: Any) -> list[dict[str, Any]]:
    return [
        row(example_id=f"e{n}", method=method, strict=bool(value), loose=bool(value), **facts)
        for n, value in enumerate(right)
    ]


def compared(rows: list[dict[str, Any]], a: str, b: str) -> Comparison:
    scores = table(rows)
    return compare(scores, read_side(a, scores), read_side(b, scores))


def test_two_methods_are_paired_by_example() -> None:
    found = compared(
        [*rows_of("recency", [1, 1, 1, 0]), *reversed(rows_of("random", [0, 1, 0, 0]))], "recency", "random"
    )
    (cell,) = found.cells
    strict = cell.contrasts[0]
    assert (cell.examples, strict.a, strict.b, strict.difference) == (4, 0.75, 0.25, 0.5)
    assert (strict.only_a, strict.only_b, strict.p) == (2, 0, 0.5)
    assert strict.interval is not None
    assert strict.interval[0] <= 0.5 <= strict.interval[1]
    assert [(x["example_id"], x["strict"], y["strict"]) for x, y in cell.flips] == [
        ("e0", True, False),
        ("e2", True, False),
    ]


def test_an_example_of_two_samples_weighs_in_both_means_and_once_in_the_test() -> None:
    a = [row(example_id="e0", sample_seeds=[42, 43], strict=True), row(example_id="e1", sample_seeds=[42])]
    b = [{**one, "method": "random", "input_id": f"{one['input_id']}r", "strict": False} for one in a]
    strict = compared([*a, *b], "recency", "random").cells[0].contrasts[0]
    assert (strict.a, strict.only_a) == (0.75, 1)  # (1/2 + 1/1) / 2


def test_rows_without_a_partner_are_counted_and_left_out() -> None:
    found = compared([*rows_of("recency", [1, 1, 1]), *rows_of("random", [1, 1])], "recency", "random")
    assert (found.cells[0].examples, found.unpaired) == (2, (1, 0))


def test_an_adaptive_method_meets_every_ratio_of_the_other() -> None:
    rows = [*rows_of("dycp", [1, 0], ratio=None), *rows_of("recency", [0, 0]), *rows_of("recency", [1, 1], ratio=0.5)]
    for a, b, sign in (("dycp", "recency", 1), ("recency", "dycp", -1)):
        cells = compared(rows, a, b).cells
        assert [(cell.ratio, sign * cell.contrasts[0].difference) for cell in cells] == [(0.3, 0.5), (0.5, -0.5)]


def test_two_runs_are_paired_by_input() -> None:
    first = rows_of("recency", [1, 0])
    second = [one | {"run_id": "other-00000000", "reader": "other", "strict": True} for one in first]
    found = compared([*first, *second], "reader", "other-00000000")
    assert found.cells[0].contrasts[0].only_b == 1


def test_a_method_of_one_run_against_that_of_another() -> None:
    kv = [one | {"run_id": "kv-00000000", "reader": "kv"} for one in rows_of("chunkkv", [1, 1])]
    main = [*rows_of("recency", [0, 0]), *rows_of("random", [0, 1])]
    found = compared([*kv, *main], "kv-00000000", "reader-00000000:recency")
    assert (found.a.method, found.b.method, found.cells[0].contrasts[0].difference) == ("chunkkv", "recency", 1.0)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ("recency", "nothing", "'nothing' is neither a run nor a method here. Runs: kv-00000000, reader-00000000"),
        ("reader", "kv:random", "run 'reader-00000000' has several methods: random, recency. Name one"),
        ("random", "recency", "'random' occurs in several runs. Name one, such as kv-00000000:random"),
    ],
)
def test_what_is_not_clear_is_refused(a: str, b: str, message: str) -> None:
    kv = [one | {"run_id": "kv-00000000", "reader": "kv"} for one in rows_of("random", [1, 1])]
    with pytest.raises(BadInput, match=message.replace("(", r"\(")):
        compared([*kv, *rows_of("recency", [0, 0]), *rows_of("random", [0, 1])], a, b)


def test_several_selector_seeds_must_be_told_apart() -> None:
    rows = [one for seed in (42, 43) for one in rows_of("random", [seed == 43, 1], selector_seed=seed)]
    rows += rows_of("recency", [0, 0])
    with pytest.raises(BadInput, match=r"'random' has several selector seeds: 42, 43. Name one: random\(seed=N\)"):
        compared(rows, "recency", "random")
    assert compared(rows, "random(seed=43)", "random(seed=42)").cells[0].contrasts[0].only_a == 1


def test_the_command(tmp_path: Path) -> None:
    rows = [probe_row("current_value", n, method=m, method_config=m) for m in ("recency", "random") for n in range(3)]
    release = write_small_release(tmp_path / "r", {"current_value": rows})
    right: dict[str, Any] = {one["input_id"]: '{"value": "12 pm"}' for one in rows}
    wrong = right | {one["input_id"]: '{"value": "6 pm"}' for one in rows if one["method"] == "random"}
    a = write_small_run(tmp_path / "a", rows, right)
    b = write_small_run(tmp_path / "b", rows, wrong, run_id="b-00000000", reader="b")
    result = run_command("tpbench-score", "compare", a, b, release.path, "--limit", 1)
    assert result.returncode == 0, result.stderr
    assert "only A right 3, only B right 0, exact McNemar p = 2.50×10^-1" in result.stdout
    assert '    A strict (match): "12 pm"\n    B wrong (value_differs): "6 pm"\n  and 2 more' in result.stdout
    assert "|mean:seeds|intervals:shake256-1(10000,20260928)|" in result.stdout
    printed = run_command("tpbench-score", "compare", f"{b}:recency", "random", release.path, "--json")
    (cell,) = json.loads(printed.stdout)["cells"]
    assert cell["measures"]["strict"]["only_a"] == len(cell["flips"]) == 3
    unknown = run_command("tpbench-score", "compare", a, b, release.path, "--probe", "P2")
    assert (unknown.returncode, "Probes here: current_value" in unknown.stderr) == (2, True)
