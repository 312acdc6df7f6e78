"""Agreement of a judge with human ratings, and the ids of judged pairs."""

from __future__ import annotations

import numpy as np
import pytest

from tpbench_data.errors import BadInput
from tpbench_data.judgments import is_right, label_of, pair_id
from tpbench_score.agreement import RatedPair, agreement, answer_words, token_f1
from tpbench_score.agreement_intervals import agreement_intervals
from tpbench_score.statistics.agreement import Confusion


def pair(name: str, positive: int, of: int, f1: float = 0.0, exact: bool = False) -> RatedPair:
    return RatedPair(name, of, positive, exact, f1)


def test_majority_tie_and_disagreement() -> None:
    assert [pair("x", n, 4).majority for n in range(5)] == [False, False, None, True, True]
    assert [pair("x", n, 2).disagreement for n in range(3)] == [False, True, False]


@pytest.mark.parametrize(
    ("reference", "candidate", "f1"),
    [
        ("June 1862", "1862", 2 / 3),
        ("the main hall", "Main Hall!", 1.0),
        ("a b b", "b b b", 0.8),  # bags, not sets; "a" is an article
        ("x", "y", 0.0),
        ("the", "an", 0.0),
        ("", "", 0.0),
    ],
)
def test_token_f1_of_short_answers(reference: str, candidate: str, f1: float) -> None:
    assert token_f1(reference, candidate) == pytest.approx(f1)


def test_answer_words_drop_articles_and_punctuation() -> None:
    assert answer_words("The U.S. president's") == ["us", "presidents"]


def test_agreement_over_subsets() -> None:
    pairs = [
        pair("a", 3, 3, 0.9),
        pair("b", 2, 3, 0.2),
        pair("c", 0, 3, 0.6),
        pair("d", 1, 3, 0.0, exact=True),
        pair("e", 1, 2, 0.9),
        pair("f", 3, 3, 0.4),
    ]
    found = agreement(pairs, {"a": True, "b": True, "c": True, "d": False, "e": True, "f": None})
    judge = found.judge["all"]
    assert (found.ties, judge.resolved) == (1, 5)
    assert (judge.tp, judge.tn, judge.fp, judge.fn, judge.uncertain_positive) == (2, 1, 1, 0, 1)
    assert judge.accuracy == 0.6  # an undecided judge is wrong
    assert judge.balanced_accuracy == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert found.baseline["all"].accuracy == 0.4
    assert found.gain == pytest.approx(0.2)
    assert found.judge["unanimous"].resolved == 3
    assert found.judge["disagreement"].resolved == 2
    assert found.judge["low_f1"].resolved == 3
    assert found.judge["not_exact"].resolved == 4
    assert found.exact["all"].tp + found.exact["all"].fp == 1
    assert found.ratings == pytest.approx((3 + 2 + 0 + 2 + 1 + 0) / 17)


def test_no_pairs_have_no_agreement() -> None:
    found = agreement([], {})
    assert (found.gain, found.ratings) == (None, None)


@pytest.mark.parametrize(
    ("pairs", "judgments", "message"),
    [
        (["a", "b", "c"], {"a": True}, "pair 'b' has no judgment .so do 1 more"),
        (["a"], {"a": True, "z": None}, "pair 'z' is judged, but not among the rated pairs"),
        (["a", "a"], {"a": True}, "pair 'a' appears twice"),
    ],
)
def test_pairs_and_judgments_must_match(pairs: list[str], judgments: dict[str, bool | None], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        agreement([pair(name, 1, 1) for name in pairs], judgments)


def test_pair_ids_depend_on_both_texts_and_keep_their_alphabet() -> None:
    ids = {pair_id("a", "b"), pair_id("b", "a"), pair_id("ab", ""), pair_id("厦门", "厦"), pair_id("a", "b ")}
    assert len(ids) == 5
    assert all(len(name) == 20 and int(name, 16) >= 0 for name in ids)
    assert pair_id("\ud800", "x")


def test_only_equivalent_scores() -> None:
    assert [label_of(verdict) for verdict in (True, False, None)] == ["equivalent", "not_equivalent", "uncertain"]
    assert [is_right(label_of(verdict)) for verdict in (True, False, None)] == [True, False, False]


def rated() -> tuple[list[RatedPair], dict[str, bool | None], dict[str, str]]:
    pairs = [pair(f"p{k}", k % 5, 4, f1=(k * 7 % 10) / 10, exact=k % 9 == 0) for k in range(40)]
    judged = {one.id: None if k % 11 == 0 else k % 3 > 0 for k, one in enumerate(pairs)}
    return pairs, judged, {one.id: f"q{k // 3}" for k, one in enumerate(pairs)}


def test_intervals_are_those_of_the_published_recipe() -> None:
    pairs, judged, questions = rated()
    resolved = [one for one in pairs if one.majority is not None]
    names = list(dict.fromkeys(questions[one.id] for one in resolved))
    draws = np.random.default_rng(20260928).integers(len(names), size=(10_000, len(names)))
    by_question = [[one for one in resolved if questions[one.id] == name] for name in names]
    accuracy, gain, balanced = [], [], []
    for row in draws:
        chosen = [one for place in row for one in by_question[place]]
        judge = Confusion.count((one.majority, judged[one.id]) for one in chosen)
        baseline = Confusion.count((one.majority, one.baseline) for one in chosen)
        accuracy.append(judge.accuracy)
        gain.append(judge.accuracy - baseline.accuracy)
        balanced.append(float("nan") if judge.balanced_accuracy is None else judge.balanced_accuracy)
    found = agreement_intervals(pairs, judged, questions)
    for name, values in (("judge.accuracy", accuracy), ("gain", gain), ("judge.balanced_accuracy", balanced)):
        assert found[name] == pytest.approx(np.nanquantile(values, [0.025, 0.975]))
    assert found["judge.accuracy"] == pytest.approx((0.2726658476658477, 0.6875))


def test_intervals_need_a_question_for_every_pair_and_none_without_pairs() -> None:
    pairs, judged, questions = rated()
    with pytest.raises(BadInput, match=r"p3.* has no question"):
        agreement_intervals(pairs, judged, {name: value for name, value in questions.items() if name != "p3"})
    assert set(agreement_intervals([], {}, {}).values()) == {None}
