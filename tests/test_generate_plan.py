"""Plans: which inputs, which batches; the same prompt once; a limit that keeps comparisons fair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpbench_data.errors import BadInput
from tpbench_data.release.schema import PLAN, PROBE
from tpbench_generate.plan import Batching, PlannedInput, Selection, make_plan, select_inputs
from tpbench_generate.prefixes import group_neighbours
from tpbench_generate.readers.base import Encoded


def row(example: int, method: str, **changes: Any) -> dict[str, Any]:
    text = changes.pop("text", f"{method} of example {example}")
    values: dict[str, Any] = dict.fromkeys(PROBE.names)
    return {
        **values,
        "example_id": f"e{example}",
        "input_id": f"e{example}|{method}|{changes.get('ratio', 0.3)}",
        "corpus": "sgd",
        "protocol": "paper",
        "method": method,
        "ratio": 0.3,
        "sample_seeds": [42],
        "prompt": [{"role": "user", "content": text}],
        **changes,
    }


def table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=PROBE)


@pytest.fixture
def tables() -> dict[str, pa.Table]:
    # As a release lies on disk: method by method, not example by example.
    methods = ("full_context", "recency")
    return {
        "initial_goal": table([row(k, m) for m in methods for k in range(3)]),
        "current_value": table([row(k, m, sample_seeds=[42 + k % 2]) for m in methods for k in range(4)]),
    }


def ids(inputs: Sequence[PlannedInput]) -> list[str]:
    return [planned.input_id for planned in inputs]


def characters(messages: Sequence[Mapping[str, str]]) -> Encoded:
    return Encoded(tuple(map(ord, messages[0]["content"])), truncated=False)


def as_encoded(count: int | None) -> Encoded | Exception:
    return ValueError("cannot be encoded") if count is None else Encoded((7,) * count, truncated=False)


def test_without_filters_everything_comes_in_release_order(tables: dict[str, pa.Table]) -> None:
    inputs = select_inputs(tables, Selection(), release="R")
    assert (
        ids(inputs) == tables["initial_goal"]["input_id"].to_pylist() + tables["current_value"]["input_id"].to_pylist()
    )
    assert [planned.probe for planned in inputs] == ["initial_goal"] * 6 + ["current_value"] * 8


def test_filters_are_joined_by_and_and_their_values_by_or(tables: dict[str, pa.Table]) -> None:
    one = Selection(probes=("current_value",), methods=("recency",), seeds=(43,))
    assert ids(select_inputs(tables, one, release="R")) == ["e1|recency|0.3", "e3|recency|0.3"]
    both = Selection(probes=("current_value",), methods=("recency",), seeds=(42, 43))
    assert len(select_inputs(tables, both, release="R")) == 4


def test_a_limit_takes_the_same_examples_for_every_method(tables: dict[str, pa.Table]) -> None:
    inputs = select_inputs(tables, Selection(probes=("current_value",), limit=4), release="R")
    assert ids(inputs) == ["e0|full_context|0.3", "e1|full_context|0.3", "e0|recency|0.3", "e1|recency|0.3"]


def test_a_limit_takes_examples_of_every_probe(tables: dict[str, pa.Table]) -> None:
    inputs = select_inputs(tables, Selection(limit=4), release="R")
    assert [planned.probe for planned in inputs] == ["initial_goal"] * 2 + ["current_value"] * 2


def test_a_limit_above_the_number_of_inputs_changes_nothing(tables: dict[str, pa.Table]) -> None:
    everything = select_inputs(tables, Selection(), release="R")
    assert select_inputs(tables, Selection(limit=99), release="R") == everything


def test_one_protocol_of_a_release_that_holds_both_can_be_chosen() -> None:
    tables = {"current_value": table([row(0, "recency"), row(0, "random", protocol="matched")])}
    (chosen,) = select_inputs(tables, Selection(protocols=("matched",)), release="R")
    assert chosen.method == "random"


@pytest.mark.parametrize(
    ("selection", "reason"),
    [
        (Selection(methods=("dycp",)), r"no method 'dycp'.*full_context, recency.*tpbench-generate select"),
        (Selection(ratios=(0.5,)), r"no ratio '0.5'.*0\.3"),
        (Selection(seeds=(7,)), r"no seed '7'.*42, 43"),
        (Selection(corpora=("multiwoz",)), r"no corpus 'multiwoz'.*sgd"),
        (Selection(protocols=("matched",)), r"no protocol 'matched'.*paper"),
        (Selection(probes=("joint_recovery",)), r"no probe 'joint_recovery'.*initial_goal, current_value"),
        (Selection(probes=("initial_goal",), seeds=(43,)), r"no seed '43'"),
    ],
)
def test_what_the_release_lacks_is_named_with_what_it_has(
    tables: dict[str, pa.Table], selection: Selection, reason: str
) -> None:
    with pytest.raises(BadInput, match=reason):
        select_inputs(tables, selection, release="R")


def test_a_method_in_two_settings_is_chosen_by_name_or_by_its_printed_form() -> None:
    printed = ("new_words", "new_words(min_length=5)")
    rows = {"current_value": table([row(k, "new_words", method_config=one) for k, one in enumerate(printed)])}

    def chosen(*methods: str) -> list[str]:
        return ids(select_inputs(rows, Selection(methods=methods), release="R"))

    assert chosen("new_words(min_length=5)") == ["e1|new_words|0.3"]
    assert chosen("new_words") == ["e0|new_words|0.3", "e1|new_words|0.3"]
    with pytest.raises(BadInput, match=r"no method 'new_words\(min_length=7\)'. It has: new_words, new_words\(min_len"):
        chosen("new_words(min_length=7)")


def test_filters_that_exclude_each_other_are_told() -> None:
    rows = [row(0, "recency", sample_seeds=[42]), row(1, "random", sample_seeds=[43])]
    with pytest.raises(BadInput, match="no input matches all the filters"):
        select_inputs({"current_value": table(rows)}, Selection(methods=("recency",), seeds=(43,)), release="R")


def test_a_ratio_filter_leaves_out_adaptive_methods_without_ratio() -> None:
    rows = {"current_value": table([row(0, "recency"), row(0, "dycp", ratio=None)])}
    assert ids(select_inputs(rows, Selection(ratios=(0.3,)), release="R")) == ["e0|recency|0.3"]
    assert len(select_inputs(rows, Selection(), release="R")) == 2


def test_inputs_without_a_prompt_are_refused_not_dropped() -> None:
    rows = {"current_value": table([row(0, "recency"), row(1, "recency", prompt=None)])}
    with pytest.raises(BadInput, match=r"1 of 2 selected inputs have no prompt \(first: e1"):
        select_inputs(rows, Selection(), release="R")


def test_equal_prompts_share_hash_and_batch_and_are_counted_once() -> None:
    rows = [row(k, m, text=f"same {k}") for m in ("full_context", "recency") for k in range(3)]
    plan = make_plan(select_inputs({"current_value": table(rows)}, Selection(), release="R"), characters, 2)
    assert plan.table.num_rows == 6
    assert len(plan.prompts) == 3
    assert [len(batch) for batch in plan.batches] == [2, 1]
    hashes, batches = plan.table["prompt_hash"].to_pylist(), plan.table["batch"].to_pylist()
    assert hashes[:3] == hashes[3:]
    assert batches[:3] == batches[3:]


def test_a_prompt_with_another_role_is_another_prompt() -> None:
    inputs = [
        PlannedInput(role, "current_value", "recency", 0.3, ({"role": role, "content": "x"},))
        for role in ("system", "user")
    ]
    assert len(make_plan(inputs, characters, 8).prompts) == 2


def test_a_prompt_that_cannot_be_encoded_stays_in_the_plan() -> None:
    inputs = select_inputs({"current_value": table([row(0, "recency"), row(1, "recency")])}, Selection(), release="R")
    counts = iter([None, 7])
    plan = make_plan(inputs, lambda messages: as_encoded(next(counts)), 8)
    assert plan.table["prompt_tokens"].to_pylist() == [None, 7]
    assert plan.table["batch"].to_pylist() == [0, 0]


@given(st.lists(st.text(max_size=6), min_size=1, max_size=30), st.integers(1, 7))
def test_batches_hold_every_distinct_prompt_once_shortest_first(texts: list[str], size: int) -> None:
    inputs = [
        PlannedInput(str(k), "current_value", "recency", 0.3, ({"role": "user", "content": text},))
        for k, text in enumerate(texts)
    ]
    plan = make_plan(inputs, characters, size)
    flat = [key for batch in plan.batches for key in batch]
    assert sorted(flat) == sorted(plan.prompts)
    assert len(flat) == len(set(texts))
    keys = [(len(plan.prompts[key][0]["content"]), key) for key in flat]
    assert keys == sorted(keys)
    assert all(len(batch) == size for batch in plan.batches[:-1])
    assert plan.table.schema.equals(PLAN)
    for place, text in enumerate(texts):
        key, batch = plan.table["prompt_hash"][place].as_py(), plan.table["batch"][place].as_py()
        assert plan.prompts[key][0]["content"] == text
        assert key in plan.batches[batch]


@given(st.lists(st.text(max_size=6), min_size=1, max_size=20), st.randoms())
def test_batches_do_not_depend_on_the_order_of_the_inputs(texts: list[str], random: Any) -> None:
    inputs = [
        PlannedInput(str(k), "current_value", "recency", 0.3, ({"role": "user", "content": text},))
        for k, text in enumerate(texts)
    ]
    shuffled = random.sample(inputs, len(inputs))
    assert make_plan(inputs, characters, 4).batches == make_plan(shuffled, characters, 4).batches


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 6), st.none() | st.integers(1, 120))
def test_batches_keep_order_size_and_token_budget(lengths: list[int], size: int, budget: int | None) -> None:
    tokens: dict[str, int | None] = {f"k{place}": length or None for place, length in enumerate(sorted(lengths))}
    batches = Batching(size, budget).cut([(key,) for key in tokens], tokens)
    assert [key for batch in batches for key in batch] == list(tokens)
    for batch in batches:
        padded = len(batch) * max(tokens[key] or 1 for key in batch)
        assert len(batch) == 1 or (len(batch) <= size and padded <= (budget or padded))


def test_a_batch_plan_is_named_by_its_limits_and_the_old_name_stays() -> None:
    assert str(Batching(8)) == "length-sorted, batch_size=8"
    assert str(Batching(8, 8000)) == "length-sorted, batch_size=8, batch_tokens=8000"
    with pytest.raises(BadInput, match="at least 1"):
        Batching(0)


def test_prompts_that_begin_alike_are_batched_together_and_each_once() -> None:
    contexts = {"a": "x" * 60, "b": "y" * 90, "c": "z" * 60}
    texts = [contexts[name] + f" question {k}" for k in range(3) for name in contexts]
    inputs = [
        PlannedInput(f"i{k}", "current_value", "recency", 0.3, ({"role": "user", "content": text},))
        for k, text in enumerate([*texts, "short", texts[0]])
    ]
    plan = make_plan(inputs, characters, Batching(4, share=True))
    batches = [[plan.prompts[key][0]["content"][:1] for key in batch] for batch in plan.batches]
    assert all(len(set(batch) - {"s"}) == 1 for batch in batches)  # a context is in one batch
    assert [len(batch) for batch in batches] == [4, 3, 3]
    assert sorted(key for batch in plan.batches for key in batch) == sorted(plan.prompts)
    assert str(Batching(4, share=True)) == "length-sorted, batch_size=4, shared beginnings"


@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=80), max_size=12), st.integers(1, 4))
def test_groups_cover_all_rows_in_order_and_share_what_they_say(prompts: list[list[int]], most: int) -> None:
    prompts = [[5] * 40 + ids if len(ids) % 2 else ids for ids in prompts]
    groups = group_neighbours(prompts, most)
    assert [row for group in groups for row in group.rows] == list(range(len(prompts)))
    for group in groups:
        rows = [prompts[row] for row in group.rows]
        assert len(rows) <= most
        assert all(ids[: group.shared] == rows[0][: group.shared] for ids in rows)
        assert all(len(ids) > group.shared for ids in rows)
        assert (len(rows) > 1) == (group.shared > 0)


@given(st.integers(1, 999), st.none() | st.integers(1, 99_999), st.booleans())
def test_a_recorded_batch_plan_reads_back(size: int, tokens: int | None, share: bool) -> None:
    batching = Batching(size, tokens, share=share)
    assert Batching.from_text(str(batching)) == batching
    assert Batching.from_text(f"{batching}; length-sorted, batch_size=1") == batching


def test_a_batch_plan_that_is_none_is_refused() -> None:
    with pytest.raises(BadInput, match="cannot read the batch plan 'None'"):
        Batching.from_text("None")
