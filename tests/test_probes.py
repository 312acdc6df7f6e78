"""References and change rules on small dialogues."""

from __future__ import annotations

import pytest

from tpbench_data.changes import VALUE_RULES, updates
from tpbench_data.dialogue import Dialogue, State
from tpbench_data.pool import Pool, native_pool
from tpbench_data.probes import draw, first_sentence, task_text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("I need a room. For two.", "I need a room"),
        ("A 4.0 rated house, please", "A 4"),
        ("Hi. A taxi!", "Hi"),
        ("no mark at all ", "no mark at all"),
        ("Really? Yes", "Really"),
        (".", ""),
        ("One sentence\u3002two", "One sentence\u3002two"),
    ],
)
def test_the_first_sentence_ends_at_the_first_mark_wherever_it_stands(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("Can you please find a doctor? Soon.", "please find a doctor"),
        ("I'd like to book a Table!", "book a table"),
        ("PLEASE help", "help"),
        ("Pleased to meet you", "pleased to meet you"),
        ("...", "..."),
    ],
)
def test_the_task_text_loses_one_polite_opening(text: str, task: str) -> None:
    assert task_text(text) == (task if task != "..." else "")


def dialogue(*states: dict[str, list[str]] | None) -> Dialogue:
    """A dialogue whose user turns carry these states; each value is said in its turn."""
    texts, speakers, annotated = [], [], list[State | None]()
    for state in states:
        values = [form for forms in (state or {}).values() for form in forms]
        texts += [f"I say {' and '.join(values)}", "Fine."]
        speakers += ["user", "system"]
        annotated += [None if state is None else {"s": {k: tuple(v) for k, v in state.items()}}, None]
    return Dialogue("d1", "sgd", "en", tuple(speakers), tuple(texts), tuple(annotated))


def test_a_reordering_is_an_update_only_under_the_first_rule() -> None:
    moved = dialogue({"city": ["Atlanta, GA"]}, {"city": ["Atlanta", "Atlanta, GA"]})
    assert [u.new_value for u in updates(moved, VALUE_RULES["first"])] == ["Atlanta"]
    assert updates(moved, VALUE_RULES["disjoint"]) == []


def test_equal_after_normalisation_is_no_disjoint_update() -> None:
    moved = dialogue({"time": ["12 pm"]}, {"time": ["12:00"]})
    assert len(updates(moved, VALUE_RULES["first"])) == 1
    assert updates(moved, VALUE_RULES["disjoint"]) == []


def test_a_first_assignment_is_no_update_and_nothing_is_carried_over_a_gap() -> None:
    gap = dialogue({"time": ["6 pm"]}, {"city": ["Harrow"]}, {"time": ["8 pm"], "city": ["Harrow"]})
    assert updates(gap, VALUE_RULES["first"]) == []


def test_a_slot_that_comes_back_counts_as_updated_again_only_under_the_first_rule() -> None:
    back = dialogue({"t": ["6"]}, {"t": ["8"]}, {}, {"t": ["8"]})
    (first,) = updates(back, VALUE_RULES["first"])
    (disjoint,) = updates(back, VALUE_RULES["disjoint"])
    assert (first.turn, first.later_turns, first.final_turn, first.is_final) == (2, (6,), 6, False)
    assert (disjoint.later_turns, disjoint.is_final) == ((), True)


def test_a_later_frame_wins_where_two_services_share_a_slot_name() -> None:
    states: tuple[State | None, ...] = ({"a": {"city": ("X",)}, "b": {"city": ("Y",)}}, {"b": {"city": ("Z",)}})
    both = Dialogue("d", "sgd", "en", ("user", "user"), ("Y", "Z"), states)
    (update,) = updates(both, VALUE_RULES["first"])
    assert (update.old_value, update.new_value) == ("Y", "Z")


def test_native_pool_drops_dontcare_and_values_said_nowhere_and_counts_them() -> None:
    first = dialogue({"a": ["dontcare"]}, {"a": ["red"]})
    unsaid = Dialogue("d2", "sgd", "en", ("user", "user"), ("one", "two"), ({"s": {"a": ("x",)}}, {"s": {"a": ("y",)}}))
    kept = Dialogue("d3", "sgd", "en", ("user", "user"), ("x", "y!"), ({"s": {"a": ("x",)}}, {"s": {"a": ("y",)}}))
    pool = native_pool([first, unsaid, kept], "sgd", VALUE_RULES["first"])
    assert [q.example_id for q in pool.questions] == ["sgd_d3__qa_00"]
    assert pool.counts == {
        "dialogues": 3,
        "updates": 3,
        "dropped: dontcare": 1,
        "dropped: new value in no turn": 1,
        "questions": 1,
    }


def test_one_example_belongs_to_every_seed_that_draws_it() -> None:
    pool = native_pool([dialogue({"t": ["6"]}, {"t": ["8 pm"]})], "sgd", VALUE_RULES["first"])
    examples, counts = draw(pool, "initial_goal", [42, 43], 200)
    assert [e.sample_seeds for e in examples] == [(42, 43)]
    assert counts[43] == {"drawn": 1, "dropped: no dialogue": 0, "left": 1}


def test_an_empty_pool_draws_nothing() -> None:
    assert draw(Pool([], {}), "joint_recovery", [42], 5)[0] == []
